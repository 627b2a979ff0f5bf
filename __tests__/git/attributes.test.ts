import { appendFileSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { findMarkedFiles } from '../../src/git/attributes.ts';
import { gitIn } from '../sandbox/world.ts';
import { putFiles } from '../support/local.ts';
import { scriptsIn } from '../support/scripts.ts';
import { makeFolder } from '../support/surroundings.ts';

const never = new AbortController().signal;
const parent = makeFolder();

describe('the attributes of the base', () => {
  let temp = '';
  let repo = '';
  let base = '';
  const git = (...args: readonly string[]) => gitIn(repo, ...args);
  const state = () => `${git('status', '--porcelain')} ${git('count-objects', '-v')}`;
  const write = (name: string, text: string) => putFiles(repo, { [name]: text });
  const commit = () => {
    git('add', '-A');
    git('commit', '-qm', 'more');
    return git('rev-parse', 'HEAD');
  };
  const find = async (from: { commit: string } | { text: string }, ...paths: readonly string[]) => {
    const marks = await findMarkedFiles(scriptsIn(repo, temp), from, paths, never);
    expect(readdirSync(temp)).toEqual([]);
    return marks instanceof Map ? Object.fromEntries(marks) : marks;
  };
  const marksOf = (from: string, ...paths: readonly string[]) => find({ commit: from }, ...paths);
  const ODD = 'dist/ü "\n\t.js';
  const RULES = [
    '[attr]made linguist-generated=true',
    'dist/** linguist-generated',
    'dist/own/** -linguist-generated',
    'typed/** linguist-generated=true',
    'false/** linguist-generated=false',
    'odd/** linguist-generated=yes',
    'macro/** made',
    'vendor/** linguist-vendored',
    'both/** linguist-vendored linguist-generated',
  ];

  beforeEach(() => {
    temp = mkdtempSync(path.join(parent, 'temp-'));
    repo = mkdtempSync(path.join(parent, 'repo-'));
    git('init', '-q', '-b', 'main');
    write('.gitattributes', `${RULES.join('\n')}\n`);
    write('nested/.gitattributes', '*.js linguist-generated\nown.js -linguist-generated\n');
    write('dist/kept/.gitattributes', '* !linguist-generated\n');
    base = commit();
  });

  it('mark what is set or true there, nested files and negations included', async () => {
    const before = state();
    const generated = ['dist/a.js', 'typed/a', 'macro/a', 'both/a', 'nested/a.js', 'nested/deep/a.js', ODD];
    const plain = ['dist/own/a.js', 'dist/kept/a.js', 'false/a', 'odd/a', 'nested/own.js', 'src/a.js'];
    const paths = [...generated, 'vendor/a', ...plain, '-x', ':(top)dist'];
    const marks = generated.map((name) => [name, 'generated']);
    const expected = { ...Object.fromEntries(marks), 'vendor/a': 'vendored' };
    for (const ref of [base, 'HEAD']) expect(await marksOf(ref, ...paths)).toEqual(expected);
    expect(state()).toBe(before);
  });

  it('are not those of the change, the files, the info folder, the config or the index', async () => {
    appendFileSync(path.join(repo, '.gitattributes'), 'src/** linguist-generated\n');
    commit();
    write('src/.gitattributes', '* linguist-generated\n');
    git('add', '-A');
    write('src/.gitattributes', '*.js linguist-vendored\n');
    write('attributes', '* linguist-generated\n');
    git('config', 'core.attributesFile', path.join(repo, 'attributes'));
    git('config', 'attr.tree', 'HEAD');
    writeFileSync(path.join(repo, '.git/info/attributes'), '* linguist-generated\n');
    git('replace', base, git('commit-tree', '-m', 'other', 'HEAD^{tree}'));
    expect(await marksOf(base, 'src/a.js', 'dist/a.js')).toEqual({ 'dist/a.js': 'generated' });
  });

  it('are missing without the commit, and are then read from a text', async () => {
    for (const commitOrRef of ['f'.repeat(40), 'nowhere', "x'; exit 0; '", '--all'])
      expect(await marksOf(commitOrRef, 'dist/a.js'), commitOrRef).toBe('missing');
    const before = state();
    const text = 'src/** linguist-generated\nsrc/own.js linguist-generated=false\n';
    expect(await find({ text }, 'src/a.js', 'src/own.js', 'dist/a.js')).toEqual({ 'src/a.js': 'generated' });
    expect(state()).toBe(before);
  });

  it('are unknown where git fails, and nothing is asked for no path', async () => {
    expect(await marksOf('nowhere')).toEqual({});
    rmSync(path.join(repo, '.git'), { recursive: true });
    expect(await find({ text: '* linguist-generated\n' }, 'a')).toBe(null);
  });
});
