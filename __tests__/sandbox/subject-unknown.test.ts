import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { OpenedSandbox } from '../../src/sandbox/sandbox.ts';
import { LASTING, makeSubjectWorld, makeTemplate, type Place, type SubjectWorld } from './subject-world.ts';

let template = '';
let world: SubjectWorld;
beforeAll(async () => {
  template = await makeTemplate();
});
afterAll(() => rm(template, { recursive: true, force: true }));

describe('an invalid path in subject-paths', () => {
  // These tests change no file, so they share one sandbox.
  let sandbox: OpenedSandbox;
  beforeAll(async () => {
    world = await makeSubjectWorld(LASTING, template);
    const { file } = world;
    await mkdir(file('empty'));
    await mkdir(file('ignored'));
    await writeFile(file('ignored/x'), '');
    await symlink('web', file('way'));
    await symlink('/etc', file('out'));
    sandbox = await world.open();
  });
  afterAll(() => world.close());

  it.each([
    ['../elsewhere', /leaves the workspace/u],
    ['/etc', /leaves the workspace/u],
    ['nowhere', /is not there/u],
    ['api/src/a.txt/x', /is not there/u],
    ['API', /is not there/u],
    ['.git', /is closed to the agent/u],
    ['api/.GIT/x', /is closed to the agent/u],
    ['ignored', /no file that git sees/u],
    ['empty', /no file that git sees/u],
    ['way', /symbolic link/u],
    ['way/b.txt', /symbolic link/u],
    ['out', /symbolic link/u],
  ])('%s is rejected with a message that names it and the fix', async (name, why) => {
    const message = await world.refusal(sandbox, ['api', name]);
    expect(message).toMatch(why);
    expect(message).toContain(`subject-paths! subject-paths names "${name}"`);
  });
});

describe('hidden files in the subject', () => {
  let repo = '';
  const git = (...args: readonly string[]) => world.git(...args);
  const file = (name: string) => world.file(name);
  const look = (paths: readonly string[], place?: Place) => world.look(paths, place);
  const treeOf = (paths: readonly string[], place?: Place) => world.treeOf(paths, place);

  beforeEach(async () => {
    world = await makeSubjectWorld(LASTING, template);
    ({ repo } = world);
  });
  afterEach(() => world.close());

  it.each([true, false])('a nested repository makes the tree unknown (with a commit: %s)', async (full) => {
    execFileSync('sh', ['-c', `git init -q nested && cd nested && touch f`], { cwd: file('api') });
    if (full)
      execFileSync('sh', ['-c', 'git add f && git -c user.name=t -c user.email=t@example.com commit -qm n'], {
        cwd: file('api/nested'),
      });
    expect(await look(['api'])).toEqual({
      kind: 'unknown',
      why: '"api/nested" is a repository of its own; name subject-paths without it',
    });
    expect(await look(['web'])).toMatchObject({ kind: 'tree' });
    if (!full) return;
    git('add', 'api/nested');
    expect(await look(['api'])).toMatchObject({ kind: 'unknown' });
  });

  it('a link out of the subject makes the tree unknown, because its target could change', async () => {
    await symlink('../web', file('api/out'));
    const why =
      '"api/out" is a link that leads out of the judged files; name its target in subject-paths, too';
    expect(await look(['api'])).toEqual({ kind: 'unknown', why });
    expect(await look(['api', 'web'])).toMatchObject({ kind: 'tree' });
    expect(await look([])).toMatchObject({ kind: 'tree' });
    await rm(file('web'), { recursive: true });
    expect(await look(['api'])).toMatchObject({ kind: 'tree' });
  });

  it.each([
    ['/proc/self/cwd/web/b.txt', 'nothing lies there for this process'],
    [`/proc/${process.pid}/cwd/package.json`, 'another file for each process'],
    ['../way/cwd/web/b.txt', 'by way of another link'],
    ['../turn', 'by way of a link that goes in a circle'],
    ['/dev/fd/0', 'an open file'],
  ])('a link into /proc or /dev makes the tree unknown: %s, %s', async (target) => {
    await symlink('/proc/self', file('way'));
    await symlink('/proc/self/cwd/turn', file('turn'));
    await symlink(target, file('api/out'));
    const why =
      '"api/out" is a link that leads out of the judged files; name its target in subject-paths, too';
    expect(await look(['api'])).toEqual({ kind: 'unknown', why });
  });

  it('a link through a link outside the subject makes the tree unknown', async () => {
    await symlink('api', file('way'));
    await symlink('../way/run.sh', file('api/out'));
    expect(await look(['api'])).toMatchObject({ kind: 'unknown' });
    expect(await look(['.'])).toMatchObject({ kind: 'tree' });
  });

  it('a link without a target, or to a target in the subject, is part of the tree', async () => {
    await mkdir(file('api/in'));
    await writeFile(file('api/in/x'), '');
    await symlink('in', file('api/way'));
    for (const [name, target] of Object.entries({
      nothing: '../nothing/x',
      beyond: '/nowhere/x',
      through: 'run.sh/x',
      self: 'self',
      back: 'way/../../api/./src/a.txt',
      absolute: file('api/run.sh'),
    }))
      await symlink(target, file(`api/${name}`));
    expect(await look(['api'])).toMatchObject({ kind: 'tree' });
    await symlink('way/../../../web', file('api/out'));
    expect(await look(['api'])).toMatchObject({ kind: 'tree' });
    await rm(file('api/out'));
    await symlink('way/../../web', file('api/out'));
    expect(await look(['api'])).toMatchObject({ kind: 'unknown' });
  });

  it.each(['.', '..'])(
    'a directory of the change that looks like a repository cannot hide files (worktree %s)',
    async (worktree) => {
      const workingDirectory = file('api');
      const own = (...args: readonly string[]) =>
        execFileSync('git', [`--git-dir=${workingDirectory}`, ...args], { cwd: repo, stdio: 'ignore' });
      for (const folder of ['objects', 'refs', 'info']) await mkdir(file(`api/${folder}`));
      await writeFile(file('api/HEAD'), 'ref: refs/heads/main\n');
      await writeFile(file('api/info/exclude'), '*\n');
      await writeFile(file('api/config'), '[core]\nrepositoryformatversion = 0\nbare = false\n');
      own(`--work-tree=${path.join(workingDirectory, worktree)}`, 'add', '-f', file('api/run.sh'));
      await writeFile(
        file('api/config'),
        `[core]\nrepositoryformatversion = 0\nbare = false\nworktree = ${worktree}\n`,
      );
      git('add', '-Af');
      git('commit', '-qm', 'second');
      const before = await treeOf(['api'], { workingDirectory });
      await writeFile(file('api/src/a.txt'), 'two\n');
      expect(await treeOf(['api'], { workingDirectory })).not.toBe(before);
    },
  );

  it.each(['api', '.'])(
    'a name in a warning of git changes neither the root nor the lists (from %s)',
    async (from) => {
      const workingDirectory = file(from);
      const plant = path.join(repo, 'plant');
      const complained = path.join(workingDirectory, `x\nup \nat ${plant}\n`);
      for (const folder of [plant, complained]) await mkdir(folder, { recursive: true });
      await writeFile(path.join(plant, 'tracked'), '');
      await writeFile(path.join(plant, 'others'), 'run.sh\0plant/others\0');
      // Git does not follow such a link and prints its name unescaped in a warning.
      await symlink('nothing', path.join(complained, '.gitignore'));
      git('add', '-A');
      git('commit', '-qm', 'second');
      // Git checks whether an untracked file is ignored, and so reads the link.
      await writeFile(path.join(complained, 'built'), '');
      const before = await treeOf([], { workingDirectory });
      await writeFile(file('api/src/a.txt'), 'two\n');
      expect(await treeOf([], { workingDirectory })).not.toBe(before);
    },
  );

  it('git variables in pass-env do not reach this git', async () => {
    await writeFile(file('excludes'), 'built\n');
    const passed = {
      GIT_CONFIG_PARAMETERS: `'core.excludesfile=${file('excludes')}'`,
      GIT_TRACE: '2',
      GIT_COMMON_DIR: file('web'),
    };
    const before = await treeOf(['api']);
    expect(await treeOf(['api'], { passed })).toBe(before);
    await writeFile(file('api/built'), '');
    expect(await treeOf(['api'], { passed })).not.toBe(before);
  });

  it('core.ignoreCase hides no file whose name differs only in case', async () => {
    git('config', 'core.ignoreCase', 'true');
    await writeFile(file('api/RUN.sh'), 'one\n');
    const before = await treeOf(['api']);
    await writeFile(file('api/RUN.sh'), 'two\n');
    expect(await treeOf(['api'])).not.toBe(before);
  });

  it('a working directory that became its own repository makes the tree unknown', async () => {
    const workingDirectory = file('api');
    git('init', '-q', 'api');
    expect(await look([], { workingDirectory })).toEqual({
      kind: 'unknown',
      why: 'the working directory is in a repository of its own, and not in that of the workspace; name subject-paths in it',
    });
    expect(await look(['api'], { workingDirectory })).toMatchObject({ kind: 'tree', paths: ['api'] });
  });

  it('a missing or broken repository makes the tree unknown', async () => {
    await writeFile(file('.git/index'), 'broken');
    expect(await look([])).toMatchObject({
      kind: 'unknown',
      why: expect.stringMatching(/^git could not list/u),
    });
    await rm(file('.git'), { recursive: true });
    expect(await look([], { workspace: repo })).toMatchObject({ kind: 'unknown' });
    expect(readFileSync(file('web/b.txt'), 'utf8')).toBe('two\n');
  });
});
