import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { filterPatch } from '../../src/sandbox/patch.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'patch-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const git = (...args: readonly string[]) =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], { cwd: folder });

/** The patch of what is in the folder now against its first commit. */
function patchOf(write: () => void): Buffer {
  git('init', '-q');
  symlinkSync('a', path.join(folder, 'old'));
  git('add', '-A');
  git('commit', '-qm', 'first');
  write();
  git('add', '-A');
  return git('diff', '--cached', '--no-renames', '--binary', '--full-index', '--no-ext-diff');
}

function put(name: string, text: string | Buffer = 'x\n'): void {
  mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
  writeFileSync(path.join(folder, name), text);
}

it.each([
  ['a workflow', () => put('.github/workflows/x.yml'), '.github/workflows/x.yml'],
  ['a workflow by another spelling', () => put('.GitHub/workflows/x.yml'), '.GitHub/workflows/x.yml'],
  ['an action', () => put('action.yml'), 'action.yml'],
  ['an action in a folder', () => put('tools/build/Action.yaml'), 'tools/build/Action.yaml'],
  ['a submodule', () => put('.gitmodules'), '.gitmodules'],
  ['a binary workflow', () => put('.github/x', Buffer.from([0, 1, 2])), '.github/x'],
  ['a workflow with an odd name', () => put('.github/ä "x"\n'), '.github/\\303\\244 \\"x\\"\\n'],
  ['an absolute link', () => symlinkSync('/etc/passwd', path.join(folder, 'link')), 'link'],
  ['a link upwards', () => symlinkSync('b/../../../etc/passwd', path.join(folder, 'link')), 'link'],
  [
    'a link that was turned',
    () => {
      rmSync(path.join(folder, 'old'));
      symlinkSync('../elsewhere', path.join(folder, 'old'));
    },
    'old',
  ],
  ['a link in two lines', () => symlinkSync('a\n/etc', path.join(folder, 'link')), 'link'],
])('a patch to apply unread does not bring %s', (_, write, name) => {
  const patch = patchOf(() => {
    write();
    put('kept b/kept.txt', 'diff --git a/action.yml b/action.yml\n+++ b/action.yml\n');
  });
  const { patch: left, leftOut } = filterPatch(patch);
  expect(leftOut).toEqual([name]);
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

it('keeps everything else byte for byte, links within the tree and deleted ones too', () => {
  const patch = patchOf(() => {
    rmSync(path.join(folder, 'old'));
    put('a/b', Buffer.from([255, 0, 10, 128]));
    put('a/ü', Buffer.from([255, 10, 128, 13, 10]));
    put('docs/action.yml.md');
    symlinkSync('../a/b', path.join(folder, 'docs', 'link'));
  });
  expect(filterPatch(patch)).toEqual({ patch, leftOut: [] });
});

it('of nothing but what is left out is none', () => {
  expect(filterPatch(patchOf(() => put('action.yml')))).toEqual({ patch: null, leftOut: ['action.yml'] });
});
