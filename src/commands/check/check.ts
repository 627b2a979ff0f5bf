/** `structured-agent check`: shows offline what a run would refuse, and where a workflow goes on without a verdict. */
import { readdir, realpath } from 'node:fs/promises';
import path from 'node:path';
import { readTrustedFile } from '../../config/workspace-file.ts';
import type { Files } from '../../contract/source.ts';
import { InputError } from '../../errors.ts';
import { DISPLAY, READ } from '../../text/limits.ts';
import { counted, quote } from '../../text/messages.ts';
import { escapeCommands, inertLine } from '../../text/sanitize.ts';
import { type Flags, readFlags } from '../flags.ts';
import { checkMerge } from './merge-job.ts';
import { MERGED, PAYLOAD } from './outputs.ts';
import type { Policy } from './policy.ts';
import { refused } from './rules.ts';
import { checkStep } from './step.ts';
import { checkUsage, type Source } from './usage.ts';
import { type Finding, readWorkflow, type Workflow } from './workflow.ts';

export interface CheckIo {
  readonly cwd: string;
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
}

/** The exit code of a run that refuses its input. */
const REFUSED = 52;

/** Runs `structured-agent check` with the arguments after `check`. Returns 0, or 52 if an error was found. */
export async function runCheck(argv: readonly string[], io: CheckIo): Promise<number> {
  try {
    const flags = readFlags('check', argv, {
      action: 'list',
      'output-format': 'text',
      help: 'switch',
    });
    if (flags.has('help')) {
      io.stdout.write(CHECK_HELP);
      return 0;
    }
    const format = flags.value('output-format') ?? 'text';
    if (format !== 'text' && format !== 'json')
      throw new InputError('output-format', `--output-format is ${quote(format)}. Use text or json.`);
    const result = await check(flags, io.cwd);
    io.stdout.write(format === 'json' ? asJson(result) : asText(result));
    return result.findings.some(({ severity }) => severity === 'error') ? REFUSED : 0;
  } catch (thrown) {
    if (!(thrown instanceof InputError)) throw thrown;
    io.stderr.write(`structured-agent check: ${inertLine(thrown.message, DISPLAY.line)}\n`);
    return REFUSED;
  }
}

interface Result {
  /** The files that use the action, as typed. */
  readonly files: readonly string[];
  readonly looked: readonly string[];
  readonly findings: readonly Finding[];
  readonly schemas: readonly Policy[];
}

async function check(flags: Flags, cwd: string): Promise<Result> {
  const findings = new Map<string, Finding>();
  const schemas = new Map<string, Policy>();
  const add = (finding: Finding) => findings.set(JSON.stringify(finding), finding);
  const named = flags.positionals;
  const looked = named.length > 0 ? named : await findWorkflows(cwd);
  const files: string[] = [];
  for (const file of looked) {
    const home = { root: await rootOf(file, cwd), actions: flags.list('action') };
    const limits = { root: cwd, outside: 'allowed', maxBytes: READ.workflow } as const;
    const reading = await readTrustedFile(path.resolve(cwd, file), limits);
    if (!reading.ok)
      add({ file, line: 1, column: 1, ...refused('unreadable', `The workflow ${reading.problem}`) });
    const workflow = reading.ok ? readWorkflow(file, reading.text, home, add) : null;
    const sources = workflow === null ? [] : await checkSteps(workflow, home.root, schemas);
    if (sources.length > 0) files.push(file);
    if (workflow !== null) checkUsage(workflow, sources);
  }
  const sorted = [...findings.values()].toSorted(
    (one, other) =>
      looked.indexOf(one.file) - looked.indexOf(other.file) ||
      one.line - other.line ||
      one.column - other.column,
  );
  return { files, looked, findings: sorted, schemas: [...schemas.values()] };
}

/** Checks each step that uses the action; returns them with their outputs. */
async function checkSteps(
  workflow: Workflow,
  root: string,
  schemas: Map<string, Policy>,
): Promise<readonly Source[]> {
  const sources: Source[] = [];
  for (const job of workflow.jobs) {
    for (const step of job.steps) {
      if (step.part === 'merge') checkMerge(workflow, job, step);
      if (step.part === 'merge') sources.push({ job, step, outputs: MERGED });
      if (step.part !== 'run') continue;
      const policy = await checkStep(workflow, job, step, root, filesIn(root));
      if (policy !== null) schemas.set(policy.name, policy);
      sources.push({ job, step, outputs: policy?.outputs ?? null });
    }
  }
  return sources;
}

/** Reads the files that a workflow names as a run does. */
function filesIn(root: string): Files {
  return {
    readFile: (name) => readTrustedFile(name, { root, outside: 'refused', maxBytes: READ.policy }),
    readElsewhere: async () => ({ ok: false, problem: 'is in another repository' }),
  };
}

/** Returns the workflows and composite actions of a repository, sorted, with relative paths. */
async function findWorkflows(folder: string): Promise<readonly string[]> {
  const listed = async (below: string, pattern: RegExp) => {
    const names = await readdir(path.join(folder, below), { recursive: true }).catch(() => []);
    return names
      .filter((name) => pattern.test(name))
      .map((name) => path.join(below, name))
      .toSorted();
  };
  return [
    ...(await listed('.github/workflows', /^[^/\\]+\.ya?ml$/u)),
    ...(await listed('.github/actions', /(?:^|[/\\])action\.ya?ml$/u)),
  ];
}

/** Returns the real root of the checkout of a file: the folder around its `.github`, else the current folder. */
async function rootOf(file: string, cwd: string): Promise<string> {
  const [around] = /^.*?(?=[/\\]\.github[/\\])/u.exec(path.resolve(cwd, file)) ?? [];
  return realpath(around ?? cwd).catch(() => cwd);
}

function asText({ files, looked, findings, schemas }: Result): string {
  if (files.length === 0 && findings.length === 0)
    return looked.length === 0
      ? 'There is no workflow in .github/workflows.\n'
      : `No step uses the action in ${counted(looked.length, 'workflow')}. If it has another name, give it with --action.\n`;
  const lines = findings.map(
    ({ file, line, column, severity, message, fix, rule }) =>
      `${clean(file)}:${line}:${column}: ${severity}: ${clean(message)} [${rule}]\n    fix: ${clean(fix)}\n`,
  );
  const tables = schemas.map(({ name, outputs, bytes }) => {
    const rows = [...outputs, PAYLOAD].map((each) => `    ${clean(each.name)} (${clean(each.type)})\n`);
    const shown = name.startsWith('{') ? 'inline' : clean(name);
    return `schema ${shown}, ${bytes} bytes in every request; its outputs, all empty without a verdict:\n${rows.join('')}`;
  });
  const [errors, warnings] = countsOf(findings);
  const total = `${counted(errors, 'error')}, ${counted(warnings, 'warning')} in ${counted(looked.length, 'workflow')}\n`;
  return [...(lines.length === 0 ? [] : [lines.join('')]), ...tables, total].join('\n');
}

function asJson({ files, findings, schemas }: Result): string {
  const [errors, warnings] = countsOf(findings);
  const listed = schemas.map(({ name, bytes, outputs }) => ({
    schema: name,
    bytes,
    outputs: [...outputs, PAYLOAD].map((each) => ({ name: each.name, type: each.type })),
  }));
  const report = { ok: errors === 0, errors, warnings, files, findings, schemas: listed };
  return `${escapeCommands(JSON.stringify(report, null, 2))}\n`;
}

function countsOf(findings: readonly Finding[]): readonly [errors: number, warnings: number] {
  const errors = findings.filter(({ severity }) => severity === 'error').length;
  return [errors, findings.length - errors];
}

function clean(text: string): string {
  return inertLine(text, DISPLAY.cell);
}

const CHECK_HELP = `Usage: structured-agent check [flags] [WORKFLOW.yml ...]

Checks the workflows that use the action. Nothing is sent anywhere, no model is asked. Without a file:
every workflow in .github/workflows and action in .github/actions of the current folder.

  --action NAME           What else uses: may say for this action, for example my-org/verdict.
                          Everything that ends in /structured-agent counts anyway. Repeatable.
  --output-format FORMAT  text (default) or json.
  -h, --help              This text.

Exit code: 52 if an error was found, else 0.
`;
