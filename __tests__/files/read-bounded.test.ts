import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync, truncateSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { decodeUtf8, type ReadBounds, readBounded, readBoundedText } from '../../src/files/read-bounded.ts';
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
    truncateSync(file, 2 ** 40);
    expect(read(file)).toBe('too_large');
  });

  it('follows or refuses a symlink, and returns the real path', () => {
    const { root, write } = make();
    const realPath = write('folder/a.txt', 'text');
    symlinkSync('folder/a.txt', path.join(root, 'link'));
    symlinkSync('folder', path.join(root, 'way'));
    const bytes = Buffer.from('text');
    const bounds = { maxBytes: 4, links: 'refuse' } as const;
    expect(readBounded(path.join(root, 'way', 'a.txt'), bounds)).toEqual({ ok: true, bytes, realPath });
    expect(readBounded(path.join(root, 'link'), { ...bounds, links: 'follow' })).toMatchObject({ realPath });
    expect(read(path.join(root, 'link'), bounds)).toBe('not_regular');
  });

  const ENDLESS = ['/dev/zero', '/dev/tty', '/proc/self/environ', '/proc/kmsg', '/sys/kernel/uevent_seqnum'];
  it.each(ENDLESS)('ends at once when a symlink of the checkout leads to %s', (target) => {
    const { root } = make();
    symlinkSync(target, path.join(root, 'link'));
    // Not every host has all of them.
    expect(read(path.join(root, 'link'))).toBe(existsSync(target) ? 'not_regular' : 'missing');
    expect(read(path.join(root, 'link'), { links: 'refuse' })).toBe('not_regular');
  });

  it('does not block on a pipe, and reads no socket or folder', async () => {
    const { root } = make();
    execFileSync('mkfifo', [path.join(root, 'pipe')]);
    const server = createServer().listen(path.join(root, 'socket'));
    mkdirSync(path.join(root, 'folder'));
    for (const name of ['pipe', 'socket', 'folder']) expect(read(path.join(root, name))).toBe('not_regular');
    await new Promise((done) => server.close(done));
  });

  it('returns a failure for names that cannot be files', () => {
    const { root, write } = make();
    write('file', '');
    symlinkSync('b', path.join(root, 'a'));
    symlinkSync('a', path.join(root, 'b'));
    for (const name of ['nope', 'file/deeper']) expect(read(path.join(root, name))).toBe('missing');
    for (const name of ['a', 'a\0b', 'x'.repeat(5000)])
      expect(read(path.join(root, name))).toBe('unreadable');
    const looped = readBounded(path.join(root, 'a'), { maxBytes: 1, links: 'follow' });
    expect(looped).toMatchObject({ code: 'ELOOP' });
  });
});

it('readBoundedText returns the text of a regular file, and null for everything else', () => {
  const { root, write } = make();
  const file = write('a.txt', 'héllo');
  symlinkSync(file, path.join(root, 'link'));
  expect(readBoundedText(file, 6)).toBe('héllo');
  expect(readBoundedText(file, 5)).toBeNull();
  for (const name of ['link', '.', 'nope']) expect(readBoundedText(path.join(root, name), 100)).toBeNull();
});

it('decodeUtf8 removes a BOM, and returns null for bytes that are not UTF-8', () => {
  expect(decodeUtf8(Buffer.from('\uFEFFä'))).toBe('ä');
  expect(decodeUtf8(Buffer.from([0x22, 0xff]))).toBeNull();
});
