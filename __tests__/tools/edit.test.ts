import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createEdit, replaceText } from '../../src/tools/edit.ts';
import { useWorld } from '../sandbox/world.ts';

const world = await useWorld();
const tool = createEdit(await world.open({ mode: 'off' }));
const at = (name: string) => join(world.workspace, name);

function edit(path: string, before: string, after: string, all?: boolean) {
  const more = all === undefined ? {} : { replace_all: all };
  return tool.run({ path, old_string: before, new_string: after, ...more }, new AbortController().signal);
}

async function edited(content: string, before: string, after: string, all?: boolean) {
  writeFileSync(at('f'), content);
  const answer = await edit('f', before, after, all);
  return { ...answer, file: readFileSync(at('f'), 'utf8') };
}

it.each([
  [
    'one exact match literally',
    'a\nb\nc\n',
    'b',
    '$& $1 \\n',
    false,
    '1 replacement, at line 2',
    'a\n$& $1 \\n\nc\n',
  ],
  [
    'every match with replace_all',
    'x y x\nx',
    'x',
    'xx',
    true,
    '3 replacements, at lines 1, 1, 2',
    'xx y xx\nxx',
  ],
])('replaces %s', async (_, content, before, after, all, says, file) => {
  const answer = await edited(content, before, after, all);
  expect(answer).toEqual({ content: `Changed "f": ${says}.`, isError: false, file });
});

it('lists the lines of several matches, and changes nothing', async () => {
  expect(await edited('x\ny\nx\n', 'x', 'z')).toEqual({
    content:
      '"f" was not changed: old_string occurs 2 times, at lines 1, 3. Add more of the surrounding text so that it fits one place only, or set replace_all to true.',
    isError: true,
    file: 'x\ny\nx\n',
  });
  const many = await edited('x\n'.repeat(12), 'x', 'z');
  expect(many.content).toContain('occurs 12 times, at lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …. Add');
});

it('without a match, names the line where the first line of old_string occurs', async () => {
  expect((await edited('if (a) {\n\treturn 1;\n}\n', '  return 1;\n}', 'x')).content).toBe(
    '"f" was not changed: old_string does not occur in it. Its first line occurs at line 2, but what follows or the white space differs. Read the file again and copy the text exactly.',
  );
  expect((await edited('abc', 'nowhere', 'x')).content).toContain('Nor does its first line.');
});

it('keeps CRLF for either line break in the arguments', async () => {
  expect((await edited('a\r\nb\r\nc\r\n', 'a\nb', 'x\ny')).file).toBe('x\r\ny\r\nc\r\n');
  expect((await edited('a\r\nb\r\n', 'a\r\nb', 'x')).file).toBe('x\r\n');
  expect((await edited('a\nb\n', 'a\r\nb', 'x\r\ny')).file).toBe('x\ny\n');
  expect((await edited('a\r\nb\nc\n', 'a\nb', 'x\ny')).file).toBe('x\r\ny\nc\n');
  expect((await edited('a\r\nb\nc\n', 'b\nc', 'x\ny')).file).toBe('a\r\nx\ny\n');
});

it('keeps a byte order mark and the mode', async () => {
  writeFileSync(at('bom.sh'), '\ufeffecho a\n');
  chmodSync(at('bom.sh'), 0o755);
  await edit('bom.sh', 'echo a', 'echo b');
  expect(readFileSync(at('bom.sh'), 'utf8')).toBe('\ufeffecho b\n');
  expect(statSync(at('bom.sh')).mode & 0o777).toBe(0o755);
});

it('with an empty old_string creates a file or fills an empty one, but changes no other', async () => {
  const created = { content: 'Created "made/new.txt".', isError: false };
  expect(await edit('made/new.txt', '', 'hi\n')).toEqual(created);
  expect(readFileSync(at('made/new.txt'), 'utf8')).toBe('hi\n');
  writeFileSync(at('blank'), '');
  expect((await edit('blank', '', 'x')).isError).toBe(false);
  expect(await edited('full', '', 'x')).toMatchObject({ isError: true, file: 'full' });
});

it('explains a missing file, a directory, a binary file and equal strings', async () => {
  mkdirSync(at('folder'));
  writeFileSync(at('bin'), Buffer.from([0xff, 0xfe, 0x61]));
  const answers = [
    await edit('missing', 'a', 'b'),
    await edit('folder', 'a', 'b'),
    await edit('bin', 'a', 'b'),
    await edited('a', 'a', 'a'),
  ];
  expect(answers.map(({ isError }) => isError)).toEqual([true, true, true, true]);
  expect(answers[0]?.content).toContain('To create it, call edit with an empty old_string');
  expect(existsSync(at('missing'))).toBe(false);
  expect(readFileSync(at('bin'))).toEqual(Buffer.from([0xff, 0xfe, 0x61]));
});

it('rejects a file above the size limit', async () => {
  writeFileSync(at('large'), 'begin');
  truncateSync(at('large'), 4 * 1024 * 1024 + 1);
  expect(await edit('large', 'begin', 'end')).toEqual({
    content: '"large" is larger than 4194304 bytes. Change it with a command in the shell.',
    isError: true,
  });
  expect(statSync(at('large')).size).toBe(4 * 1024 * 1024 + 1);
});

it('rejects what would make a file too large, or take too long to find', () => {
  const bytes = Buffer.from('y'.repeat(1024 * 1024));
  expect(replaceText(bytes, 'y', 'z'.repeat(1000), true)).toEqual({
    ok: false,
    problem: 'with this edit it would be larger than 4194304 bytes. Change it with a command in the shell.',
  });
  const half = 'y'.repeat(100_000);
  const slow = replaceText(bytes, `${half}z${half}`, 'x', false);
  expect(slow).toMatchObject({ problem: expect.stringContaining('too long for a file of this size') });
});

it('finds the same matches as indexOf', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b') });
  const part = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(text, part, (whole, old) => {
      const all = replaceText(Buffer.from(whole), old, 'c', true);
      const occurs = whole.includes(old);
      expect(all.ok ? all.text : null).toBe(occurs ? whole.replaceAll(old, 'c') : null);
      let places = 0;
      for (let at = whole.indexOf(old); at >= 0; at = whole.indexOf(old, at + 1)) places += 1;
      const one = replaceText(Buffer.from(whole), old, 'c', false);
      expect(one.ok ? 1 : Number(/occurs (\d+) times/u.exec(one.problem)?.[1] ?? 0)).toBe(places);
    }),
  );
});
