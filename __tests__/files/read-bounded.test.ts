import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync, truncateSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  type ReadBounds,
  readBounded,
  readBoundedStart,
  readBoundedText,
} from '../../src/files/read-bounded.ts';
import { workspaces } from '../reporters/workspace-world.ts';

const make = workspaces();

/** The text of a file, or the reason why it was not read. */
function read(file: string, bounds: Partial<ReadBounds> = {}): string {
  const result = readBounded(file, { maxBytes: 100, links: 'follow', ...bounds });
  return result.ok ? `text ${result.bytes.toString('utf8')}` : result.failure;
}

describe('readBounded', () => {
  it('reads a regular file up to the limit, and not one byte more', () => {
    const { write } = make();
    const file = write('a.txt', 'héllo');
    expect(read(file, { maxBytes: 6 })).toBe('text héllo');
    expect(read(file, { maxBytes: 5 })).toBe('too_large');
    expect(read(write('empty', ''), { maxBytes: 0 })).toBe('text ');
  });

  it('refuses a sparse file of one terabyte by its size', () => {
    const file = make().write('sparse', '');
    truncateSync(file, 2 ** 40);
    expect(read(file)).toBe('too_large');
  });

  it('follows or refuses a symlink, and returns the real path', () => {
    const { root, write } = make();
    const file = write('folder/a.txt', 'text');
    symlinkSync('folder/a.txt', path.join(root, 'link'));
    symlinkSync('folder', path.join(root, 'way'));
    expect(readBounded(path.join(root, 'way', 'a.txt'), { maxBytes: 4, links: 'refuse' })).toEqual({
      ok: true,
      bytes: Buffer.from('text'),
      realPath: file,
    });
    expect(read(path.join(root, 'link'))).toBe('text text');
    expect(read(path.join(root, 'link'), { links: 'refuse' })).toBe('link');
  });

  it('calls refuse with the real path', () => {
    const { root, write } = make();
    const file = write('secret', 'x');
    symlinkSync('secret', path.join(root, 'link'));
    const refuse = (real: string) => (real === file ? 'is secret' : null);
    expect(readBounded(path.join(root, 'link'), { maxBytes: 9, links: 'follow', refuse })).toEqual({
      ok: false,
      failure: 'refused',
      detail: 'is secret',
    });
    expect(read(write('other', 'y'), { refuse })).toBe('text y');
  });

  it.each(['/dev/zero', '/dev/tty', '/proc/self/environ', '/proc/kmsg', '/sys/kernel/uevent_seqnum'])(
    'ends at once when a symlink of the checkout leads to %s',
    (target) => {
      const { root } = make();
      symlinkSync(target, path.join(root, 'link'));
      // Not every host has all of them.
      expect(read(path.join(root, 'link'))).toBe(existsSync(target) ? 'special' : 'missing');
      expect(read(path.join(root, 'link'), { links: 'refuse' })).toBe('link');
    },
  );

  it('does not block on a pipe, and reads no socket or folder', async () => {
    const { root } = make();
    execFileSync('mkfifo', [path.join(root, 'pipe')]);
    const server = createServer().listen(path.join(root, 'socket'));
    mkdirSync(path.join(root, 'folder'));
    const found = ['pipe', 'socket', 'folder'].map((name) => read(path.join(root, name)));
    expect(found).toEqual(['special', 'special', 'folder']);
    await new Promise((done) => server.close(done));
  });

  it('returns a failure for names that cannot be files', () => {
    const { root } = make();
    symlinkSync('b', path.join(root, 'a'));
    symlinkSync('a', path.join(root, 'b'));
    const names = ['nope', 'nope/deeper', 'a', 'a\0b', 'x'.repeat(5000)];
    expect(names.map((name) => read(path.join(root, name)))).toEqual([
      'missing',
      'missing',
      'loop',
      'other',
      'other',
    ]);
  });
});

it('readBoundedText returns the text of a regular file, and null for everything else', () => {
  const { root, write } = make();
  const file = write('a.txt', 'héllo');
  symlinkSync(file, path.join(root, 'link'));
  execFileSync('mkfifo', [path.join(root, 'pipe')]);
  const others = ['link', 'pipe', '.', 'nope'].map((name) => path.join(root, name));
  expect(readBoundedText(file, 6)).toBe('héllo');
  expect([readBoundedText(file, 5), ...others.map((each) => readBoundedText(each, 100))]).toEqual([
    null,
    null,
    null,
    null,
    null,
  ]);
});

it('readBoundedStart returns the beginning and the size of a regular file only', () => {
  const { root, write } = make();
  const file = write('a.txt', 'hello');
  symlinkSync(file, path.join(root, 'link'));
  expect(readBoundedStart(file, 3)).toEqual({
    ok: true,
    bytes: Buffer.from('hel'),
    realPath: file,
    size: 5,
  });
  expect(readBoundedStart(file, 9)).toMatchObject({ bytes: Buffer.from('hello'), size: 5 });
  expect(['link', '.', 'nope'].map((name) => readBoundedStart(path.join(root, name), 3))).toMatchObject([
    { failure: 'link' },
    { failure: 'folder' },
    { failure: 'missing' },
  ]);
});
