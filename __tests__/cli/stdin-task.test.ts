import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { withStdin } from '../../src/cli/stdin.ts';
import type { Reading } from '../../src/types.ts';
import { PIPED, parseRun, TERMINAL } from './lines.ts';

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
