import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { readTrustedFile } from '../../src/config/workspace-file.ts';
import { READ } from '../../src/text/limits.ts';
import { makeFolder } from '../support/surroundings.ts';

const folders = makeFolder();
let base: string;
let root: string;
/** The text of a file as a workflow may name it, or why it is not read. */
const read = (path: string) => readAs(path, 'refused');
/** The same for the command line, where a file may be anywhere. */
const readAnywhere = (path: string) => readAs(path, 'allowed');

async function readAs(path: string, outside: 'refused' | 'allowed', at = root): Promise<string> {
  const found = await readTrustedFile(path, { root: at, outside, maxBytes: READ.policy });
  return found.ok ? `TEXT ${found.text}` : found.problem.replace(JSON.stringify(path), 'IT');
}

beforeEach(() => {
  base = mkdtempSync(join(folders, 'trusted-'));
  root = join(base, 'workspace');
  for (const folder of ['.git', 'sub/.git/modules/x', '../outside', '../workspace-2'])
    mkdirSync(join(root, folder), { recursive: true });
  const closed = ['.git/config', 'sub/.git/modules/x/config', '.netrc', 'gha-creds-1.json'];
  for (const file of [
    ...closed,
    '../key',
    '../.netrc',
    '../workspace-2/s.json',
    '../outside/s.json',
    '..s.json',
  ])
    writeFileSync(join(root, file), 'token');
  writeFileSync(join(root, 's.json'), '\uFEFF{"a":"ä"}');
});

it('A3 A11 A12 reads a regular file of the workspace without a BOM, also through a link in it', async () => {
  symlinkSync('s.json', join(root, 'link'));
  symlinkSync('workspace', join(base, 'alias'));
  for (const path of ['s.json', join(root, 's.json'), 'link', 'sub/../s.json'])
    expect(await read(path)).toBe('TEXT {"a":"ä"}');
  expect(await read('..s.json')).toBe('TEXT token');
  expect(await readAs('s.json', 'refused', join(base, 'alias'))).toBe('TEXT {"a":"ä"}');
  expect(await readAs('../key', 'refused', join(base, 'alias'))).toMatch(/leaves the workspace/u);
});

it('A7 tells a missing file from one that cannot be read', async () => {
  symlinkSync('a', join(root, 'a'));
  for (const path of ['nope.json', 's.json/x'])
    expect(await read(path)).toMatch(/^could not read IT: there is no such file\. Check the path; in a/u);
  expect(await read('a')).toBe('could not read IT (ELOOP).');
  for (const path of ['a\0b', 'x'.repeat(5000)]) expect(await read(path)).toMatch(/^could not read /u);
});

it('A8 refuses a directory, a FIFO, a device, a socket and a file of the kernel at once', async () => {
  execFileSync('/usr/bin/env', ['mkfifo', join(root, 'fifo')]);
  const server = createServer().listen(join(root, 'socket'));
  for (const path of ['sub', 'fifo', 'socket', '/dev/zero', '/proc/self/environ'])
    expect(await readAnywhere(path)).toMatch(/^IT must be a regular file/u);
  await new Promise((done) => server.close(done));
});

it('A9 reads exactly 4 MiB of UTF-8, and refuses one byte more', async () => {
  const file = join(root, 'large.json');
  writeFileSync(file, ' '.repeat(READ.policy));
  expect(await read('large.json')).toHaveLength(READ.policy + 'TEXT '.length);
  truncateSync(file, READ.policy + 1);
  expect(await read('large.json')).toBe('IT is larger than 4096 KiB; only smaller files are read.');
  writeFileSync(file, Buffer.from([0x22, 0xff, 0x22]));
  expect(await read('large.json')).toBe('IT is not valid UTF-8 text. Save it as UTF-8.');
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
    symlinkSync(target, join(root, 'prompt.md'));
    expect(await read('prompt.md')).toMatch(says);
    expect(await readAnywhere('prompt.md')).toMatch(says);
    if (target.startsWith('/')) return;
    expect(await read(target)).toMatch(says);
    expect(await readAnywhere(target)).toBe('TEXT token');
    expect(await readAnywhere(join(root, target))).toBe('TEXT token');
  },
);

it('A11 a linked folder is no way out, and the case of a name is none', async () => {
  symlinkSync('../outside', join(root, 'folder'));
  expect(await read('folder/s.json')).toBe('IT leaves the workspace; only files inside it are read.');
  expect(await read('.GIT/config')).toMatch(/^IT leads|^could not read/u);
});
