import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { type DiffRange, readGitDiff } from '../../src/git/diff.ts';
import { gitIn } from '../sandbox/world.ts';
import { scriptsIn } from '../support/scripts.ts';
import { makeFolder } from '../support/surroundings.ts';

const never = new AbortController().signal;

const parent = makeFolder();
let base = '';
let repo = '';
const git = (...args: readonly string[]) => gitIn(repo, ...args);
const write = (name: string, text: string | Buffer) => writeFile(path.join(repo, name), text);
let names = '';
let diff: Buffer = Buffer.alloc(0);
let asText: Buffer | null = null;
/** Returns the status of a diff, whose texts are in the variables above. */
const read = async (range: DiffRange, cwd = repo) => {
  const result = await readGitDiff(scriptsIn(cwd, path.join(base, 'tmp')), range, never);
  expect(readdirSync(path.join(base, 'tmp'))).toEqual([]);
  if (typeof result === 'string') return result;
  names = String(result.names);
  ({ diff, asText } = result);
  return result.status;
};

beforeEach(async () => {
  base = await mkdtemp(path.join(parent, 'git-diff-'));
  repo = path.join(base, 'repo');
  await mkdir(path.join(base, 'tmp'));
  await mkdir(path.join(repo, 'api'), { recursive: true });
  git('init', '-q', '-b', 'main');
  for (const name of ['api/a.txt', 'committed.txt', 'staged.txt', 'edited.txt', 'gone.txt', 'same.txt'])
    await write(name, `${name}\n`);
  git('add', '-A');
  git('commit', '-qm', 'first');
});

describe('the diff from the history of the checkout', () => {
  /** The status of the diff from a commit, in the repository or one of its directories. */
  const diffFrom = (from: string, head = '', cwd = repo) => read({ base: from, head }, cwd);

  it('is complete from any directory of the checkout, and missing without the base commit', async () => {
    const first = git('rev-parse', 'HEAD');
    await write('api/a.txt', 'two\n');
    git('commit', '-qam', 'second');
    expect(await diffFrom(first, '', path.join(repo, 'api'))).toBe('complete');
    expect(names).toBe('M\tapi/a.txt\n');
    expect(String(diff)).toContain('+two');
    expect(await diffFrom('f'.repeat(40))).toBe('missing');
  });

  it('is truncated above the size limit', async () => {
    const first = git('rev-parse', 'HEAD');
    const grow = async (bytes: number) => {
      await write('api/large.txt', `${'x'.repeat(99)}\n`.repeat(bytes / 100));
      git('add', '-A');
      git('commit', '-qm', 'grown');
      return diffFrom(first);
    };
    expect(await grow(3_900_000)).toBe('complete');
    expect(await grow(4_000_000)).toBe('truncated');
    expect(diff.length).toBe(4_000_000);
  });

  it('ignores attributes and .gitmodules of the change and puts binary files into a separate file', async () => {
    const first = git('rev-parse', 'HEAD');
    const rules = ['*.js -diff', '*.ts binary', '*.py diff=hide', '*.md text working-tree-encoding=UTF-16'];
    await write('.gitattributes', `${rules.join('\n')}\n`);
    await write('api/.gitattributes', '* !text -diff\n');
    await write('.gitmodules', '[submodule "m"]\n\tpath = m\n\turl = m\n\tignore = all\n');
    for (const key of ['textconv', 'command', 'binary']) git('config', `diff.hide.${key}`, 'true');
    for (const name of ['a.js', 'a.ts', 'a.py', 'api/b.js']) await write(name, `evil in ${name}\n`);
    await write('a.png', Buffer.from([1, 0, 2]));
    git('add', '-A');
    git('update-index', '--add', '--cacheinfo', `160000,${'1'.repeat(40)},m`);
    git('commit', '-qm', 'second');
    git('update-index', '--cacheinfo', `160000,${'2'.repeat(40)},m`);
    git('commit', '-qm', 'third');
    expect(await diffFrom(first)).toBe('complete');
    const text = String(diff);
    const evil = ['a.js', 'a.py', 'a.ts', 'api/b.js'].map((name) => `+evil in ${name}`);
    const added = [...evil, `+Subproject commit ${'2'.repeat(40)}`];
    expect(text.match(/^\+(?:evil|Subproject).*$/gmu)).toEqual(added);
    expect(text.match(/^Binary files .*$/gmu)).toEqual(['Binary files /dev/null and b/a.png differ']);
    expect(asText?.toString('latin1')).toContain('\n+\u0001\0\u0002\n');
    expect(await diffFrom(git('rev-parse', 'HEAD~1'), '', path.join(repo, 'api'))).toBe('complete');
    expect(names).toBe('M\tm\n');
  });

  it('is missing when the checkout does not contain the change', async () => {
    const first = git('rev-parse', 'HEAD');
    const commit = async (text: string) => {
      await write('api/a.txt', text);
      git('commit', '-qam', text);
      return git('rev-parse', 'HEAD');
    };
    const head = await commit('two');
    const newer = await commit('three');
    expect([await diffFrom(first, head), await diffFrom(first, newer)]).toEqual(['complete', 'complete']);
    git('commit', '-q', '--allow-empty', '-m', 'nothing');
    expect(await diffFrom(newer)).toBe('missing');
    git('checkout', '-q', first);
    // The base, an older version of it, and a newer one.
    const missing = [await diffFrom(first), await diffFrom(first, head), await diffFrom(newer)];
    await commit('main goes on');
    missing.push(await diffFrom(first, head), await diffFrom(first, 'x; touch /'));
    expect(missing).toEqual(Array.from({ length: 5 }, () => 'missing'));
  });

  it('ignores a directory of the change that looks like a repository', async () => {
    const first = git('rev-parse', 'HEAD');
    const api = path.join(repo, 'api');
    await write('same.txt', 'harmless\n');
    git('commit', '-qam', 'another history');
    git('clone', '-q', '--bare', '.', path.join(base, 'own.git'));
    git('reset', '-q', '--hard', first);
    for (const part of ['HEAD', 'objects', 'refs', 'packed-refs', 'config'])
      execFileSync('cp', ['-r', path.join(base, 'own.git', part), api]);
    await writeFile(path.join(api, 'a.txt'), 'two\n');
    git('add', '-A');
    git('commit', '-qm', 'second');
    expect(await diffFrom(first, '', api)).toBe('missing');
  });
});

describe('the diff of what changed since the merge base with a ref', () => {
  const diffSince = (ref: string) => read({ ref });
  beforeEach(() => void git('checkout', '-qb', 'topic'));

  it('has commits and what is uncommitted, without untracked files, and writes nothing to the repository', async () => {
    await write('committed.txt', 'new\n');
    git('commit', '-qam', 'second');
    git('checkout', '-q', 'main');
    await write('same.txt', 'main went on\n');
    git('commit', '-qam', 'third');
    git('checkout', '-q', 'topic');
    await write('staged.txt', 'new\n');
    await write('added.txt', 'new\n');
    git('add', 'staged.txt', 'added.txt');
    await write('edited.txt', 'new\n');
    await write('intended.txt', 'new\n');
    git('add', '-N', 'intended.txt');
    await write('untracked.txt', 'new\n');
    await rm(path.join(repo, 'gone.txt'));
    const state = () => [git('status', '--porcelain'), git('count-objects', '-v')];
    const before = state();
    expect(await diffSince('main')).toBe('complete');
    expect(state()).toEqual(before);
    expect(names.trim().split('\n')).toEqual([
      ...['A\tadded.txt', 'M\tcommitted.txt', 'M\tedited.txt', 'D\tgone.txt', 'A\tintended.txt'],
      'M\tstaged.txt',
    ]);
    expect(String(diff)).toContain('\n-edited.txt\n+new\n');
  });

  it('is that of the history as it was committed, not of replaced or grafted commits', async () => {
    await write('same.txt', 'evil\n');
    git('commit', '-qam', 'second');
    git('checkout', '-q', 'main');
    await write('edited.txt', 'main\n');
    git('commit', '-qam', 'third');
    git('checkout', '-q', 'topic');
    const [main, topic] = [git('rev-parse', 'main'), git('rev-parse', 'topic')];
    const since = async () => [await diffSince(main), names];
    const honest = ['complete', 'M\tsame.txt\n'];
    await writeFile(path.join(repo, '.git/info/grafts'), `${main} ${topic}\n`);
    expect(await since()).toEqual(honest);
    await rm(path.join(repo, '.git/info/grafts'));
    git('replace', '--graft', main, topic);
    expect(await since()).toEqual(honest);
  });

  it('says what is wrong with a ref', async () => {
    const wrong = ['nowhere', 'HEAD:same.txt', "x'; touch evil; '", '--all', 'HEAD..main', '', 'main\n'];
    for (const ref of [...wrong, ':/first']) expect(await diffSince(ref), ref).toBe('no_ref');
    git('checkout', '-q', '--orphan', 'other');
    git('commit', '-qm', 'unrelated');
    expect(await diffSince('main')).toBe('no_merge_base');
    await rm(path.join(repo, '.git'), { recursive: true });
    expect(await diffSince('main')).toBe('no_ref');
    expect(existsSync(path.join(repo, 'evil'))).toBe(false);
  });
});
