import { describe, expect, it } from 'vitest';
import { type BaseAttributes, findMarkedFiles } from '../../src/git/change.ts';
import { never, useRepository } from './world.ts';

const { shell, put, scripts } = useRepository(`mkdir -p nested dist/kept
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
git add -A
git commit -qm first
git tag base`);

/** Returns the marked files. The repository is not written to. */
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
    for (const commit of [shell('git rev-parse base'), 'HEAD'])
      expect(await find({ commit }, ...generated, ...plain, 'vendor/a', '-x', ':/dist')).toEqual(expected);
  });

  it('are not those of the change, the files, the info folder, the config or the index', async () => {
    const commit = shell('git rev-parse base');
    shell(`echo 'src/** linguist-generated' | tee -a .gitattributes attributes > .git/info/attributes
git commit -qam second
git config core.attributesFile "$PWD/attributes"
git config attr.tree HEAD
git replace base "$(git commit-tree -m other 'HEAD^{tree}')"
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
