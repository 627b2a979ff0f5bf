import { beforeEach, expect, it } from 'vitest';
import { type FileView, MissingError } from '../../src/sandbox/sandbox.ts';
import { createEdit, replaceText } from '../../src/tools/edit.ts';

/** The files by path. A folder ends with a slash. */
const files = new Map<string, Buffer>();
beforeEach(() => files.clear());

const tool = createEdit({
  async read(path, maxBytes): Promise<FileView> {
    if (path.endsWith('/')) return { kind: 'directory', entries: [] };
    const bytes = files.get(path);
    if (bytes === undefined) throw new MissingError(`${path} is missing.`);
    return { kind: 'file', bytes: bytes.subarray(0, maxBytes), truncated: bytes.length > maxBytes };
  },
  write: async (path, bytes) => void files.set(path, bytes),
});

/** Edits a file that holds something, if it is there; returns the answer and what the file holds then. */
async function edit(path: string, held: string | Buffer | null, before: string, after: string, all = false) {
  if (held !== null) files.set(path, Buffer.from(held));
  const input = { path, old_string: before, new_string: after, ...(all ? { replace_all: true } : {}) };
  const answer = await tool.run(input, new AbortController().signal);
  return { ...answer, file: files.get(path)?.toString() };
}

it.each([
  ['one match literally', 'a\nb\n', 'b', '$& $1 \\n', false, '1 replacement, at line 2', 'a\n$& $1 \\n\n'],
  ['every match', 'x x\nx', 'x', 'xx', true, '3 replacements, at lines 1, 1, 2', 'xx xx\nxx'],
  ['text behind a byte order mark', '\ufeffa', 'a', 'b', false, '1 replacement, at line 1', '\ufeffb'],
])('replaces %s', async (_, content, before, after, all, says, file) => {
  const answer = await edit('f', content, before, after, all);
  expect(answer).toEqual({ content: `Changed "f": ${says}.`, isError: false, file });
});

it.each([
  ['a\r\nb\r\nc\r\n', 'a\nb', 'x\ny', 'x\r\ny\r\nc\r\n'],
  ['a\r\nb\r\n', 'a\r\nb', 'x', 'x\r\n'],
  ['a\nb\n', 'a\r\nb', 'x\r\ny', 'x\ny\n'],
  ['a\r\nb\nc\n', 'a\nb', 'x\ny', 'x\r\ny\nc\n'],
  ['a\r\nb\nc\n', 'b\nc', 'x\ny', 'a\r\nx\ny\n'],
])('keeps the line breaks of %j, whatever %j has', async (content, before, after, file) => {
  expect((await edit('f', content, before, after)).file).toBe(file);
});

it.each([
  ['new', null, 'Created "new".'],
  ['blank', '', 'Created "blank".'],
])('with an empty old_string creates a file or fills an empty one: %s', async (path, content, says) => {
  expect(await edit(path, content, '', 'hi\n')).toEqual({ content: says, isError: false, file: 'hi\n' });
});

const many = 'x\n'.repeat(12);
const large = Buffer.alloc(4 * 1024 * 1024 + 1, 'x');
const SHELL = 'Change it with a command in the shell.';
it.each<[what: string, path: string, content: string | Buffer | null, before: string, says: string]>([
  ['several matches', 'f', 'x\ny\nx\n', 'x', 'occurs 2 times, at lines 1, 3. Add more of the surrounding'],
  ['overlapping matches', 'f', 'aaa', 'aa', 'occurs 2 times, at lines 1, 1.'],
  ['many matches', 'f', many, 'x', 'occurs 12 times, at lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …. Add'],
  ['other white space', 'f', 'if {\n\tb;\n}\n', '  b;\n}', 'first line occurs at line 2, but what follows'],
  ['no match', 'f', 'abc', 'nowhere', 'old_string does not occur in it. Nor does its first line. Read'],
  ['equal strings', 'f', 'b', 'b', 'old_string and new_string are the same'],
  ['a file that is not empty', 'f', 'full', '', 'exists and is not empty. Give the exact text to replace'],
  ['a missing file', 'none', null, 'a', 'does not exist. To create it, call edit with an empty old_string'],
  ['a folder', 'folder/', null, 'a', 'is a folder. Name a file in it.'],
  ['a binary file', 'f', Buffer.from([0xff, 0xfe, 0x61]), 'a', `it is not a UTF-8 text file. ${SHELL}`],
  ['a large file', 'f', large, 'x', `is larger than 4194304 bytes. ${SHELL}`],
])('explains %s, and changes nothing', async (_, path, content, before, says) => {
  const answer = await edit(path, content, before, 'b');
  expect(answer).toMatchObject({ isError: true, content: expect.stringContaining(says) });
  expect(answer.file).toBe(content?.toString());
});

it('rejects what would make a file too large, or take too long to find', () => {
  const bytes = Buffer.from('y'.repeat(1024 * 1024));
  expect(replaceText(bytes, 'y', 'z'.repeat(1000), true)).toEqual({
    ok: false,
    problem: `with this edit it would be larger than 4194304 bytes. ${SHELL}`,
  });
  const half = 'y'.repeat(100_000);
  const slow = replaceText(bytes, `${half}z${half}`, 'x', false);
  expect(slow).toMatchObject({ problem: expect.stringContaining('too long for a file of this size') });
});
