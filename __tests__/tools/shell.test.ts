import { expect, it } from 'vitest';
import type { OpenedSandbox } from '../../src/sandbox/sandbox.ts';
import { createShell } from '../../src/tools/shell.ts';
import { useWorld } from '../sandbox/world.ts';

const world = await useWorld();
const sandbox = await world.open({ mode: 'off' });
const shell = createShell(sandbox, 20, 400);

const run = (command: string, more: Record<string, number> = {}, tool = shell) =>
  tool.run({ command, ...more }, new AbortController().signal);

it.each([
  ['the exit code', 'echo out; echo err >&2; exit 3', 'out\nerr\n[exit code 3]'],
  ['output without a line break', 'printf x', 'x\n[exit code 0]'],
  ['no output', 'true', '(no output)\n[exit code 0]'],
  [
    'what every model API accepts for NUL and invalid UTF-8',
    "printf 'a\\0b\\377c'",
    'a\u2400b\ufffdc\n[exit code 0]',
  ],
  [
    'what to do about a program that is not found',
    'exit 127',
    '(no output)\n[exit code 127. A program that is installed elsewhere can be shown with the input sandbox-read]',
  ],
])('returns %s, without an error', async (_, command, content) => {
  expect(await run(command)).toEqual({ content, isError: false });
});

it('reports a timeout and how to set a longer one', async () => {
  // Retries with more time when a busy machine did not start the command in time.
  let seconds = 1;
  const runLong = () => run('echo begun; sleep 60', { timeout_seconds: seconds });
  let answer = await runLong();
  for (; !answer.content.startsWith('begun') && seconds < 16; answer = await runLong()) seconds *= 4;
  expect(answer).toEqual({
    content: `begun\n[timed out after ${seconds} s and was killed. If it needs longer, set timeout_seconds (at most 600).]`,
    isError: false,
  });
});

it('uses the configured timeout by default', async () => {
  const { content } = await run('sleep 30', {}, createShell(sandbox, 1, 400));
  expect(content).toContain('[timed out after 1 s and was killed.');
});

it('reports how much of a large output is kept', async () => {
  const flooded: OpenedSandbox = {
    ...sandbox,
    exec: async (command, limits) => ({
      ...(await sandbox.exec(command, limits)),
      totalBytes: 900,
      keptBytes: 800,
      fullOutputPath: '/tmp/output.txt',
    }),
  };
  const { content } = await run('echo x', {}, createShell(flooded, 20, 400));
  expect(content).toContain('[The output has 900 bytes; the first 800 bytes are in /tmp/output.txt: ');
});

it('names the file with the full output when output is truncated', async () => {
  const { content } = await run('seq 1 1000');
  expect(content).toMatch(
    /^1\n2\n[\s\S]*\[… \d+ bytes left out here …\][\s\S]*\n1000\n\[The output has 3893 bytes; all of it is in \/\S+\.txt: read it by lines with read_file, or search it with grep\.\]\n\[exit code 0\]$/u,
  );
});

it('rejects an empty command', async () => {
  expect((await run('  ')).isError).toBe(true);
});

it('rejects when the signal aborts', async () => {
  const running = shell.run({ command: 'sleep 30' }, AbortSignal.timeout(100));
  await expect(running).rejects.toThrow('aborted due to timeout');
});
