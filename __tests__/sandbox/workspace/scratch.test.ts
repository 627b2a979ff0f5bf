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
import { afterEach, beforeEach, expect, it } from 'vitest';
import { InputError } from '../../../src/errors.ts';
import { copyWorkspace } from '../../../src/sandbox/workspace/scratch.ts';
import { copySources } from '../../support/open-sources.ts';

let base: string;
let workspace: string;
let copy: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'scratch-')));
  workspace = join(base, 'workspace');
  copy = join(base, 'copy');
  mkdirSync(join(workspace, '.git'), { recursive: true });
  writeFileSync(join(workspace, '.git', 'HEAD'), 'ref');
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const never = new AbortController().signal;

it('copies names, modes, times and links without following links', async () => {
  const names = ['-rf', 'a b', '.hidden', "q'uote", 'é'];
  for (const name of names) writeFileSync(join(workspace, name), name);
  chmodSync(join(workspace, 'a b'), 0o755);
  utimesSync(join(workspace, 'a b'), 1_000_000, 1_000_000);
  symlinkSync('/etc/passwd', join(workspace, 'link'));
  expect(await copyWorkspace(workspace, copy, { withGit: false, signal: never })).toEqual({ missing: null });
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
  expect(await copyWorkspace(workspace, copy, { withGit: false, signal: never })).toEqual({ missing: null });
  for (const name of names)
    expect(readFileSync(odd(copy, name), 'latin1')).toBe(readFileSync(odd(workspace, name), 'latin1'));
  expect(readlinkSync(odd(copy, 'd\xff/e\xff/link'))).toBe('a');
});

it('copies an empty workspace and one with many top-level names', async () => {
  expect(await copyWorkspace(workspace, copy, { withGit: false, signal: never })).toEqual({ missing: null });
  expect(await readdir(copy)).toEqual([]);
  for (let n = 0; n < 2000; n += 1) writeFileSync(join(workspace, `${'n'.repeat(150)}${n}`), '');
  await copyWorkspace(workspace, `${copy}2`, { withGit: false, signal: never });
  expect(await readdir(`${copy}2`)).toHaveLength(2000);
});

it('copies the top-level .git only when requested', async () => {
  mkdirSync(join(workspace, 'nested', '.git'), { recursive: true });
  await copyWorkspace(workspace, copy, { withGit: false, signal: never });
  expect(await readdir(copy)).toEqual(['nested']);
  expect(await readdir(join(copy, 'nested'))).toEqual(['.git']);
  await copyWorkspace(workspace, `${copy}2`, { withGit: true, signal: never });
  expect(await readFile(join(`${copy}2`, '.git', 'HEAD'), 'utf8')).toBe('ref');
});

it('rejects a workspace of more than 2 GiB with a message that suggests fixes', async () => {
  const large = join(workspace, 'large');
  writeFileSync(large, '');
  try {
    execFileSync('fallocate', ['-l', String(2 ** 31 + 4096), large]);
  } catch {
    // Not enough disk space for this test.
    truncateSync(large, 0);
    return;
  }
  const refusal = await copyWorkspace(workspace, copy, { withGit: false, signal: never }).then(
    () => null,
    (error: unknown) => error,
  );
  expect(refusal).toBeInstanceOf(InputError);
  expect(refusal).toMatchObject({
    input: 'workspace-access',
    message: expect.stringMatching(/2\.0 GiB.*in-place.*read-only/su),
  });
  expect(await readdir(base)).toEqual(['workspace']);
});

it('copies a named pipe as a pipe without opening it', async () => {
  execFileSync('mkfifo', [join(workspace, 'pipe')]);
  const { missing } = await copyWorkspace(workspace, copy, { withGit: false, signal: never });
  expect(missing).toBeNull();
  expect((await lstat(join(copy, 'pipe'))).isFIFO()).toBe(true);
});

it('reports files that cannot be read and copies the rest', async () => {
  writeFileSync(join(workspace, 'a'), 'a');
  writeFileSync(join(workspace, 'closed'), 'b', { mode: 0o000 });
  const script = `
    import { copyWorkspace } from ${JSON.stringify(join(copySources(base), 'sandbox/workspace/scratch.ts'))};
    const options = { withGit: false, signal: new AbortController().signal };
    console.log((await copyWorkspace(${JSON.stringify(workspace)}, ${JSON.stringify(copy)}, options)).missing);`;
  const node = [process.execPath, '--input-type=module', '-e', script];
  // Root can read everything, so another user copies.
  const asOther =
    process.getuid?.() === 0 ? ['setpriv', '--reuid', '65534', '--clear-groups', ...node] : node;
  if (process.getuid?.() === 0) execFileSync('chown', ['65534', base, workspace, join(workspace, 'a')]);
  const [file = '', ...args] = asOther;
  const said = execFileSync(file, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  expect(said).toMatch(/closed.*Permission denied/u);
  expect(await readdir(copy)).toEqual(['a']);
});

it.runIf(process.getuid?.() === 0)('removes the copy on a full disk and suggests fixes', async () => {
  const disk = join(base, 'disk');
  mkdirSync(disk);
  execFileSync('/bin/mount', ['-t', 'tmpfs', '-o', 'size=1m', 'none', disk]);
  try {
    writeFileSync(join(workspace, 'large'), Buffer.alloc(2_000_000));
    const copying = copyWorkspace(workspace, join(disk, 'copy'), { withGit: false, signal: never });
    await expect(copying).rejects.toThrow(/RUNNER_TEMP is full.*in-place/u);
    expect(await readdir(disk)).toEqual([]);
  } finally {
    execFileSync('/bin/umount', [disk]);
  }
});

it('stops when the signal is aborted', async () => {
  writeFileSync(join(workspace, 'a'), 'a');
  const controller = new AbortController();
  controller.abort('stop');
  await expect(copyWorkspace(workspace, copy, { withGit: false, signal: controller.signal })).rejects.toBe(
    'stop',
  );
});
