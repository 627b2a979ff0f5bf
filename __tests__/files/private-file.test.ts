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
import { openPrivateLog, writePrivateFile } from '../../src/files/private-file.ts';

let folder = '';
beforeEach(() => {
  folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'private-')));
});
afterEach(() => rmSync(folder, { recursive: true }));
const at = (name: string) => path.join(folder, name);
const mode = (file: string) => statSync(file).mode & 0o777;

describe('writePrivateFile', () => {
  it('creates the file and its folder for the owner only', () => {
    writePrivateFile(at('new/result.json'), 'text');
    expect([
      readFileSync(at('new/result.json'), 'utf8'),
      mode(at('new/result.json')),
      readdirSync(at('new')),
    ]).toEqual(['text', 0o600, ['result.json']]);
  });

  it('replaces a symlink and leaves its target unchanged', () => {
    writeFileSync(at('precious'), 'precious');
    symlinkSync(at('precious'), at('result.json'));
    writePrivateFile(at('result.json'), 'text');
    expect([readFileSync(at('precious'), 'utf8'), readFileSync(at('result.json'), 'utf8')]).toEqual([
      'precious',
      'text',
    ]);
  });

  it('refuses a folder that became a symlink, at any depth, and creates nothing behind it', () => {
    mkdirSync(at('elsewhere'));
    mkdirSync(at('out/inner'), { recursive: true });
    renameSync(at('out'), at('moved'));
    symlinkSync(at('elsewhere'), at('out'));
    for (const name of ['out/config', 'out/inner/config'])
      expect(() => writePrivateFile(at(name), 'text')).toThrow(ReportError);
    rmSync(at('out'));
    symlinkSync(at('gone'), at('out'));
    expect(() => writePrivateFile(at('out/config'), 'text')).toThrow();
    expect([readdirSync(at('elsewhere')), readdirSync(folder).sort()]).toEqual([
      [],
      ['elsewhere', 'moved', 'out'],
    ]);
  });

  it('leaves nothing behind when it fails', () => {
    mkdirSync(at('result.json/full'), { recursive: true });
    expect(() => writePrivateFile(at('result.json'), 'text')).toThrow();
    expect(readdirSync(folder)).toEqual(['result.json']);
  });
});

describe('openPrivateLog', () => {
  it('truncates a file, makes it private and appends lines', () => {
    writeFileSync(at('log'), 'old', { mode: 0o644 });
    const append = openPrivateLog(at('log'));
    append('one');
    append('two');
    expect([readFileSync(at('log'), 'utf8'), mode(at('log'))]).toEqual(['one\ntwo\n', 0o600]);
  });

  it('leaves a file unchanged that shares its bytes through a hard link', () => {
    writeFileSync(at('precious'), 'precious', { mode: 0o644 });
    linkSync(at('precious'), at('log'));
    openPrivateLog(at('log'))('one');
    expect([readFileSync(at('precious'), 'utf8'), mode(at('precious'))]).toEqual(['precious', 0o644]);
    expect([readFileSync(at('log'), 'utf8'), mode(at('log'))]).toEqual(['one\n', 0o600]);
  });

  it('refuses a folder that became a symlink', () => {
    mkdirSync(at('elsewhere'));
    symlinkSync(at('elsewhere'), at('out'));
    expect(() => openPrivateLog(at('out/log'))).toThrow(ReportError);
    expect(() => openPrivateLog(at('out/new/log'))).toThrow(ReportError);
    expect(readdirSync(at('elsewhere'))).toEqual([]);
  });

  it('refuses a symlink, a folder and a pipe without blocking', () => {
    writeFileSync(at('precious'), 'precious');
    symlinkSync(at('precious'), at('link'));
    symlinkSync(at('nothing'), at('dangling'));
    execFileSync('sh', ['-c', 'mkfifo "$0"', at('pipe')]);
    for (const name of ['link', 'dangling', 'pipe', '.'])
      expect(() => openPrivateLog(at(name))).toThrow(ReportError);
    expect(readFileSync(at('precious'), 'utf8')).toBe('precious');
  });
});
