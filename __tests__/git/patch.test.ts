import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { comparePatch, rememberTree, type Tree } from '../../src/git/patch.ts';
import type { RunScript } from '../../src/sandbox/sandbox.ts';
import { gitIn } from '../sandbox/world.ts';
import { testAll } from '../support/all.ts';
import { manifest, putFiles } from '../support/local.ts';
import { scriptsIn } from '../support/scripts.ts';
import { knowSecrets, makeFolder } from '../support/surroundings.ts';

const never = new AbortController().signal;
const parent = makeFolder();
let base = '';
let temp = '';
let repo = '';
const git = (...args: readonly string[]) => gitIn(repo, ...args);
const put = (name: string, text: string | Buffer = 'x\n') => void putFiles(repo, { [name]: text });
const commit = () => {
  git('add', '-A');
  git('commit', '-qm', 'more');
};
const remember = (runScript: RunScript = scriptsIn(repo, temp), root = repo) =>
  rememberTree(runScript, root, never);
const compare = async (tree: Tree, runScript = scriptsIn(repo, temp), holdsSecret = (_: string) => false) => {
  const changes = await comparePatch(runScript, tree, holdsSecret, never);
  expect(readdirSync(temp)).toEqual([]);
  return changes;
};
const namesIn = (patch: Buffer | null) =>
  String(patch ?? '')
    .match(/(?<=^diff --git )"?a\/.*(?= "?b\/)/gmu)
    ?.map((name) => name.replace(/^("?)a\//u, '$1')) ?? [];

beforeEach(() => {
  base = mkdtempSync(path.join(parent, 'patch-'));
  [temp, repo] = [path.join(base, 'temp'), path.join(base, 'repo')];
  for (const folder of [temp, repo]) mkdirSync(folder);
  git('init', '-q', '-b', 'main');
  put('a.txt', 'one\n');
  put('b.bin', Buffer.from([0, 1, 2, 255]));
  put('.gitignore', 'ignored/\n');
  put('sub/known', 'one\n');
  commit();
});

const ODD = 'other/ü "q"\t.txt';
const FILES = ['a.txt', 'b.bin', 'dir/c.txt', 'dir/deep/d.txt', ODD, 'run.sh', '.github/w.yml', 'x'];

/** Makes a repository with files, links, ignore rules, attributes, a submodule, and uncommitted changes. */
function makeRepository(): void {
  for (const name of FILES) put(name, name === 'b.bin' ? Buffer.from([0, 1, 2]) : `${name}\nsecond\n`);
  chmodSync(path.join(repo, 'run.sh'), 0o755);
  symlinkSync('a.txt', path.join(repo, 'link'));
  put('.gitignore', 'ignored/\n*.log\n/top\n');
  put('dir/.gitignore', '!keep.log\n');
  put('.gitattributes', '*.txt text eol=crlf ident\n*.bin -diff\n');
  put('tracked.log');
  git('add', '-A');
  git('add', '-f', 'tracked.log');
  git('commit', '-qm', 'files');
  mkdirSync(path.join(repo, 'module'));
  git('update-index', '--add', '--cacheinfo', `160000,${'1'.repeat(40)},module`);
  git('commit', '-qm', 'module');
  put('untracked', 'before\n');
  put('run.sh', 'edited before\n');
}

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
const file = fc
  .constantFrom(...FILES, 'link', 'new/f.txt', 'dir/keep.log', 'untracked', 'dir/Action.YML')
  .map(quoted);
const folder = fc.constantFrom('dir', 'dir/deep', 'other', 'new', 'new/er', '.github').map(quoted);
const edit = fc.oneof(
  fc
    .tuple(file, fc.constantFrom('new', 'one\\ntwo\\n', '', 'caf\\303\\251', '\\0\\1', 'a\\r\\nb\\n'))
    .map(([name, text]) => `mkdir -p "$(dirname ${name})"; rm -rf ${name}; printf '${text}' > ${name}`),
  file.map((name) => `printf 'more\\n' >> ${name}`),
  // The same size.
  file.map((name) => `cp -p ${name} ../t && tr 'a-y' 'b-z' < ../t > ${name}`),
  file.map((name) => `rm -rf ${name}`),
  file.map((name) => `chmod u+x ${name}`),
  fc.tuple(file, file).map(([from, to]) => `mv -T ${from} ${to}`),
  fc.tuple(file, file).map(([from, to]) => `ln -f ${from} ${to}`),
  file.map((name) => `ln -sfn 'some where' ${name}`),
  file.map((name) => `rm -rf ${name}; mkdir -p ${name}/in; echo x > ${name}/in/y`),
  folder.map((name) => `rm -rf ${name}; mkdir -p ${name}; echo again > ${name}/again`),
  folder.map((name) => `rm -rf ${name}; echo x > ${name}`),
  folder.map((name) => `mv -T ${name} moved`),
  folder.map((name) => `mkdir -p ${name}; mkfifo ${name}/pipe`),
);

/** The files as git would commit them, without submodules and protected ones. */
function filesOf(where: string): readonly string[] {
  execFileSync('find', [where, '-type', 'p', '-delete']);
  // Reads each file again.
  gitIn(where, 'read-tree', 'HEAD');
  gitIn(where, 'add', '-A');
  return gitIn(where, 'ls-files', '-s', '-z')
    .split('\0')
    .filter((line) => !/^160000|\t(?:.*\/)?(?:\.github|action\.yml)(?:\/|$)/iu.test(line));
}

it('applied to what was there before, gives what the agent left, without protected files', async () => {
  makeRepository();
  const original = repo;
  let found = 0;
  const edits = fc.array(edit, { minLength: 1, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(edits, async (lines) => {
      const own = mkdtempSync(path.join(base, 'run-'));
      const copies = ['before', 'after'].map((name) => path.join(own, name));
      for (const copy of copies) execFileSync('cp', ['-a', original, copy]);
      const [before = '', after = ''] = copies;
      const tree = await remember(scriptsIn(after, temp), after);
      const script = lines.map((line) => `{ ${line}; } 2>/dev/null`).join('\n');
      spawnSync('bash', ['-c', script], { cwd: after });
      const state = manifest(path.join(after, '.git'), () => false);
      const changes = await compare(tree, scriptsIn(after, temp));
      expect(manifest(path.join(after, '.git'), () => false)).toEqual(state);
      expect(changes.why).toBeNull();
      writeFileSync(path.join(own, 'patch'), changes.patch ?? '');
      if (changes.patch !== null) gitIn(before, 'apply', path.join(own, 'patch'));
      expect(filesOf(before)).toEqual(filesOf(after));
      found += namesIn(changes.patch).length;
      rmSync(own, { recursive: true });
    }),
    { numRuns: testAll ? 100 : 15 },
  );
  expect(found).toBeGreaterThan(10);
});

describe('the changes of the agent', () => {
  it.each<[title: string, script: string, names: readonly string[]]>([
    ['are none without a change of contents', 'touch a.txt; chmod 0600 sub/known; mkdir empty', []],
    ['exclude ignored files', 'mkdir ignored; echo x > ignored/x', []],
    [
      'exclude nested repositories, with and without a commit',
      'for n in n m; do git init -q $n; echo x > $n/x; done; cd n; git -c user.name=t -c user.email=t@t commit -q --allow-empty -m x; echo x > ../new',
      ['new'],
    ],
    [
      'include those in a folder of known files that became a repository',
      'git init -q sub; echo two > sub/known; echo x > sub/new',
      ['sub/known', 'sub/new'],
    ],
    ['leave out a name that git takes for its own', 'mkdir n; echo x > n/.GIT; echo x >> a.txt', ['a.txt']],
    ['leave out pipes', 'mkfifo pipe; rm a.txt; mkfifo a.txt; echo x > new', ['new']],
    ['include names that begin with a colon', "mkdir ':'; echo x > ':(x)'; echo x > ':/x'", [':(x)', ':/x']],
    ['include names that are not UTF-8', `echo x > "$(printf '\\377\\nx')"`, ['"\\377\\nx"']],
    [
      'leave out a path that is too long',
      `n=${'d'.repeat(250)}; for i in $(seq 20); do mkdir $n; cd $n; done; echo x > x; cd ${'../'.repeat(20)}; echo x > new`,
      ['new'],
    ],
  ])('%s', async (_, script, names) => {
    const tree = await remember();
    spawnSync('bash', ['-c', script], { cwd: repo });
    const { changedFiles, patch, why } = await compare(tree);
    // Node cannot remove a path that is too long.
    execFileSync('rm', ['-rf', path.join(repo, 'd'.repeat(250))]);
    expect(namesIn(patch)).toEqual(names);
    expect([why, changedFiles]).toEqual([null, names.length]);
  });

  it('exclude earlier ones, and are known of files that were not committed, as long as those are small', async () => {
    put('a.txt', 'dirty before\n');
    put('untracked', 'before\n');
    const tree = await remember();
    expect(await compare(tree)).toEqual({ changedFiles: 0, patch: null, leftOut: [], why: null });
    put('a.txt', 'dirty after\n');
    rmSync(path.join(repo, 'untracked'));
    const { patch } = await compare(tree);
    expect(String(patch)).toContain('\n-dirty before\n+dirty after\n');
    expect(String(patch)).toContain('\n-before\n');
    const noise = Buffer.from(Array.from({ length: 9 * 1024 * 1024 }, () => Math.random() * 256));
    put('large', noise);
    const another = await remember();
    put('a.txt', 'one\n');
    expect(await compare(another)).toMatchObject({ changedFiles: 1, patch: null });
    put('a.txt', 'dirty after\n');
    put('sub/known', 'two\n');
    expect((await compare(another)).patch).not.toBeNull();
  });

  it('are found when the size and the time of a file are the same', async () => {
    const old = new Date(Date.now() - 100_000);
    utimesSync(path.join(repo, 'a.txt'), old, old);
    git('add', '-A');
    // Git compares whole seconds.
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    const tree = await remember();
    put('a.txt', 'two\n');
    utimesSync(path.join(repo, 'a.txt'), old, old);
    expect((await compare(tree)).changedFiles).toBe(1);
  });

  it('are found when a file of the same size was written in the second before', async () => {
    await new Promise((resolve) => setTimeout(resolve, 1_000 - (Date.now() % 1_000)));
    put('a.txt', 'new\n');
    const tree = await remember();
    put('a.txt', 'two\n');
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect((await compare(tree)).changedFiles).toBe(1);
  });

  it('are not what the agent makes of temporary files, its home, or a repository around or in this one', async () => {
    const ran = path.join(base, 'ran');
    git('config', 'core.fsmonitor', `touch ${ran}`);
    const tree = await remember();
    gitIn(base, 'init', '-q');
    for (const name of ['HEAD', 'objects', 'refs', 'config'])
      execFileSync('cp', ['-r', path.join(base, '.git', name), repo]);
    putFiles(base, { '.git/info/exclude': '*\n', '.gitattributes': '* -diff\n' });
    put('.gitattributes', '* -diff diff=evil\n');
    git('config', 'diff.evil.command', `touch ${ran}`);
    git('config', 'diff.evil.textconv', `touch ${ran}`);
    put('a.txt', 'two\n');
    const { changedFiles, patch } = await compare(tree);
    expect(String(patch)).toContain('-one\n+two\n');
    expect(changedFiles).toBeGreaterThan(2);
    rmSync(path.join(repo, '.git'), { recursive: true });
    expect((await compare(tree)).changedFiles).toBeNull();
    expect(existsSync(ran)).toBe(false);
  });

  it.skipIf(process.getuid?.() !== 0)('are found in files and folders that the agent closed', async () => {
    const user = 65_534;
    execFileSync('chown', ['-R', `${user}:${user}`, base]);
    chmodSync(parent, 0o755);
    chmodSync(base, 0o755);
    chownSync(temp, user, user);
    const runScript = scriptsIn(repo, temp, user);
    const tree = await remember(runScript);
    const script =
      'echo two > sub/known; mkdir n; echo x > n/x; chmod 0 sub/known n/x; chmod 0 n sub; echo y > y; chmod 0 y';
    spawnSync('sh', ['-c', script], { cwd: repo, uid: user });
    expect(namesIn((await compare(tree, runScript)).patch)).toEqual(['n/x', 'sub/known', 'y']);
  });

  it('are found in a worktree, and in a repository below the working directory', async () => {
    git('worktree', 'add', '-q', '--detach', path.join(base, 'tree'));
    const tree = await remember(scriptsIn(base, temp), path.join(base, 'tree'));
    putFiles(path.join(base, 'tree'), { 'a.txt': 'two\n' });
    put('a.txt', 'three\n');
    const { patch, changedFiles } = await compare(tree, scriptsIn(base, temp));
    expect([changedFiles, String(patch).includes('+two')]).toEqual([1, true]);
  });

  it('are found without a first commit', async () => {
    rmSync(path.join(repo, '.git'), { recursive: true });
    git('init', '-q');
    const tree = await remember();
    put('a.txt', 'two\n');
    expect(namesIn((await compare(tree)).patch)).toEqual(['a.txt']);
  });

  it('are unknown without a repository, without git, in time, or after an error', async () => {
    const unknown = {
      ...{ changedFiles: null, patch: null, leftOut: [] },
      why: 'git could not tell what the agent changed, so there is no patch.',
    };
    const failing: RunScript = () => Promise.reject(new Error('broken'));
    const slow: RunScript = async (script, options) => {
      const result = await scriptsIn(repo, temp)(script.replace('trap ', 'true '), options);
      return script.includes('trap') ? { ...result, exitCode: null } : result;
    };
    const tree = await remember();
    for (const broken of [failing, slow]) {
      expect(await compare(await remember(broken))).toEqual(unknown);
      expect(await comparePatch(broken, tree, () => false, never)).toEqual(unknown);
    }
    for (const left of readdirSync(temp)) rmSync(path.join(temp, left), { recursive: true });
    expect(await compare(await remember(undefined, base))).toEqual(unknown);
    rmSync(path.join(repo, '.git'), { recursive: true });
    expect(await compare(tree)).toEqual(unknown);
    const aborted = AbortSignal.abort(new Error('SIGTERM'));
    await expect(rememberTree(scriptsIn(repo, temp), repo, aborted)).rejects.toThrow();
  });
});

describe('the patch', () => {
  it.each<[string, () => void, string]>([
    ['a workflow', () => put('.github/workflows/x.yml'), '.github/workflows/x.yml'],
    ['a link for workflows', () => symlinkSync('sub', path.join(repo, '.github')), '.github'],
    ['a submodule', () => put('.gitmodules'), '.gitmodules'],
    ['a binary workflow', () => put('.github/x', Buffer.from([0, 1, 2])), '.github/x'],
    ['a workflow with an unusual name', () => put('.github/ä "x"\n'), '.github/\\303\\244 \\"x\\"\\n'],
  ])('leaves out %s', async (_, write, name) => {
    symlinkSync('a', path.join(repo, 'old'));
    commit();
    const tree = await remember();
    write();
    put('kept b/kept.txt', 'diff --git a/action.yml b/action.yml\n+++ b/action.yml\n');
    const { patch, leftOut, changedFiles } = await compare(tree);
    expect([leftOut, changedFiles]).toEqual([[name], 2]);
    git('reset', '-q', '--hard');
    git('clean', '-fdqx');
    writeFileSync(path.join(base, 'left'), patch ?? '');
    git('apply', '--check', path.join(base, 'left'));
    const kept = 'diff --git a/kept b/kept.txt b/kept b/kept.txt';
    expect(String(patch).match(/^diff --git .*$/gmu)).toEqual([kept]);
  });

  it('keeps links inside the tree, removed links, and names like protected ones', async () => {
    symlinkSync('/etc', path.join(repo, 'old'));
    commit();
    const tree = await remember();
    rmSync(path.join(repo, 'old'));
    put('docs/action.yml.md');
    symlinkSync('../a/b', path.join(repo, 'docs', 'link'));
    const { patch, leftOut } = await compare(tree);
    expect([namesIn(patch), leftOut]).toEqual([['docs/action.yml.md', 'docs/link', 'old'], []]);
  });

  const SECRET = 'sk-canary-0123456789';
  const secrets = knowSecrets(SECRET);
  const holdsSecret = (text: string) => secrets.find(text) !== null || secrets.mask(text) !== text;
  it.each<[string, () => void]>([
    ['in a line', () => put('a', `x\nkey=${SECRET}\n`)],
    ['behind a line break of another kind', () => put('a', `x\r-${SECRET}\n`)],
    ['with invisible characters inside', () => put('a', [...SECRET].join('\u200b'))],
    ['in a binary file', () => put('a', Buffer.from(`\0\0${SECRET}\0`))],
    ['in UTF-16', () => put('a', Buffer.from(`x${SECRET}`, 'utf16le'))],
    ['in a name with invisible characters', () => put([...SECRET].join('\u200b'))],
    ['in the target of a link', () => symlinkSync(SECRET, path.join(repo, 'a'))],
    ['in a line that was removed', () => put('old', 'x\n')],
    [
      'far inside a large file',
      () => put('a', `${'x'.repeat(1024 * 1024 - 95)}${SECRET}${'x'.repeat(2_000_000)}`),
    ],
    ['farther inside', () => put('a', `${'-\n'.repeat(1_300_000)}${SECRET}${'x\n'.repeat(1_000_000)}`)],
  ])('is dropped if it holds a secret: %s', async (_, write) => {
    put('old', `x\n${SECRET}\n`);
    commit();
    const tree = await remember();
    put('kept', 'x\n');
    expect((await compare(tree, undefined, holdsSecret)).patch).not.toBeNull();
    write();
    const changes = await compare(tree, undefined, holdsSecret);
    expect(changes).toMatchObject({ changedFiles: 2, patch: null });
    expect(changes.why).toContain('secret that this run knows');
  });

  it('is dropped if it is too large', async () => {
    const tree = await remember();
    put('large', 'x'.repeat(33 * 1024 * 1024));
    expect(await compare(tree)).toMatchObject({ changedFiles: 1, patch: null });
    put('large', Buffer.alloc(33 * 1024 * 1024));
    const changes = await compare(tree);
    expect(changes).toMatchObject({ changedFiles: 1, patch: null });
    expect(changes.why).toContain('larger than 32 MiB');
  });
});
