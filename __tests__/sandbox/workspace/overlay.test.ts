/** The scratch layer: an overlay over the checkout, or a copy where none can be mounted. */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SandboxError } from '../../../src/errors.ts';
import type { OpenedSandbox } from '../../../src/sandbox/sandbox.ts';
import { manifest, putFiles } from '../../support/local.ts';
import { exec, isolatedWays, processesWith, until, useWorld } from '../world.ts';

const isRoot = process.getuid?.() === 0;
const FILES = 1_000;

const world = await useWorld();

async function textOf(sandbox: OpenedSandbox, path: string): Promise<string> {
  const view = await sandbox.read(path, 10_000);
  return view.kind === 'file' ? view.bytes.toString() : view.entries.map(({ name }) => name).join(' ');
}

describe.each(isolatedWays)('behind $name, a scratch layer', ({ options }) => {
  it('shows commands and file tools the same tree, and leaves the checkout as it was', async () => {
    const workspace = join(world.base, `ws, ${options.kinds?.[0]}: \\`);
    for (let n = 0; n < FILES; n += 1) putFiles(workspace, { [`folder-${n % 50}/file-${n}`]: `lower ${n}` });
    chmodSync(join(workspace, 'folder-1', 'file-1'), 0o755);
    symlinkSync('folder-1/file-1', join(workspace, 'link'));
    putFiles(workspace, { '.github/x.yml': 'lower' });
    execFileSync('git', ['init', '-q', workspace]);
    const before = manifest(workspace, () => false);
    const sandbox = await world.openReady({
      ...options,
      access: 'scratch',
      workspace,
      workingDirectory: workspace,
    });
    expect(sandbox.scratch()).toBe('overlay');
    expect(sandbox.notes().join('\n')).toContain('an overlay over the checkout');

    expect((await exec(sandbox, 'cat link; ls | wc -l')).output).toBe('lower 151\n');
    const changes = [
      'rm -r folder-0 folder-2; mkdir folder-2; ls -A folder-2',
      ': > folder-3/file-3; truncate -s 1 folder-4/file-4; chmod 0400 folder-5/file-5; touch -d @0 folder-6/*',
      'mv folder-7/file-7 folder-7/moved; ln -f folder-8/file-8 folder-8/hard; sed -i s/lower/upper/ folder-9/*',
      'echo upper > link; echo new > new',
      'git add new 2>/dev/null && echo staged; echo x > .github/x.yml',
    ].join('\n');
    expect((await exec(sandbox, `( ${changes} ) 2>/dev/null`)).output).toBe('');
    await sandbox.write('folder-10/file-10', Buffer.from('edited'));
    await sandbox.write('deep/er/file', Buffer.from('made'));
    expect(await textOf(sandbox, 'folder-1/file-1')).toBe('upper\n');
    expect(await textOf(sandbox, 'folder-2')).toBe('');
    expect(await textOf(sandbox, 'folder-9/file-9')).toBe('upper 9');
    await expect(sandbox.read('folder-0', 10)).rejects.toMatchObject({ missing: true });
    await expect(sandbox.write('.github/x.yml', Buffer.from('x'))).rejects.toThrow('refused');
    await expect(sandbox.read('.git/config', 10)).rejects.toThrow('refused');
    const seen = 'cat folder-10/file-10 deep/er/file new; rm folder-10/file-10';
    expect((await exec(sandbox, seen)).output).toBe('editedmadenew\n');
    await expect(sandbox.read('folder-10/file-10', 10)).rejects.toMatchObject({ missing: true });

    await sandbox.close();
    expect(manifest(workspace, () => false)).toEqual(before);
  });

  it('runs no command and reads nothing after its holder was killed', async () => {
    const runFolder = mkdtempSync(join(world.temp, 'run-'));
    const sandbox = await world.openReady({ ...options, access: 'scratch', runFolder });
    const holders = processesWith(`${runFolder}/scratch/workspace `, 'mountinfo');
    expect(holders.length).toBeGreaterThan(0);
    for (const pid of holders) {
      try {
        process.kill(Number(pid), 'SIGKILL');
      } catch {
        execFileSync('/usr/bin/sudo', ['-n', '/bin/kill', '-KILL', pid]);
      }
    }
    await until(() => holders.every((pid) => !existsSync(`/proc/${pid}/mountinfo`)));
    await expect(exec(sandbox, 'touch outside')).rejects.toBeInstanceOf(SandboxError);
    await expect(sandbox.read('README.md', 10)).rejects.toBeInstanceOf(SandboxError);
    await expect(sandbox.write('outside', Buffer.from('x'))).rejects.toThrow('is gone');
    expect(existsSync(join(world.workspace, 'outside'))).toBe(false);
  });
});

describe.runIf(isRoot && isolatedWays.length > 0)('on an unusual machine', () => {
  let base: string;
  const mounted: string[] = [];
  beforeEach(() => {
    base = mkdtempSync(join(world.base, 'machine-'));
  });
  afterEach(() => {
    for (const path of mounted.splice(0).reverse()) execFileSync('/bin/umount', [path]);
  });
  const mount = (at: string, ...args: string[]) => {
    mkdirSync(at, { recursive: true });
    execFileSync('/bin/mount', [...args, at]);
    mounted.push(at);
  };
  const makeWorkspace = () => {
    const workspace = join(base, 'workspace');
    mkdirSync(join(workspace, 'folder'), { recursive: true });
    writeFileSync(join(workspace, 'folder', 'file'), 'lower');
    return workspace;
  };
  const open = (workspace: string, runnerTemp: string) => {
    const runFolder = mkdtempSync(join(runnerTemp, 'run-'));
    const own = { workspace, workingDirectory: workspace, runnerTemp, runFolder, access: 'scratch' as const };
    return world.openReady({ ...isolatedWays[0]?.options, ...own });
  };

  it('with another file system mounted in the checkout, the layer is a copy, and the log says why', async () => {
    const workspace = makeWorkspace();
    mount(join(workspace, 'folder'), '-t', 'tmpfs', 'none');
    writeFileSync(join(workspace, 'folder', 'file'), 'lower');
    const sandbox = await open(workspace, world.temp);
    const command = 'cat folder/file; rm -r folder/* && ls -A folder; echo x > new; cat new';
    expect((await exec(sandbox, command)).output).toBe('lowerx\n');
    expect(await textOf(sandbox, '.')).toBe('folder new');
    expect(readdirSync(workspace)).toEqual(['folder']);
    expect([sandbox.scratch(), sandbox.notes().join('\n')]).toEqual([
      'copy',
      expect.stringContaining(
        'a copy of the checkout, because no overlay could be mounted ("another file system is mounted in the checkout")',
      ),
    ]);
    await sandbox.close();
  });

  it('with a full RUNNER_TEMP, the writes of a command fail, and reading goes on', async () => {
    const workspace = makeWorkspace();
    mount(join(base, 'temp'), '-t', 'tmpfs', '-o', 'size=8m', 'none');
    const sandbox = await open(workspace, join(base, 'temp'));
    expect(sandbox.scratch()).toBe('overlay');
    const { exitCode, output } = await exec(sandbox, 'head -c 20000000 /dev/zero > large');
    expect([exitCode === 0, output]).toEqual([false, expect.stringContaining('No space left on device')]);
    await expect(sandbox.write('file', Buffer.alloc(100_000))).rejects.toThrow('ENOSPC');
    expect(await textOf(sandbox, 'folder/file')).toBe('lower');
    expect((await exec(sandbox, 'rm large; echo x > folder/file; cat folder/file')).output).toBe('x\n');
    await sandbox.close();
  });
});
