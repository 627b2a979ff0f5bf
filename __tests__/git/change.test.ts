import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { type BaseAttributes, type DiffRange, findMarkedFiles, readGitDiff } from '../../src/git/change.ts';
import { never, useRepository } from './world.ts';

const { at, shell, put, scripts } = useRepository(`mkdir api
mkdir -p nested dist/kept
cat > .gitattributes << 'END'
[attr]made linguist-generated=true
dist/** linguist-generated
dist/own/** -linguist-generated
typed/** linguist-generated=true
false/** linguist-generated=false
odd/** linguist-generated=yes
macro/** made
vendor/** linguist-vendored
both/** linguist-vendored linguist-generated
END
printf '*.js linguist-generated\\nown.js -linguist-generated\\n' > nested/.gitattributes
echo '* !linguist-generated' > dist/kept/.gitattributes
for name in api/a.txt committed.txt staged.txt edited.txt gone.txt same.txt; do echo $name > $name; done
git add -A
git commit -qm first
git tag first
git checkout -qb topic`);

const read = async (range: DiffRange, folder = '.') => {
  const result = await readGitDiff(scripts(path.join(at.repo, folder)), range, never);
  if (typeof result === 'string') return { status: result, names: '', diff: '' };
  const { status, names, diff } = result;
  return { status, names: String(names), diff: diff.toString('latin1') };
};
const id = (name: string) => (name === '' ? '' : shell(`git rev-parse ${name}`));
const diffFrom = (base: string, head = '', folder = '.') => read({ base: id(base), head: id(head) }, folder);

describe('the diff from the history of the checkout', () => {
  it('ignores attributes and .gitmodules of the change, and leaves out files with the name and a NUL of a binary one', async () => {
    shell(`printf '%s\\n' '*.js -diff' '*.ts binary' '*.py diff=hide' '*.md text working-tree-encoding=UTF-16' > .gitattributes
echo '* !text -diff' > api/.gitattributes
printf '[submodule "m"]\\n\\tpath = m\\n\\turl = m\\n\\tignore = all\\n' > .gitmodules
for key in textconv command binary; do git config diff.hide.$key true; done
for name in a.js a.ts a.py api/b.js text.png; do echo evil in $name > $name; done
printf '\\1\\0\\2' | tee a.png b.PNG > nul.sh
git add -A
git update-index --add --cacheinfo 160000,${'1'.repeat(40)},m
git commit -qm second
git update-index --cacheinfo 160000,${'2'.repeat(40)},m
git commit -qm third`);
    const { status, diff } = await diffFrom('first');
    const added = ['evil in a.js', 'evil in a.py', 'evil in a.ts', 'evil in api/b.js', 'evil in text.png'];
    expect(status).toBe('complete');
    expect(diff.match(/(?<=^\+)evil.*$/gmu)).toEqual(added);
    expect(diff.match(/^Binary files .*$/gmu)).toEqual([
      'Binary files /dev/null and b/a.png differ',
      'Binary files /dev/null and b/b.PNG differ',
    ]);
    expect(diff).toContain('+++ b/nul.sh\n@@ -0,0 +1 @@\n+\u0001\0\u0002\n');
    expect((await diffFrom('HEAD~1', '', 'api')).names).toBe('M\tm\n');
  });

  it('is missing if the checkout does not contain the change', async () => {
    shell(`for name in two three; do echo $name > api/a.txt; git commit -qam $name; git tag $name; done
git commit -q --allow-empty -m nothing
git tag empty
git checkout -q first
echo other > api/a.txt
git commit -qam other
git tag other`);
    for (const [checkout, base, head, status] of [
      ['three', 'first', 'two', 'complete'],
      ['three', 'first', 'three', 'complete'],
      ['three', 'f'.repeat(40), '', 'missing'],
      ['empty', 'three', '', 'missing'],
      ['first', 'first', '', 'missing'],
      ['first', 'first', 'two', 'missing'],
      ['first', 'two', '', 'missing'],
      ['other', 'first', 'two', 'missing'],
    ] as const) {
      shell(`git checkout -q ${checkout}`);
      expect((await diffFrom(base, head)).status, `${checkout} ${base} ${head}`).toBe(status);
    }
    const range = { base: id('first'), head: '' };
    expect((await read({ ...range, head: 'x; touch evil' })).status).toBe('missing');
    shell('git checkout -q first');
    expect((await read({ ...range, mayBeEmpty: true })).status).toBe('complete');
  });

  it('ignores a folder of the change that looks like a repository', async () => {
    shell(`echo harmless > same.txt
git commit -qam 'another history'
git clone -q --bare . ../own.git
git reset -q --hard first
cp -r ../own.git/{HEAD,objects,refs,packed-refs,config} api
echo two > api/a.txt
git add -A
git commit -qm second`);
    expect((await diffFrom('first', '', 'api')).status).toBe('missing');
  });
});

describe('the diff of what changed since the merge base with a ref', () => {
  it('has commits and what is uncommitted, without untracked files, and writes nothing to the repository', async () => {
    shell(`echo new > committed.txt
git commit -qam second
git checkout -q main
echo main went on > same.txt
git commit -qam third
git checkout -q topic
echo new | tee staged.txt added.txt > intended.txt
git add staged.txt added.txt
git add -N intended.txt
echo new | tee untracked.txt > edited.txt
rm gone.txt`);
    const state = () => shell('git status --porcelain; git count-objects -v');
    const before = state();
    const { status, names, diff } = await read({ ref: 'main' }, 'api');
    expect(state()).toEqual(before);
    expect(status).toBe('complete');
    const lines = ['A\tadded', 'M\tcommitted', 'M\tedited', 'D\tgone', 'A\tintended', 'M\tstaged'];
    expect(names).toBe(lines.map((line) => `${line}.txt\n`).join(''));
    expect(diff).toContain('\n-edited.txt\n+new\n');
  });

  it('ignores grafts and replacements of commits', async () => {
    shell(`echo evil > same.txt
git commit -qam second
git checkout -q main
echo main > edited.txt
git commit -qam third
git checkout -q topic
git replace --graft main topic
git rev-parse main topic | tr '\\n' ' ' > .git/info/grafts`);
    expect(await read({ ref: 'main' })).toMatchObject({ status: 'complete', names: 'M\tsame.txt\n' });
  });

  it('says what is wrong with a ref', async () => {
    const wrong = ['nowhere', 'HEAD:same.txt', "x'; touch evil; '", '--all', 'HEAD..main', '', 'main\n'];
    for (const ref of [...wrong, ':/first']) expect((await read({ ref })).status, ref).toBe('no_ref');
    shell('git checkout -q --orphan other; git commit -qm unrelated');
    expect((await read({ ref: 'main' })).status).toBe('no_merge_base');
    shell('rm -r .git');
    expect((await read({ ref: 'main' })).status).toBe('no_ref');
    expect(existsSync(path.join(at.repo, 'evil'))).toBe(false);
  });
});

const find = async (from: BaseAttributes, ...paths: readonly string[]) => {
  const state = () => shell('git status --porcelain; git count-objects -v');
  const before = state();
  const marks = await findMarkedFiles(scripts(), from, paths, never);
  expect(state()).toBe(before);
  return marks instanceof Map ? Object.fromEntries(marks) : marks;
};

describe('the attributes of the base', () => {
  it('mark what is set or true there, nested files and negations included', async () => {
    const odd = 'dist/ü "\n\t.js';
    const generated = ['dist/a.js', 'typed/a', 'macro/a', 'both/a', 'nested/a.js', 'nested/deep/a.js', odd];
    const plain = ['dist/own/a.js', 'dist/kept/a.js', 'false/a', 'odd/a', 'nested/own.js', 'src/a.js'];
    const marks = generated.map((name) => [name, 'generated']);
    const expected = { ...Object.fromEntries(marks), 'vendor/a': 'vendored' };
    for (const commit of [shell('git rev-parse first'), 'HEAD'])
      expect(await find({ commit }, ...generated, ...plain, 'vendor/a', '-x', ':/dist')).toEqual(expected);
  });

  it('are not those of the change, the files, the info folder, the config or the index', async () => {
    const commit = shell('git rev-parse first');
    shell(`echo 'src/** linguist-generated' | tee -a .gitattributes attributes > .git/info/attributes
git commit -qam second
git config core.attributesFile "$PWD/attributes"
git config attr.tree HEAD
git replace first "$(git commit-tree -m other 'HEAD^{tree}')"
mkdir src
echo '* linguist-generated' > src/.gitattributes
git add -A`);
    put('src/.gitattributes', '*.js linguist-vendored\n');
    expect(await find({ commit }, 'src/a.js', 'dist/a.js')).toEqual({ 'dist/a.js': 'generated' });
  });

  it('are missing without the commit, and are then read from a text', async () => {
    for (const commit of ['f'.repeat(40), 'nowhere', "x'; exit 0; '", '--all'])
      expect(await find({ commit }, 'dist/a.js'), commit).toBe('missing');
    const text = 'src/** linguist-generated\nsrc/own.js linguist-generated=false\n';
    expect(await find({ text }, 'src/a.js', 'src/own.js', 'dist/a.js')).toEqual({ 'src/a.js': 'generated' });
  });

  it('are unknown if git fails, and nothing is asked for no path', async () => {
    expect(await find({ commit: 'nowhere' })).toEqual({});
    shell('rm -r .git');
    expect(await findMarkedFiles(scripts(), { text: '' }, ['a'], never)).toBeNull();
  });
});
