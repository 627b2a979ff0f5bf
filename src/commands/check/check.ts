/**
 * `structured-agent check`: shows offline what a run would refuse, and where a workflow continues without a verdict.
 */
import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { parseChoice } from '../../config/values.ts';
import { pathHere } from '../../contract/source.ts';
import { InputError } from '../../errors.ts';
import { PROVIDERS, type ProviderName } from '../../providers/registry.ts';
import { DISPLAY } from '../../text/limits.ts';
import { quote } from '../../text/messages.ts';
import { inertLine } from '../../text/sanitize.ts';
import { readFlags } from '../flags.ts';
import { checkWorkflow } from './check-workflow.ts';
import { createFindings, error, type Findings, refused } from './finding.ts';
import { viewsOf } from './projection.ts';
import { type CheckReport, reportJson, reportText, type SchemaReport } from './report.ts';
import { readPolicy } from './schema.ts';
import { filesIn, findWorkflows, localActions, readWorkflowText, rootOf } from './sources.ts';
import type { Used } from './step.ts';
import { readWorkflow, type Workflow } from './workflow.ts';
import { readYaml, type YamlFile } from './yaml-file.ts';

export interface CheckIo {
  readonly cwd: string;
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
}

/** The exit code of a run that refuses its input. */
const REFUSED = 52;

/** Runs `structured-agent check` with the arguments after `check`. Returns 0, or 52 when an error was found. */
export async function runCheck(argv: readonly string[], io: CheckIo): Promise<number> {
  try {
    const options = readOptions(argv);
    if (options.help) {
      io.stdout.write(CHECK_HELP);
      return 0;
    }
    const report = await check(options, io.cwd);
    io.stdout.write(options.format === 'json' ? reportJson(report) : reportText(report));
    return report.findings.some(({ severity }) => severity === 'error') ? REFUSED : 0;
  } catch (thrown) {
    if (!(thrown instanceof InputError)) throw thrown;
    io.stderr.write(`structured-agent check: ${inertLine(thrown.message, DISPLAY.line)}\n`);
    return REFUSED;
  }
}

interface CheckOptions {
  readonly help: boolean;
  /** As typed; null when not given. */
  readonly schema: string | null;
  readonly gate: string | null;
  readonly provider: ProviderName | null;
  readonly actions: readonly string[];
  /** The folder used as the checkout; null for the repository that contains each workflow. */
  readonly root: string | null;
  readonly format: 'text' | 'json';
  /** As typed; empty for all workflows of the repository. */
  readonly files: readonly string[];
}

/** @throws InputError that names the flag and the fix */
function readOptions(argv: readonly string[]): CheckOptions {
  const flags = readFlags('check', argv, {
    schema: 'text',
    gate: 'text',
    provider: 'text',
    action: 'list',
    root: 'text',
    'output-format': 'text',
    help: 'switch',
  });
  const gate = flags.value('gate');
  const provider = flags.value('provider');
  if (gate !== null && flags.value('schema') === null) {
    throw new InputError(
      'gate',
      '--gate is checked against a schema. Give --schema as well, such as --schema verdict.',
    );
  }
  return {
    help: flags.has('help'),
    schema: flags.value('schema'),
    gate,
    provider: provider === null ? null : parseChoice('provider', provider, PROVIDERS),
    actions: flags.list('action'),
    root: flags.value('root'),
    format: readFormat(flags.value('output-format') ?? 'text'),
    files: flags.positionals,
  };
}

function readFormat(format: string): 'text' | 'json' {
  if (format === 'text' || format === 'json') return format;
  throw new InputError('output-format', `--output-format is ${quote(format)}. Use text or json.`);
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

const unused = error(
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

async function checkArguments(
  { schema, gate, provider }: CheckOptions,
  cwd: string,
  findings: Findings,
): Promise<readonly SchemaReport[]> {
  if (schema === null) return [];
  const { policy, faults } = await readPolicy(schema, gate, filesIn(cwd, 'allowed'));
  const names = { schema, gate: gate ?? '--gate' };
  for (const { input, fault } of faults) {
    const file = pathHere(names[input]) ?? `--${input}`;
    findings.add({ file, line: 1, column: 1 }, fault);
  }
  if (policy === null) return [];
  const views = viewsOf(policy.schema, provider === null ? PROVIDERS : [provider]);
  return [{ name: schema, usedAt: [], outputs: policy.outputs, views }];
}

/** Returns null when no step uses the action. */
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
    findings.add(yaml.location, error('yaml', `This is not YAML: ${yaml.problem}.`, yaml.fix));
    return [];
  }
  const root =
    given === null ? await rootOf(file, cwd) : await realpath(path.resolve(cwd, given)).catch(() => null);
  if (root === null) throw new InputError('root', '--root names a folder that is not there. Check the path.');
  const workflow = await workflowOf(yaml.file, actions, root);
  if (workflow === null) return null;
  // Paths on the command line are relative to the current folder.
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

/** Returns each schema once, with the steps that use it. */
function schemasOf(used: readonly Used[], { provider }: CheckOptions): readonly SchemaReport[] {
  const grouped = new Map<string, Used[]>();
  for (const each of used) {
    const key = `${provider ?? each.provider} ${each.policy.name} ${JSON.stringify(each.policy.schema)}`;
    grouped.set(key, [...(grouped.get(key) ?? []), each]);
  }
  return [...grouped.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const { policy } = first;
    const one = provider ?? first.provider;
    const views = viewsOf(policy.schema, one === null ? PROVIDERS : [one]);
    const usedAt = group.map(({ location }) => location);
    return [{ name: policy.name, usedAt, outputs: policy.outputs, views }];
  });
}

const CHECK_HELP = `Usage: structured-agent check [flags] [WORKFLOW.yml ...]

Checks a schema, a gate, and the workflows that use the action. Nothing is sent anywhere, no model
is asked. Without a file: every workflow in .github/workflows that uses the action.

  --schema SCHEMA         Inline JSON, a path or a preset. Beside workflows it also stands for schemas
                          that cannot be read here (expressions, other repositories).
  --gate GATE             What must hold: inline JSON, a path, a boolean property, auto or none.
  --provider PROVIDER     How this provider alone will see the schema. Default: each of them.
  --action NAME           What else uses: may say for this action, for example my-org/verdict.
                          Everything that ends in /structured-agent counts anyway. Repeatable.
  --root FOLDER           The folder that stands for the checkout, for the paths in it.
                          Default: the repository that the workflow lies in.
  --output-format FORMAT  text (default) or json.
  -h, --help              This text.

Exit code: 0 where no error was found, warnings or not; 52 where one was, or where nothing could be
checked: the code of a run that is refused for what was typed.
`;
