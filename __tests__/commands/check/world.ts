import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { runCheck } from '../../../src/commands/check/check.ts';
import { putFiles } from '../../support/local.ts';

/** For the tests of several files. */
const all = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'test-')));
process.once('exit', () => rmSync(all, { recursive: true, force: true }));

/** A repository with these files. */
export function repository(files: Readonly<Record<string, string>>): string {
  return putFiles(mkdtempSync(path.join(all, 'x-')), files);
}

/** Runs a command in a folder. */
export async function runIn(run: typeof runCheck, cwd: string, argv: readonly string[]) {
  const written = { out: '', err: '' };
  const code = await run(argv, {
    cwd,
    stdout: { write: (text) => (written.out += text) },
    stderr: { write: (text) => (written.err += text) },
  });
  return { code, ...written };
}

/** Runs a check in a folder. */
export const checkIn = (cwd: string, ...argv: readonly string[]) => runIn(runCheck, cwd, argv);

type Part = 'on' | 'permissions' | 'runsOn' | 'job' | 'before' | 'step' | 'inputs' | 'after' | 'jobs';
/** The parts of a workflow whose job has a step of the action: lines without their indentation. */
export type Parts = Readonly<Partial<Record<Part, string>>>;

/** The inputs of the step, each unless it is among the given ones, or a comment says that there is none. */
const USUAL = ['prompt: Judge.', 'model: claude-sonnet-5-5', 'api-key: ${{ secrets.KEY }}'];

export function workflowOf(parts: Parts): string {
  const {
    on = 'push',
    runsOn = 'ubuntu-latest',
    before = '- uses: actions/checkout@v7',
    inputs = '',
  } = parts;
  const indent = (text = '', blanks = 0) => text.replaceAll(/^(?=.)/gmu, ' '.repeat(blanks));
  const isGiven = (usual: string) => new RegExp(`^(?:# no )?${usual.split(':')[0]}`, 'mu').test(inputs);
  return `on: ${on}
${parts.permissions === undefined ? '' : `permissions: ${parts.permissions}`}
jobs:
  judge:
    runs-on: ${runsOn}
${indent(parts.job, 4)}
    steps:
${indent(before, 6)}
      - id: review
        uses: org/structured-agent@v1
${indent(parts.step, 8)}
        with:
${indent([...USUAL.filter((usual) => !isGiven(usual)), inputs].join('\n'), 10)}
${indent(parts.after, 6)}
${indent(parts.jobs, 2)}
`;
}

/** The findings of a workflow, one a line: severity, rule and what stands at its position. */
export async function foundIn(text: string, files: Readonly<Record<string, string>> = {}): Promise<string> {
  const name = '.github/workflows/review.yml';
  const { out } = await checkIn(repository({ [name]: text, ...files }), name, '--output-format', 'json');
  type Finding = { severity: string; rule: string; line: number; column: number };
  const { findings }: { findings: Finding[] } = JSON.parse(out);
  const lines = findings.map(({ severity, rule, line, column }) => {
    const at = text.split('\n')[line - 1]?.slice(column - 1) ?? '';
    return `${severity} ${rule} at ${/^[^\s:]+/u.exec(at)?.[0] ?? ''}`;
  });
  return lines.join('\n');
}
