import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createTamperCheck } from '../../../src/sandbox/workspace/tamper.ts';
import { putFiles } from '../../support/local.ts';
import { createWorld, gitIn, type World } from '../world.ts';

let world: World;
const at = (name: string) => join(world.workspace, name);
beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => world.close());

const put = (name: string, text = '') => void putFiles(world.workspace, { [name]: text });
const init = (folder: string, ...options: string[]) =>
  void gitIn(world.workspace, 'init', '-q', ...options, at(folder));
const replaceByLink = (name: string, target: string) => {
  renameSync(at(name), at(`${name}-old`));
  symlinkSync(target, at(name));
};
/** As many files that later steps trust as exceed the bytes that are hashed. */
const manyFiles = Array.from({ length: 17 }, (_, index) => `.github/file-${100 + index}`);
const putMany = () => {
  for (const name of manyFiles) {
    put(name);
    truncateSync(at(name), 8 * 1024 ** 2);
  }
};

const WORKFLOW = '.github/workflows/ci.yml';
type Step = () => void;
const nothing: Step = () => undefined;

/** What a command changed, and the file that the check names; null for ordinary work. */
const rows: readonly (readonly [title: string, before: Step, change: Step, named: string | null])[] = [
  ['a config of git', nothing, () => appendFileSync(at('.git/config'), '[a]\n\tb = c\n'), '.git/config'],
  ['a hook', nothing, () => put('.git/hooks/pre-push'), '.git/hooks/pre-push'],
  ['attributes in .git', nothing, () => put('.git/info/attributes'), '.git/info/attributes'],
  ['a config of a worktree', nothing, () => put('.git/config.worktree'), '.git/config.worktree'],
  ['a workflow', nothing, () => put(WORKFLOW, 'on: pull\n'), WORKFLOW],
  ['a new workflow', nothing, () => put('.github/workflows/new.yml'), '.github/workflows/new.yml'],
  ['the mode of a workflow', nothing, () => chmodSync(at(WORKFLOW), 0o777), WORKFLOW],
  ['.github under another name', nothing, () => renameSync(at('.github'), at('.g2')), '.github'],
  ['.github in another spelling', nothing, () => mkdirSync(at('.GitHub')), '.GitHub'],
  ['an action', nothing, () => put('action.yml'), 'action.yml'],
  ['a credential file', () => put('.netrc'), () => put('.netrc', 'x'), '.netrc'],
  ['a link of the same content', nothing, () => replaceByLink(WORKFLOW, 'ci.yml-old'), WORKFLOW],
  [
    'a link to another target',
    () => symlinkSync('one', at('.github/link')),
    () => replaceByLink('.github/link', 'two'),
    '.github/link',
  ],
  ['a large file', putMany, () => appendFileSync(at('.github/file-100'), 'x'), '.github/file-100'],
  ['a mode, compared by content', putMany, () => chmodSync(at('.github/file-100'), 0o644), null],
  ['a mode, compared by times', putMany, () => chmodSync(at('.github/file-116'), 0o644), '.github/file-116'],
  [
    'a link in the place of a nested git directory',
    () => init('a/nested'),
    () => replaceByLink('a/nested/.git', 'meta'),
    'a/nested/.git',
  ],
  ['a link in the place of .git', nothing, () => replaceByLink('.git', '.git-old'), '.git'],
  ['a hook of a nested checkout', () => init('sub'), () => put('sub/.git/hooks/x'), 'sub/.git/hooks/x'],
  ['a repository in a submodule’s folder', () => mkdirSync(at('sub')), () => init('sub'), 'sub/.git'],
  ['a repository in an ignored folder', nothing, () => init('node_modules/a/b'), 'node_modules/a/b/.git'],
  ['a .git file', nothing, () => put('sub/.git', 'gitdir: ../fake\n'), 'sub/.git'],
  ['a .git link', () => mkdirSync(at('sub')), () => symlinkSync('../fake', at('sub/.git')), 'sub/.git'],
  ['a repository without a .git', nothing, () => init('packages/a', '--bare'), 'packages/a/HEAD'],
  ['a first repository', () => rmSync(at('.git'), { recursive: true }), () => init('.'), '.git'],
  ['work in a checkout that was there', () => init('sub'), () => put('sub/file'), null],
  ['a file of its own', nothing, () => put('src.ts'), null],
  ['a commit', nothing, () => gitIn(world.workspace, 'commit', '-qm', 'x', '--allow-empty'), null],
];

it.each(rows)('the tamper check sees %s', async (_, before, change, named) => {
  before();
  const check = createTamperCheck({ workspace: world.workspace, extra: [], inPlace: true });
  await check.snapshot();
  change();
  const found = await check.compare();
  expect([found?.file ?? null, found?.isClosed ?? false]).toEqual([named, false]);
});

it('a directory that cannot be read can contain a new repository', async () => {
  const check = createTamperCheck({ workspace: world.workspace, extra: [], inPlace: true });
  await check.snapshot();
  const dig = 'for i in $(seq 22); do mkdir $0 && cd $0; done';
  execFileSync('bash', ['-c', dig, 'n'.repeat(200)], { cwd: world.workspace });
  expect(await check.compare()).toMatchObject({ file: expect.stringMatching(/^n{200}\//u), isClosed: true });
  execFileSync('/bin/rm', ['-rf', at('n'.repeat(200))]);
  if (process.getuid?.() === 0) return;
  init('d/sub');
  chmodSync(at('d'), 0o111);
  expect(await check.compare()).toMatchObject({ file: 'd', isClosed: true });
  chmodSync(at('d'), 0o700);
});

it('a new repository is no tampering unless the run is in place', async () => {
  const check = createTamperCheck({ workspace: world.workspace, extra: [], inPlace: false });
  await check.snapshot();
  init('another');
  expect(await check.compare()).toBeNull();
});

it('a file outside the workspace is named by its absolute path', async () => {
  const [there, absent] = [join(world.base, 'index.js'), join(world.temp, 'output')];
  writeFileSync(there, 'a');
  for (const file of [there, absent]) {
    const check = createTamperCheck({ workspace: world.workspace, extra: [file], inPlace: true });
    await check.snapshot();
    writeFileSync(file, 'b');
    expect((await check.compare())?.file).toBe(file);
  }
});
