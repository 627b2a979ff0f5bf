import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { filterPatch as filterUnless, type SecretSearch } from '../../../src/sandbox/workspace/patch.ts';
import { putFiles } from '../../support/local.ts';
import { knowSecrets, makeFolder } from '../../support/surroundings.ts';

const base = makeFolder();
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(base, 'patch-'));
});

const never = new AbortController().signal;
const filterPatch = (patch: Buffer, search: SecretSearch) => filterUnless(patch, search, never);
const noSecret = { holdsSecret: () => false, asText: null };

const git = (...args: readonly string[]) =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], { cwd: folder });

/** The patch from the first commit to the current files. */
function patchOf(write: () => void): Buffer {
  git('init', '-q');
  symlinkSync('a', path.join(folder, 'old'));
  git('add', '-A');
  git('commit', '-qm', 'first');
  write();
  git('add', '-A');
  return git('diff', '--cached', '--no-renames', '--binary', '--full-index', '--no-ext-diff');
}

const put = (name: string, text: string | Buffer = 'x\n') => void putFiles(folder, { [name]: text });

it.each([
  ['a workflow', () => put('.github/workflows/x.yml'), '.github/workflows/x.yml'],
  ['a workflow in another case', () => put('.GitHub/workflows/x.yml'), '.GitHub/workflows/x.yml'],
  ['an action', () => put('action.yml'), 'action.yml'],
  ['an action in a directory', () => put('tools/build/Action.yaml'), 'tools/build/Action.yaml'],
  ['a submodule', () => put('.gitmodules'), '.gitmodules'],
  ['a binary workflow', () => put('.github/x', Buffer.from([0, 1, 2])), '.github/x'],
  ['a workflow with an unusual name', () => put('.github/ä "x"\n'), '.github/\\303\\244 \\"x\\"\\n'],
  ['an absolute link', () => symlinkSync('/etc/passwd', path.join(folder, 'link')), 'link'],
  ['a link out of the tree', () => symlinkSync('b/../../../etc/passwd', path.join(folder, 'link')), 'link'],
  [
    'a link with a changed target',
    () => {
      rmSync(path.join(folder, 'old'));
      symlinkSync('../elsewhere', path.join(folder, 'old'));
    },
    'old',
  ],
  ['a link with a line break', () => symlinkSync('a\n/etc', path.join(folder, 'link')), 'link'],
])('removes %s from a patch', async (_, write, name) => {
  const patch = patchOf(() => {
    write();
    put('kept b/kept.txt', 'diff --git a/action.yml b/action.yml\n+++ b/action.yml\n');
  });
  const { patch: left, leftOut } = await filterPatch(patch, noSecret);
  expect(leftOut).toEqual([{ name, why: 'protected' }]);
  git('reset', '-q', '--hard');
  git('clean', '-fdqx');
  git('apply', '--check', writeOut(left));
  expect(String(left).match(/^diff --git .*$/gmu)).toEqual([
    'diff --git a/kept b/kept.txt b/kept b/kept.txt',
  ]);
});

function writeOut(patch: Buffer | null): string {
  const file = path.join(folder, '.git', 'left.patch');
  writeFileSync(file, patch ?? '');
  return file;
}

it('keeps everything else byte for byte, including links inside the tree and deleted links', async () => {
  const patch = patchOf(() => {
    rmSync(path.join(folder, 'old'));
    put('a/b', Buffer.from([255, 0, 10, 128]));
    put('a/ü', Buffer.from([255, 10, 128, 13, 10]));
    put('docs/action.yml.md');
    symlinkSync('../a/b', path.join(folder, 'docs', 'link'));
  });
  expect(await filterPatch(patch, { ...noSecret, asText: patch })).toEqual({ patch, leftOut: [] });
});

describe('removes a file with a secret from a patch: the secret is', () => {
  const SECRET = 'sk-canary-0123456789';
  const secrets = knowSecrets(SECRET);
  const holdsSecret = (text: string) => secrets.find(text) !== null || secrets.mask(text) !== text;
  const asText = () => git('diff', '--cached', '--no-renames', '--text', '--full-index', '--no-ext-diff');
  const filter = (write: () => void) => {
    const patch = patchOf(() => {
      write();
      put('kept.txt', 'kept\rdiff --git a/x b/x\n');
      put('kept.bin', Buffer.from([0, 255, 1]));
    });
    return filterPatch(patch, { holdsSecret, asText: asText() });
  };
  it.each<[string, () => void, string]>([
    ['in a line', () => put('a', `x\nkey=${SECRET}\n`), 'a'],
    ['split over two lines', () => put('a', `${SECRET.slice(0, 9)}\n${SECRET.slice(9)}\n`), 'a'],
    ['in base64', () => put('a', Buffer.from(`{"k":"${SECRET}"}`).toString('base64')), 'a'],
    ['with invisible characters inside', () => put('a', [...SECRET].join('\u200b')), 'a'],
    ['in a binary file', () => put('a', Buffer.from(`\0\0${SECRET}\0`)), 'a'],
    ['in UTF-16', () => put('a', Buffer.from(`x${SECRET}`, 'utf16le')), 'a'],
    ['in a name', () => put(`a ${SECRET}`), '***'],
    ['in a name with invisible characters', () => put([...SECRET].join('\u200b')), '***'],
    ['in the target of a link', () => symlinkSync(SECRET, path.join(folder, 'a')), 'a'],
  ])('%s', async (_, write, name) => {
    const { patch, leftOut } = await filter(write);
    expect(leftOut).toEqual([{ name, why: 'secret' }]);
    expect(String(patch).match(/^diff --git [^\r\n]*$/gmu)).toEqual(
      expect.arrayContaining(['diff --git a/kept.bin b/kept.bin', 'diff --git a/kept.txt b/kept.txt']),
    );
    git('reset', '-q', '--hard');
    git('clean', '-fdqx');
    git('apply', '--check', writeOut(patch));
  });

  it('far inside a large file, or at the boundary of two search windows', async () => {
    for (const at of [1024 * 1024 - 5, 2_500_000]) {
      const patch = Buffer.from(
        `diff --git a/a b/a\n@@ -0,0 +1,2 @@\n+${'x'.repeat(at)}${SECRET}${'x'.repeat(2_000_000)}\n+x\n`,
      );
      const found = await filterPatch(patch, { holdsSecret, asText: null });
      expect(found).toEqual({ patch: null, leftOut: [{ name: 'a', why: 'secret' }] });
    }
  });

  it('not searched for after the signal aborts', async () => {
    const signal = AbortSignal.abort('SIGTERM');
    await expect(filterUnless(Buffer.from('diff --git a/a b/a\n'), noSecret, signal)).rejects.toBe('SIGTERM');
  });

  it('in a binary file that is too large to search, which is removed unsearched', async () => {
    const patch = patchOf(() => {
      put('a', Buffer.from(`\0${SECRET}`));
      put('b', 'x\n');
    });
    const { patch: left, leftOut } = await filterPatch(patch, { holdsSecret, asText: null });
    expect(leftOut).toEqual([{ name: 'a', why: 'secret' }]);
    expect(String(left)).toMatch(/^diff --git a\/b b\/b\n/u);
  });
});
