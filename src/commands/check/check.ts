/** `structured-agent check`: shows offline what a run would refuse, and where a workflow goes on without a verdict. */
import { readdir, realpath } from 'node:fs/promises';
import path from 'node:path';
import { readTrustedFile } from '../../config/paths.ts';
import { InputError } from '../../errors.ts';
import { DISPLAY } from '../../text/limits.ts';
import { counted, quote } from '../../text/messages.ts';
import { escapeCommands, inertLine } from '../../text/sanitize.ts';
import { type Command, type CommandIo, type Flags, REFUSED, runCommand } from '../flags.ts';
import { checkMerge } from './merge-job.ts';
import type { Policy } from './outputs.ts';
import { refused } from './rules.ts';
import { checkStep } from './step.ts';
import { checkUsage } from './usage.ts';
import { type Mistake, readWorkflow, type Workflow } from './workflow.ts';

/** Runs `structured-agent check` with the arguments after `check`. Returns 0, or 52 if an error was found. */
export function runCheck(argv: readonly string[], io: CommandIo): Promise<number> {
  return runCommand(COMMAND, argv, io, async (flags) => {
    const format = flags.value('output-format') ?? 'text';
    if (format !== 'text' && format !== 'json')
      throw new InputError('output-format', `${quote(format)} is not a format. Use text or json.`);
    const result = await check(flags, io.cwd);
    const errors = result.findings.filter(({ severity }) => severity === 'error').length;
    io.stdout.write(format === 'json' ? asJson(result, errors) : asText(result, errors));
    return errors > 0 ? REFUSED : 0;
  });
}

interface Result {
  readonly looked: readonly string[];
  /** The files that use the action, as typed. */
  readonly files: string[];
  readonly findings: Mistake[];
  /** By name. */
  readonly schemas: Map<string, Policy>;
}

async function check(flags: Flags, cwd: string): Promise<Result> {
  const looked = flags.positionals.length > 0 ? flags.positionals : await findWorkflows(cwd);
  const result: Result = { looked, files: [], findings: [], schemas: new Map() };
  for (const file of looked) {
    const found: Mistake[] = [];
    const home = { root: await rootOf(file, cwd), actions: flags.list('action') };
    const reading = await readTrustedFile(file, { root: cwd, outside: 'allowed' });
    if (!reading.ok) found.push({ file, line: 1, column: 1, ...refused('unreadable', reading.problem) });
    const workflow = reading.ok ? readWorkflow(file, reading.text, home, found) : null;
    const isUser = workflow?.jobs.some(({ steps }) => steps.some(({ part }) => part !== null));
    if (isUser) result.files.push(file);
    if (workflow !== null) await checkWorkflow(workflow, home.root, result);
    found.sort((one, other) => one.line - other.line || one.column - other.column);
    result.findings.push(...new Map(found.map((each) => [JSON.stringify(each), each])).values());
  }
  return result;
}

async function checkWorkflow(workflow: Workflow, root: string, { schemas }: Result): Promise<void> {
  for (const job of workflow.jobs) {
    for (const step of job.steps) {
      if (step.part === 'merge') checkMerge({ workflow, job, step });
      const policy = step.part === 'run' ? await checkStep({ workflow, job, step }, root) : null;
      if (policy !== null) schemas.set(policy.name, policy);
    }
  }
  checkUsage(workflow);
}

/** Returns the workflows and composite actions of a repository, sorted, with relative paths. */
async function findWorkflows(folder: string): Promise<readonly string[]> {
  const names = await readdir(path.join(folder, '.github'), { recursive: true }).catch(() => []);
  return names
    .filter((name) => /^(?:workflows[/\\][^/\\]+|actions[/\\](?:.+[/\\])?action)\.ya?ml$/u.test(name))
    .map((name) => path.join('.github', name))
    .toSorted();
}

/** Returns the real root of the checkout of a file: the folder around its `.github`, else the current folder. */
async function rootOf(file: string, cwd: string): Promise<string> {
  const [around] = /^.*?(?=[/\\]\.github[/\\])/u.exec(path.resolve(cwd, file)) ?? [];
  return realpath(around ?? cwd).catch(() => cwd);
}

function asText({ files, looked, findings, schemas }: Result, errors: number): string {
  if (files.length === 0 && findings.length === 0)
    return looked.length === 0
      ? 'There is no workflow in .github/workflows.\n'
      : `No step uses the action in ${counted(looked.length, 'workflow')}. If it has another name, give it with --action.\n`;
  const lines = findings.map(
    ({ file, line, column, severity, message, fix, rule }) =>
      `${clean(file)}:${line}:${column}: ${severity}: ${clean(message)} [${rule}]\n    fix: ${clean(fix)}\n`,
  );
  const tables = [...schemas.values()].map(({ name, outputs, bytes }) => {
    const rows = outputs.map((each) => `    ${clean(each.name)} (${clean(each.type)})\n`);
    const shown = name.startsWith('{') ? 'inline' : clean(name);
    return `schema ${shown}, ${bytes} bytes in every request; its outputs, all empty without a verdict:\n${rows.join('')}`;
  });
  const warnings = findings.length - errors;
  const total = `${counted(errors, 'error')}, ${counted(warnings, 'warning')} in ${counted(looked.length, 'workflow')}\n`;
  return [...(lines.length === 0 ? [] : [lines.join('')]), ...tables, total].join('\n');
}

function asJson({ files, findings, schemas }: Result, errors: number): string {
  const warnings = findings.length - errors;
  const listed = [...schemas.values()].map(({ name, bytes, outputs }) => ({
    schema: name,
    bytes,
    outputs: outputs.map((each) => ({ name: each.name, type: each.type })),
  }));
  const report = { ok: errors === 0, errors, warnings, files, findings, schemas: listed };
  return `${escapeCommands(JSON.stringify(report, null, 2))}\n`;
}

function clean(text: string): string {
  return inertLine(text, DISPLAY.cell);
}

const COMMAND: Command = {
  name: 'check',
  flags: { action: 'list', 'output-format': 'text' },
  help: `Usage: structured-agent check [flags] [WORKFLOW.yml ...]

Checks the workflows that use the action. Nothing is sent anywhere, no model is asked. Without a file:
every workflow in .github/workflows and action in .github/actions of the current folder.

  --action NAME           What else uses: may say for this action, for example my-org/verdict.
                          Everything that ends in /structured-agent counts anyway. Repeatable.
  --output-format FORMAT  text (default) or json.
  -h, --help              This text.

Exit code: 52 if an error was found, else 0.
`,
};
