import { execFileSync } from 'node:child_process';
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ReportError } from '../../src/errors.ts';
import { appendWithoutWaiting, openPrivateLog, writePrivateFile } from '../../src/files/private-file.ts';

let folder = '';
beforeEach(() => {
  folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'private-')));
});
afterEach(() => rmSync(folder, { recursive: true }));
const at = (name: string) => path.join(folder, name);

/** The two ways to write a file of ours. */
const WAYS: readonly (readonly [string, (file: string) => void])[] = [
  ['writePrivateFile', (file) => writePrivateFile(file, 'text\n')],
  ['openPrivateLog', (file) => openPrivateLog(file)('text')],
];

describe.each(WAYS)('%s', (_, write) => {
  it('creates the file and its folder for the owner only', () => {
    write(at('new/file'));
    expect(readFileSync(at('new/file'), 'utf8')).toBe('text\n');
    expect(statSync(at('new/file')).mode & 0o777).toBe(0o600);
    expect(readdirSync(at('new'))).toEqual(['file']);
  });

  it.each<[string, () => void]>([
    ['a file', () => writeFileSync(at('file'), 'old text', { mode: 0o644 })],
    ['a symlink', () => symlinkSync(at('precious'), at('file'))],
    ['a hard link', () => linkSync(at('precious'), at('file'))],
    ['a dangling symlink', () => symlinkSync(at('gone'), at('file'))],
    ['a pipe', () => void execFileSync('mkfifo', [at('file')])],
  ])('replaces %s, and leaves what it leads to unchanged', (_, put) => {
    writeFileSync(at('precious'), 'precious', { mode: 0o644 });
    put();
    write(at('file'));
    expect(readFileSync(at('file'), 'utf8')).toBe('text\n');
    expect(statSync(at('file')).mode & 0o777).toBe(0o600);
    expect([readFileSync(at('precious'), 'utf8'), readdirSync(folder)]).toEqual([
      'precious',
      ['file', 'precious'],
    ]);
  });

  it('refuses a folder that became a symlink, at any depth, and creates nothing behind it', () => {
    mkdirSync(at('elsewhere'));
    mkdirSync(at('out/inner'), { recursive: true });
    renameSync(at('out'), at('moved'));
    symlinkSync(at('elsewhere'), at('out'));
    for (const name of ['out/file', 'out/inner/file']) expect(() => write(at(name))).toThrow(ReportError);
    rmSync(at('out'));
    symlinkSync(at('gone'), at('out'));
    expect(() => write(at('out/file'))).toThrow();
    expect(readdirSync(at('elsewhere'))).toEqual([]);
    expect(readdirSync(folder)).toEqual(['elsewhere', 'moved', 'out']);
  });

  it('fails at a folder, and leaves nothing behind', () => {
    mkdirSync(at('file/full'), { recursive: true });
    expect(() => write(at('file'))).toThrow();
    expect([readdirSync(folder), readdirSync(at('file'))]).toEqual([['file'], ['full']]);
  });
});

it('a log keeps writing to its file if the path is replaced', () => {
  const append = openPrivateLog(at('log'));
  append('one');
  renameSync(at('log'), at('moved'));
  writeFileSync(at('log'), 'other');
  append('two');
  expect([readFileSync(at('moved'), 'utf8'), readFileSync(at('log'), 'utf8')]).toEqual([
    'one\ntwo\n',
    'other',
  ]);
});

it('appendWithoutWaiting keeps what a file holds, and does not wait for the reader of a pipe', () => {
  writeFileSync(at('file'), 'one\n');
  appendWithoutWaiting(at('file'), 'two\n');
  expect(readFileSync(at('file'), 'utf8')).toBe('one\ntwo\n');
  execFileSync('mkfifo', [at('pipe')]);
  expect(() => appendWithoutWaiting(at('pipe'), 'x')).toThrow('ENXIO');
});
