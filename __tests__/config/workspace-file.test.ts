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
const read = (path: string) => readTrustedFile(path, { root, outside: 'refused', maxBytes: READ.policy });
/** The same for the command line, where a file may be anywhere. */
const readAnywhere = (path: string, maxBytes = 1e6) =>
  readTrustedFile(path, { root, outside: 'allowed', maxBytes });
const problem = (text: string) => ({ ok: false, problem: text });
const text = (text: string) => ({ ok: true, text });
const SPECIAL = 'must be a regular file, but is a folder, a device, a pipe or the like.';

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'trusted-')));
  root = join(base, 'workspace');
  mkdirSync(root);
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

describe('readTrustedFile', () => {
  it('A3 reads a regular file by a relative and an absolute path', async () => {
    writeFileSync(join(root, 's.json'), '{"a":"ä"}');
    expect(await read('s.json')).toEqual(text('{"a":"ä"}'));
    expect(await read(join(root, 's.json'))).toEqual(text('{"a":"ä"}'));
  });

  it('A7 reports a missing file', async () => {
    writeFileSync(join(root, 'file'), '');
    for (const path of ['nope.json', 'file/x'])
      expect(await read(path)).toEqual({
        ok: false,
        isMissing: true,
        problem: `could not read "${path}": there is no such file. Check the path; in a workflow, also that the repository is checked out before this step.`,
      });
  });

  it('A8 refuses a directory, a FIFO, a device and a socket at once', async () => {
    mkdirSync(join(root, 'folder'));
    execFileSync('/usr/bin/env', ['mkfifo', join(root, 'fifo')]);
    const server = createServer().listen(join(root, 'socket'));
    for (const path of ['folder', 'fifo', 'socket'])
      expect(await read(path)).toEqual(problem(`"${path}" ${SPECIAL}`));
    // Kernel files are refused whatever their size.
    for (const path of ['/dev/zero', '/proc/self/environ'])
      expect(await readAnywhere(path)).toEqual(problem(`"${path}" ${SPECIAL}`));
    await new Promise((done) => server.close(done));
  });

  it('A9 reads exactly 4 MiB, and refuses one byte more', async () => {
    const file = join(root, 'large.json');
    writeFileSync(file, ' '.repeat(READ.policy));
    expect(await read('large.json')).toEqual(text(' '.repeat(READ.policy)));
    truncateSync(file, READ.policy + 1);
    expect(await read('large.json')).toEqual(
      problem('"large.json" is larger than 4 MiB; only smaller files are read.'),
    );
  });

  it('A11 follows a symlink inside the workspace', async () => {
    writeFileSync(join(root, 's.json'), '{}');
    symlinkSync('s.json', join(root, 'link'));
    expect(await read('link')).toEqual(text('{}'));
  });

  it('A11 refuses paths that leave the workspace: symlink, symlinked folder, dots and absolute path', async () => {
    mkdirSync(join(base, 'outside'));
    writeFileSync(join(base, 'outside', 's.json'), '{"secret":1}');
    symlinkSync('../outside/s.json', join(root, 'link'));
    symlinkSync('../outside', join(root, 'folder'));
    const left = (name: string) => problem(`"${name}" leaves the workspace; only files inside it are read.`);
    for (const path of ['link', 'folder/s.json', '../outside/s.json', join(base, 'outside', 's.json')]) {
      expect(await read(path)).toEqual(left(path));
    }
  });

  it('A11 refuses a sibling folder whose name has the same prefix', async () => {
    mkdirSync(join(base, 'workspace-2'));
    writeFileSync(join(base, 'workspace-2', 's.json'), '{}');
    expect((await read('../workspace-2/s.json')).ok).toBe(false);
    writeFileSync(join(root, '..s.json'), '{}');
    expect((await read('..s.json')).ok).toBe(true);
  });

  it('restricts reads when the root itself is reached by a symlink', async () => {
    symlinkSync('workspace', join(base, 'alias'));
    writeFileSync(join(root, 's.json'), '{}');
    const limits = { root: join(base, 'alias'), outside: 'refused', maxBytes: 10 } as const;
    expect(await readTrustedFile('s.json', limits)).toEqual(text('{}'));
    expect((await readTrustedFile('../x', limits)).ok).toBe(false);
  });

  it('reads a file anywhere on the command line', async () => {
    writeFileSync(join(base, 's.json'), '{}');
    expect(await readAnywhere(join(base, 's.json'), 10)).toEqual(text('{}'));
  });

  describe('a committed symlink', () => {
    const closed =
      'leads to a git folder or a credential file, which are never read. Name a file that holds only what the model may see.';
    const leaves = {
      refused: 'leaves the workspace; only files inside it are read.',
      allowed: 'is a symbolic link that leaves the workspace. Give the path of the file itself.',
    };
    beforeEach(() => {
      for (const folder of ['.git', 'sub/.git/modules/x', 'elsewhere'])
        mkdirSync(join(root, folder), { recursive: true });
      for (const file of ['.git/config', 'sub/.git/modules/x/config', '.netrc', 'gha-creds-1.json'])
        writeFileSync(join(root, file), 'token');
      writeFileSync(join(base, 'key'), 'token');
      writeFileSync(join(base, '.netrc'), 'token');
    });

    it.each(['.git/config', 'sub/.git/modules/x/config', '.netrc', 'gha-creds-1.json'])(
      'to %s in the workspace is refused at every entry point',
      async (target) => {
        symlinkSync(target, join(root, 'prompt.md'));
        for (const outside of ['refused', 'allowed'] as const) {
          const found = await readTrustedFile('prompt.md', { root, outside, maxBytes: 100 });
          expect(found).toEqual(problem(`"prompt.md" ${closed}`));
        }
      },
    );

    it.each(['../key', '../.netrc', '/etc/passwd', '/proc/self/root/etc/passwd'])(
      'to %s outside the workspace is refused at every entry point',
      async (target) => {
        symlinkSync(target, join(root, 'prompt.md'));
        for (const outside of ['refused', 'allowed'] as const) {
          const found = await readTrustedFile('prompt.md', { root, outside, maxBytes: 1e6 });
          expect(found).toEqual(problem(`"prompt.md" ${leaves[outside]}`));
        }
      },
    );

    it('to a protected folder does not allow reads through it', async () => {
      symlinkSync('../.git', join(root, 'elsewhere', 'prompts'));
      symlinkSync('/proc/self/cwd', join(root, 'elsewhere', 'here'));
      for (const path of ['elsewhere/prompts/config', '.git/config', '.GIT/config', 'sub/../.git/config'])
        expect((await read(path)).ok).toBe(false);
      expect((await read('elsewhere/here/package.json')).ok).toBe(false);
    });

    it('into a renamed git folder is refused', async () => {
      rmSync(join(root, '.git'), { recursive: true });
      writeFileSync(join(root, '.git'), 'gitdir: elsewhere\n');
      writeFileSync(join(root, 'elsewhere', 'config'), 'token');
      symlinkSync('elsewhere/config', join(root, 'prompt.md'));
      expect(await read('prompt.md')).toEqual(problem(`"prompt.md" ${closed}`));
    });
  });

  it('reads a git file or an outside file that the user of the command line names', async () => {
    mkdirSync(join(root, '.git'));
    writeFileSync(join(root, '.git', 'COMMIT_EDITMSG'), 'fix: x');
    writeFileSync(join(base, 'prompt.md'), 'review');
    expect(await readAnywhere('.git/COMMIT_EDITMSG')).toEqual(text('fix: x'));
    expect(await readAnywhere('../prompt.md')).toEqual(text('review'));
  });

  it('A12 removes a BOM', async () => {
    writeFileSync(join(root, 's.json'), '\uFEFF{}');
    expect(await read('s.json')).toEqual(text('{}'));
  });

  it('refuses bytes that are not UTF-8', async () => {
    writeFileSync(join(root, 's.json'), Buffer.from([0x22, 0xff, 0x22]));
    expect(await read('s.json')).toEqual(problem('"s.json" is not valid UTF-8 text. Save it as UTF-8.'));
  });

  it('returns an error for symlink loops and invalid names', async () => {
    symlinkSync('b', join(root, 'a'));
    symlinkSync('a', join(root, 'b'));
    expect(await read('a')).toEqual(problem('could not read "a" (ELOOP).'));
    expect((await read('a\0b')).ok).toBe(false);
    expect((await read('x'.repeat(5000))).ok).toBe(false);
  });
});
