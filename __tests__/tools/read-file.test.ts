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

it('numbers the lines and does not count the last line break as a line', async () => {
  writeFileSync(at('a'), 'one\n\nthree\n');
  expect(await read({ path: 'a' })).toEqual({
    content: '     1\tone\n     2\t\n     3\tthree',
    isError: false,
  });
});

it('ends a page with the call for the next page', async () => {
  writeFileSync(at('pages'), Array.from({ length: 5 }, (_, i) => `l${i + 1}`).join('\n'));
  const first = await read({ path: 'pages', limit: 2 });
  expect(first.content).toBe(
    '     1\tl1\n     2\tl2\n[Lines 1 to 2 of 5. For more: read_file {"path":"pages","offset":3}]',
  );
  expect((await read({ path: 'pages', offset: 3 })).content).toBe('     3\tl3\n     4\tl4\n     5\tl5');
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

it('truncates long lines and says so', async () => {
  writeFileSync(at('long'), `${'x'.repeat(1999)}é${'y'.repeat(100)}\nnext`);
  expect((await read({ path: 'long' })).content).toBe(
    `     1\t${'x'.repeat(1999)}é [… line cut: it has 2100 characters]\n     2\tnext`,
  );
});

it('hides line breaks and a byte order mark', async () => {
  writeFileSync(at('win'), '\ufeffa\r\nb\r\n');
  expect((await read({ path: 'win' })).content).toBe('     1\ta\n     2\tb');
});

it('explains an empty file, an offset beyond the end and a missing file', async () => {
  writeFileSync(at('empty'), '');
  writeFileSync(at('three'), '1\n2\n3\n');
  expect(await read({ path: 'empty' })).toEqual({ content: '"empty" is empty.', isError: false });
  expect(await read({ path: 'three', offset: 4 })).toEqual({
    content: '"three" has 3 lines to read; offset 4 is beyond its end.',
    isError: true,
  });
  expect(await read({ path: 'absent' })).toEqual({
    content: '"absent" does not exist. Read its folder with read_file to see what is there.',
    isError: true,
  });
});

it('shows control characters as escapes, and replaces what is not UTF-8', async () => {
  writeFileSync(at('odd.txt'), Buffer.from('a\0b\tc\x1b[31md\x7f \xe9\rf\n', 'latin1'));
  expect((await read({ path: 'odd.txt' })).content).toBe('     1\ta\u2400b\tc\\x1b[31md\\x7f \ufffd\\x0df');
});

it('refuses a file with a NUL and the name of a binary file', async () => {
  writeFileSync(at('image.PNG'), 'a\0b');
  writeFileSync(at('text.png'), 'a text');
  expect(await read({ path: 'image.PNG' })).toEqual({
    content: '"image.PNG" is not a text file, so it cannot be read by lines.',
    isError: true,
  });
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
