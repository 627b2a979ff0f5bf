import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  isInside,
  makeResultsFolder,
  requireReadableFolders,
  resolveRecording,
  resolveVerdicts,
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

it.each<[string, string]>([
  ['.', ''],
  ['way-in', '/sub'],
  ['..odd', '/..odd'],
  ['way-out', 'outside the workspace'],
  ['..', 'outside the workspace'],
  ['/', 'outside the workspace'],
  ['nowhere', 'not a folder in the workspace'],
  ['file', 'not a folder in the workspace'],
  ['a\0b', 'not a folder in the workspace'],
])('the working directory %j gives %j', async (folder, says) => {
  const found = await outcome(resolveWorkingDirectory(folder, workspace));
  const isRefused = says.includes(' ');
  expect(found).toEqual(
    isRefused ? expect.stringMatching(`^working-directory! .*${says}`) : workspace + says,
  );
});

describe('what a run on the command line writes', () => {
  beforeEach(() => {
    mkdirSync(path.join(workspace, '.git/hooks'), { recursive: true });
    symlinkSync('.git/hooks', path.join(workspace, 'hooks'));
    symlinkSync('outside', path.join(base, 'own-link'));
  });
  const results = (typed: string) => outcome(makeResultsFolder(typed, workspace));
  const recording = (typed: string) => outcome(resolveRecording(typed, workspace));

  it('is a results folder that is new or empty', async () => {
    const folder = path.join(base, 'outside/results');
    expect([await results('../outside/results'), await results(folder)]).toEqual([folder, folder]);
    writeFileSync(path.join(folder, 'result.json'), '');
    expect(await results(folder)).toMatch(/^results! .*is not empty/u);
    expect(await results('file/results')).toMatch(/^results! .*cannot be used/u);
  });

  it('is a recording in a folder that is there', async () => {
    expect(await recording('sub/run.jsonl')).toBe(path.join(workspace, 'sub/run.jsonl'));
    expect(await recording('nowhere/run.jsonl')).toMatch(/^record! .*Make it/u);
    expect(await recording('sub')).toMatch(/^record! .*not a regular file/u);
  });

  it.each(['hooks/f', 'way-out/f', 'hooks'])('is not behind the link %s of the checkout', async (typed) => {
    expect(await results(typed)).toMatch(/^results! .*is a symbolic link/u);
    expect(await recording(typed)).toMatch(/^record! .*is a symbolic link/u);
  });

  it("is not behind a link of the whole checkout, but may be behind the user's own", async () => {
    const below = await outcome(resolveRecording('../hooks/f', path.join(workspace, 'sub')));
    expect(below).toMatch(/^record! "hooks" is a symbolic link/u);
    expect(await recording('../own-link/f')).toBe(path.join(base, 'own-link/f'));
  });
});

it('folders of sandbox-read may be anywhere but in the root and in folders of the kernel', async () => {
  const check = (...folders: string[]) => outcome(requireReadableFolders(folders));
  expect(await check(workspace, '/usr')).toBeUndefined();
  for (const missing of ['/nonexistent/x', path.join(workspace, 'file')])
    expect(await check('/usr', missing)).toMatch(`sandbox-read! "${missing}" is not a folder`);
  symlinkSync('/', path.join(workspace, 'root'));
  for (const folder of ['/', '/proc', '/proc/self', '/sys', '/dev', path.join(workspace, 'root')])
    expect(await check(folder)).toMatch(/^sandbox-read! .*is made anew/u);
});

it('verdicts are in the workspace or the folder of the runner', async () => {
  const roots = [workspace, path.join(base, 'temp')];
  const resolve = (folder: string) => outcome(resolveVerdicts(folder, roots));
  expect(await resolve('way-in')).toBe(path.join(workspace, 'sub'));
  expect(await resolve('../temp/new')).toBe(path.join(base, 'temp/new'));
  for (const folder of ['way-out', '../outside'])
    expect(await resolve(folder)).toMatch(/^verdicts! .*is outside/u);
});
