import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll } from 'vitest';
import { runCheck } from '../../../src/commands/check/check.ts';

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** The example workflow of many legs. */
export const MANY_LEGS = readFileSync(
  path.join(import.meta.dirname, '../../../examples/many-legs.yml'),
  'utf8',
);

/** The example with some texts replaced. A text that it does not contain is a mistake in the test. */
export function changed(...edits: readonly (readonly [string, string])[]): string {
  return edits.reduce((text, [from, to]) => {
    if (!text.includes(from)) throw new Error(`The example holds no ${from}`);
    return text.replaceAll(from, () => to);
  }, MANY_LEGS);
}

/** The output and the exit code of a check. */
export interface Checked {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** A repository with these files. */
export function repository(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'check-'));
  folders.push(folder);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  }
  return folder;
}

/** Runs a check in a folder. */
export async function checkIn(cwd: string, ...argv: readonly string[]): Promise<Checked> {
  const written = { out: '', err: '' };
  const code = await runCheck(argv, {
    cwd,
    stdout: { write: (text) => (written.out += text) },
    stderr: { write: (text) => (written.err += text) },
  });
  return { code, ...written };
}

/** A workflow whose job has a step of the action with these inputs, and these steps after it. */
export function workflowOf(parts: {
  readonly inputs?: string;
  readonly step?: string;
  readonly job?: string;
  readonly on?: string;
  readonly before?: string;
  readonly after?: string;
  readonly jobs?: string;
  readonly permissions?: string;
}): string {
  const indent = (text: string | undefined, blanks: number) =>
    (text ?? '')
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => `${' '.repeat(blanks)}${line}\n`)
      .join('');
  return [
    `on: ${parts.on ?? 'push'}\n`,
    `permissions: ${parts.permissions ?? '{ contents: read, pull-requests: read }'}\n`,
    'jobs:\n',
    '  judge:\n',
    '    runs-on: ubuntu-latest\n',
    indent(parts.job, 4),
    '    steps:\n',
    indent(parts.before, 6),
    '      - id: review\n',
    '        uses: org/structured-agent@v1\n',
    indent(parts.step, 8),
    '        with:\n',
    indent(parts.inputs ?? 'prompt: Judge.', 10),
    ...(parts.inputs?.includes('model:') === true ? [] : ['          model: claude-sonnet-4-5\n']),
    ...(parts.inputs?.includes('key') === true ? [] : ['          api-key: ${{ secrets.KEY }}\n']),
    indent(parts.after, 6),
    indent(parts.jobs, 2),
  ].join('');
}

/** The findings of a workflow: `severity rule` with the text at its position. */
export async function findingsOf(
  text: string,
  files: Readonly<Record<string, string>> = {},
): Promise<readonly string[]> {
  const name = '.github/workflows/review.yml';
  const { out, err } = await checkIn(repository({ [name]: text, ...files }), name, '--output-format', 'json');
  if (err !== '') throw new Error(err);
  const report: { findings: { severity: string; rule: string; line: number; column: number }[] } =
    JSON.parse(out);
  const lines = text.split('\n');
  return report.findings.map(({ severity, rule, line, column }) => {
    const at = (lines[line - 1] ?? '').slice(column - 1, column + 60);
    return `${severity} ${rule} at ${/^[^\s:]+:?/u.exec(at)?.[0] ?? ''}`;
  });
}

/** The findings of a workflow as text, one per line. */
export const foundIn = async (text: string, files: Readonly<Record<string, string>> = {}): Promise<string> =>
  (await findingsOf(text, files)).join('\n');
