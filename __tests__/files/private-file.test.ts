import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { appendWithoutWaiting, openPrivateLog, writePrivateFile } from '../../src/files/private-file.ts';
import { workspaces } from '../reporters/workspace-world.ts';

const make = workspaces();
let folder = make();
beforeEach(() => {
  folder = make();
});
const at = (name: string) => path.join(folder.root, name);
const textOf = (name: string) => readFileSync(at(name), 'utf8');
const namesIn = (name: string) => readdirSync(at(name));

const WAYS: readonly (readonly [string, (file: string) => void])[] = [
  ['writePrivateFile', (file) => writePrivateFile(file, 'text\n')],
  ['openPrivateLog', (file) => openPrivateLog(file)('text')],
];

describe.each(WAYS)('%s', (_, write) => {
  const expectPrivate = (name: string) => {
    expect([textOf(name), statSync(at(name)).mode & 0o777]).toEqual(['text\n', 0o600]);
  };

  it('creates the file and its folder for the owner only', () => {
    write(at('new/file'));
    expectPrivate('new/file');
    expect(namesIn('new')).toEqual(['file']);
  });

  it.each<[string, () => void]>([
    ['a file', () => void folder.write('file', 'old text')],
    ['a symlink', () => symlinkSync(at('precious'), at('file'))],
    ['a hard link', () => linkSync(at('precious'), at('file'))],
    ['a dangling symlink', () => symlinkSync(at('gone'), at('file'))],
    ['a pipe', () => void execFileSync('mkfifo', [at('file')])],
  ])('replaces %s, and leaves what it leads to unchanged', (_, put) => {
    folder.write('precious', 'precious');
    put();
    write(at('file'));
    expectPrivate('file');
    expect([textOf('precious'), namesIn('.')]).toEqual(['precious', ['file', 'precious']]);
  });

  it('refuses a folder that became a symlink, at any depth, and creates nothing behind it', () => {
    mkdirSync(at('elsewhere'));
    symlinkSync(at('elsewhere'), at('out'));
    symlinkSync(at('gone'), at('dangling'));
    for (const name of ['out/file', 'out/inner/file']) expect(() => write(at(name))).toThrow('symbolic link');
    expect(() => write(at('dangling/file'))).toThrow();
    expect([namesIn('elsewhere'), namesIn('.')]).toEqual([[], ['dangling', 'elsewhere', 'out']]);
  });

  it('fails at a folder, and leaves nothing behind', () => {
    mkdirSync(at('file/full'), { recursive: true });
    expect(() => write(at('file'))).toThrow();
    expect([namesIn('.'), namesIn('file')]).toEqual([['file'], ['full']]);
  });
});

it('a log keeps writing to its file if the path is replaced', () => {
  const append = openPrivateLog(at('log'));
  append('one');
  renameSync(at('log'), at('moved'));
  folder.write('log', 'other');
  append('two');
  expect([textOf('moved'), textOf('log')]).toEqual(['one\ntwo\n', 'other']);
});

it('appendWithoutWaiting keeps what a file holds, and does not wait for the reader of a pipe', () => {
  folder.write('file', 'one\n');
  appendWithoutWaiting(at('file'), 'two\n');
  expect(textOf('file')).toBe('one\ntwo\n');
  execFileSync('mkfifo', [at('pipe')]);
  expect(() => appendWithoutWaiting(at('pipe'), 'x')).toThrow('ENXIO');
});
