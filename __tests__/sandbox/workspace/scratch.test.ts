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

it('keeps names, modes, times and links; a link is not followed', async () => {
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

it('wants a file to be judged by nobody, under a name that is not UTF-8', async () => {
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

it('copies an empty workspace, and many names at the top', async () => {
  expect(await copyWorkspace(workspace, copy, { withGit: false, signal: never })).toEqual({ missing: null });
  expect(await readdir(copy)).toEqual([]);
  for (let n = 0; n < 2000; n += 1) writeFileSync(join(workspace, `${'n'.repeat(150)}${n}`), '');
  await copyWorkspace(workspace, `${copy}2`, { withGit: false, signal: never });
  expect(await readdir(`${copy}2`)).toHaveLength(2000);
});

it("leaves git's folder at the top out, unless it is asked for", async () => {
  mkdirSync(join(workspace, 'nested', '.git'), { recursive: true });
  await copyWorkspace(workspace, copy, { withGit: false, signal: never });
  expect(await readdir(copy)).toEqual(['nested']);
  expect(await readdir(join(copy, 'nested'))).toEqual(['.git']);
  await copyWorkspace(workspace, `${copy}2`, { withGit: true, signal: never });
  expect(await readFile(join(`${copy}2`, '.git', 'HEAD'), 'utf8')).toBe('ref');
});

it('a workspace of more than 2 GiB is refused by a sentence that names the ways out', async () => {
  const large = join(workspace, 'large');
  writeFileSync(large, '');
  try {
    execFileSync('fallocate', ['-l', String(2 ** 31 + 4096), large]);
  } catch {
    // No room for it here: nothing to see.
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

it('a pipe is copied as a pipe, and nothing waits for it', async () => {
  execFileSync('mkfifo', [join(workspace, 'pipe')]);
  const { missing } = await copyWorkspace(workspace, copy, { withGit: false, signal: never });
  expect(missing).toBeNull();
  expect((await lstat(join(copy, 'pipe'))).isFIFO()).toBe(true);
});

it('what cannot be read is told, and the rest is there', async () => {
  writeFileSync(join(workspace, 'a'), 'a');
  writeFileSync(join(workspace, 'closed'), 'b', { mode: 0o000 });
  const script = `
    import { copyWorkspace } from ${JSON.stringify(join(copySources(base), 'sandbox/workspace/scratch.ts'))};
    const options = { withGit: false, signal: new AbortController().signal };
    console.log((await copyWorkspace(${JSON.stringify(workspace)}, ${JSON.stringify(copy)}, options)).missing);`;
  const node = [process.execPath, '--input-type=module', '-e', script];
  // Root may read everything: another user copies.
  const asOther =
    process.getuid?.() === 0 ? ['setpriv', '--reuid', '65534', '--clear-groups', ...node] : node;
  if (process.getuid?.() === 0) execFileSync('chown', ['65534', base, workspace, join(workspace, 'a')]);
  const [file = '', ...args] = asOther;
  const said = execFileSync(file, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  expect(said).toMatch(/closed.*Permission denied/u);
  expect(await readdir(copy)).toEqual(['a']);
});

it.runIf(process.getuid?.() === 0)('on a full disk nothing is left, and the ways out are named', async () => {
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

it('a stop ends it', async () => {
  writeFileSync(join(workspace, 'a'), 'a');
  const controller = new AbortController();
  controller.abort('stop');
  await expect(copyWorkspace(workspace, copy, { withGit: false, signal: controller.signal })).rejects.toBe(
    'stop',
  );
});
