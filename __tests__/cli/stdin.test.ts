import { PassThrough, Readable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readStdin, type StdinLimits, withStdin } from '../../src/cli/stdin.ts';
import type { Reading } from '../../src/types.ts';
import { PIPED, parseRun, TERMINAL } from './lines.ts';

const limits = (more: Partial<StdinLimits> = {}): StdinLimits => ({
  maxBytes: 1024 * 1024,
  noticeAfterMs: 60_000,
  onWait: () => {
    throw new Error('noticed');
  },
  signal: new AbortController().signal,
  ...more,
});

describe('readStdin', () => {
  it('reads all of stdin, however it is split into chunks', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: 'grapheme', minLength: 1, maxLength: 50 }),
        fc.integer({ min: 1, max: 5 }),
        async (text, size) => {
          const bytes = Buffer.from(`-${text}`);
          const chunks: Buffer[] = [];
          for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size));
          expect(await readStdin(Readable.from(chunks), limits())).toBe(`-${text}`);
        },
      ),
      { numRuns: 50 },
    );
    expect(await readStdin(Readable.from([]), limits())).toBe('');
  });

  it('removes a BOM', async () => {
    expect(await readStdin(Readable.from([Buffer.from('\ufeffa')]), limits())).toBe('a');
  });

  it('rejects stdin one byte over the limit, and never truncates it', async () => {
    const exactly = Buffer.alloc(1024 * 1024, 'a');
    expect(await readStdin(Readable.from([exactly]), limits())).toHaveLength(1024 * 1024);
    await expect(readStdin(Readable.from([exactly, Buffer.from('b')]), limits())).rejects.toThrow(
      /^Stdin is larger than 1 MiB\./u,
    );
  });

  it('rejects stdin that is not valid UTF-8', async () => {
    await expect(readStdin(Readable.from([Buffer.from([0x61, 0xff])]), limits())).rejects.toThrow(
      /^Stdin is not valid UTF-8 text\./u,
    );
  });

  it('notifies once when stdin stays open, and rejects when the signal aborts', async () => {
    const stop = new AbortController();
    let notices = 0;
    const onWait = () => {
      notices += 1;
      stop.abort();
    };
    const open = new PassThrough();
    await expect(readStdin(open, limits({ noticeAfterMs: 1, onWait, signal: stop.signal }))).rejects.toThrow(
      /^Stdin is open and does not end\./u,
    );
    expect([notices, open.destroyed]).toEqual([1, true]);
  });

  it('rejects with the system error code when stdin fails', async () => {
    const broken = new Readable({
      read() {
        this.destroy(Object.assign(new Error('x'), { code: 'EISDIR' }));
      },
    });
    await expect(readStdin(broken, limits())).rejects.toThrow(/^Stdin cannot be read \(EISDIR\)\./u);
  });
});

const file = (text: string) => async (): Promise<Reading> => ({ ok: true, text });
const unread = async (): Promise<never> => {
  throw new Error('read');
};

async function prompt(argv: readonly string[], stdin: string, read = unread as () => Promise<Reading>) {
  const inputs = await withStdin(parseRun(argv, PIPED), { stdin: async () => stdin, file: read });
  return { prompt: inputs.get('prompt'), file: inputs.get('prompt-file') };
}

describe('withStdin', () => {
  it('trims the task that comes from stdin', async () => {
    expect(await prompt([], '\n do this\n\n')).toEqual({ prompt: 'do this', file: undefined });
  });

  it.each(['', ' \n\t'])('rejects stdin of %j: no task is given', async (stdin) => {
    await expect(prompt([], stdin)).rejects.toThrow(
      /^No task is given, and nothing came in on stdin\. Write -p/u,
    );
  });

  it('puts stdin before the task unchanged, with an empty line between', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: 'grapheme' }).filter((text) => text.trim() !== ''),
        async (piped) => {
          expect((await prompt(['-p', 'why?'], piped)).prompt).toBe(`${piped}\n\nwhy?`);
        },
      ),
    );
  });

  it('puts stdin before the task from a file', async () => {
    expect(await prompt(['--prompt-file', 'task.md'], 'a diff', file('judge this\n'))).toEqual({
      prompt: 'a diff\n\njudge this\n',
      file: undefined,
    });
  });

  it('ignores blank stdin, and leaves the prompt file to the run', async () => {
    expect(await prompt(['-p', 'why?'], '\n')).toEqual({ prompt: 'why?', file: undefined });
    expect(await prompt(['--prompt-file', 'task.md'], '')).toEqual({ prompt: undefined, file: 'task.md' });
  });

  it('does not read stdin on a terminal', async () => {
    const command = parseRun(['-p', 'x'], TERMINAL);
    expect(await withStdin(command, { stdin: unread, file: unread })).toBe(command.inputs);
  });

  it('rejects an unreadable or empty prompt file and names the flag', async () => {
    const problem = async (): Promise<Reading> => ({ ok: false, problem: 'could not read "task.md".' });
    await expect(prompt(['--prompt-file', 'task.md'], 'x', problem)).rejects.toThrow(
      'could not read "task.md".',
    );
    await expect(prompt(['--prompt-file', 'task.md'], 'x', file(' \n'))).rejects.toThrow('It is empty.');
  });
});
