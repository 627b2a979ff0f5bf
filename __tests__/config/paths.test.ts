import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
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

  it('is a new recording in a folder that is there', async () => {
    expect(await recording('sub/run.jsonl')).toBe(path.join(workspace, 'sub/run.jsonl'));
    expect(await recording('nowhere/run.jsonl')).toMatch(/^record! .*Make it/u);
    for (const there of ['sub', 'file']) expect(await recording(there)).toMatch(/^record! .*already exists/u);
  });

  it("is not behind a link of the whole checkout, but may be behind the user's own", async () => {
    for (const typed of ['hooks/f', 'way-out/f', 'hooks']) {
      expect(await results(typed)).toMatch(/^results! .*is a symbolic link/u);
      expect(await recording(typed)).toMatch(/^record! .*is a symbolic link/u);
    }
    const below = await recording('../hooks/f', path.join(workspace, '..odd'));
    expect(below).toMatch(/^record! "hooks" is a symbolic link/u);
    expect(await recording('../own-link/f')).toBe(path.join(base, 'own-link/f'));
  });
});

it('folders of sandbox-read may be anywhere but in the root and in folders of the kernel', async () => {
  const check = (...folders: string[]) =>
    outcome(requireReadableFolders(folders, [path.join(workspace, 'sub')]));
  expect(await check('/usr')).toBeUndefined();
  for (const folder of [workspace, path.join(workspace, 'sub')])
    expect(await check(folder)).toMatch(
      /^sandbox-read! .*is never shown as a whole\. Name the folders in it/u,
    );
  for (const missing of ['/nonexistent/x', path.join(workspace, 'file')])
    expect(await check('/usr', missing)).toMatch(`sandbox-read! "${missing}" is not a folder`);
  for (const folder of ['/', '/proc', '/proc/self', '/sys', '/dev', path.join(workspace, 'root')])
    expect(await check(folder)).toMatch(/^sandbox-read! .*is made anew/u);
});

describe('a file that the user names', () => {
  /** Its text as a workflow may name it, or why it is not read. */
  const read = (name: string) => readAs(name, 'refused');
  /** The same for the command line, where a file may be anywhere. */
  const readAnywhere = (name: string) => readAs(name, 'allowed');

  async function readAs(name: string, outside: 'refused' | 'allowed', root = workspace): Promise<string> {
    const found = await readTrustedFile(name, { root, outside });
    return found.ok ? `TEXT ${found.text}` : found.problem.replace(JSON.stringify(name), 'IT');
  }

  it('A3 A11 A12 is read without a BOM if it is in the workspace, also through a link in it', async () => {
    symlinkSync('s.json', path.join(workspace, 'link'));
    symlinkSync('workspace', path.join(base, 'alias'));
    for (const name of ['s.json', path.join(workspace, 's.json'), 'link', 'sub/../s.json', '../alias/s.json'])
      expect(await read(name)).toBe('TEXT {"a":"ä"}');
    expect(await read('..s.json')).toBe('TEXT token');
    expect(await readAs('s.json', 'refused', path.join(base, 'alias'))).toBe('TEXT {"a":"ä"}');
    expect(await readAs('../key', 'refused', path.join(base, 'alias'))).toMatch(/leaves the workspace/u);
  });

  // What is not a regular file is in __tests__/files/read-bounded.test.ts.
  it.each([
    ['nope.json', /^There is no file IT\. Check the path; in a/u],
    ['loop', /^IT could not be read \(ELOOP\)\.$/u],
    ['sub', /^IT must be a regular file/u],
    ['way-out/s.json', /^IT leaves the workspace; only files inside it are read\.$/u],
    ['large.json', /^IT is larger than 4 MiB; only smaller files are read\.$/u],
    ['latin.json', /^IT is not valid UTF-8 text\. Save it as UTF-8\.$/u],
  ])('A7 A8 A9 A11 is not read if it is %s', async (name, says) => {
    symlinkSync('loop', path.join(workspace, 'loop'));
    writeFileSync(path.join(workspace, 'large.json'), ' '.repeat(READ.policy + 1));
    writeFileSync(path.join(workspace, 'latin.json'), Buffer.from([0x22, 0xff, 0x22]));
    expect(await read(name)).toMatch(says);
  });

  const LEAVES = /^IT (?:leaves|is a symbolic link that leaves) the workspace/u;
  const CLOSED = /^IT leads to a git folder or a credential file/u;
  it.each([
    ['../outside/s.json', LEAVES],
    ['../workspace-2/s.json', LEAVES],
    ['../key', LEAVES],
    ['../.netrc', LEAVES],
    ['/proc/self/root/etc/passwd', LEAVES],
    ['.git/config', CLOSED],
    ['sub/../.git/config', CLOSED],
    ['sub/.git/modules/x/config', CLOSED],
    ['.netrc', CLOSED],
    ['gha-creds-1.json', CLOSED],
  ])(
    'A11 %s is read for the user of a command line only, and for nobody behind a committed link',
    async (target, says) => {
      symlinkSync(target, path.join(workspace, 'prompt.md'));
      expect(await read('prompt.md')).toMatch(says);
      expect(await readAnywhere('prompt.md')).toMatch(says);
      if (target.startsWith('/')) return;
      expect(await read(target)).toMatch(says);
      expect(await readAnywhere(target)).toBe('TEXT token');
      expect(await readAnywhere(path.join(workspace, target))).toBe('TEXT token');
    },
  );
});
