import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { nameTree } from '../../../src/sandbox/workspace/git-tree.ts';

const never = new AbortController().signal;
let root = '';

beforeEach(() => {
  root = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'git-tree-')));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** What git itself calls all that is in a folder. */
function gitName(folder: string): string {
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'core.autocrlf=false', ...args], { cwd: folder, encoding: 'utf8' }).trim();
  git('init', '-q', '--object-format=sha256');
  git('add', '-A');
  return git('write-tree');
}

const paths = (...names: readonly (string | Buffer)[]) =>
  names.map((name) => ({ path: Buffer.from(name).toString('latin1'), commit: null }));

describe('the name of a tree', () => {
  it("is git's own: order, modes, links, odd names, empty and large files", async () => {
    mkdirSync(path.join(root, 'a'));
    mkdirSync(path.join(root, 'a', 'deep', 'er'), { recursive: true });
    const files = ['a.b', 'a/x', 'a/deep/er/y', 'a0', 'é\n"\\', 'empty', 'large', 'run.sh'];
    for (const name of files) writeFileSync(path.join(root, name), name === 'empty' ? '' : `of ${name}\r\n`);
    writeFileSync(Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0x66, 0xff])]), 'no UTF-8');
    writeFileSync(path.join(root, 'large'), Buffer.alloc(5 * 1024 * 1024, 7));
    chmodSync(path.join(root, 'run.sh'), 0o755);
    symlinkSync('../nowhere', path.join(root, 'link'));
    const all = [...paths(...files, 'link', Buffer.from([0x66, 0xff]))].reverse();
    const name = gitName(root);
    expect(await nameTree(root, all, never)).toEqual({
      ...{ kind: 'tree', name, files: files.length + 2 },
      links: ['link'],
    });
  });

  it("is git's own for any names and bytes", async () => {
    const name = fc.stringMatching(/^[a-c.+0]{1,3}$/u).filter((text) => text !== '.' && text !== '..');
    const place = fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'));
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(place, fc.uint8Array({ maxLength: 20 }), { minKeys: 1 }),
        async (files) => {
          const folder = mkdtempSync(path.join(root, 'case-'));
          const written: string[] = [];
          for (const [file, bytes] of Object.entries(files)) {
            try {
              mkdirSync(path.join(folder, path.dirname(file)), { recursive: true });
              writeFileSync(path.join(folder, file), bytes);
              written.push(file);
            } catch {
              // A file and a folder of one name.
            }
          }
          expect(await nameTree(folder, paths(...written), never)).toMatchObject({ name: gitName(folder) });
        },
      ),
      { numRuns: 25 },
    );
  });

  it('leaves out what is gone, and what lies behind a link', async () => {
    mkdirSync(path.join(root, 'd'));
    writeFileSync(path.join(root, 'd', 'f'), 'x');
    writeFileSync(path.join(root, 'g'), 'x');
    symlinkSync('d', path.join(root, 'l'));
    const just = await nameTree(root, paths('g'), never);
    expect(await nameTree(root, paths('g', 'gone', 'gone/x', 'g/x', 'l/f', 'd'), never)).toEqual(just);
  });

  it('a submodule that is not checked out is its commit; one that is has files that are not looked at', async () => {
    mkdirSync(path.join(root, 'sub'));
    const sub = (commit: string) => nameTree(root, [{ path: 'sub', commit }], never);
    expect(await sub('a'.repeat(40))).toMatchObject({ kind: 'tree', files: 1 });
    expect(await sub('a'.repeat(40))).not.toEqual(await sub('b'.repeat(40)));
    writeFileSync(path.join(root, 'sub', 'f'), 'x');
    expect(await sub('a'.repeat(40))).toEqual({ kind: 'nested', path: 'sub' });
  });

  it('a stop ends it in the middle of a file, too', async () => {
    const stop = new AbortController();
    writeFileSync(path.join(root, 'sparse'), '');
    truncateSync(path.join(root, 'sparse'), 15 * 1024 ** 3);
    setTimeout(() => stop.abort(new Error('stop')), 50);
    await expect(nameTree(root, paths('sparse'), stop.signal)).rejects.toThrow('stop');
  });

  it.each([
    ['one file of a terabyte', { sparse: 2 ** 40 }],
    [
      'many that are too large together',
      Object.fromEntries(Array.from('abcdefghi', (name) => [name, 2 ** 31])),
    ],
  ])('has none where it would take hours to read: %s', async (_, sizes: Record<string, number>) => {
    for (const [name, size] of Object.entries(sizes)) {
      writeFileSync(path.join(root, name), '');
      truncateSync(path.join(root, name), size);
    }
    const tree = await nameTree(root, paths(...Object.keys(sizes)), AbortSignal.timeout(60_000));
    expect(tree).toMatchObject({ kind: 'unreadable', code: 'EFBIG' });
  });

  it('a stop ends it', async () => {
    await expect(nameTree(root, paths('g'), AbortSignal.abort(new Error('stop')))).rejects.toThrow('stop');
  });
});
