import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readTrustedFile } from '../../src/config/workspace-file.ts';
import { READ } from '../../src/text/limits.ts';

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
  base = realpathSync(mkdtempSync(join(tmpdir(), 'trusted-')));
  root = join(base, 'workspace');
  for (const folder of ['.git', 'sub/.git/modules/x', '../outside', '../workspace-2'])
    mkdirSync(join(root, folder), { recursive: true });
  const token = [
    '.git/config',
    'sub/.git/modules/x/config',
    '.netrc',
    'gha-creds-1.json',
    '../key',
    '../.netrc',
  ];
  for (const file of [...token, '../workspace-2/s.json', '../outside/s.json', '..s.json'])
    writeFileSync(join(root, file), 'token');
  writeFileSync(join(root, 's.json'), '\uFEFF{"a":"ä"}');
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

describe('readTrustedFile', () => {
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
    for (const path of ['nope.json', 's.json/x']) {
      expect(await read(path)).toMatch(
        /^could not read IT: there is no such file\. Check the path; in a workflow/u,
      );
    }
    symlinkSync('a', join(root, 'a'));
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

  it('A11 refuses what a workflow names outside the workspace, or in a git folder', async () => {
    symlinkSync('../outside', join(root, 'folder'));
    for (const path of ['folder/s.json', '../outside/s.json', join(base, 'key'), '../workspace-2/s.json'])
      expect(await read(path)).toBe('IT leaves the workspace; only files inside it are read.');
    for (const path of ['.git/config', 'sub/../.git/config', '.netrc'])
      expect(await read(path)).toMatch(/^IT leads to a git folder or a credential file/u);
    expect(await read('.GIT/config')).toMatch(/^IT leads|^could not read/u);
  });

  it('reads what the user of the command line names, wherever it is', async () => {
    for (const path of ['../outside/s.json', join(base, 'key'), '.git/config', '.netrc'])
      expect(await readAnywhere(path)).toBe('TEXT token');
  });

  it.each<[string, RegExp]>([
    ['.git/config', /^IT leads to a git folder/u],
    ['sub/.git/modules/x/config', /^IT leads to a git folder/u],
    ['.netrc', /^IT leads to .* a credential file/u],
    ['gha-creds-1.json', /^IT leads to .* a credential file/u],
    ['../key', /^IT (?:leaves|is a symbolic link that leaves) the workspace/u],
    ['../.netrc', /^IT (?:leaves|is a symbolic link that leaves) the workspace/u],
    ['/proc/self/root/etc/passwd', /^IT (?:leaves|is a symbolic link that leaves) the workspace/u],
  ])('a committed link to %s is followed for nobody', async (target, says) => {
    symlinkSync(target, join(root, 'prompt.md'));
    expect(await read('prompt.md')).toMatch(says);
    expect(await readAnywhere('prompt.md')).toMatch(says);
  });
});
