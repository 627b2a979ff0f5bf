import { execFileSync } from 'node:child_process';
import { symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { readLines } from '../../../src/commands/report/lines.ts';
import { InputError } from '../../../src/errors.ts';
import { makeFolder } from '../../support/surroundings.ts';

const folder = makeFolder();

function read(content: string | Buffer, maxBytes?: number) {
  const file = path.join(folder, 'file');
  writeFileSync(file, content);
  const lines: (string | null)[] = [];
  const found = readLines(file, 'file', (line) => lines.push(line), maxBytes);
  return { lines, ...found };
}

describe('readLines', () => {
  it.each([
    ['', [], false],
    ['a\n', ['a'], false],
    ['a\n\nb', ['a', '', 'b'], true],
  ])('reads %j', (text, lines, torn) => {
    expect(read(text)).toEqual({ lines, torn, cut: false });
  });

  it('keeps characters that span two chunks, and lines that span several', () => {
    const line = `${'x'.repeat(65_535)}ä${'y'.repeat(200_000)}`;
    expect(read(`${line}\nb\n`)).toEqual({ lines: [line, 'b'], torn: false, cut: false });
  });

  it('ends at the end of the file, whatever the previous chunk contained', () => {
    expect(read(`${'a\n'.repeat(32_768)}b`).lines.slice(32_766)).toEqual(['a', 'a', 'b']);
  });

  it('skips a line of more than 16 MiB and continues', () => {
    const { lines } = read(Buffer.concat([Buffer.alloc(16 * 1024 ** 2 + 1, 120), Buffer.from('\nb\n')]));
    expect(lines).toEqual([null, 'b']);
  });

  it('stops at the limit and reports the cut', () => {
    expect(read('a\n'.repeat(100_000), 65_536)).toMatchObject({ cut: true, torn: false });
  });

  it('refuses a path that is not a file', () => {
    const pipe = path.join(folder, 'missing');
    expect(() => readLines(folder, '"folder"', () => {})).toThrow(InputError);
    expect(() => readLines(pipe, '"missing"', () => {})).toThrow(
      /"missing" cannot be read: there is no such file/,
    );
    expect(() => readLines('/dev/zero', '"zero"', () => {})).toThrow(/"zero" is no file/);
  });

  it('does not block on a pipe in the checkout or a kernel file', () => {
    const pipe = path.join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    symlinkSync('pipe', path.join(folder, 'link'));
    symlinkSync('/proc/kmsg', path.join(folder, 'kmsg'));
    symlinkSync('/dev/stdin', path.join(folder, 'stdin'));
    for (const name of ['pipe', 'link', 'kmsg', 'stdin'])
      expect(() => readLines(path.join(folder, name), name, () => {})).toThrow(/is no file|cannot be read/);
  });

  it('reads a pipe created by a shell', () => {
    const source = path.join(import.meta.dirname, '../../..', 'src', 'commands', 'report', 'lines.ts');
    const script = `import { readLines } from ${JSON.stringify(source)}; readLines(process.argv[1], 'p', (line) => console.log(line))`;
    const command = `"$0" --input-type=module -e "$1" <(printf 'a\\nb\\n')`;
    const output = execFileSync('bash', ['-c', command, process.execPath, script], { encoding: 'utf8' });
    expect(output).toBe('a\nb\n');
  });
});
