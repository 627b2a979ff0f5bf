/** `structured-agent check`: shows offline what a run would refuse, and where a workflow goes on without a verdict. */
import { readdir, realpath } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { expandHome } from '../../config/paths.ts';
import { readTrustedFile } from '../../config/workspace-file.ts';
import { type Files, pathHere } from '../../contract/source.ts';
import { InputError } from '../../errors.ts';
import { DISPLAY, READ } from '../../text/limits.ts';
import { counted, quote } from '../../text/messages.ts';
import { escapeCommands, inertLine } from '../../text/sanitize.ts';
import { type Flags, readFlags } from '../flags.ts';
import { checkMerge } from './merge-job.ts';
import { MERGED, PAYLOAD } from './outputs.ts';
import { type Policy, readPolicy } from './policy.ts';
import { refused } from './rules.ts';
import { checkStep } from './step.ts';
import { checkUsage, type Source } from './usage.ts';
import { type Finding, readWorkflow } from './workflow.ts';

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
      schema: 'text',
      gate: 'text',
      action: 'list',
      root: 'text',
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
    if (flags.value('gate') !== null && flags.value('schema') === null)
      throw new InputError('gate', '--gate is checked against a schema. Give --schema as well.');
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
  /** The files that use the action, as typed, and the number of files that were looked at. */
  readonly files: readonly string[];
  readonly looked: number;
  readonly findings: readonly Finding[];
  /** By name: a schema is listed once. */
  readonly schemas: ReadonlyMap<string, Policy>;
}

async function check(flags: Flags, cwd: string): Promise<Result> {
  const findings: Finding[] = [];
  const schemas = new Map<string, Policy>();
  const add = (finding: Finding) => findings.push(finding);
  const [schema, gate] = [flags.value('schema'), flags.value('gate')];
  if (schema !== null) {
    const names = { schema: pathHere(schema) ?? '--schema', gate: pathHere(gate ?? '') ?? '--gate' };
    const policy = await readPolicy(schema, gate, filesIn(cwd, 'allowed'), (input, fault) =>
      add({ file: names[input], line: 1, column: 1, ...fault }),
    );
    if (policy !== null) schemas.set(schema, policy);
  }
  const named = flags.positionals;
  const looked = named.length > 0 || schema !== null ? named : await findWorkflows(cwd);
  const files: string[] = [];
  for (const file of looked) {
    const root = await rootOf(file, cwd, flags.value('root'));
    const found = await checkFile(file, { cwd, root, actions: flags.list('action') }, add);
    if (found === null) continue;
    files.push(file);
    for (const policy of found) schemas.set(policy.name, policy);
  }
  const order = [...new Map(findings.map((each) => [JSON.stringify(each), each])).values()];
  order.sort(
    (one, other) =>
      looked.indexOf(one.file) - looked.indexOf(other.file) ||
      one.line - other.line ||
      one.column - other.column,
  );
  return { files, looked: looked.length, findings: order, schemas };
}

/** Checks a file. Returns the schemas of its steps; null if no step uses the action. */
async function checkFile(
  file: string,
  {
    cwd,
    root,
    actions,
  }: { readonly cwd: string; readonly root: string; readonly actions: readonly string[] },
  add: (finding: Finding) => void,
): Promise<readonly Policy[] | null> {
  const limits = { root: cwd, outside: 'allowed', maxBytes: READ.workflow } as const;
  const reading = await readTrustedFile(path.resolve(cwd, file), limits);
  if (!reading.ok) {
    add({ file, line: 1, column: 1, ...refused('unreadable', `The workflow ${reading.problem}`) });
    return [];
  }
  const workflow = await readWorkflow(file, reading.text, { root, actions }, add);
  if (workflow === null) return null;
  const sources: Source[] = [];
  const policies: Policy[] = [];
  for (const job of workflow.jobs) {
    for (const step of job.steps) {
      if (step.part === 'merge') {
        checkMerge(workflow, job, step);
        sources.push({ job, step, outputs: MERGED });
      }
      if (step.part !== 'run') continue;
      const policy = await checkStep(workflow, job, step, root, filesIn(root, 'refused'));
      sources.push({ job, step, outputs: policy?.outputs ?? null });
      if (policy !== null) policies.push(policy);
    }
  }
  checkUsage(workflow, sources);
  return sources.length === 0 ? null : policies;
}

/** Reads files by the paths that users give; on the command line those may lie anywhere. */
function filesIn(folder: string, outside: 'allowed' | 'refused'): Files {
  return {
    readFile: (name) =>
      readTrustedFile(outside === 'allowed' ? expandHome(name, os.homedir()) : name, {
        root: folder,
        outside,
        maxBytes: READ.policy,
      }),
    readElsewhere: async ({ owner, repo }) => ({
      ok: false,
      problem: `${owner}/${repo} is another repository, and a check asks nobody. Give the file with --schema @path.`,
    }),
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
async function rootOf(file: string, cwd: string, given: string | null): Promise<string> {
  const [around, ...rest] = path.resolve(cwd, file).split(`${path.sep}.github${path.sep}`);
  const folder = given ?? (rest.length === 0 ? cwd : (around ?? cwd));
  const root = await realpath(path.resolve(cwd, folder)).catch(() => null);
  if (root === null)
    throw new InputError('root', `--root is ${quote(folder)}, which is not there. Check the path.`);
  return root;
}

function asText({ files, looked, findings, schemas }: Result): string {
  if (files.length === 0 && findings.length === 0 && schemas.size === 0)
    return looked === 0
      ? 'There is no workflow in .github/workflows.\n'
      : `No step uses the action in ${counted(looked, 'workflow')}. If it has another name, give it with --action.\n`;
  const lines = findings.map(
    ({ file, line, column, severity, message, fix, rule }) =>
      `${clean(file)}:${line}:${column}: ${severity}: ${clean(message)} [${rule}]\n    fix: ${clean(fix)}\n`,
  );
  const tables = [...schemas.values()].map(({ name, outputs, bytes }) => {
    const rows = [...outputs, PAYLOAD].map((each) => `    ${clean(each.name)} (${clean(each.type)})\n`);
    const shown = name.startsWith('{') ? 'inline' : clean(name);
    return `schema ${shown}, ${bytes} bytes in every request; its outputs, all empty without a verdict:\n${rows.join('')}`;
  });
  const [errors, warnings] = countsOf(findings);
  const subject = files.length === 0 ? '' : ` in ${counted(files.length, 'workflow')}`;
  const total = `${counted(errors, 'error')}, ${counted(warnings, 'warning')}${subject}\n`;
  return [...(lines.length === 0 ? [] : [lines.join('')]), ...tables, total].join('\n');
}

function asJson({ files, findings, schemas }: Result): string {
  const [errors, warnings] = countsOf(findings);
  const listed = [...schemas.values()].map(({ name, bytes, outputs }) => ({
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

Checks the workflows that use the action, or a schema and a gate. Nothing is sent anywhere, no model
is asked. Without a file: every workflow in .github/workflows and action in .github/actions.

  --schema SCHEMA         Inline JSON, a path or a preset.
  --gate GATE             What must hold for it: inline JSON, a path, a boolean property or auto.
  --action NAME           What else uses: may say for this action, for example my-org/verdict.
                          Everything that ends in /structured-agent counts anyway. Repeatable.
  --root FOLDER           The checkout that paths refer to. Default: the folder around .github.
  --output-format FORMAT  text (default) or json.
  -h, --help              This text.

Exit code: 52 if an error was found, else 0.
`;
