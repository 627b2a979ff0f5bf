/** `structured-agent check`: says offline what a run would refuse, and what a workflow lets pass unjudged. */
import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { pathHere } from '../../contract/source.ts';
import { InputError } from '../../errors.ts';
import { PROVIDERS } from '../../providers/registry.ts';
import { inertLine } from '../../text/sanitize.ts';
import { checkWorkflow, type Used } from './check-workflow.ts';
import { createFindings, type Findings, refused, wrong } from './finding.ts';
import { CHECK_HELP, type CheckOptions, readOptions } from './options.ts';
import { viewsOf } from './projection.ts';
import { type CheckReport, reportJson, reportText, type SchemaReport } from './report.ts';
import { judgeOf } from './schema.ts';
import { filesIn, findWorkflows, localActions, readWorkflowText, rootOf } from './sources.ts';
import { readWorkflow, type Workflow } from './workflow.ts';
import { readYaml, type YamlFile } from './yaml-file.ts';

/** Where a check reads and writes. */
export interface CheckIo {
  readonly cwd: string;
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
}

const FINE = 0;
/** The code of a run that is refused for what was typed. */
const REFUSED = 52;

/** Runs `structured-agent check` with what stands after `check`; gives 0, or 52 where an error was found. */
export async function runCheck(argv: readonly string[], io: CheckIo): Promise<number> {
  try {
    const options = readOptions(argv);
    if (options.help) {
      io.stdout.write(CHECK_HELP);
      return FINE;
    }
    const report = await check(options, io.cwd);
    io.stdout.write(options.format === 'json' ? reportJson(report) : reportText(report));
    return report.findings.some(({ severity }) => severity === 'error') ? REFUSED : FINE;
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    io.stderr.write(`structured-agent check: ${inertLine(error.message, 2000)}\n`);
    return REFUSED;
  }
}

async function check(options: CheckOptions, cwd: string): Promise<CheckReport> {
  const findings = createFindings();
  const used: Used[] = [];
  const asked = await checkArguments(options, cwd, findings);
  const isImplied = options.files.length === 0;
  const files = isImplied && options.schema === null ? await findWorkflows(cwd) : options.files;
  const read: string[] = [];
  for (const file of files) {
    const found = await checkFile(file, options, cwd, findings);
    if (found === null && isImplied) continue;
    read.push(file);
    if (found === null) findings.add({ file, line: 1, column: 1 }, unused);
    else used.push(...found);
  }
  if (read.length === 0 && options.schema === null) throw nothingToCheck(files.length);
  return { files: read, findings: findings.list(), schemas: [...asked, ...schemasOf(used, options)] };
}

const unused = wrong(
  'no-step',
  'No step of this file uses the action.',
  'Name the action with --action where it goes by another name. Workflows of other repositories that it calls are not read.',
);

function nothingToCheck(looked: number): InputError {
  const what =
    looked === 0
      ? 'There is no workflow in .github/workflows'
      : 'No workflow in .github/workflows uses the action';
  return new InputError(null, `${what}. Name a workflow file, or give --schema.`);
}

/** The schema and the gate of the command line itself. */
async function checkArguments(
  { schema, gate, provider }: CheckOptions,
  cwd: string,
  findings: Findings,
): Promise<readonly SchemaReport[]> {
  if (schema === null) return [];
  const { judge, faults } = await judgeOf(schema, gate, filesIn(cwd, 'allowed'));
  const names = { schema, gate: gate ?? '--gate' };
  for (const { input, fault } of faults) {
    const file = pathHere(names[input]) ?? `--${input}`;
    findings.add({ file, line: 1, column: 1 }, fault);
  }
  if (judge === null) return [];
  const views = viewsOf(judge.schema, provider === null ? PROVIDERS : [provider]);
  return [{ name: schema, usedAt: [], outputs: judge.outputs, views }];
}

/** Null where no step uses the action. */
async function checkFile(
  file: string,
  { schema, actions, root: given }: CheckOptions,
  cwd: string,
  findings: Findings,
): Promise<readonly Used[] | null> {
  const start = { file, line: 1, column: 1 };
  const reading = await readWorkflowText(path.resolve(cwd, file), cwd);
  if (!reading.ok) {
    findings.add(start, refused('unreadable', `The workflow ${reading.problem}`));
    return [];
  }
  const yaml = await readYaml(file, reading.text);
  if (!yaml.ok) {
    findings.add(yaml.place, wrong('yaml', `This is not YAML: ${yaml.problem}.`, yaml.fix));
    return [];
  }
  const root =
    given === null ? await rootOf(file, cwd) : await realpath(path.resolve(cwd, given)).catch(() => null);
  if (root === null) throw new InputError('root', '--root names a folder that is not there. Check the path.');
  const workflow = await workflowOf(yaml.file, actions, root);
  if (workflow === null) return null;
  // What the command line gives is relative to where it is typed.
  return checkWorkflow(workflow, {
    files: filesIn(root, 'refused'),
    root,
    standIn: schema,
    findings,
    async readWorkflow(name, text) {
      const other = await readYaml(name, text);
      return other.ok ? workflowOf(other.file, actions, root) : null;
    },
  });
}

async function workflowOf(file: YamlFile, names: readonly string[], root: string): Promise<Workflow | null> {
  const local = file.root === null ? null : await localActions(file.root, root);
  return readWorkflow(file, { names, localPart: (folder) => local?.get(folder) ?? null });
}

/** Each schema once, with the steps that use it. */
function schemasOf(used: readonly Used[], { provider }: CheckOptions): readonly SchemaReport[] {
  const grouped = new Map<string, Used[]>();
  for (const each of used) {
    const key = `${provider ?? each.provider} ${each.judge.name} ${JSON.stringify(each.judge.schema)}`;
    grouped.set(key, [...(grouped.get(key) ?? []), each]);
  }
  return [...grouped.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const { judge } = first;
    const one = provider ?? first.provider;
    const views = viewsOf(judge.schema, one === null ? PROVIDERS : [one]);
    return [{ name: judge.name, usedAt: group.map(({ place }) => place), outputs: judge.outputs, views }];
  });
}
