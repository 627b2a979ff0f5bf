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

it('truncates long lines between characters and says so', async () => {
  writeFileSync(at('long'), `${'x'.repeat(1999)}😀${'y'.repeat(100)}`);
  expect((await read({ path: 'long' })).content).toBe(
    `     1\t${'x'.repeat(1999)} [… line cut: 1999 of 2101 characters shown]`,
  );
});

it('truncates a line that is larger than a whole result', async () => {
  writeFileSync(at('wide'), `${'é'.repeat(1500)}\nnext`);
  const { content } = await read({ path: 'wide' }, 1000);
  expect(Buffer.byteLength(content.split('\n')[0] ?? '')).toBeLessThanOrEqual(1000);
  expect(content).toContain('"offset":2');
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
    content: '"three" has 3 lines; offset 4 is beyond its end.',
    isError: true,
  });
  expect(await read({ path: 'absent' })).toEqual({
    content: '"absent" does not exist. Read its folder with read_file to see what is there.',
    isError: true,
  });
});

it('detects binary files by content, whatever their name', async () => {
  writeFileSync(at('nul.txt'), 'a\0b');
  writeFileSync(at('latin.txt'), Buffer.from([0x61, 0xe9, 0x62]));
  writeFileSync(at('split.bin'), `${'x'.repeat(8191)}é and text`);
  truncateSync(at('empty'), 40 * 1024 ** 3);
  const answers = await Promise.all(['nul.txt', 'latin.txt', 'empty'].map((path) => read({ path })));
  expect(answers.map(({ isError, content }) => [isError, content.includes('not a text file')])).toEqual(
    answers.map(() => [true, true]),
  );
  expect((await read({ path: 'split.bin' })).isError).toBe(false);
});

it('lists a directory with type marks, in pages', async () => {
  mkdirSync(at('dir', 'sub'), { recursive: true });
  writeFileSync(at('dir', 'file'), '');
  writeFileSync(at('dir', 'a\n::error::b'), '');
  symlinkSync('file', at('dir', 'link'));
  expect((await read({ path: 'dir' })).content).toBe(
    '"dir" is a folder with 4 entries (/ folder, @ link, ? other):\n"a\\n::error::b"\nfile\nlink@\nsub/',
  );
  mkdirSync(at('none'));
  expect((await read({ path: 'none' })).content).toBe('"none" is a folder with 0 entries.');
  mkdirSync(at('lots'));
  for (let i = 0; i < 300; i += 1) writeFileSync(at('lots', `f${i}`), '');
  expect((await read({ path: 'lots' }, 500)).content).toMatch(/\[\d+ more; list subfolders, /u);
});
