import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { comparePatch, rememberTree } from '../../src/git/patch.ts';
import { type RunScript, shellWord } from '../../src/sandbox/sandbox.ts';
import { isRoot } from '../sandbox/world.ts';
import { testAll } from '../support/all.ts';
import { knowSecrets } from '../support/surroundings.ts';
import { never, useRepository } from './world.ts';

const ODD = 'other/ü "q"\t.txt';
const FILES = ['a.txt', 'dir/c.txt', 'dir/deep/d.txt', ODD, 'run.sh', '.github/w.yml', 'x', 'sub/known'];

// Files, links, ignore rules, attributes, a submodule, and uncommitted changes.
const { at, shell, put, scripts } = useRepository(`mkdir -p dir/deep other .github sub module
for name in ${FILES.map(shellWord).join(' ')}; do printf '%s\\nsecond\\n' "$name" > "$name"; done
printf '\\0\\1\\2' > b.bin
chmod +x run.sh
ln -s a.txt link
ln -s /etc old
printf 'ignored/\\n*.log\\n/top\\n' > .gitignore
echo '!keep.log' > dir/.gitignore
printf '*.txt text eol=crlf ident\\n*.bin -diff\\n' > .gitattributes
echo x > tracked.log
git add -A
git add -f tracked.log
git update-index --add --cacheinfo 160000,${'1'.repeat(40)},module
git commit -qm files
echo before > untracked
echo edited before > run.sh`);

/** Compares the workspace before and after an edit: a script, or a function. */
async function changesBy(edit: string | (() => void), holdsSecret = (_: string) => false, root = at.repo) {
  const tree = await rememberTree(scripts(), root, never);
  if (typeof edit === 'string') shell(edit);
  else edit();
  return comparePatch(scripts(), root, tree, holdsSecret, never);
}
const namesIn = (patch: Buffer | null) =>
  Array.from(String(patch ?? '').matchAll(/^diff --git "?a\/(.*?)"? "?b\/\1"?$/gmu), ([, name]) => name);

/** What is done to the files $f and $g and the folder $d, with the text $t. */
const EDITS = [
  'mkdir -p "$(dirname "$f")"; rm -rf "$f"; printf "$t" > "$f"',
  'echo more >> "$f"',
  // The same size.
  'cp -p "$f" ../t; tr a-y b-z < ../t > "$f"',
  'rm -rf "$f"',
  'chmod u+x "$f"',
  'mv -T "$f" "$g"',
  'ln -f "$f" "$g"',
  'ln -sfn "some where" "$f"',
  'rm -rf "$f"; mkdir -p "$f/in"; echo x > "$f/in/y"',
  'rm -rf "$d"; mkdir -p "$d"; echo again > "$d/again"',
  'rm -rf "$d"; echo x > "$d"',
  'mv -T "$d" moved',
  'mkdir -p "$d"; mkfifo "$d/pipe"',
];
const OTHERS = ['b.bin', 'link', 'new/f', 'dir/keep.log', 'untracked', 'dir/Action.YML'];
const file = fc.constantFrom(...FILES, ...OTHERS).map(shellWord);
const folder = fc.constantFrom('dir', 'dir/deep', 'other', 'new', 'new/er', '.github');
const text = fc.constantFrom('new', 'one\\ntwo\\n', '', 'caf\\303\\251', '\\0\\1', 'a\\r\\nb\\n');
const edit = fc
  .tuple(file, file, folder, text, fc.constantFrom(...EDITS))
  .map(([f, g, d, t, command]) => `f=${f} g=${g} d=${d} t='${t}'\n{ ${command}; } || true`);

/** The files as git would commit them, without submodules and protected ones. */
const filesOf = (folder: string) =>
  // Each file is read again.
  shell('find . -type p -delete; git read-tree HEAD; git add -A; git ls-files -s -z', folder)
    .split('\0')
    .filter((line) => !/^160000|\t(?:.*\/)?(?:\.github|action\.yml)(?:\/|$)/iu.test(line));

it('applied to what was there before, gives what the agent left, without protected files', async () => {
  let found = 0;
  const edits = fc.array(edit, { minLength: 1, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(edits, async (lines) => {
      shell(`rm -rf repo before; cp -a ${at.original} repo; cp -a ${at.original} before`, at.base);
      const state = () => shell('find .git ! -type d -exec sha1sum {} +');
      let before = '';
      const { patch, why } = await changesBy(() => {
        shell(lines.join('\n'));
        before = state();
      });
      expect([why, state()]).toEqual([null, before]);
      writeFileSync(path.join(at.base, 'patch'), patch ?? '');
      if (patch !== null) shell('git apply ../patch', path.join(at.base, 'before'));
      expect(filesOf(path.join(at.base, 'before'))).toEqual(filesOf(at.repo));
      found += namesIn(patch).length;
    }),
    { numRuns: testAll ? 100 : 15 },
  );
  expect(found).toBeGreaterThan(10);
});

const UNKNOWN = {
  ...{ files: null, patch: null, leftOut: [] },
  why: 'git could not tell what the agent changed, so there is no patch.',
};

describe('the patch', () => {
  const long = 'd'.repeat(250);
  it.each<[string, script: string, names: readonly string[], leftOut?: readonly string[], count?: number]>([
    ['is empty without a change of contents', 'touch a.txt; chmod 0600 sub/known; mkdir empty', []],
    ['lacks ignored files', 'mkdir ignored; touch ignored/x', []],
    ['lacks nested repositories', 'git init -q m; touch m/x; git clone -q . n; touch new', ['new']],
    ['has known files of a new one', 'git init -q sub; touch sub/x; rm sub/known', ['sub/known', 'sub/x']],
    ['lacks a name that git takes for its own', 'mkdir n; touch n/.GIT n/new', ['n/new']],
    ['lacks pipes', 'mkfifo pipe; rm a.txt; mkfifo a.txt; touch new', ['new'], [], 2],
    ['has names that begin with a colon', "mkdir ':'; touch ':(x)' ':/x'", [':(x)', ':/x']],
    ['has names that are not UTF-8', `touch $'\\377\\nx'`, ['\\377\\nx']],
    ['lacks long paths', `touch new; for _ in {1..20}; do mkdir ${long}; cd ${long}; done; touch x`, ['new']],
    ['has links and removed links', 'rm old; ln -s ../a/b dir/link', ['dir/link', 'old']],
    ['has lines like sections', `mkdir 'k b'; echo 'diff --git a/.github b/.github' > 'k b/k'`, ['k b/k']],
    ['leaves out workflows', 'touch .github/w.yml2 new', ['new'], ['.github/w.yml2']],
    ['leaves out a link', 'rm -r .github; ln -s sub .github', [], ['.github', '.github/w.yml']],
    ['leaves out a binary file', `printf '\\0\\1\\2' > .github/x`, [], ['.github/x']],
    ['leaves out an odd name', `touch .github/$'ä "x"\\n'`, [], ['.github/\\303\\244 \\"x\\"\\n']],
  ])('%s', async (_, script, names, leftOut = [], count = names.length + leftOut.length) => {
    const changes = await changesBy(script);
    // Node cannot remove a path that is too long.
    shell(`rm -rf ${long}`);
    expect(namesIn(changes.patch)).toEqual(names);
    expect(changes).toMatchObject({ why: null, leftOut });
    expect(changes.files).toHaveLength(count);
  });

  it('is not all that changed, if a file of a submodule was edited', async () => {
    shell('git init -q lib; cd lib; echo a > f; git add f; git commit -qm f; cd ..; git add lib');
    expect((await changesBy('touch lib/new')).files).toEqual([]);
    const changes = await changesBy('echo b > lib/f');
    expect(changes).toMatchObject({ patch: null, files: [{ path: 'lib', isNew: false }] });
  });

  it.each([
    ['of long ago', 'touch -d @1000000 a.txt; git add -A', ':', 'touch -d @1000000 a.txt'],
    ['of this second', ':', 'echo new > a.txt', ':'],
    ['that was edited after git add', 'echo old > a.txt; git add a.txt; echo new > a.txt', ':', ':'],
  ])('has an edit that keeps the size of a file %s', async (_, early, late, after) => {
    shell(early);
    // git compares whole seconds.
    await sleep(2_000 - (Date.now() % 1_000));
    shell(late);
    const { patch } = await changesBy(`tr a-y b-z < a.txt > ../t; cat ../t > a.txt; ${after}`);
    expect(String(patch)).toMatch(/\n-(?:a\.txt|new)\n/u);
  });

  it('is not what the agent makes of a repository around or in this one', async () => {
    const ran = path.join(at.base, 'ran');
    shell(`git config core.fsmonitor 'touch ${ran}'`);
    const edit = `git init -q ..
cp -r ../.git/{HEAD,objects,refs,config} .
echo '*' > ../.git/info/exclude
echo '* -diff' > ../.gitattributes
echo '* -diff diff=evil' > .gitattributes
for key in command textconv; do git config diff.evil.$key 'touch ${ran}'; done
printf 'two\\nsecond\\n' > a.txt`;
    const { files, patch } = await changesBy(edit);
    expect(String(patch)).toContain('-a.txt\n+two\n');
    expect(files?.length).toBeGreaterThan(2);
    shell('rm -r .git HEAD');
    expect(await changesBy(':')).toEqual(UNKNOWN);
    expect(existsSync(ran)).toBe(false);
  });

  it.skipIf(!isRoot)('has files and folders that the agent closed', async () => {
    shell(`chmod 755 .; chown -R 65534 ${at.base}`, path.dirname(at.original));
    at.user = 65_534;
    const closed = await changesBy('echo > sub/known; mkdir n; touch n/x y; chmod 0 sub/known n/x y n sub');
    expect(namesIn(closed.patch)).toEqual(['n/x', 'sub/known', 'y']);
  });

  it('is made in a worktree, and without a first commit', async () => {
    shell('git worktree add -q --detach ../tree; git init -q ../empty');
    for (const root of ['tree', 'empty'].map((name) => path.join(at.base, name))) {
      const edit = `echo two > ${root}/a.txt; echo three > a.txt`;
      const { patch } = await changesBy(edit, undefined, root);
      expect([namesIn(patch), String(patch).includes('+two')]).toEqual([['a.txt'], true]);
    }
  });

  const failing: RunScript = () => Promise.reject(new Error('broken'));
  const killed: RunScript = async (script, options) => {
    const result = await scripts()(script.replace('trap ', 'true '), options);
    return { ...result, exitCode: null };
  };
  // There is room again before the tree is written.
  const onFullDisk: RunScript = (script, options) => {
    const mount =
      'mount -t tmpfs -o nr_inodes=60 none "$TMPDIR"; cd "$TMPDIR"; touch $(seq 9); exec sh -c "$0"';
    const freed = script.replace('tree="$(', 'rm "$TMPDIR"/?; tree="$(');
    return scripts()(`exec unshare -m sh -c '${mount}' ${shellWord(freed)}`, options);
  };
  it('is unknown after an error, in time, and on a full disk, and then leaves no first tree', async () => {
    shell('for i in {1..90}; do echo $i > $i; done');
    for (const runScript of [failing, killed, ...(isRoot ? [onFullDisk] : [])]) {
      expect(await rememberTree(runScript, at.repo, never)).toBeNull();
      expect(existsSync(path.join(at.temp, '.changes'))).toBe(false);
      const tree = await rememberTree(scripts(), at.repo, never);
      expect(await comparePatch(runScript, at.repo, tree, () => false, never)).toEqual(UNKNOWN);
      shell('rm -rf .changes *', at.temp);
    }
    const aborted = AbortSignal.abort(new Error('SIGTERM'));
    await expect(rememberTree(failing, at.repo, aborted)).rejects.toThrow('SIGTERM');
  });

  const FAIL = `cd ../repo; echo '* filter=x' > .gitattributes; git config filter.x.required true`;
  const ours = ['rm -r .changes', 'echo > .changes/index', 'rm -r .changes/objects/??'];
  it.each([...ours, 'rm -r ../repo/.git', FAIL])('is unknown after %s', async (damage) => {
    expect(await changesBy(`cd ../temp; ${damage}; echo more >> ../repo/untracked`)).toEqual(UNKNOWN);
  });

  const SECRET = 'sk-canary-0123456789';
  const secrets = knowSecrets(SECRET);
  const holdsSecret = (text: string) => secrets.find(text) !== null || secrets.mask(text) !== text;
  const HELD = 'secret that this run knows';
  const MIB = 1024 * 1024;
  it.each<[title: string, write: () => void, why?: string | null]>([
    ['is kept without one', () => put('kept'), null],
    ['is dropped with one in a line', () => put('a', `x\nkey=${SECRET}\n`)],
    ['is dropped with one in a binary file', () => put('a', Buffer.from(`\0\0${SECRET}\0`))],
    ['is dropped with one in a name with invisible characters', () => put([...SECRET].join('\u200b'))],
    ['is dropped with one in the target of a link', () => void shell(`ln -s ${SECRET} a`)],
    ['is dropped with one in a line that was removed', () => put('known', 'x\n')],
    [
      'is dropped with one farther inside',
      () => put('a', `${'-\n'.repeat(MIB)}${SECRET}${'x\n'.repeat(MIB)}`),
    ],
    ['is dropped if it is too large', () => put('a', 'x'.repeat(9 * MIB)), 'larger than 8 MiB'],
    [
      'is dropped if it is too large to be searched',
      () => put('a', Buffer.alloc(9 * MIB)),
      'larger than 8 MiB',
    ],
  ])('of a checkout with a secret %s', async (_, write, why = HELD) => {
    put('known', `x\n${SECRET}\n`);
    const changes = await changesBy(write, holdsSecret);
    expect([changes.files?.length, changes.patch === null]).toEqual([1, why !== null]);
    expect(changes.why).toEqual(why && expect.stringContaining(why));
  });
});
