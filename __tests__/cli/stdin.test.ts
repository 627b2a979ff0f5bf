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

describe('stdin', () => {
  it('is read whole, however it is cut into chunks', async () => {
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

  it('loses its BOM', async () => {
    expect(await readStdin(Readable.from([Buffer.from('\ufeffa')]), limits())).toBe('a');
  });

  it('of one byte too much is refused, never cut', async () => {
    const exactly = Buffer.alloc(1024 * 1024, 'a');
    expect(await readStdin(Readable.from([exactly]), limits())).toHaveLength(1024 * 1024);
    await expect(readStdin(Readable.from([exactly, Buffer.from('b')]), limits())).rejects.toThrow(
      /^Stdin is larger than 1 MiB\./u,
    );
  });

  it('that is no text is refused', async () => {
    await expect(readStdin(Readable.from([Buffer.from([0x61, 0xff])]), limits())).rejects.toThrow(
      /^Stdin is not valid UTF-8 text\./u,
    );
  });

  it('that stays open is told of once, and ends with the signal', async () => {
    const stop = new AbortController();
    let told = 0;
    const onWait = () => {
      told += 1;
      stop.abort();
    };
    const open = new PassThrough();
    await expect(readStdin(open, limits({ noticeAfterMs: 1, onWait, signal: stop.signal }))).rejects.toThrow(
      /^Stdin is open and does not end\./u,
    );
    expect([told, open.destroyed]).toEqual([1, true]);
  });

  it('that fails is refused with the code of the system', async () => {
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

describe('stdin', () => {
  it('is the task without the blanks around it', async () => {
    expect(await prompt([], '\n do this\n\n')).toEqual({ prompt: 'do this', file: undefined });
  });

  it.each(['', ' \n\t'])('of %j is no task', async (stdin) => {
    await expect(prompt([], stdin)).rejects.toThrow(
      /^No task is given, and nothing came in on stdin\. Write -p/u,
    );
  });

  it('goes before the task as it is, an empty line between', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: 'grapheme' }).filter((text) => text.trim() !== ''),
        async (piped) => {
          expect((await prompt(['-p', 'why?'], piped)).prompt).toBe(`${piped}\n\nwhy?`);
        },
      ),
    );
  });

  it('goes before the task of a file', async () => {
    expect(await prompt(['--prompt-file', 'task.md'], 'a diff', file('judge this\n'))).toEqual({
      prompt: 'a diff\n\njudge this\n',
      file: undefined,
    });
  });

  it('of blanks changes nothing, and the file of the task is left to the run', async () => {
    expect(await prompt(['-p', 'why?'], '\n')).toEqual({ prompt: 'why?', file: undefined });
    expect(await prompt(['--prompt-file', 'task.md'], '')).toEqual({ prompt: undefined, file: 'task.md' });
  });

  it('on a terminal is not read', async () => {
    const command = parseRun(['-p', 'x'], TERMINAL);
    expect(await withStdin(command, { stdin: unread, file: unread })).toBe(command.inputs);
  });

  it('beside a file that cannot be read, or is empty, is refused by the flag', async () => {
    const problem = async (): Promise<Reading> => ({ ok: false, problem: 'could not read "task.md".' });
    await expect(prompt(['--prompt-file', 'task.md'], 'x', problem)).rejects.toThrow(
      '--prompt-file: could not read "task.md".',
    );
    await expect(prompt(['--prompt-file', 'task.md'], 'x', file(' \n'))).rejects.toThrow(
      'The file of --prompt-file is empty.',
    );
  });
});
