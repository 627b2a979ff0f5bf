import { appendFile, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { LASTING, makeSubjectWorld, makeTemplate, type SubjectWorld } from '../subject-world.ts';

let template = '';
let world: SubjectWorld;
beforeAll(async () => {
  template = await makeTemplate();
  world = await makeSubjectWorld(LASTING, template);
});
beforeEach(() => world.reset());
afterAll(async () => {
  await world.close();
  await rm(template, { recursive: true, force: true });
});

const file = (name: string) => world.file(name);
const look = (...paths: readonly string[]) => world.look(paths);
const commit = () => {
  world.git('add', '-A');
  world.git('commit', '-qm', 'second', '--allow-empty');
};
const exclude = (line: string) => appendFile(file('.git/info/exclude'), `${line}\n`);
/** The result for a link whose target git does not list. */
const unlisted = (name: string) => ({
  kind: 'unknown',
  why: `"${name}" leads by way of a link to what git does not list (ignored, empty or git's own), so its content is not known`,
});

describe('a link to a file that git does not list', () => {
  it.each([
    ['an ignored file', '../web/x.log'],
    ['a file in an ignored directory', '../ignored/x'],
    ['an ignored directory', '../ignored'],
    ['a file in .git', '../.git/HEAD'],
    ['.git', '../.git'],
    ['an empty directory, which can later contain ignored files', '../empty'],
    ['a directory that contains only ignored files', '../web'],
    ['an ignored link to a file in the subject', '../way.log'],
    ['a file behind an ignored link to a directory in the subject', '../folder.log/run.sh'],
    ['a file in the subject through a directory outside it', '../ignored/../api/run.sh'],
  ])('makes the tree unknown: %s', async (_, target) => {
    await writeFile(file('web/x.log'), '');
    for (const name of ['ignored', 'empty']) await mkdir(file(name));
    await writeFile(file('ignored/x'), '');
    await symlink('api/run.sh', file('way.log'));
    await symlink('api', file('folder.log'));
    await rm(file('web/b.txt'));
    await symlink(target, file('api/link'));
    expect(await look()).toEqual(unlisted('api/link'));
    await rm(file('api/link'));
    expect(await look()).toMatchObject({ kind: 'tree' });
  });

  it('is part of the tree while its target does not exist', async () => {
    for (const [name, target] of Object.entries({
      log: 'x.log',
      folder: '../ignored/x',
      own: '../.git/none',
    }))
      await symlink(target, file(`api/${name}`));
    expect(await look()).toMatchObject({ kind: 'tree' });
    await writeFile(file('api/x.log'), '');
    expect(await look()).toEqual(unlisted('api/log'));
  });
});

describe('a link to a file in the subject', () => {
  it.each([
    ['a file', 'run.sh'],
    ['a file with a non-ASCII name', 'ä/ö'],
    ['a directory', 'src'],
    ['a directory that contains only directories', 'deep'],
    ['an untracked file', 'new'],
    ['an ignored file that is tracked', 'kept.log'],
    ['its own directory', '.'],
    ['the root', '..'],
    ['a submodule that is not checked out', 'sub'],
    ['another link', 'way'],
  ])('is part of the tree: %s', async (_, target) => {
    for (const name of ['deep/er', 'ä', 'sub']) await mkdir(file(`api/${name}`), { recursive: true });
    for (const name of ['deep/er/x', 'ä/ö', 'kept.log']) await writeFile(file(`api/${name}`), '');
    await symlink('src', file('api/way'));
    world.git('add', '-f', 'api/kept.log');
    world.git('update-index', '--add', '--cacheinfo', `160000,${'a'.repeat(40)},api/sub`);
    await writeFile(file('api/new'), '');
    await symlink(target, file('api/link'));
    expect(await look()).toMatchObject({ kind: 'tree' });
  });

  it('makes the tree unknown when only a part of the target directory is in the subject', async () => {
    await symlink('../web', file('api/link'));
    expect(await look('api', 'web/b.txt')).toMatchObject({
      why: expect.stringContaining('"api/link" is a link that leads out of the judged files'),
    });
    expect(await look('api', 'web')).toMatchObject({ kind: 'tree' });
  });
});

describe('a tracked file that is now behind a link', () => {
  it.each([
    ['elsewhere', '../web'],
    ['to a directory in the subject', '../source'],
    ['to a missing path', 'nothing'],
  ])('makes the tree unknown when git does not see the link: %s', async (_, target) => {
    for (const folder of ['source/deep', 'api/in/deep']) {
      await mkdir(file(folder), { recursive: true });
      await writeFile(file(`${folder}/x`), '');
    }
    commit();
    await exclude('/api/in');
    await rm(file('api/in'), { recursive: true });
    await symlink(target, file('api/in'));
    expect(await look('api', 'source')).toEqual(unlisted('api/in/deep/x'));
  });

  it('makes the tree unknown when the target directory of the link ignores it', async () => {
    await rename(file('api/src'), file('api/source'));
    await symlink('source', file('api/src'));
    await writeFile(file('api/source/b.txt'), '');
    expect(await look('api')).toMatchObject({ kind: 'tree' });
    await exclude('/api/source/a.txt');
    expect(await look('api')).toEqual(unlisted('api/src/a.txt'));
  });
});
