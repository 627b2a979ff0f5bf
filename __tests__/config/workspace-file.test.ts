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
/** The same where the user of a command line may name a file anywhere. */
const readAnywhere = (path: string, maxBytes = 1e6) =>
  readTrustedFile(path, { root, outside: 'allowed', maxBytes });
const problem = (text: string) => ({ ok: false, problem: text });
const text = (text: string) => ({ ok: true, text });
const SPECIAL = 'must be a regular file, but is a device, a pipe, a socket, or a file of /proc or /sys.';

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'trusted-')));
  root = join(base, 'workspace');
  mkdirSync(root);
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

describe('readTrustedFile', () => {
  it('A3 reads a regular file, by a relative and by an absolute path', async () => {
    writeFileSync(join(root, 's.json'), '{"a":"ä"}');
    expect(await read('s.json')).toEqual(text('{"a":"ä"}'));
    expect(await read(join(root, 's.json'))).toEqual(text('{"a":"ä"}'));
  });

  it('A7 a missing file could not be read', async () => {
    writeFileSync(join(root, 'file'), '');
    for (const path of ['nope.json', 'file/x'])
      expect(await read(path)).toEqual({
        ok: false,
        isMissing: true,
        problem: `could not read "${path}": there is no such file. Check the path; in a workflow, also that the repository is checked out before this step.`,
      });
  });

  it('A8 a directory, a FIFO, a device and a socket are refused at once', async () => {
    mkdirSync(join(root, 'folder'));
    execFileSync('/usr/bin/env', ['mkfifo', join(root, 'fifo')]);
    const server = createServer().listen(join(root, 'socket'));
    expect(await read('folder')).toEqual(problem('"folder" must be a regular file, but is a directory.'));
    for (const path of ['fifo', 'socket']) expect(await read(path)).toEqual(problem(`"${path}" ${SPECIAL}`));
    // What the kernel makes up is refused whatever its size.
    for (const path of ['/dev/zero', '/proc/self/environ'])
      expect(await readAnywhere(path)).toEqual(problem(`"${path}" ${SPECIAL}`));
    await new Promise((done) => server.close(done));
  });

  it('A9 exactly 4 MiB are read, one byte more is refused by size', async () => {
    const file = join(root, 'large.json');
    writeFileSync(file, ' '.repeat(READ.policy));
    expect(await read('large.json')).toEqual(text(' '.repeat(READ.policy)));
    truncateSync(file, READ.policy + 1);
    expect(await read('large.json')).toEqual(
      problem('"large.json" is larger than 4 MiB; only smaller files are read.'),
    );
  });

  it('A11 a symlink inside the workspace is read', async () => {
    writeFileSync(join(root, 's.json'), '{}');
    symlinkSync('s.json', join(root, 'link'));
    expect(await read('link')).toEqual(text('{}'));
  });

  it('A11 what leaves the workspace is refused, by symlink, by symlinked folder, by dots and by absolute path', async () => {
    mkdirSync(join(base, 'outside'));
    writeFileSync(join(base, 'outside', 's.json'), '{"secret":1}');
    symlinkSync('../outside/s.json', join(root, 'link'));
    symlinkSync('../outside', join(root, 'folder'));
    const left = (name: string) => problem(`"${name}" leaves the workspace; only files inside it are read.`);
    for (const path of ['link', 'folder/s.json', '../outside/s.json', join(base, 'outside', 's.json')]) {
      expect(await read(path)).toEqual(left(path));
    }
  });

  it('A11 a folder beside the workspace whose name begins alike is outside', async () => {
    mkdirSync(join(base, 'workspace-2'));
    writeFileSync(join(base, 'workspace-2', 's.json'), '{}');
    expect((await read('../workspace-2/s.json')).ok).toBe(false);
    writeFileSync(join(root, '..s.json'), '{}');
    expect((await read('..s.json')).ok).toBe(true);
  });

  it('a root that is itself reached by a symlink confines all the same', async () => {
    symlinkSync('workspace', join(base, 'alias'));
    writeFileSync(join(root, 's.json'), '{}');
    const limits = { root: join(base, 'alias'), outside: 'refused', maxBytes: 10 } as const;
    expect(await readTrustedFile('s.json', limits)).toEqual(text('{}'));
    expect((await readTrustedFile('../x', limits)).ok).toBe(false);
  });

  it('a file that the user of a command line names anywhere is read', async () => {
    writeFileSync(join(base, 's.json'), '{}');
    expect(await readAnywhere(join(base, 's.json'), 10)).toEqual(text('{}'));
  });

  describe('what an attacker commits as a link to', () => {
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
      '%s in the workspace is refused at every entry',
      async (target) => {
        symlinkSync(target, join(root, 'prompt.md'));
        for (const outside of ['refused', 'allowed'] as const) {
          const found = await readTrustedFile('prompt.md', { root, outside, maxBytes: 100 });
          expect(found).toEqual(problem(`"prompt.md" ${closed}`));
        }
      },
    );

    it.each(['../key', '../.netrc', '/etc/passwd', '/proc/self/environ', '/proc/self/root/etc/passwd'])(
      '%s outside of it is refused at every entry',
      async (target) => {
        symlinkSync(target, join(root, 'prompt.md'));
        for (const outside of ['refused', 'allowed'] as const) {
          const found = await readTrustedFile('prompt.md', { root, outside, maxBytes: 1e6 });
          expect(found).toEqual(problem(`"prompt.md" ${leaves[outside]}`));
        }
      },
    );

    it('a folder on the way to one of these is no way in', async () => {
      symlinkSync('../.git', join(root, 'elsewhere', 'prompts'));
      symlinkSync('/proc/self/cwd', join(root, 'elsewhere', 'here'));
      for (const path of ['elsewhere/prompts/config', '.git/config', '.GIT/config', 'sub/../.git/config'])
        expect((await read(path)).ok).toBe(false);
      expect((await read('elsewhere/here/package.json')).ok).toBe(false);
    });

    it("git's own folder under another name is refused", async () => {
      rmSync(join(root, '.git'), { recursive: true });
      writeFileSync(join(root, '.git'), 'gitdir: elsewhere\n');
      writeFileSync(join(root, 'elsewhere', 'config'), 'token');
      symlinkSync('elsewhere/config', join(root, 'prompt.md'));
      expect(await read('prompt.md')).toEqual(problem(`"prompt.md" ${closed}`));
    });
  });

  it('the user of a command line may name a file of git, and one outside of the workspace', async () => {
    mkdirSync(join(root, '.git'));
    writeFileSync(join(root, '.git', 'COMMIT_EDITMSG'), 'fix: x');
    writeFileSync(join(base, 'prompt.md'), 'review');
    expect(await readAnywhere('.git/COMMIT_EDITMSG')).toEqual(text('fix: x'));
    expect(await readAnywhere('../prompt.md')).toEqual(text('review'));
  });

  it('A12 a BOM is taken away', async () => {
    writeFileSync(join(root, 's.json'), '\uFEFF{}');
    expect(await read('s.json')).toEqual(text('{}'));
  });

  it('bytes that are not UTF-8 are refused', async () => {
    writeFileSync(join(root, 's.json'), Buffer.from([0x22, 0xff, 0x22]));
    expect(await read('s.json')).toEqual(problem('"s.json" is not valid UTF-8 text. Save it as UTF-8.'));
  });

  it('symlinks in a circle and names with a NUL are answers, not crashes', async () => {
    symlinkSync('b', join(root, 'a'));
    symlinkSync('a', join(root, 'b'));
    expect(await read('a')).toEqual(problem('could not read "a": too many symbolic links.'));
    expect((await read('a\0b')).ok).toBe(false);
    expect((await read('x'.repeat(5000))).ok).toBe(false);
  });
});
