import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import {
  makeResultsFolder,
  readTrustedFile,
  requireReadableFolders,
  resolveRecording,
  resolveWorkingDirectory,
} from '../../src/config/paths.ts';
import { InputError } from '../../src/errors.ts';
import { READ } from '../../src/text/limits.ts';
import { putFiles } from '../support/local.ts';
import { makeFolder } from '../support/surroundings.ts';

const folders = makeFolder();
let base = '';
let workspace = '';
beforeEach(() => {
  base = mkdtempSync(path.join(folders, 'paths-'));
  workspace = path.join(base, 'workspace');
  const closed = ['.git/config', 'sub/.git/modules/x/config', '.netrc', 'gha-creds-1.json'];
  const outside = ['../key', '../.netrc', '../workspace-2/s.json', '../outside/s.json'];
  for (const name of [...closed, ...outside, '..s.json']) putFiles(workspace, { [name]: 'token' });
  putFiles(workspace, { 's.json': '\uFEFF{"a":"ä"}', file: '' });
  for (const folder of ['..odd', '.git/hooks']) mkdirSync(path.join(workspace, folder));
  const links = { 'way-out': path.join(base, 'outside'), 'way-in': 'sub', hooks: '.git/hooks', root: '/' };
  for (const [link, target] of Object.entries(links)) symlinkSync(target, path.join(workspace, link));
  symlinkSync('outside', path.join(base, 'own-link'));
});

/** The resolved value, or the input and the message of the error. */
const outcome = (promise: Promise<unknown>) =>
  promise.catch((error: unknown) => {
    if (error instanceof InputError) return `${error.input}! ${error.message}`;
    throw error;
  });

it.each([
  ['', ['.']],
  ['/sub', ['way-in']],
  ['/..odd', ['..odd']],
  ['outside the workspace', ['way-out', '../workspace-2', '..', '/']],
  ['not a folder in the workspace', ['nowhere', 'file', 'a\0b']],
])('%j is the result for the working directories %j', async (says, folders) => {
  const refused = expect.stringMatching(`^working-directory! .*${says}`);
  const found = await Promise.all(folders.map((each) => outcome(resolveWorkingDirectory(each, workspace))));
  expect(found).toEqual(folders.map(() => (says.includes(' ') ? refused : workspace + says)));
});

const results = (typed: string) => outcome(makeResultsFolder(typed, workspace));
const recording = (typed: string, at = workspace) => outcome(resolveRecording(typed, at));

it('a results folder is new or empty', async () => {
  const folder = path.join(base, 'outside/results');
  expect([await results('../outside/results'), await results(folder)]).toEqual([folder, folder]);
  writeFileSync(path.join(folder, 'result.json'), '');
  expect(await results(folder)).toMatch(/^results! .*is not empty/u);
  expect(await results('file/results')).toMatch(/^results! .*cannot be used/u);
});

it('a recording is a new file in a folder that is there', async () => {
  expect(await recording('sub/run.jsonl')).toBe(path.join(workspace, 'sub/run.jsonl'));
  expect(await recording('nowhere/run.jsonl')).toMatch(/^record! .*Make it/u);
  for (const there of ['sub', 'file']) expect(await recording(there)).toMatch(/^record! .*already exists/u);
});

it("neither is behind a link of the whole checkout, but may be behind the user's own", async () => {
  for (const typed of ['hooks/f', 'way-out/f', 'hooks']) {
    expect(await results(typed)).toMatch(/^results! .*is a symbolic link/u);
    expect(await recording(typed)).toMatch(/^record! .*is a symbolic link/u);
  }
  const below = await recording('../hooks/f', path.join(workspace, '..odd'));
  expect(below).toMatch(/^record! "hooks" is a symbolic link/u);
  expect(await recording('../own-link/f')).toBe(path.join(base, 'own-link/f'));
});

it('folders of sandbox-read may be anywhere but in the root and in folders of the kernel', async () => {
  const ours = [path.join(workspace, 'sub')];
  const check = (...folders: string[]) => outcome(requireReadableFolders(folders, ours));
  expect(await check('/usr')).toBeUndefined();
  const whole = /^sandbox-read! .*is never shown as a whole\. Name the folders in it/u;
  for (const folder of [workspace, ...ours]) expect(await check(folder)).toMatch(whole);
  for (const missing of ['/nonexistent/x', path.join(workspace, 'file')])
    expect(await check('/usr', missing)).toMatch(`sandbox-read! "${missing}" is not a folder`);
  for (const folder of ['/', '/proc', '/proc/self', '/sys', '/dev', path.join(workspace, 'root')])
    expect(await check(folder)).toMatch(/^sandbox-read! .*is made anew/u);
});

/** Its text, or why it is not read. On the command line, a file may be anywhere. */
const read = async (name: string, outside: 'refused' | 'allowed' = 'refused', root = workspace) => {
  const found = await readTrustedFile(name, { root, outside });
  return found.ok ? `TEXT ${found.text}` : found.problem.replace(JSON.stringify(name), 'IT');
};

it('A3 A11 A12 a file in the workspace is read without a BOM, also through a link in it', async () => {
  symlinkSync('s.json', path.join(workspace, 'link'));
  symlinkSync('workspace', path.join(base, 'alias'));
  for (const name of ['s.json', path.join(workspace, 's.json'), 'link', 'sub/../s.json', '../alias/s.json'])
    expect(await read(name)).toBe('TEXT {"a":"ä"}');
  expect(await read('..s.json')).toBe('TEXT token');
  expect(await read('s.json', 'refused', path.join(base, 'alias'))).toBe('TEXT {"a":"ä"}');
  expect(await read('../key', 'refused', path.join(base, 'alias'))).toMatch(/leaves the workspace/u);
});

// What is not a regular file is in __tests__/files/read-bounded.test.ts.
it.each([
  ['nope.json', /^There is no file IT\. Check the path; in a/u],
  ['loop', /^IT could not be read \(ELOOP\)\.$/u],
  ['sub', /^IT must be a regular file/u],
  ['way-out/s.json', /^IT leaves the workspace; only files inside it are read\.$/u],
  ['large.json', /^IT is larger than 4 MiB; only smaller files are read\.$/u],
  ['latin.json', /^IT is not valid UTF-8 text\. Save it as UTF-8\.$/u],
])('A7 A8 A9 A11 the file %s is not read', async (name, says) => {
  symlinkSync('loop', path.join(workspace, 'loop'));
  writeFileSync(path.join(workspace, 'large.json'), ' '.repeat(READ.policy + 1));
  writeFileSync(path.join(workspace, 'latin.json'), Buffer.from([0x22, 0xff, 0x22]));
  expect(await read(name)).toMatch(says);
});

const LEAVES = /^IT (?:leaves|is a symbolic link that leaves) the workspace/u;
const CLOSED = /^IT leads to a git folder or a credential file/u;
it.each([
  ...['../outside/s.json', '../workspace-2/s.json', '../key', '../.netrc', '/proc/self/root/etc/passwd'],
  ...['.git/config', 'sub/../.git/config', 'sub/.git/modules/x/config', '.netrc', 'gha-creds-1.json'],
])('A11 %s is read on a command line only, and never behind a committed link', async (target) => {
  const says = /^(?:\.\.)?\//u.test(target) ? LEAVES : CLOSED;
  symlinkSync(target, path.join(workspace, 'prompt.md'));
  expect(await read('prompt.md')).toMatch(says);
  expect(await read('prompt.md', 'allowed')).toMatch(says);
  if (target.startsWith('/')) return;
  expect(await read(target)).toMatch(says);
  for (const name of [target, path.join(workspace, target)])
    expect(await read(name, 'allowed')).toBe('TEXT token');
});
