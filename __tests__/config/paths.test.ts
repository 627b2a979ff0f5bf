import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  isInside,
  makeResultsFolder,
  requireReadableFolders,
  resolveRecording,
  resolveWorkingDirectory,
} from '../../src/config/paths.ts';
import { InputError } from '../../src/errors.ts';

let base = '';
let workspace = '';

beforeEach(() => {
  base = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'paths-')));
  workspace = path.join(base, 'workspace');
  for (const folder of ['workspace/sub', 'workspace/..odd', 'temp', 'outside'])
    mkdirSync(path.join(base, folder), { recursive: true });
  symlinkSync(path.join(base, 'outside'), path.join(workspace, 'way-out'));
  symlinkSync('sub', path.join(workspace, 'way-in'));
  writeFileSync(path.join(workspace, 'file'), '');
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

/** The resolved value, or the input and the message of the error. */
async function outcome(promise: Promise<unknown>): Promise<unknown> {
  try {
    return await promise;
  } catch (error) {
    if (error instanceof InputError) return `${error.input}! ${error.message}`;
    throw error;
  }
}

describe('isInside', () => {
  it.each([
    ['/a', '/a', true],
    ['/a/b/c', '/a', true],
    ['/a/..b', '/a', true],
    ['/ab', '/a', false],
    ['/', '/a', false],
    ['/b/a', '/a', false],
  ])('isInside(%s, %s) is %s', (inner, outer, expected) => {
    expect(isInside(inner, outer)).toBe(expected);
  });
});

describe('the working directory', () => {
  const resolve = (folder: string) => outcome(resolveWorkingDirectory(folder, workspace));

  it('resolves to a real folder of the workspace, or the workspace itself', async () => {
    expect(await resolve('.')).toBe(workspace);
    expect(await resolve('way-in')).toBe(path.join(workspace, 'sub'));
    expect(await resolve('..odd')).toBe(path.join(workspace, '..odd'));
    expect(await resolve(path.join(workspace, 'sub'))).toBe(path.join(workspace, 'sub'));
  });

  it.each(['way-out', '..', '../outside', '/'])('is refused outside the workspace: %s', async (folder) => {
    expect(await resolve(folder)).toMatch(/^working-directory! .*outside the workspace/u);
  });

  it.each(['nowhere', 'file', 'a\0b'])('is refused when it is not a folder: %j', async (folder) => {
    expect(await resolve(folder)).toMatch(/^working-directory! .*not a folder in the workspace/u);
  });
});

describe('what a run on the command line writes', () => {
  beforeEach(() => {
    mkdirSync(path.join(workspace, '.git/hooks'), { recursive: true });
    symlinkSync('.git/hooks', path.join(workspace, 'hooks'));
  });

  it('is a results folder that is new or empty', async () => {
    const folder = path.join(base, 'outside/results');
    expect(await outcome(makeResultsFolder('../outside/results', workspace))).toBe(folder);
    expect(await outcome(makeResultsFolder(folder, workspace))).toBe(folder);
    writeFileSync(path.join(folder, 'result.json'), '');
    expect(await outcome(makeResultsFolder(folder, workspace))).toMatch(/^results! .*is not empty/u);
    expect(await outcome(makeResultsFolder('file/results', workspace))).toMatch(
      /^results! .*cannot be used/u,
    );
  });

  it('is a recording in a folder that is there', async () => {
    const file = path.join(workspace, 'sub/run.jsonl');
    expect(await outcome(resolveRecording('sub/run.jsonl', workspace))).toBe(file);
    expect(await outcome(resolveRecording('nowhere/run.jsonl', workspace))).toMatch(/^record! .*Make it/u);
    expect(await outcome(resolveRecording('sub', workspace))).toMatch(/^record! .*not a regular file/u);
  });

  it.each(['hooks/f', 'way-out/f', 'hooks'])('is not behind the link %s of the checkout', async (typed) => {
    expect(await outcome(makeResultsFolder(typed, workspace))).toMatch(/^results! .*is a symbolic link/u);
    expect(await outcome(resolveRecording(typed, workspace))).toMatch(/^record! .*is a symbolic link/u);
  });

  it('is not behind a link of the whole checkout, not only of the current folder', async () => {
    const outcomes = await outcome(resolveRecording('../hooks/f', path.join(workspace, 'sub')));
    expect(outcomes).toMatch(/^record! "hooks" is a symbolic link/u);
  });

  it("may be behind the user's own link outside the checkout", async () => {
    symlinkSync('outside', path.join(base, 'own-link'));
    const file = path.join(base, 'own-link/f');
    expect(await outcome(resolveRecording('../own-link/f', workspace))).toBe(file);
  });
});

describe('sandbox-read folders', () => {
  const check = (...folders: string[]) => outcome(requireReadableFolders(folders));

  it('may be any folder of the host', async () => {
    expect(await check(workspace, '/usr')).toBeUndefined();
    expect(await check()).toBeUndefined();
  });

  it('are refused by name when missing or a file, even after valid ones', async () => {
    expect(await check('/usr', '/nonexistent/x')).toMatch(
      /^sandbox-read! .*"\/nonexistent\/x" is not a folder/u,
    );
    expect(await check(path.join(workspace, 'file'))).toMatch(/^sandbox-read! .*not a folder/u);
  });

  it('are refused when they are the root or a kernel folder, also through a link', async () => {
    symlinkSync('/', path.join(workspace, 'root'));
    for (const folder of ['/', '/proc', '/proc/self', '/sys', '/dev', path.join(workspace, 'root')])
      expect(await check(folder)).toMatch(/^sandbox-read! .*of its own/u);
  });
});
