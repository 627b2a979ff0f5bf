import { expect, it, vi } from 'vitest';
import type { ExecResult, Sandbox } from '../../src/sandbox/sandbox.ts';
import { createShell } from '../../src/tools/shell.ts';

/** Runs a command that ends like this; returns the answer, and what the sandbox was asked for. */
async function run(result: Partial<ExecResult>, input: { command?: string; timeout_seconds?: number } = {}) {
  const ended = { exitCode: 0, output: 'out\n', totalBytes: 4, keptBytes: 4, fullOutputPath: null };
  const exec = vi.fn<Sandbox['exec']>(async () => ({ ...ended, durationMs: 1, ...result }));
  const shell = createShell({ exec }, 20, 400);
  const answer = await shell.run({ command: 'x', ...input }, new AbortController().signal);
  return { ...answer, asked: exec.mock.calls };
}

const ELSEWHERE = 'A program that is installed elsewhere can be shown with the input sandbox-read';
const LONGER = 'If it needs longer, set timeout_seconds (at most 600).';
const inFile = (what: string) =>
  `out\n[The output has 900 bytes; ${what} in /tmp/o.txt: read it by lines with read_file, or search it with grep.]\n[exit code 0]`;
const large = { fullOutputPath: '/tmp/o.txt', totalBytes: 900 };
it.each<[what: string, result: Partial<ExecResult>, content: string]>([
  ['the exit code', { output: 'out\nerr\n', exitCode: 3 }, 'out\nerr\n[exit code 3]'],
  ['output without a line break', { output: 'x' }, 'x\n[exit code 0]'],
  ['no output', { output: '' }, '(no output)\n[exit code 0]'],
  ['NUL as every model API accepts it', { output: 'a\0b\n' }, 'a\u2400b\n[exit code 0]'],
  ['what to do if a program is not found', { exitCode: 127 }, `out\n[exit code 127. ${ELSEWHERE}]`],
  ['a timeout', { exitCode: null }, `out\n[timed out after 20 s and was killed. ${LONGER}]`],
  ['the file with all of the output', { ...large, keptBytes: 900 }, inFile('all of it is')],
  ['the file with a part of the output', { ...large, keptBytes: 800 }, inFile('the first 800 bytes are')],
])('returns %s, without an error', async (_, result, content) => {
  expect(await run(result)).toMatchObject({ content, isError: false });
});

it('has a timeout, which a call can change', async () => {
  const { asked } = await run({});
  expect(asked).toMatchObject([['x', { timeoutMs: 20_000, maxOutputBytes: 400 }]]);
  const { content, asked: longer } = await run({ exitCode: null }, { timeout_seconds: 600 });
  expect(longer).toMatchObject([['x', { timeoutMs: 600_000, maxOutputBytes: 400 }]]);
  expect(content).toBe('out\n[timed out after 600 s and was killed.]');
});

it('rejects an empty command', async () => {
  expect(await run({}, { command: '  ' })).toMatchObject({ isError: true, asked: [] });
});
