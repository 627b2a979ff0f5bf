import { execFileSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { OpenedSandbox } from '../../../src/sandbox/sandbox.ts';
import { readResolved } from '../../../src/sandbox/workspace/files.ts';
import { listen, putFiles } from '../../support/local.ts';
import { createWorld, exec, useWorld } from '../world.ts';

const world = await useWorld();
const sandbox = await world.open({ mode: 'off' });
const at = (...names: string[]) => join(world.workspace, ...names);

async function textOf(path: string, from: OpenedSandbox = sandbox): Promise<string> {
  const view = await from.read(path, 10_000);
  return view.kind === 'file' ? view.bytes.toString() : view.entries.map(({ name }) => name).join(' ');
}

/** Replaces the directory of a file with a link to a directory with a file of the same name. */
function swapFolder(path: string): void {
  const folder = dirname(path);
  putFiles(`${folder}-other`, { [basename(path)]: 'other' });
  rmSync(folder, { recursive: true });
  symlinkSync(`${folder}-other`, folder);
}

/** The resolved path for a path of the workspace. */
const placeOf = (path: string) =>
  ({
    host: path,
    view: path,
    tree: { view: world.workspace, host: world.workspace, real: world.workspace, kind: 'workspace' },
    stats: lstatSync(path),
  }) as const;

/** Expects a file tool to deny a path with a reason. */
const expectDenied = (work: Promise<unknown>, why: string, missing = false) =>
  expect(work).rejects.toMatchObject({ name: 'DeniedError', missing, message: expect.stringContaining(why) });

describe('reading', () => {
  it('reads a file by relative and absolute path', async () => {
    expect(await textOf('README.md')).toBe('hello\n');
    expect(await textOf(at('.', 'x', '..', 'README.md'))).toBe('hello\n');
  });

  it('follows links inside the workspace, relative or absolute, also to directories', async () => {
    putFiles(at('deep', 'er'), { f: 'inner' });
    symlinkSync('deep/er', at('short'));
    symlinkSync(at('short', 'f'), at('abs'));
    expect([await textOf('short/f'), await textOf('abs')]).toEqual(['inner', 'inner']);
    await expect(textOf('short/../er/f')).rejects.toThrow();
  });

  it('denies a link to .git and a cycle of links', async () => {
    symlinkSync('.git', at('g'));
    await expectDenied(sandbox.read('g/config', 10), '.git folder is closed');
    symlinkSync('c2', at('c1'));
    symlinkSync('c1', at('c2'));
    await expectDenied(sandbox.read('c1', 10), 'too many symbolic links');
  });

  it('denies sockets without waiting', async () => {
    const server = createServer();
    await listen(server, at('sock'));
    await expectDenied(sandbox.read('sock', 10), 'neither a regular file nor a folder');
    server.close();
  });

  it.each([
    ['a pipe', (path: string) => void execFileSync('mkfifo', [path]), 'neither a regular file nor a folder'],
    ['a link to a device', (path: string) => symlinkSync('/dev/zero', path), 'it changed while'],
    ['a link to a file in /proc', (path: string) => symlinkSync('/proc/kmsg', path), 'it changed'],
    ['another parent directory', (path: string) => swapFolder(path), 'it changed while it was opened'],
  ])('denies %s that replaced a file after the path check', async (_, put, why) => {
    const path = at('swapped', 'file');
    putFiles(at('swapped'), { file: 'text' });
    const place = placeOf(path);
    rmSync(path);
    put(path);
    await expectDenied(readResolved(place, 'swapped/file', 10), why);
    rmSync(at('swapped'), { recursive: true });
  });

  it('reports a missing path, but not for a file used as a directory', async () => {
    await expectDenied(sandbox.read('nope', 10), 'nothing at this path', true);
    await expectDenied(sandbox.read('README.md/x', 10), 'is a file, not a folder');
  });

  it('maps /tmp to the private /tmp, also under its real path when nothing is mounted', async () => {
    await sandbox.write('/tmp/note', Buffer.from('x'));
    const { output } = await exec(sandbox, 'cat "$TMPDIR/note"; echo "$TMPDIR"');
    const [, folder] = /^x(.*)\n$/u.exec(output) ?? [];
    expect(await textOf(join(folder ?? '', 'note'))).toBe('x');
    expect(await textOf('/tmp/note')).toBe('x');
    expect(existsSync('/tmp/note')).toBe(false);
  });
});

describe('writing', () => {
  it('creates a file with its parent directories and nothing else', async () => {
    await sandbox.write('new/a/b.txt', Buffer.from('text'));
    expect(readFileSync(at('new', 'a', 'b.txt'), 'utf8')).toBe('text');
    expect(readdirSync(at('new', 'a'))).toEqual(['b.txt']);
  });

  it('writes to the target of a link inside the workspace and keeps the link', async () => {
    writeFileSync(at('target'), 'old');
    symlinkSync('target', at('alias'));
    await sandbox.write('alias', Buffer.from('new'));
    expect(lstatSync(at('alias')).isSymbolicLink()).toBe(true);
    expect(readFileSync(at('target'), 'utf8')).toBe('new');
  });

  it('denies protected paths, also under other names', async () => {
    symlinkSync('.github', at('gh'));
    for (const path of ['action.yml', 'gh/x', 'gha-creds-1.json'])
      await expect(sandbox.write(path, Buffer.from('x'))).rejects.toMatchObject({ name: 'DeniedError' });
    expect(existsSync(at('action.yml'))).toBe(false);
  });

  // A commit can contain the link: it must not be able to protect any directory that it names.
  it('protects the name .github when it is a link, but not the target', async () => {
    const other = await createWorld();
    putFiles(other.workspace, { 'ci/w.yml': 'on: push' });
    execFileSync('rm', ['-rf', join(other.workspace, '.github')]);
    symlinkSync('ci', join(other.workspace, '.github'));
    const inner = await other.open({ mode: 'off' });
    await expectDenied(inner.write('.github/w.yml', Buffer.from('x')), 'is protected');
    await inner.write('ci/w.yml', Buffer.from('x'));
    expect(await textOf('ci/w.yml', inner)).toBe('x');
    await other.close();
  });

  it('explains a directory, a read-only workspace and a name that the system rejects', async () => {
    const reader = await world.open({ mode: 'off', access: 'read-only' });
    await expectDenied(sandbox.write('new', Buffer.from('x')), 'it is a folder');
    await expectDenied(reader.write('README.md', Buffer.from('x')), 'read-only in this run');
    await expectDenied(sandbox.write('n'.repeat(300), Buffer.from('x')), 'ENAMETOOLONG');
    await reader.write('/tmp/free', Buffer.from('x'));
    expect(await textOf('/tmp/free', reader)).toBe('x');
  });
});
