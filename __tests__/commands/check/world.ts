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

/** The parts of a workflow whose job has a step of the action: lines without their indentation. */
export interface Parts {
  readonly on?: string;
  readonly permissions?: string;
  readonly runsOn?: string;
  readonly job?: string;
  readonly before?: string;
  readonly step?: string;
  /** Added to a prompt, a model and a key, each unless it is among them. */
  readonly inputs?: string;
  readonly after?: string;
  /** More jobs. */
  readonly jobs?: string;
}

export function workflowOf(parts: Parts): string {
  const indent = (text: string | undefined, blanks: number) =>
    (text ?? '').replaceAll(/^(?=.)/gmu, ' '.repeat(blanks)).replace(/(?<=.)$/u, '\n');
  const has = (name: string) => new RegExp(`^${name}`, 'mu').test(parts.inputs ?? '');
  return [
    `on: ${parts.on ?? 'push'}\n`,
    parts.permissions === undefined ? '' : `permissions: ${parts.permissions}\n`,
    'jobs:\n  judge:\n',
    `    runs-on: ${parts.runsOn ?? 'ubuntu-latest'}\n`,
    indent(parts.job, 4),
    '    steps:\n',
    indent(parts.before ?? '- uses: actions/checkout@v7', 6),
    '      - id: review\n        uses: org/structured-agent@v1\n',
    indent(parts.step, 8),
    '        with:\n',
    has('prompt') ? '' : '          prompt: Judge.\n',
    has('model') ? '' : '          model: claude-sonnet-5-5\n',
    has('api-key') || has('# no key') ? '' : '          api-key: ${{ secrets.KEY }}\n',
    indent(parts.inputs, 10),
    indent(parts.after, 6),
    indent(parts.jobs, 2),
  ].join('');
}

/** The findings of a workflow, one a line: severity, rule and what stands at its position. */
export async function foundIn(text: string, files: Readonly<Record<string, string>> = {}): Promise<string> {
  const name = '.github/workflows/review.yml';
  const { out, err } = await checkIn(repository({ [name]: text, ...files }), name, '--output-format', 'json');
  if (err !== '') throw new Error(err);
  type Finding = { severity: string; rule: string; line: number; column: number };
  const { findings }: { findings: Finding[] } = JSON.parse(out);
  const found = findings.map(({ severity, rule, line, column }) => {
    const at = text.split('\n')[line - 1]?.slice(column - 1) ?? '';
    return `${severity} ${rule} at ${/^[^\s:]+/u.exec(at)?.[0] ?? ''}`;
  });
  return found.join('\n');
}
