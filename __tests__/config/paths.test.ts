import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  makeResultsFolder,
  requireReadableFolders,
  resolveRecording,
  resolveVerdicts,
  resolveWorkingDirectory,
} from '../../src/config/paths.ts';
import { InputError } from '../../src/errors.ts';
import { makeFolder } from '../support/surroundings.ts';

const folders = makeFolder();
let base = '';
let workspace = '';
beforeEach(() => {
  base = mkdtempSync(path.join(folders, 'paths-'));
  workspace = path.join(base, 'workspace');
  for (const folder of [
    'workspace/sub',
    'workspace/..odd',
    'workspace/.git/hooks',
    'temp',
    'outside',
    'workspace-2',
  ])
    mkdirSync(path.join(base, folder), { recursive: true });
  const links = { 'way-out': path.join(base, 'outside'), 'way-in': 'sub', hooks: '.git/hooks', root: '/' };
  for (const [link, target] of Object.entries(links)) symlinkSync(target, path.join(workspace, link));
  symlinkSync('outside', path.join(base, 'own-link'));
  writeFileSync(path.join(workspace, 'file'), '');
});

/** The resolved value, or the input and the message of the error. */
const outcome = (promise: Promise<unknown>) =>
  promise.catch((error: unknown) => {
    if (error instanceof InputError) return `${error.input}! ${error.message}`;
    throw error;
  });

it.each([
  ['.', ''],
  ['way-in', '/sub'],
  ['..odd', '/..odd'],
  ['way-out', 'outside the workspace'],
  ['../workspace-2', 'outside the workspace'],
  ['..', 'outside the workspace'],
  ['/', 'outside the workspace'],
  ['nowhere', 'not a folder in the workspace'],
  ['file', 'not a folder in the workspace'],
  ['a\0b', 'not a folder in the workspace'],
])('the working directory %j gives %j', async (folder, says) => {
  const refused = expect.stringMatching(`^working-directory! .*${says}`);
  const found = await outcome(resolveWorkingDirectory(folder, workspace));
  expect(found).toEqual(says.includes(' ') ? refused : workspace + says);
});

describe('what a run on the command line writes', () => {
  const results = (typed: string) => outcome(makeResultsFolder(typed, workspace));
  const recording = (typed: string, at = workspace) => outcome(resolveRecording(typed, at));

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

  it("is not behind a link of the whole checkout, but may be behind the user's own", async () => {
    for (const typed of ['hooks/f', 'way-out/f', 'hooks']) {
      expect(await results(typed)).toMatch(/^results! .*is a symbolic link/u);
      expect(await recording(typed)).toMatch(/^record! .*is a symbolic link/u);
    }
    const below = await recording('../hooks/f', path.join(workspace, 'sub'));
    expect(below).toMatch(/^record! "hooks" is a symbolic link/u);
    expect(await recording('../own-link/f')).toBe(path.join(base, 'own-link/f'));
  });
});

it('folders of sandbox-read may be anywhere but in the root and in folders of the kernel', async () => {
  const check = (...folders: string[]) => outcome(requireReadableFolders(folders));
  expect(await check(workspace, '/usr')).toBeUndefined();
  for (const missing of ['/nonexistent/x', path.join(workspace, 'file')])
    expect(await check('/usr', missing)).toMatch(`sandbox-read! "${missing}" is not a folder`);
  for (const folder of ['/', '/proc', '/proc/self', '/sys', '/dev', path.join(workspace, 'root')])
    expect(await check(folder)).toMatch(/^sandbox-read! .*is made anew/u);
});

it('verdicts are in the workspace or the folder of the runner', async () => {
  const resolve = (folder: string) => outcome(resolveVerdicts(folder, [workspace, path.join(base, 'temp')]));
  expect(await resolve('way-in')).toBe(path.join(workspace, 'sub'));
  expect(await resolve('../temp/new')).toBe(path.join(base, 'temp/new'));
  for (const folder of ['way-out', '../outside'])
    expect(await resolve(folder)).toMatch(/^verdicts! .*is outside/u);
});
