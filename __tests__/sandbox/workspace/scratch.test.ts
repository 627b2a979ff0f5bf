import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { lstat, readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Mounter } from '../../../src/sandbox/workspace/overlay.ts';
import { createLayers, type Layer } from '../../../src/sandbox/workspace/scratch.ts';
import { putFiles } from '../../support/local.ts';
import { makeFolder } from '../../support/surroundings.ts';

const isRoot = process.getuid?.() === 0;
const parent = makeFolder();
let base: string;
let workspace: string;
let run: string;
let copy: string;
beforeEach(() => {
  base = mkdtempSync(join(parent, 'scratch-'));
  workspace = join(base, 'workspace');
  run = join(base, 'run');
  copy = join(run, 'scratch', 'workspace');
  mkdirSync(run);
  putFiles(workspace, { '.git/HEAD': 'ref' });
});

const layersIn = (runFolder: string) =>
  createLayers({ workspace, access: 'scratch', runFolder, withGit: false });

/** Copies the workspace; returns what could not be read. */
const copied = async () => (await layersIn(run).copied()).filled();

it('copies names, modes, times and links without following links', async () => {
  const names = ['-rf', 'a b', '.hidden', "q'uote", 'é'];
  for (const name of names) writeFileSync(join(workspace, name), name);
  chmodSync(join(workspace, 'a b'), 0o755);
  utimesSync(join(workspace, 'a b'), 1_000_000, 1_000_000);
  symlinkSync('/etc/passwd', join(workspace, 'link'));
  expect(await copied()).toBeNull();
  expect((await readdir(copy)).sort()).toEqual([...names, 'link'].sort());
  expect(await readlink(join(copy, 'link'))).toBe('/etc/passwd');
  const stats = await lstat(join(copy, 'a b'));
  expect([stats.mode & 0o777, stats.mtimeMs]).toEqual([0o755, 1_000_000_000]);
  expect(await readFile(join(copy, '-rf'), 'utf8')).toBe('-rf');
});

it('copies names that are not UTF-8', async () => {
  const odd = (folder: string, name: string) =>
    Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(name, 'latin1')]);
  const names = ['\xff.test.js', 'a\nb', '\xed\xa0\x80', 'a'];
  for (const name of names) writeFileSync(odd(workspace, name), name);
  mkdirSync(odd(workspace, 'd\xff/e\xff'), { recursive: true });
  symlinkSync('a', odd(workspace, 'd\xff/e\xff/link'));
  expect(await copied()).toBeNull();
  for (const name of names)
    expect(readFileSync(odd(copy, name), 'latin1')).toBe(readFileSync(odd(workspace, name), 'latin1'));
  expect(readlinkSync(odd(copy, 'd\xff/e\xff/link'))).toBe('a');
});

it('copies a named pipe as a pipe without opening it', async () => {
  execFileSync('mkfifo', [join(workspace, 'pipe')]);
  expect(await copied()).toBeNull();
  expect((await lstat(join(copy, 'pipe'))).isFIFO()).toBe(true);
});

it.runIf(isRoot)('removes the copy on a disk that runs full, and suggests fixes', async () => {
  await onDisk('size=300m', async (disk) => {
    writeFileSync(join(workspace, 'large'), Buffer.alloc(2_000_000));
    const layer: Layer = await layersIn(disk).copied();
    execFileSync('fallocate', ['-l', '299M', join(disk, 'other')]);
    await expect(layer.filled()).rejects.toThrow(/RUNNER_TEMP is full.*check out less/u);
    expect(await readdir(join(disk, 'scratch'))).toEqual([]);
  });
});

it('copies where an overlay cannot be mounted, and keeps the reason', async () => {
  writeFileSync(join(workspace, 'a'), 'a');
  const identity = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  const failing = join(base, 'unshare');
  writeFileSync(failing, '#!/bin/sh\necho "unshare: not allowed here" >&2\nexit 1\n', { mode: 0o755 });
  const mounter = { unshare: failing, nsenter: '/bin/false', setpriv: '/bin/false', byRoot: null, identity };
  const layers = layersIn(run);
  expect(await layers.mounted(mounter)).toBeNull();
  expect(await layers.mounted(mounter)).toBeNull();
  expect(layers.reasons()).toEqual(['unshare: not allowed here']);
  const layer = await layers.copied();
  expect([layer.kind, await layer.filled(), layer.tree]).toEqual(['copy', null, copy]);
  expect(await readdir(copy)).toEqual(['a']);
  expect((await lstat(copy)).mode & 0o777).toBe((await lstat(workspace)).mode & 0o777);
  await layers.close();
});

const programs = { unshare: '/usr/bin/unshare', nsenter: '/usr/bin/nsenter', setpriv: '/usr/bin/setpriv' };

describe.runIf(isRoot)('with files of another user in the checkout', () => {
  const inUserNamespace: Mounter = { ...programs, byRoot: null, identity: { uid: 0, gid: 0 } };
  const reason = 'the checkout holds files of another user or group';
  const kindWith = async (mounter: Mounter) => {
    mkdirSync(run, { recursive: true });
    const layers = layersIn(run);
    const kind = (await layers.mounted(mounter))?.kind ?? null;
    await layers.close();
    rmSync(run, { recursive: true });
    return kind ?? layers.reasons();
  };

  it.each([
    ['user', '65534:0'],
    ['group', '0:65534'],
  ])('copies where a file of another %s could not be changed', async (_, owner) => {
    mkdirSync(join(workspace, 'folder'));
    writeFileSync(join(workspace, 'folder', 'file'), '');
    expect(await kindWith(inUserNamespace)).toBe('overlay');
    execFileSync('chown', [owner, join(workspace, 'folder', 'file')]);
    expect(await kindWith(inUserNamespace)).toEqual([reason]);
    expect(await kindWith({ ...inUserNamespace, byRoot: [] })).toBe('overlay');
  });
});

/** Calls back with a file system of its own, in memory. */
async function onDisk(options: string, use: (disk: string) => Promise<void>): Promise<void> {
  const disk = join(base, 'disk');
  mkdirSync(disk);
  execFileSync('/bin/mount', ['-t', 'tmpfs', '-o', options, 'none', disk]);
  try {
    await use(disk);
  } finally {
    execFileSync('/bin/umount', [disk]);
  }
}
