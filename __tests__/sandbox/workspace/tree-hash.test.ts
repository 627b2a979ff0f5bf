import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  LASTING,
  makeSubjectWorld,
  makeTemplate,
  type Place,
  type SubjectWorld,
  WAYS,
} from '../subject-world.ts';

let template = '';
let world: SubjectWorld;
beforeAll(async () => {
  template = await makeTemplate();
});
afterAll(() => rm(template, { recursive: true, force: true }));

describe.each(WAYS)('the tree hash of the subject, %s', (how) => {
  let base = '';
  let repo = '';
  const file = (name: string) => world.file(name);
  const look = (paths: readonly string[], place?: Place) => world.look(paths, place);
  const treeOf = (paths: readonly string[], place?: Place) => world.treeOf(paths, place);

  beforeEach(async () => {
    world = await makeSubjectWorld(how, template);
    ({ base, repo } = world);
  });
  afterEach(() => world.close());

  it('covers the whole repository by default, and the repository is not written to', async () => {
    const state = () =>
      execFileSync('sh', ['-c', 'find .git -type f | sort | xargs sha256sum'], {
        cwd: repo,
        encoding: 'utf8',
      });
    const before = state();
    const found = await look([]);
    expect(state()).toBe(before);
    expect(found).toEqual({ kind: 'tree', tree: await treeOf(['.']), paths: ['.'] });
  });

  it('supports a checkout deeper in the workspace when the agent starts inside it', async () => {
    const workspace = path.join(base, 'outer');
    await mkdir(workspace);
    await cp(repo, path.join(workspace, 'repo'), { recursive: true });
    const workingDirectory = path.join(workspace, 'repo', 'api');
    const place = { workspace, workingDirectory };
    const found = await look(['repo/api'], place);
    expect(found).toEqual({ kind: 'tree', tree: await treeOf(['api']), paths: ['repo/api'] });
    expect(await look([], place)).toMatchObject({ paths: ['repo'] });
    expect(await world.refusal(await world.open(place), ['.'], place)).toMatch(
      /^subject-paths! .*outside the repository/u,
    );
  });

  it('changes with one byte', async () => {
    const before = await treeOf(['api']);
    await writeFile(file('api/src/a.txt'), 'onf\n');
    expect(await treeOf(['api'])).not.toBe(before);
  });
});

describe('changes of the tree hash', () => {
  let base = '';
  let repo = '';
  const git = (...args: readonly string[]) => world.git(...args);
  const file = (name: string) => world.file(name);
  const look = (paths: readonly string[], place?: Place) => world.look(paths, place);
  const treeOf = (paths: readonly string[], place?: Place) => world.treeOf(paths, place);

  let unedited = '';
  beforeAll(async () => {
    world = await makeSubjectWorld(LASTING, template);
    ({ base, repo } = world);
    unedited = await treeOf(['api']);
  });
  beforeEach(() => world.reset());
  afterAll(() => world.close());

  it('does not change for another commit, branch or clone, or with files outside the subject', async () => {
    const before = await treeOf(['api']);
    git('checkout', '-qb', 'merge-queue');
    git('commit', '-qm', 'again', '--allow-empty');
    await writeFile(file('web/b.txt'), 'changed\n');
    await mkdir(file('api2'));
    await writeFile(file('api2/x'), 'a folder whose name only begins so\n');
    await writeFile(file('api/debug.log'), 'ignored\n');
    await mkdir(file('ignored'));
    await writeFile(file('ignored/x'), 'ignored\n');
    expect(await treeOf(['api'])).toBe(before);
    const clone = path.join(base, 'clone');
    execFileSync('git', ['clone', '-q', '--depth=1', `file://${repo}`, clone]);
    expect(await treeOf(['api'], { workspace: clone })).toBe(before);
  });

  const edits: readonly (readonly [string, () => Promise<unknown>])[] = [
    ['a byte', () => writeFile(file('api/src/a.txt'), 'onf\n')],
    ['a line ending', () => writeFile(file('api/src/a.txt'), 'one\r\n')],
    ['a mode', () => chmod(file('api/run.sh'), 0o755)],
    ['a name', () => rename(file('api/run.sh'), file('api/Run.sh'))],
    ['a removed file', () => rm(file('api/run.sh'))],
    ['a new file', () => writeFile(file('api/new'), '')],
    [
      'a link instead of a file',
      async () => {
        await rename(file('api/run.sh'), file('api/src/run.sh'));
        await symlink('src/run.sh', file('api/run.sh'));
      },
    ],
    [
      'a directory replaced by a link',
      async () => {
        await rename(file('api/src'), file('api/source'));
        await symlink('source', file('api/src'));
      },
    ],
    [
      'an edit marked as assume-unchanged',
      async () => {
        git('update-index', '--assume-unchanged', 'api/src/a.txt');
        await writeFile(file('api/src/a.txt'), 'two\n');
      },
    ],
    [
      'bytes that a git filter removes',
      async () => {
        await writeFile(file('.gitattributes'), '* text=auto ident\n');
        await writeFile(file('api/src/a.txt'), 'one\r\n');
      },
    ],
    [
      'an ignored file that is tracked',
      async () => {
        await writeFile(file('api/x.log'), 'x');
        git('add', '-f', 'api/x.log');
      },
    ],
  ];
  it.each(edits)('changes with %s, committed or not', async (_, edit) => {
    await edit();
    const dirty = await treeOf(['api']);
    expect(dirty).not.toBe(unedited);
    git('add', '-A');
    git('commit', '-qm', 'second', '--allow-empty');
    expect(await treeOf(['api'])).toBe(dirty);
  });

  it('normalizes paths and treats pattern characters in a name literally', async () => {
    await mkdir(file('[a]*?'));
    await writeFile(file('[a]*?/:(top)'), 'x');
    await writeFile(file('a'), 'x');
    const found = await look(['./web/', 'api/../[a]*?', 'web', `${repo}/web/b.txt`]);
    expect(found).toMatchObject({ kind: 'tree', paths: ['[a]*?', 'web', 'web/b.txt'] });
    expect(await treeOf(['[a]*?'])).not.toBe(await treeOf(['a']));
    expect(await treeOf(['.'])).toBe(await treeOf([]));
  });

  it('covers the existing files of a sparse checkout', async () => {
    const web = await treeOf(['web']);
    // A copied repository appears modified until git has read its files.
    git('update-index', '-q', '--refresh');
    git('sparse-checkout', 'set', 'web');
    expect(existsSync(file('api/run.sh'))).toBe(false);
    expect(await treeOf(['web'])).toBe(web);
    git('sparse-checkout', 'disable');
  });
});
