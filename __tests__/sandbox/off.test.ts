/** What is there without a sandbox: `sandbox: off` and the check for tampering. */
import { chmodSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { holdShell } from '../../src/sandbox/command.ts';
import { createOffBackend, createTamperCheck } from '../../src/sandbox/off.ts';
import { shellWord } from '../../src/sandbox/sandbox.ts';
import { putFiles } from '../support/local.ts';
import { exec, gitIn, useWorld } from './world.ts';

const world = await useWorld();
const { workspace, base } = world;

it('has a home and a context of the run', async () => {
  const runFolder = mkdtempSync(join(world.temp, 'off-'));
  const sandbox = await world.openReady({ mode: 'off', runFolder });
  await sandbox.addContext('change.txt', Buffer.from('diff'));
  const command = `echo $HOME $TMPDIR; cat ${runFolder}/context/change.txt`;
  expect((await exec(sandbox, command)).output).toBe(`${runFolder}/home ${runFolder}/tmp\ndiff`);
});

const at = (name: string) => join(workspace, name);
const put = (name: string) => () => void putFiles(workspace, { [name]: 'x' });
const remove = (name: string) => () => rmSync(at(name), { recursive: true, force: true });
const link = (name: string) => () => {
  remove(name)();
  symlinkSync(base, at(name));
};

it.each<[what: string, tamper: () => void, found: string | null]>([
  ['nothing', () => undefined, null],
  ['a file of the checkout', put('README.md'), null],
  ['a commit', () => gitIn(workspace, 'commit', '-q', '--allow-empty', '-m', 'x'), null],
  ['the config', () => gitIn(workspace, 'config', 'core.fsmonitor', 'x'), '.git/config'],
  ['a config of the worktree', put('.git/config.worktree'), '.git/config.worktree'],
  ['a new hook', put('.git/hooks/post-checkout'), '.git/hooks/post-checkout'],
  ['the mode of a hook', () => chmodSync(at('.git/hooks/old'), 0o755), '.git/hooks/old'],
  ['a link as a hook', link('.git/hooks/pre-push'), '.git/hooks/pre-push'],
  ['attributes', put('.git/info/attributes'), '.git/info/attributes'],
  ['the common folder', put('.git/commondir'), '.git/commondir'],
  ['the git folder', remove('.git'), '.git/config'],
  ['a link in place of the git folder', link('.git'), '.git/config'],
  ['a part of our bundle', put('../action/dist/1.js'), '../action/dist/1.js'],
  ['a new part of it', put('../action/dist/2.js'), '../action/dist/2.js'],
  ['a command file', put('../commands/set_output'), '../commands/set_output'],
  ['a missing command file', remove('../commands/set_output'), '../commands/set_output'],
])('finds a change of %s', async (_, tamper, found) => {
  for (const name of ['.git', '../action']) remove(name)();
  gitIn(workspace, 'init', '-q');
  putFiles(workspace, { '.git/hooks/old': '', '../commands/set_output': '', '../action/dist/1.js': '' });
  const check = createTamperCheck(workspace, [at('../action/dist'), at('../commands/set_output')]);
  expect(await check.compare()).toBeNull();
  await check.snapshot();
  tamper();
  expect(await check.compare()).toBe(found && at(found));
});

it('without bash, an earlier command does not end a later one', async () => {
  const backend = createOffBackend('/bin/sh', mkdtempSync(join(world.base, 'off-')));
  const starter = holdShell(backend, '/bin/sh', 'outside');
  const run = async (command: string) => {
    let output = '';
    const onOutput = (chunk: Buffer) => {
      output += chunk;
    };
    const options = { timeoutMs: 20_000, signal: new AbortController().signal, onOutput };
    const { exitCode } = await starter.run(`inside /bin/sh -c ${shellWord(command)}`, options);
    return [exitCode, output];
  };
  expect(await run('echo one')).toEqual([0, 'one\n']);
  expect(await run('echo two; sleep 2; echo three')).toEqual([0, 'two\nthree\n']);
  starter.end();
});
