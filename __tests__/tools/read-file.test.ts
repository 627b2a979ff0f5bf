import { expect, it } from 'vitest';
import { type DirectoryEntry, type FileView, MissingError } from '../../src/sandbox/sandbox.ts';
import { createReadFile } from '../../src/tools/read-file.ts';

type Input = { readonly path?: string; readonly offset?: number; readonly limit?: number };
type There = string | Buffer | readonly DirectoryEntry[] | null;

/** Reads what is in a sandbox: a text, bytes, the entries of a folder, or nothing. */
async function read(there: There, input: Input = {}, most = 25_600) {
  const sandbox = {
    async read(path: string, maxBytes: number): Promise<FileView> {
      if (there === null) throw new MissingError(`"${path}" does not exist.`);
      if (typeof there === 'object' && !Buffer.isBuffer(there)) return { kind: 'directory', entries: there };
      const bytes = Buffer.from(there);
      return { kind: 'file', bytes: bytes.subarray(0, maxBytes), truncated: bytes.length > maxBytes };
    },
  };
  return createReadFile(sandbox, most).run({ path: 'a.txt', ...input }, new AbortController().signal);
}

const five = 'l1\nl2\nl3\nl4\nl5';
const MORE = '[Lines 1 to 2 of 5. For more: read_file {"path":"a.txt","offset":3}]';
const long = `${'x'.repeat(1999)}é`;
const CUT = '[… line cut: it has 2002 characters]';
const odd = Buffer.from('a\0\tc\x1b[31md\x7f \xe9\rf\n', 'latin1');
it.each<[string, string | Buffer, Input, string]>([
  ['numbers the lines of a file', 'one\n\nthree\n', {}, '     1\tone\n     2\t\n     3\tthree'],
  ['hides line breaks and a byte order mark', '\ufeffa\r\nb\r\n', {}, '     1\ta\n     2\tb'],
  ['says that a file is empty', '', {}, '"a.txt" is empty.'],
  ['ends a page with the call for the next page', five, { limit: 2 }, `     1\tl1\n     2\tl2\n${MORE}`],
  ['shows the last page', five, { offset: 3 }, '     3\tl3\n     4\tl4\n     5\tl5'],
  ['truncates a long line', `${long}yy\nz`, {}, `     1\t${long} ${CUT}\n     2\tz`],
  ['shows controls, and what is not UTF-8', odd, {}, '     1\ta\u2400\tc\\x1b[31md\\x7f \ufffd\\x0df'],
  ['reads a text with the name of a binary file', 'a text', { path: 'text.png' }, '     1\ta text'],
])('%s', async (_, file, input, content) => {
  expect(await read(file, input)).toEqual({ content, isError: false });
});

const many = 'x\n'.repeat(5000);
const huge = `begin\n${'x'.repeat(16 * 1024 ** 2)}`;
const REST = /\n\[The file goes on; only its first 16777216 bytes can be read by lines\.\]$/u;
it.each<[string, string, Input, number | undefined, RegExp]>([
  ['2,000 lines', many, { limit: 4000 }, undefined, /\n {2}2000\tx\n\[Lines 1 to 2000 of 5000\. /u],
  ['the size of a tool result', many, {}, 1000, /\[Lines 1 to 111 of 5000\. For more: /u],
  ['the first 16 MiB of a file', huge, {}, undefined, REST],
])('limits a page to %s', async (_, file, input, most, says) => {
  expect((await read(file, input, most)).content).toMatch(says);
});

it.each<[string | null, Input, string]>([
  ['1\n2\n3\n', { offset: 4 }, '"a.txt" has 3 lines to read; offset 4 is beyond its end.'],
  [null, {}, '"a.txt" does not exist. Read its folder with read_file to see what is there.'],
  ['a\0b', { path: 'i.PNG' }, '"i.PNG" is not a text file, so it cannot be read by lines.'],
])('explains what cannot be read of %j with %j', async (file, input, content) => {
  expect(await read(file, input)).toEqual({ content, isError: true });
});

it('lists a folder with type marks, in pages', async () => {
  const entries = [
    { name: 'a\n::error::b', mark: '' },
    { name: 'link', mark: '@' },
    { name: 'sub', mark: '/' },
  ];
  expect((await read(entries)).content).toBe(
    '"a.txt" is a folder. Entries: 3 (/ folder, @ link, ? other)\na\\x0a::error::b\nlink@\nsub/',
  );
  expect((await read([])).content).toMatch(/^"a\.txt" is a folder\. Entries: 0 /u);
  const lots = Array.from({ length: 300 }, (_, at) => ({ name: `f${at}`, mark: '' }));
  expect((await read(lots, {}, 500)).content).toMatch(/\[\d+ more; list subfolders, /u);
});
