import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { lstat, readdir, readFile, readlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { InputError } from '../../../src/errors.ts';
import type { Mounter } from '../../../src/sandbox/workspace/overlay.ts';
import { createLayers, type Layer } from '../../../src/sandbox/workspace/scratch.ts';
import { copySources } from '../../support/open-sources.ts';

const isRoot = process.getuid?.() === 0;
let base: string;
let workspace: string;
let run: string;
let copy: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'scratch-')));
  workspace = join(base, 'workspace');
  run = join(base, 'run');
  copy = join(run, 'scratch', 'workspace');
  mkdirSync(run);
  mkdirSync(join(workspace, '.git'), { recursive: true });
  writeFileSync(join(workspace, '.git', 'HEAD'), 'ref');
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

function layersIn(runFolder: string, withGit = false) {
  return createLayers({ workspace, access: 'scratch', runFolder, withGit });
}

/** Copies the workspace; returns what could not be read. */
async function copyTo(runFolder: string, withGit = false): Promise<string | null> {
  mkdirSync(runFolder, { recursive: true });
  return (await layersIn(runFolder, withGit).copied()).filled();
}

it('copies names, modes, times and links without following links', async () => {
  const names = ['-rf', 'a b', '.hidden', "q'uote", 'é'];
  for (const name of names) writeFileSync(join(workspace, name), name);
  chmodSync(join(workspace, 'a b'), 0o755);
  utimesSync(join(workspace, 'a b'), 1_000_000, 1_000_000);
  symlinkSync('/etc/passwd', join(workspace, 'link'));
  expect(await copyTo(run)).toBeNull();
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
  expect(await copyTo(run)).toBeNull();
  for (const name of names)
    expect(readFileSync(odd(copy, name), 'latin1')).toBe(readFileSync(odd(workspace, name), 'latin1'));
  expect(readlinkSync(odd(copy, 'd\xff/e\xff/link'))).toBe('a');
});

it('copies an empty workspace and one with many top-level names', async () => {
  expect(await copyTo(run)).toBeNull();
  expect(await readdir(copy)).toEqual([]);
  for (let n = 0; n < 2000; n += 1) writeFileSync(join(workspace, `${'n'.repeat(150)}${n}`), '');
  await copyTo(`${run}2`);
  expect(await readdir(join(`${run}2`, 'scratch', 'workspace'))).toHaveLength(2000);
});

it('copies the top-level .git only when requested', async () => {
  mkdirSync(join(workspace, 'nested', '.git'), { recursive: true });
  await copyTo(run);
  expect(await readdir(copy)).toEqual(['nested']);
  expect(await readdir(join(copy, 'nested'))).toEqual(['.git']);
  await copyTo(`${run}2`, true);
  expect(await readFile(join(`${run}2`, 'scratch', 'workspace', '.git', 'HEAD'), 'utf8')).toBe('ref');
});

it.runIf(isRoot)('refuses a copy that does not fit before it copies anything', async () => {
  await onDisk('size=64m', async (disk) => {
    writeFileSync(join(workspace, 'large'), Buffer.alloc(2_000_000));
    const refusal = await copyTo(disk).then(
      () => null,
      (error: unknown) => error,
    );
    expect(refusal).toBeInstanceOf(InputError);
    expect(refusal).toMatchObject({
      input: 'workspace-access',
      message: expect.stringMatching(/holds 0\.0 GiB, .* has 0\.1 GiB left.*in-place.*read-only/su),
    });
    expect(await readdir(join(disk, 'scratch'))).toEqual([]);
  });
});

it('copies more than 2 GiB', async () => {
  const large = join(workspace, 'large');
  writeFileSync(large, '');
  truncateSync(large, 2 ** 31 + 4096);
  expect(await copyTo(run)).toBeNull();
  expect((await lstat(join(copy, 'large'))).size).toBe(2 ** 31 + 4096);
});

it('copies a named pipe as a pipe without opening it', async () => {
  execFileSync('mkfifo', [join(workspace, 'pipe')]);
  expect(await copyTo(run)).toBeNull();
  expect((await lstat(join(copy, 'pipe'))).isFIFO()).toBe(true);
});

it('reports files that cannot be read and copies the rest', async () => {
  writeFileSync(join(workspace, 'a'), 'a');
  writeFileSync(join(workspace, 'closed'), 'b', { mode: 0o000 });
  const script = `
    import { createLayers } from ${JSON.stringify(join(copySources(base), 'sandbox/workspace/scratch.ts'))};
    const options = ${JSON.stringify({ workspace, access: 'scratch', runFolder: run, withGit: false })};
    console.log(await (await createLayers(options).copied()).filled());`;
  const node = [process.execPath, '--input-type=module', '-e', script];
  // Root can read everything, so another user copies.
  const asOther =
    process.getuid?.() === 0 ? ['setpriv', '--reuid', '65534', '--clear-groups', ...node] : node;
  if (process.getuid?.() === 0) execFileSync('chown', ['65534', base, run, workspace, join(workspace, 'a')]);
  const [file = '', ...args] = asOther;
  const said = execFileSync(file, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  expect(said).toMatch(/closed.*Permission denied/u);
  expect(await readdir(copy)).toEqual(['a']);
});

it.runIf(isRoot)('removes the copy on a disk that runs full, and suggests fixes', async () => {
  await onDisk('size=300m', async (disk) => {
    writeFileSync(join(workspace, 'large'), Buffer.alloc(2_000_000));
    const layer: Layer = await layersIn(disk).copied();
    execFileSync('fallocate', ['-l', '299M', join(disk, 'other')]);
    await expect(layer.filled()).rejects.toThrow(/RUNNER_TEMP is full.*in-place/u);
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

// As a file that git removes in the background, between the moments at which find lists it and looks at it.
it.runIf(!isRoot)(
  'mounts an overlay over a checkout with a file that can be listed and not looked at',
  async () => {
    const closed = join(workspace, 'closed');
    mkdirSync(closed);
    writeFileSync(join(closed, 'file'), '');
    chmodSync(closed, 0o600);
    const identity = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
    const layers = layersIn(run);
    const layer = await layers.mounted({ ...programs, byRoot: null, identity });
    await layers.close();
    chmodSync(closed, 0o700);
    expect([layer?.kind, layers.reasons()]).toEqual(['overlay', []]);
  },
);

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

  it.each([
    ['before the model is asked if a copy might not fit', true, null],
    ['beside the first request otherwise', false, 'overlay'],
  ])('knows it %s', async (_, isSmall, quick) => {
    await onDisk('size=300m', async (disk) => {
      const [from, into] = isSmall ? [workspace, disk] : [disk, run];
      writeFileSync(join(from, 'file'), '');
      execFileSync('chown', ['65534', join(from, 'file')]);
      const layers = createLayers({ workspace: from, access: 'scratch', runFolder: into, withGit: false });
      expect((await layers.mounted(inUserNamespace, true))?.kind ?? null).toBe(quick);
      expect(await layers.mounted(inUserNamespace)).toBeNull();
      expect(layers.reasons()).toEqual([reason]);
      await layers.close();
    });
  });
});

it('copies where an overlay does not work as one', async () => {
  writeFileSync(join(workspace, 'a'), 'a');
  const pretending = join(base, 'unshare');
  // Looks as if it had mounted something.
  const script = `mkdir ${run}/layer-0/data/work/work; cp -r ${run}/layer-0/trial/. ${copy}/; echo "up $$"; cat >/dev/null`;
  writeFileSync(pretending, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const identity = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  const layers = layersIn(run);
  const programs = { unshare: pretending, nsenter: '/bin/false', setpriv: '/bin/false' };
  expect(await layers.mounted({ ...programs, byRoot: null, identity })).toBeNull();
  expect(layers.reasons()).toEqual(['an overlay here does not work as one']);
  await layers.close();
});

it('stops when it is closed', async () => {
  writeFileSync(join(workspace, 'a'), 'a');
  const layers = layersIn(run);
  const layer = await layers.copied();
  await layers.close();
  await expect(layer.filled()).rejects.toThrow('closed');
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
