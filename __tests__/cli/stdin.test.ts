import { PassThrough, Readable } from 'node:stream';
import { expect, it, vi } from 'vitest';
import { addStdin, readStdin } from '../../src/cli/stdin.ts';
import { READ } from '../../src/text/limits.ts';

const never = new AbortController().signal;
const ignore = () => undefined;
const read = (...chunks: readonly (Buffer | string)[]) =>
  readStdin(Readable.from(chunks.map((chunk) => Buffer.from(chunk))), never, ignore);

it('all of stdin is read without a BOM, however it is split into chunks', async () => {
  const bytes = Buffer.from('\ufeffa€😀');
  expect(await read(...[...bytes].map((byte) => Buffer.from([byte])))).toBe('a€😀');
  expect(await read()).toBe('');
});

it('stdin may be as large as a policy file, and never a part of more is taken', async () => {
  const exactly = Buffer.alloc(READ.policy, 'a');
  expect(await read(exactly)).toHaveLength(READ.policy);
  const endless = Readable.from(
    (function* () {
      yield* [exactly, Buffer.from('b')];
      throw new Error('read on');
    })(),
  );
  await expect(readStdin(endless, never, ignore)).rejects.toThrow(/^Stdin is larger than 4 MiB\./u);
});

it('stdin that is not UTF-8 or cannot be read is refused', async () => {
  await expect(read(Buffer.from([0x61, 0xff]))).rejects.toThrow(/^Stdin is not valid UTF-8 text\./u);
  const broken = new Readable({ read: () => void broken.destroy(new Error('EISDIR')) });
  await expect(readStdin(broken, never, ignore)).rejects.toThrow(/cannot be read \(EISDIR\)/u);
});

it('a wait for stdin is announced, and ends with the signal', async () => {
  vi.useFakeTimers();
  const stop = new AbortController();
  const onWait = vi.fn(() => stop.abort());
  const open = new PassThrough();
  const reading = readStdin(open, stop.signal, onWait);
  const rejects = expect(reading).rejects.toThrow(/^Stdin is open and does not end\./u);
  await vi.advanceTimersByTimeAsync(2_000);
  vi.useRealTimers();
  await rejects;
  expect([onWait.mock.calls.length, open.destroyed]).toEqual([1, true]);
});

const typed = { text: 'why?' };
const named = { file: 'task.md' };
it.each([
  [null, '\n do this\n\n', { text: 'do this' }],
  [typed, ' a diff\n', { text: ' a diff\n\n\nwhy?' }],
  [typed, ' \n', typed],
  [named, 'a diff', { ...named, before: 'a diff\n\n' }],
  [named, '', named],
])('%j with stdin %j is the task %j', (task, piped, prompt) => {
  expect(addStdin(task, piped)).toEqual(prompt);
});

it('blank stdin without a task is refused', () => {
  expect(() => addStdin(null, ' \n')).toThrow(/^No task is given, and nothing came in/u);
});
