/** What a command leaves to the next one, and a run to the machine, however it ends. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { SandboxError } from '../../src/errors.ts';
import { removeFolder } from '../../src/sandbox/scratch.ts';
import { manifest, putFiles } from '../support/local.ts';
import { createMark, describeOpen, detected, exec, isRoot, processesWith, until, useWorld } from './world.ts';

const world = await useWorld();
const { workspace, home, temp, base } = world;
const isUnshare = detected.kind === 'unshare';

const makeRunFolder = () => mkdtempSync(join(temp, createMark('run')));

/** Processes of a run: those that name its folder, or have its mounts. */
function leftOf(folder: string): readonly string[] {
  return [...processesWith(basename(folder)), ...processesWith(basename(folder), 'mountinfo')];
}

/** Runs a test with a mount, whose last word is the folder. */
async function withMount(args: readonly string[], test: (folder: string) => Promise<void>): Promise<void> {
  const folder = args.at(-1) ?? '';
  execFileSync('/bin/mount', args);
  await test(folder).finally(() => execFileSync('/bin/umount', ['-l', folder]));
}

const asRoot = detected.kind === 'unshare' ? detected.programs.asRoot : [];

it.runIf(isUnshare)('a command runs nothing on the machine if the holder has died', async () => {
  const sandbox = await world.openReady();
  await exec(sandbox, 'true');
  const mark = createMark('after');
  const running = exec(sandbox, `exec -a ${mark} sleep 300`).catch(() => undefined);
  await until(() => processesWith(`${mark}\x00300`).length > 0);
  const holders = () => readdirSync(temp).flatMap((name) => processesWith(`/_temp/${name}`));
  execFileSync('/usr/bin/env', [...asRoot, '/bin/kill', '-KILL', ...holders()]);
  await running;
  await until(() => holders().length === 0 && processesWith(mark).length === 0);
  const escaped = join(base, 'escaped');
  await expect(exec(sandbox, `touch ${escaped}`)).rejects.toThrow(SandboxError);
  await expect(sandbox.read('README.md', 10)).rejects.toThrow(SandboxError);
  await expect(sandbox.write('README.md', Buffer.from('x'))).rejects.toThrow(SandboxError);
  expect(existsSync(escaped)).toBe(false);
  expect(readFileSync(join(workspace, 'README.md'), 'utf8')).toBe('hello\n');
  await sandbox.close();
});

describeOpen('of a run', () => {
  it('no file, process or mount remains', async () => {
    const before = manifest(workspace, () => false);
    const runFolder = makeRunFolder();
    const sandbox = await world.openReady({ runFolder });
    if (isUnshare) expect([sandbox.layer(), sandbox.isolation()]).toEqual(['overlay', 'unshare']);
    const mark = createMark('left');
    const deep = "perl -e 'for (1..3000) { mkdir q(d) x 50; chdir q(d) x 50 or die } print qq(deep\\n)'";
    const names =
      "touch $'\\377\\376' $'a\\nb' -- '-rf'; mkfifo pipe; rm -rf README.md .github; mkdir .github; ln -s / root";
    const modes = 'mkdir -p locked/in; touch locked/in/x; chmod 000 locked/in locked';
    const started = `setsid -f bash -c 'exec -a ${mark} sleep 300' >/dev/null 2>&1`;
    const command = `for d in . ~ /tmp; do (cd $d; ${names}; ${modes}; ${deep}; ${started}); done`;
    expect(await exec(sandbox, command)).toMatchObject({ output: 'deep\n'.repeat(3), exitCode: 0 });
    await sandbox.close();
    expect(processesWith(mark)).toEqual([]);
    await until(() => leftOf(runFolder).length === 0);
    // With root the outer shell has removed it.
    expect(existsSync(runFolder)).toBe(!isUnshare);
    await removeFolder(runFolder, 60_000);
    expect(existsSync(runFolder)).toBe(false);
    expect(manifest(workspace, () => false)).toEqual(before);
  });

  const DELAYS = [0, 250, 500, 1_000, 2_500];
  it.each(DELAYS)('nothing remains if our process is killed after %i ms', async (delay) => {
    const runFolder = makeRunFolder();
    const mark = createMark('step');
    const step = spawn(process.execPath, ['--input-type=module'], { stdio: ['pipe', 'pipe', 'inherit'] });
    step.stdin.end(stepScript(runFolder, mark));
    await once(step.stdout, 'data');
    await sleep(delay);
    const isHeld = isUnshare && processesWith(runFolder).length > 0;
    step.kill('SIGKILL');
    const left = () => [...leftOf(runFolder), ...processesWith(`${mark}\x00300`)];
    // Before there is a holder, nothing can remove the folder, and nothing of a command is in it.
    await until(() => left().length === 0 && !(isHeld && existsSync(runFolder)));
  });

  it('no sandbox opens if the folder of the run is gone', async () => {
    const sandbox = world.open({ runFolder: join(temp, 'none') });
    await expect(sandbox.ready()).rejects.toMatchObject({ name: 'SandboxError' });
    expect(sandbox.isolation()).toBe('none');
    await expect(exec(sandbox, 'true')).rejects.toMatchObject({ name: 'SandboxError' });
  });
});

it.runIf(detected.kind === 'bwrap')('a sandbox says what cannot be copied', async () => {
  writeFileSync(join(workspace, 'closed'), '', { mode: 0o000 });
  const message = /could not be copied to RUNNER_TEMP: .*Permission denied/u;
  await expect(world.openReady()).rejects.toThrow(message);
});

/** A step that opens a sandbox and runs a long command. */
function stepScript(runFolder: string, mark: string): string {
  const command = `bash -c 'exec -a ${mark} sleep 300' & setsid bash -c 'exec -a ${mark} sleep 300' & wait`;
  const places = { workspace, workingDirectory: workspace, home, runnerTemp: temp, runFolder };
  const plain = { ...places, mode: 'required', shellNetwork: false, readable: [], passEnv: [] };
  return `
    import { openSandbox } from ${JSON.stringify(join(import.meta.dirname, '../../src/sandbox/open.ts'))};
    const options = { ...${JSON.stringify(plain)}, environment: process.env, isSecret: () => false };
    console.log('begun');
    const sandbox = openSandbox(options, ${JSON.stringify(detected)});
    const limits = { timeoutMs: 200_000, maxOutputBytes: 1000, signal: new AbortController().signal };
    await sandbox.exec(${JSON.stringify(command)}, limits);`;
}

describe.runIf(isUnshare && isRoot)('on a machine of root', () => {
  it('a full disk ends the run, with a reason', async () => {
    const said = { name: 'SandboxError', message: expect.stringMatching(/no space left on device/iu) };
    const args = ['-t', 'tmpfs', '-o', 'size=300k', 'none', mkdtempSync(join(temp, 'disk-'))];
    await withMount(args, async (disk) => {
      const sandbox = await world.openReady({ runFolder: mkdtempSync(join(disk, 'run-')) });
      expect((await exec(sandbox, 'yes > big')).output).toMatch(/No space left on device/u);
      await expect(exec(sandbox, `: ${'x'.repeat(90_000)}`)).rejects.toMatchObject(said);
      await sandbox.close();
      execFileSync('/bin/sh', ['-c', `yes > ${disk}/full || :`], { stdio: 'ignore' });
      const runFolder = mkdtempSync(join(disk, 'run-'));
      await expect(world.openReady({ runFolder })).rejects.toMatchObject(said);
    });
  });

  it('without an overlay the checkout is copied', async () => {
    const layers = join(base, 'layers');
    for (const name of ['lower', 'upper', 'work', 'merged']) putFiles(layers, { [`${name}/x`]: '' });
    const options = `lowerdir=${layers}/lower,upperdir=${layers}/upper,workdir=${layers}/work`;
    // An overlay cannot have its upper folder on another one.
    await withMount(['-t', 'overlay', '-o', options, 'overlay', join(layers, 'merged')], async (merged) => {
      const before = manifest(workspace, () => false);
      const sandbox = await world.openReady({ runFolder: mkdtempSync(join(merged, 'run-')) });
      expect(sandbox.layer()).toBe('copy');
      const command = 'rm -rf .github; cat README.md; ls .git/hooks; touch .git/x; git log --format=%s';
      const { output } = await exec(sandbox, command);
      expect(output).toMatch(/^hello\nls: .*\ntouch: .*Read-only file system\nfirst\n$/u);
      await sandbox.close();
      expect(manifest(workspace, () => false)).toEqual(before);
      expect(readdirSync(merged)).toEqual(['x']);
    });
  });
});
