import { PassThrough, Readable } from 'node:stream';
import { describe, expect, it, vi } from 'vitest';
import { addStdin, readStdin } from '../../src/cli/stdin.ts';
import { READ } from '../../src/text/limits.ts';

const never = new AbortController().signal;
const read = (...chunks: readonly (Buffer | string)[]) =>
  readStdin(Readable.from(chunks.map((chunk) => Buffer.from(chunk))), never, () => undefined);

describe('readStdin', () => {
  it('reads all of stdin without a BOM, however it is split into chunks', async () => {
    const bytes = Buffer.from('\ufeffa€😀');
    expect(await read(...[...bytes].map((byte) => Buffer.from([byte])))).toBe('a€😀');
    expect(await read()).toBe('');
  });

  it('takes as much as a file of a policy may have, and never a part of more', async () => {
    const exactly = Buffer.alloc(READ.policy, 'a');
    expect(await read(exactly)).toHaveLength(READ.policy);
    const endless = Readable.from(
      (function* () {
        yield* [exactly, Buffer.from('b')];
        throw new Error('read on');
      })(),
    );
    const reading = readStdin(endless, never, () => undefined);
    await expect(reading).rejects.toThrow(/^Stdin is larger than 4 MiB\./u);
  });

  it('refuses what is not UTF-8, and what cannot be read', async () => {
    await expect(read(Buffer.from([0x61, 0xff]))).rejects.toThrow(/^Stdin is not valid UTF-8 text\./u);
    const broken = new Readable({ read: () => void broken.destroy(new Error('EISDIR')) });
    await expect(readStdin(broken, never, () => undefined)).rejects.toThrow(/cannot be read \(EISDIR\)/u);
  });

  it('says that it waits, and gives up with the signal', async () => {
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
});

describe('addStdin', () => {
  const file = (text: string) => async () => ({ ok: true, text }) as const;
  const typed = { text: 'why?' };
  const named = { file: 'task.md' };

  it.each([
    [null, '\n do this\n\n', { text: 'do this' }],
    [typed, ' a diff\n', { text: ' a diff\n\n\nwhy?' }],
    [typed, ' \n', typed],
    [named, 'a diff', { text: 'a diff\n\njudge this\n' }],
    [named, '', named],
  ])('%j with stdin %j is the task %j', async (task, piped, prompt) => {
    expect(await addStdin(task, piped, file('judge this\n'))).toEqual(prompt);
  });

  it('needs a task', async () => {
    await expect(addStdin(null, ' \n', file('x'))).rejects.toThrow(/^No task is given, and nothing came in/u);
    await expect(addStdin(named, 'x', file(' \n'))).rejects.toThrow('It is empty.');
    const missing = async () => ({ ok: false, problem: 'could not read "task.md".' }) as const;
    await expect(addStdin(named, 'x', missing)).rejects.toThrow('could not read "task.md".');
  });
});
