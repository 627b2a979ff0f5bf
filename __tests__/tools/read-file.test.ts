import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createReadFile } from '../../src/tools/read-file.ts';
import { useWorld } from '../sandbox/world.ts';

const world = await useWorld();
const at = (...names: string[]) => join(world.workspace, ...names);

async function read(input: { path: string; offset?: number; limit?: number }, maxOutputBytes = 25_600) {
  const sandbox = await world.open({ mode: 'off' });
  return createReadFile(sandbox, maxOutputBytes).run(input, new AbortController().signal);
}

const five = 'l1\nl2\nl3\nl4\nl5';
const long = `${'x'.repeat(1999)}é`;
it.each<[string, string | Buffer, { offset?: number; limit?: number }, string]>([
  ['numbers the lines of a file', 'one\n\nthree\n', {}, '     1\tone\n     2\t\n     3\tthree'],
  ['hides line breaks and a byte order mark', '\ufeffa\r\nb\r\n', {}, '     1\ta\n     2\tb'],
  ['says that a file is empty', '', {}, '"a.txt" is empty.'],
  [
    'ends a page with the call for the next page',
    five,
    { limit: 2 },
    '     1\tl1\n     2\tl2\n[Lines 1 to 2 of 5. For more: read_file {"path":"a.txt","offset":3}]',
  ],
  ['shows the last page', five, { offset: 3 }, '     3\tl3\n     4\tl4\n     5\tl5'],
  [
    'truncates long lines and says so',
    `${long}${'y'.repeat(100)}\nnext`,
    {},
    `     1\t${long} [… line cut: it has 2100 characters]\n     2\tnext`,
  ],
  [
    'shows control characters as escapes, and replaces what is not UTF-8',
    Buffer.from('a\0b\tc\x1b[31md\x7f \xe9\rf\n', 'latin1'),
    {},
    '     1\ta\u2400b\tc\\x1b[31md\\x7f \ufffd\\x0df',
  ],
])('%s', async (_, file, more, content) => {
  writeFileSync(at('a.txt'), file);
  expect(await read({ path: 'a.txt', ...more })).toEqual({ content, isError: false });
});

it('limits a page to 2,000 lines and to the size of a tool result', async () => {
  writeFileSync(at('many'), 'x\n'.repeat(5000));
  expect((await read({ path: 'many', limit: 4000 })).content).toMatch(
    /\n {2}2000\tx\n\[Lines 1 to 2000 of 5000\. /u,
  );
  const small = await read({ path: 'many' }, 1000);
  expect(small.content).toContain(
    '[Lines 1 to 111 of 5000. For more: read_file {"path":"many","offset":112}]',
  );
});

it('explains an offset beyond the end, a missing file, and a binary one by its name and a NUL', async () => {
  writeFileSync(at('three'), '1\n2\n3\n');
  writeFileSync(at('image.PNG'), 'a\0b');
  writeFileSync(at('text.png'), 'a text');
  const answers = [{ path: 'three', offset: 4 }, { path: 'absent' }, { path: 'image.PNG' }].map((input) =>
    read(input),
  );
  const problems = [
    '"three" has 3 lines to read; offset 4 is beyond its end.',
    '"absent" does not exist. Read its folder with read_file to see what is there.',
    '"image.PNG" is not a text file, so it cannot be read by lines.',
  ];
  expect(await Promise.all(answers)).toEqual(problems.map((content) => ({ content, isError: true })));
  expect((await read({ path: 'text.png' })).content).toBe('     1\ta text');
});

it('says what of a file above 16 MiB can be read', async () => {
  writeFileSync(at('huge'), 'begin\n');
  truncateSync(at('huge'), 40 * 1024 ** 3);
  expect((await read({ path: 'huge', offset: 2 })).content).toMatch(
    /line cut: it has 16777210 characters\]\n\[The file goes on; only its first 16777216 bytes can be read by lines\.\]$/u,
  );
  expect((await read({ path: 'huge', offset: 3 })).content).toBe(
    '"huge" has 2 lines to read; offset 3 is beyond its end.',
  );
});

it('lists a directory with type marks, in pages', async () => {
  mkdirSync(at('dir', 'sub'), { recursive: true });
  writeFileSync(at('dir', 'file'), '');
  writeFileSync(at('dir', 'a\n::error::b'), '');
  symlinkSync('file', at('dir', 'link'));
  expect((await read({ path: 'dir' })).content).toBe(
    '"dir" is a folder. Entries: 4 (/ folder, @ link, ? other)\na\\x0a::error::b\nfile\nlink@\nsub/',
  );
  mkdirSync(at('none'));
  expect((await read({ path: 'none' })).content).toMatch(/^"none" is a folder\. Entries: 0 /u);
  mkdirSync(at('lots'));
  for (let i = 0; i < 300; i += 1) writeFileSync(at('lots', `f${i}`), '');
  expect((await read({ path: 'lots' }, 500)).content).toMatch(/\[\d+ more; list subfolders, /u);
});
