/** What is there without a sandbox: `sandbox: off` and the check for tampering. */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createTamperCheck } from '../../src/sandbox/tamper.ts';
import { putFiles } from '../support/local.ts';
import { exec, gitIn, useWorld } from './world.ts';

const world = await useWorld();
const { workspace, base } = world;

it('works in the checkout, with a home and a context of the run', async () => {
  const runFolder = mkdtempSync(join(world.temp, 'off-'));
  const sandbox = await world.openReady({
    mode: 'off',
    runFolder,
    passEnv: ['MINE'],
    environment: { PATH: '/usr/bin:/bin', MINE: 'x', OTHER: 'y' },
  });
  expect([sandbox.isolation(), sandbox.layer(), sandbox.shellOffered]).toEqual(['none', null, true]);
  expect(sandbox.contextFolder).toBe(join(runFolder, 'context'));
  await sandbox.addContext('change.txt', Buffer.from('diff'));
  const { output } = await exec(
    sandbox,
    `touch made; echo $HOME $TMPDIR $MINE $OTHER; cat ${sandbox.contextFolder}/change.txt`,
  );
  expect(output).toBe(`${runFolder}/home ${runFolder}/tmp x\ndiff`);
  expect(existsSync(join(workspace, 'made'))).toBe(true);
  expect(sandbox.weaknesses()[0]).toMatch(/^sandbox: off\./u);
  rmSync(join(workspace, 'made'));
});

const bundle = putFiles(join(base, 'action'), { 'dist/index.js': 'a', 'dist/1.js': 'b' });
const commands = putFiles(join(base, 'commands'), { set_output: '' });

it.each<[what: string, tamper: () => void, found: string | null]>([
  ['nothing', () => undefined, null],
  ['a file of the checkout', () => writeFileSync(join(workspace, 'README.md'), 'new'), null],
  ['a commit', () => gitIn(workspace, 'commit', '-q', '--allow-empty', '-m', 'x'), null],
  ['the config', () => gitIn(workspace, 'config', 'core.fsmonitor', 'x'), '.git/config'],
  [
    'a config of the worktree',
    () => writeFileSync(join(workspace, '.git/config.worktree'), ''),
    '.git/config.worktree',
  ],
  ['a new hook', () => putFiles(workspace, { '.git/hooks/post-checkout': '' }), '.git/hooks/post-checkout'],
  ['the mode of a hook', () => chmodSync(join(workspace, '.git/hooks/old'), 0o755), '.git/hooks/old'],
  [
    'a link as a hook',
    () => symlinkSync('/bin/true', join(workspace, '.git/hooks/pre-push')),
    '.git/hooks/pre-push',
  ],
  [
    'attributes',
    () => writeFileSync(join(workspace, '.git/info/attributes'), '* filter=x'),
    '.git/info/attributes',
  ],
  ['the git folder', () => rmSync(join(workspace, '.git'), { recursive: true }), '.git'],
  [
    'a link in place of the git folder',
    () => {
      rmSync(join(workspace, '.git'), { recursive: true });
      symlinkSync(base, join(workspace, '.git'));
    },
    '.git',
  ],
  ['a part of our bundle', () => writeFileSync(join(bundle, 'dist/1.js'), 'evil'), '../action/dist/1.js'],
  ['a new part of it', () => writeFileSync(join(bundle, 'dist/2.js'), ''), '../action/dist/2.js'],
  ['a command file', () => writeFileSync(join(commands, 'set_output'), 'x=1'), '../commands/set_output'],
  ['a missing command file', () => rmSync(join(commands, 'set_output')), '../commands/set_output'],
])('finds a change of %s', async (_, tamper, found) => {
  rmSync(join(workspace, '.git'), { recursive: true, force: true });
  gitIn(workspace, 'init', '-q');
  mkdirSync(join(workspace, '.git/hooks'), { recursive: true });
  writeFileSync(join(workspace, '.git/hooks/old'), '', { mode: 0o644 });
  putFiles(commands, { set_output: '' });
  const check = createTamperCheck(workspace, [join(bundle, 'dist'), join(commands, 'set_output')]);
  expect(await check.compare()).toBeNull();
  await check.snapshot();
  tamper();
  const changed = await check.compare();
  const place = found?.startsWith('../') ? join(base, found.slice(3)) : found && join(workspace, found);
  expect(changed).toBe(place);
});
