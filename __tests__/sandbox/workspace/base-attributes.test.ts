import { appendFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { OpenedSandbox } from '../../../src/sandbox/sandbox.ts';
import { findMarkedFiles } from '../../../src/sandbox/workspace/base-attributes.ts';
import { putFiles } from '../../support/local.ts';
import { createWorld, exec, gitIn, shellWays, type World } from '../world.ts';

const never = new AbortController().signal;

describe.each(shellWays)('the attributes of the base, behind $name', ({ options }) => {
  let world: World;
  let base = '';
  const git = (...args: readonly string[]) => gitIn(world.workspace, ...args);
  const write = async (name: string, text: string) => void putFiles(world.workspace, { [name]: text });
  const commit = () => {
    git('add', '-A');
    git('commit', '-qm', 'more');
    return git('rev-parse', 'HEAD');
  };
  const open = () => world.openReady({ ...options, access: 'scratch' });
  const marksOf = async (sandbox: OpenedSandbox, commitOrRef: string, ...paths: readonly string[]) => {
    const marks = await findMarkedFiles(sandbox, { commit: commitOrRef }, paths, never);
    return marks instanceof Map ? Object.fromEntries(marks) : marks;
  };
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

  beforeEach(async () => {
    world = await createWorld();
    await write('.gitattributes', `${RULES.join('\n')}\n`);
    await write('nested/.gitattributes', '*.js linguist-generated\nown.js -linguist-generated\n');
    await write('dist/kept/.gitattributes', '* !linguist-generated\n');
    base = commit();
  });
  afterEach(() => world.close());

  it('mark what is set or true there, nested files and negations included', async () => {
    const sandbox = await open();
    const left = 'ls -A "$TMPDIR"; git status --porcelain';
    const before = (await exec(sandbox, left)).output;
    const generated = ['dist/a.js', 'typed/a', 'macro/a', 'both/a', 'nested/a.js', 'nested/deep/a.js', ODD];
    const plain = ['dist/own/a.js', 'dist/kept/a.js', 'false/a', 'odd/a', 'nested/own.js', 'src/a.js'];
    const paths = [...generated, 'vendor/a', ...plain, '-x', ':(top)dist'];
    const marks = generated.map((name) => [name, 'generated']);
    const expected = { ...Object.fromEntries(marks), 'vendor/a': 'vendored' };
    for (const ref of [base, 'HEAD']) expect(await marksOf(sandbox, ref, ...paths)).toEqual(expected);
    expect((await exec(sandbox, left)).output).toBe(before);
  });

  it('are not those of the change, the files, the info folder, the user or the index', async () => {
    await appendFile(path.join(world.workspace, '.gitattributes'), 'src/** linguist-generated\n');
    commit();
    await write('src/.gitattributes', '* linguist-generated\n');
    git('add', '-A');
    await write('src/.gitattributes', '*.js linguist-vendored\n');
    await write('attributes', '* linguist-generated\n');
    git('config', 'core.attributesFile', path.join(world.workspace, 'attributes'));
    git('config', 'attr.tree', 'HEAD');
    await writeFile(path.join(world.workspace, '.git/info/attributes'), '* linguist-generated\n');
    await writeFile(path.join(world.home, '.gitattributes'), '* linguist-generated\n');
    git('replace', base, git('commit-tree', '-m', 'other', 'HEAD^{tree}'));
    const sandbox = await open();
    expect(await marksOf(sandbox, base, 'src/a.js', 'dist/a.js')).toEqual({ 'dist/a.js': 'generated' });
  });

  it('are missing without the commit, and are then read from a text', async () => {
    const sandbox = await open();
    for (const commitOrRef of ['f'.repeat(40), 'nowhere', "x'; exit 0; '", '--all'])
      expect(await marksOf(sandbox, commitOrRef, 'dist/a.js'), commitOrRef).toBe('missing');
    const objects = async () => (await exec(sandbox, 'git count-objects')).output;
    const before = await objects();
    const marks = await findMarkedFiles(
      sandbox,
      { text: 'src/** linguist-generated\nsrc/own.js linguist-generated=false\n' },
      ['src/a.js', 'src/own.js', 'dist/a.js'],
      never,
    );
    expect(marks).toEqual(new Map([['src/a.js', 'generated']]));
    expect(await objects()).toBe(before);
  });

  it('are unknown where git fails, and nothing is asked for no path', async () => {
    const sandbox = await open();
    expect(await marksOf(sandbox, 'nowhere')).toEqual({});
    await rm(path.join(world.workspace, '.git'), { recursive: true });
    const other = await open();
    expect(await findMarkedFiles(other, { text: '* linguist-generated\n' }, ['a'], never)).toBe(null);
  });
});
