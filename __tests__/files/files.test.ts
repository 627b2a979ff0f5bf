/** Files of this machine whose paths a checkout can choose or replace: read within bounds, and written for the owner only. */
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { appendWithoutWaiting, openPrivateLog, writePrivateFile } from '../../src/files/private-file.ts';
import { decodeUtf8, type ReadBounds, readBounded, readBoundedText } from '../../src/files/read-bounded.ts';
import { workspaces } from '../reporters/workspace-world.ts';

const make = workspaces();
let folder = make();
beforeEach(() => {
  folder = make();
});
const at = (name: string) => path.join(folder.root, name);
const put = (name: string, text: string) => folder.write(name, text);
const textOf = (name: string) => fs.readFileSync(at(name), 'utf8');
const namesIn = (name: string) => fs.readdirSync(at(name));
const makePipe = (name: string) => void execFileSync('mkfifo', [at(name)]);

/** The text of a file, or the reason why it was not read. */
function read(name: string, bounds: Partial<ReadBounds> = {}): string {
  const result = readBounded(at(name), { maxBytes: 100, links: 'follow', ...bounds });
  return result.ok ? `text ${result.bytes.toString('utf8')}` : result.failure;
}

describe('readBounded', () => {
  it('reads a regular file up to the limit, and not one byte more', () => {
    const file = put('a.txt', 'héllo');
    expect(read('a.txt', { maxBytes: 6 })).toBe('text héllo');
    expect(read('a.txt', { maxBytes: 5 })).toBe('too_large');
    put('empty', '');
    expect(read('empty', { maxBytes: 0 })).toBe('text ');
    fs.truncateSync(file, 2 ** 40);
    expect(read('a.txt')).toBe('too_large');
  });

  it('follows or refuses a symlink, and returns the real path', () => {
    const realPath = put('folder/a.txt', 'text');
    fs.symlinkSync('folder/a.txt', at('link'));
    fs.symlinkSync('folder', at('way'));
    const bytes = Buffer.from('text');
    const bounds = { maxBytes: 4, links: 'refuse' } as const;
    expect(readBounded(at('way/a.txt'), bounds)).toEqual({ ok: true, bytes, realPath });
    expect(readBounded(at('link'), { ...bounds, links: 'follow' })).toMatchObject({ realPath });
    expect(read('link', bounds)).toBe('not_regular');
  });

  const ENDLESS = ['/dev/zero', '/dev/tty', '/proc/self/environ', '/proc/kmsg', '/sys/kernel/uevent_seqnum'];
  it.each(ENDLESS)('ends at once when a symlink of the checkout leads to %s', (target) => {
    fs.symlinkSync(target, at('link'));
    // Not every host has all of them.
    expect(read('link')).toBe(fs.existsSync(target) ? 'not_regular' : 'missing');
    expect(read('link', { links: 'refuse' })).toBe('not_regular');
  });

  it('does not block on a pipe, and reads no socket or folder', async () => {
    makePipe('pipe');
    const server = createServer().listen(at('socket'));
    fs.mkdirSync(at('folder'));
    for (const name of ['pipe', 'socket', 'folder']) expect(read(name)).toBe('not_regular');
    await new Promise((done) => server.close(done));
  });

  it('returns a failure for names that cannot be files', () => {
    put('file', '');
    fs.symlinkSync('b', at('a'));
    fs.symlinkSync('a', at('b'));
    for (const name of ['nope', 'file/deeper']) expect(read(name)).toBe('missing');
    for (const name of ['a', 'a\0b', 'x'.repeat(5000)]) expect(read(name)).toBe('unreadable');
    expect(readBounded(at('a'), { maxBytes: 1, links: 'follow' })).toMatchObject({ code: 'ELOOP' });
  });
});

it('readBoundedText returns the text of a regular file, and null for everything else', () => {
  const file = put('a.txt', 'héllo');
  fs.symlinkSync(file, at('link'));
  expect(readBoundedText(file, 6)).toBe('héllo');
  expect(readBoundedText(file, 5)).toBeNull();
  for (const name of ['link', '.', 'nope']) expect(readBoundedText(at(name), 100)).toBeNull();
});

it('decodeUtf8 removes a BOM, and returns null for bytes that are not UTF-8', () => {
  expect(decodeUtf8(Buffer.from('\uFEFFä'))).toBe('ä');
  expect(decodeUtf8(Buffer.from([0x22, 0xff]))).toBeNull();
});

const WAYS: readonly (readonly [string, (file: string) => void])[] = [
  ['writePrivateFile', (file) => writePrivateFile(file, 'text\n')],
  ['openPrivateLog', (file) => openPrivateLog(file)('text')],
];

describe.each(WAYS)('%s', (_, write) => {
  const expectPrivate = (name: string) => {
    expect([textOf(name), fs.statSync(at(name)).mode & 0o777]).toEqual(['text\n', 0o600]);
  };

  it('creates the file and its folder for the owner only', () => {
    write(at('new/file'));
    expectPrivate('new/file');
    expect(namesIn('new')).toEqual(['file']);
  });

  it.each<[string, () => void]>([
    ['a file', () => void put('file', 'old text')],
    ['a symlink', () => fs.symlinkSync(at('precious'), at('file'))],
    ['a hard link', () => fs.linkSync(at('precious'), at('file'))],
    ['a dangling symlink', () => fs.symlinkSync(at('gone'), at('file'))],
    ['a pipe', () => makePipe('file')],
  ])('replaces %s, and leaves what it leads to unchanged', (_, makeFile) => {
    put('precious', 'precious');
    makeFile();
    write(at('file'));
    expectPrivate('file');
    expect([textOf('precious'), namesIn('.')]).toEqual(['precious', ['file', 'precious']]);
  });

  it('refuses a folder that became a symlink, at any depth, and creates nothing behind it', () => {
    fs.mkdirSync(at('elsewhere'));
    fs.symlinkSync(at('elsewhere'), at('out'));
    fs.symlinkSync(at('gone'), at('dangling'));
    for (const name of ['out/file', 'out/inner/file']) expect(() => write(at(name))).toThrow('symbolic link');
    expect(() => write(at('dangling/file'))).toThrow();
    expect([namesIn('elsewhere'), namesIn('.')]).toEqual([[], ['dangling', 'elsewhere', 'out']]);
  });

  it('fails at a folder, and leaves nothing behind', () => {
    fs.mkdirSync(at('file/full'), { recursive: true });
    expect(() => write(at('file'))).toThrow();
    expect([namesIn('.'), namesIn('file')]).toEqual([['file'], ['full']]);
  });
});

it('a log keeps writing to its file if the path is replaced', () => {
  const append = openPrivateLog(at('log'));
  append('one');
  fs.renameSync(at('log'), at('moved'));
  put('log', 'other');
  append('two');
  expect([textOf('moved'), textOf('log')]).toEqual(['one\ntwo\n', 'other']);
});

it('appendWithoutWaiting keeps what a file holds, and does not wait for the reader of a pipe', () => {
  put('file', 'one\n');
  appendWithoutWaiting(at('file'), 'two\n');
  expect(textOf('file')).toBe('one\ntwo\n');
  makePipe('pipe');
  expect(() => appendWithoutWaiting(at('pipe'), 'x')).toThrow('ENXIO');
});
