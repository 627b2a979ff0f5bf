/** What a command does to the sandbox of the next one, and to what our process reads, writes and runs. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { SandboxError } from '../../src/errors.ts';
import { manifest, putFiles } from '../support/local.ts';
import { CANARY, createMark, describeOpen, detected, exec, processesWith, until, useWorld } from './world.ts';

const world = await useWorld();
const { workspace, home } = world;
const asRoot = detected.kind === 'unshare' ? detected.programs.asRoot : [];

/** Puts a link to a folder of the machine, which does not exist, in place of a folder. */
const REPLACE = `replace() {
  perl -e 'rename $ARGV[0], $ARGV[1] or rename $ARGV[0], "$ARGV[0]-moved"' "$1" "$HOME/moved"
  rmdir "$1"
  ln -sn "$REAL/new" "$1"
}`;

/** Everything of the machine that a command could have changed; RUNNER_TEMP holds the folders of the runs. */
const machine = () => manifest(world.base, (path) => path === world.temp);

describeOpen('in a sandbox', () => {
  putFiles(workspace, { 'sub/.git/HEAD': '', 'sub/file': '' });
  putFiles(home, { '.cargo/bin/cargo': '#!/bin/sh\n', '.cargo/credentials.toml': CANARY });
  putFiles(home, { '.local/share/uv/tools/x': '' });

  it.each<[what: string, attack: string]>([
    ['a folder of programs in the home', 'replace $HOME/.cargo'],
    ['a folder that leads to one', 'replace $HOME/.local/share; replace $HOME/.local'],
    ['a folder that leads to the workspace', 'replace $HOME/work/repo; replace $HOME/work'],
    ['the workspace', 'replace $WORKSPACE'],
    ['a folder that leads to a git folder', 'replace $WORKSPACE/sub'],
    ['/tmp/context', 'replace /tmp/context'],
    ['/tmp and the home', 'replace $HOME; replace /tmp'],
    ['.git', 'replace $WORKSPACE/.git'],
  ])('a link in place of %s leads nowhere', async (_, attack) => {
    const before = machine();
    const sandbox = await world.openReady();
    const list =
      'ls -A $HOME/.cargo/bin; ls -Ad $HOME/work /tmp/context .git; stat -c %F $HOME/work /tmp/context .git sub/.git; pwd -P';
    const first = await exec(sandbox, list);
    expect(first.output).toContain('cargo\n');
    await exec(sandbox, `REAL=${home} WORKSPACE=${workspace}; ${REPLACE}; ${attack}`);
    expect(await exec(sandbox, list)).toMatchObject({ output: first.output, exitCode: 0 });
    expect((await sandbox.read('README.md', 10)).kind).toBe('file');
    await sandbox.write('b.txt', Buffer.from('b'));
    expect((await exec(sandbox, 'cat b.txt')).output).toBe('b');
    await sandbox.close();
    expect(machine()).toEqual(before);
  });

  it.runIf(detected.kind === 'unshare')('runs nothing on the machine if the holder has died', async () => {
    const sandbox = await world.openReady();
    await exec(sandbox, 'true');
    const mark = createMark('after');
    const running = exec(sandbox, `exec -a ${mark} sleep 300`).catch(() => undefined);
    await until(() => processesWith(`${mark}\x00300`).length > 0);
    const holders = () => readdirSync(world.temp).flatMap((name) => processesWith(`/_temp/${name}`));
    execFileSync('/usr/bin/env', [...asRoot, '/bin/kill', '-KILL', ...holders()]);
    await running;
    await until(() => holders().length === 0 && processesWith(mark).length === 0);
    const escaped = join(world.base, 'escaped');
    await expect(exec(sandbox, `touch ${escaped}`)).rejects.toThrow(SandboxError);
    await expect(sandbox.read('README.md', 10)).rejects.toThrow(SandboxError);
    await expect(sandbox.write('README.md', Buffer.from('x'))).rejects.toThrow(SandboxError);
    expect(existsSync(escaped)).toBe(false);
    expect(readFileSync(join(workspace, 'README.md'), 'utf8')).toBe('hello\n');
    await sandbox.close();
  });
});
