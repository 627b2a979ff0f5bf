import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ChangeContext, LoadedContext } from '../../src/github/context.ts';
import { findChangeContext } from '../../src/github/find-context.ts';
import { createHub } from '../../src/github/pull-request.ts';
import { explainNoChange, findContext } from '../../src/run/change.ts';
import { type ContextSandbox, placeContext } from '../../src/run/place-change.ts';
import type { ChangedFile } from '../../src/types.ts';
import { createWorld, gitIn, type World } from '../sandbox/world.ts';
import { scriptsIn } from '../support/scripts.ts';
import { quietWorld } from '../support/worlds/quiet.ts';

const never = new AbortController().signal;
let world: World;
let warnings: string[] = [];
const git = (...args: readonly string[]) => gitIn(world.workspace, ...args);
const write = async (name: string, text: string | Buffer) => {
  await mkdir(path.dirname(path.join(world.workspace, name)), { recursive: true });
  await writeFile(path.join(world.workspace, name), text);
};
const commit = () => {
  git('add', '-A');
  git('commit', '-q', '--allow-empty', '-m', 'more');
  return git('rev-parse', 'HEAD');
};
let context = new Map<string, string>();
/** Reads files of the workspace, and runs scripts there without isolation. */
const sandbox = (): ContextSandbox => ({
  ...{ workingDirectory: world.workspace, contextFolder: '/tmp/context' },
  ...{ shellOffered: true, ready: async () => undefined },
  read: async (name, maxBytes) => {
    if (!name.startsWith(`${world.workspace}/`)) throw new Error('denied');
    const bytes = await readFile(name);
    return { kind: 'file', bytes: bytes.subarray(0, maxBytes), truncated: bytes.length > maxBytes };
  },
  addContext: async (name, bytes) => void context.set(name, String(bytes)),
  runScript: scriptsIn(world.workspace, world.temp),
});
const place = async (change: ChangeContext | 'unknown' | null) => {
  if (change === null || change === 'unknown') throw new Error('no context');
  return placeContext(change, sandbox(), never, (text) => warnings.push(text));
};
const pushOf = (before: string, after: string) => {
  const payload = { ref: 'refs/heads/main', before, after };
  const event = { repository: 'o/r', name: 'push', sha: after, ref: '', payload };
  return findChangeContext(createHub(event, null, null), (text) => warnings.push(text));
};
const since = async (base: string) => {
  const found = await findContext({ base }, quietWorld(world.base, world.temp));
  return found === 'unknown' ? null : found;
};

beforeEach(async () => {
  warnings = [];
  context = new Map();
  world = await createWorld();
});
afterEach(() => world.close());

describe('the change of a push', () => {
  it('is read from what git writes, and marked by the attributes of its base only', async () => {
    await write('.gitattributes', 'dist/** linguist-generated\nvendor/** linguist-vendored\n');
    await write('src/old.ts', 'one\ntwo\nthree\nfour\n');
    const before = commit();
    await write('.gitattributes', '* linguist-generated\n');
    git('mv', 'src/old.ts', 'src/new.ts');
    await write('dist/a.js', 'made\n');
    await write('vendor/a.js', 'theirs\n');
    await write('src/nul.ts', 'an evil line with a single NUL\0\n\x01\x1b\n');
    await write('src/latin.ts', Buffer.from('caf\xe9\n', 'latin1'));
    await write('a.png', Buffer.from([1, 2, 0, 1, 2, 0]));
    await write('text.png', 'a text\n');
    const after = commit();
    const { status, change, unknown, diffs } = await place(await pushOf(before, after));
    expect([status, unknown, change?.incomplete, warnings]).toEqual(['complete', '', null, []]);
    expect(change?.files.map(({ path: name, kind, isBinary }) => [name, kind, isBinary])).toEqual([
      ['.gitattributes', 'text', false],
      ['a.png', 'unit', true],
      ['dist/a.js', 'text', false],
      ['src/latin.ts', 'text', false],
      ['src/new.ts', 'unit', false],
      ['src/nul.ts', 'text', false],
      ['text.png', 'text', false],
      ['vendor/a.js', 'text', false],
    ]);
    expect(context.get('changed-files.txt')).toContain('R100\tsrc/old.ts\tsrc/new.ts\n');
    expect(context.get('diff.patch')).toContain('+an evil line with a single NUL\u2400\n+\\x01\\x1b\n');
    expect(diffs).toEqual(new Map([['/tmp/context/diff.patch', context.get('diff.patch')]]));
    expect(change?.marked).toEqual(
      new Map([
        ['dist/a.js', 'generated'],
        ['vendor/a.js', 'vendored'],
      ]),
    );
  });

  it('is empty when the branch was moved back to an earlier commit', async () => {
    const first = git('rev-parse', 'HEAD');
    await write('a.js', 'new\n');
    const second = commit();
    git('reset', '-q', '--hard', first);
    const { status, change } = await place(await pushOf(second, first));
    expect([status, change?.files, change?.incomplete]).toEqual(['complete', [], null]);
  });

  it('is missing when the base is gone, or a shallow clone does not have it', async () => {
    const after = git('rev-parse', 'HEAD');
    const gone = await place(await pushOf('f'.repeat(40), after));
    expect([gone.status, gone.change]).toEqual(['missing', null]);
    expect(gone.unknown).toContain('after a force push');
    const before = after;
    await write('a.js', 'new\n');
    const head = commit();
    const origin = path.join(world.base, 'origin');
    gitIn(world.base, 'clone', '-q', '--bare', world.workspace, origin);
    await rm(world.workspace, { recursive: true });
    gitIn(world.base, 'clone', '-q', '--depth', '1', `file://${origin}`, world.workspace);
    const shallow = await place(await pushOf(before, head));
    expect([shallow.status, shallow.change]).toEqual(['missing', null]);
    expect(shallow.unknown).toContain('fetch-depth: 0');
    expect(warnings.at(-1)).toMatch(
      /^The push to "refs\/heads\/main": The diff is missing: .*fetch-depth: 0/u,
    );
    git('fetch', '-q', '--unshallow');
    expect((await place(await pushOf(before, head))).status).toBe('complete');
  });

  it('is incomplete when its diff is too long', async () => {
    const before = git('rev-parse', 'HEAD');
    await write('a.txt', 'a\n');
    await write('b.txt', `${'x'.repeat(99)}\n`.repeat(41_000));
    const { status, change } = await place(await pushOf(before, commit()));
    expect(status).toBe('truncated');
    expect(change?.incomplete).toContain('more than 3000 files or 4 MB');
    expect(change?.files.map(({ path: name, kind }) => [name, kind])).toEqual([
      ['a.txt', 'text'],
      ['b.txt', 'unknown'],
    ]);
  });
});

describe('the change since a base', () => {
  it('has what is uncommitted, and the attributes of the base', async () => {
    await write('.gitattributes', 'dist/** linguist-generated\n');
    commit();
    git('checkout', '-qb', 'topic');
    await write('dist/a.js', 'new\n');
    commit();
    await write('README.md', 'edited\n');
    await write('.gitattributes', '* linguist-generated\n');
    const found = await since('main');
    expect(found?.subject.about).toContain('since the merge base with "main"');
    const { status, change } = await place(found);
    expect(status).toBe('complete');
    expect(change?.files.map(({ path: name }) => name)).toEqual(['.gitattributes', 'README.md', 'dist/a.js']);
    expect(change?.marked).toEqual(new Map([['dist/a.js', 'generated']]));
  });

  it('ends the run for a ref that git does not know, and for one of another history', async () => {
    const error = await place(await since('nowhere')).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: 'InputError', input: 'base' });
    expect(String(error)).toContain('"nowhere" is not a branch');
    git('checkout', '-q', '--orphan', 'other');
    git('commit', '-qm', 'unrelated');
    await expect(place(await since('main'))).rejects.toThrow('no commit in common');
  });
});

describe('the change that GitHub lists', () => {
  const row = (name: string, more: Partial<ChangedFile> = {}): ChangedFile => ({
    ...{ path: name, previous: '', status: 'modified', additions: 1, deletions: 0, blob: '' },
    patch: '@@ -0,0 +1 @@\n+new',
    ...more,
  });
  const listing = (files: readonly ChangedFile[], more: Partial<LoadedContext> = {}): ChangeContext => ({
    subject: { about: 'pull request #7', contents: '', author: '' },
    load: async () => ({
      ...{ pull: null, range: { base: 'f'.repeat(40), head: '' }, prefersGit: false, notes: [] },
      listed: { files, more: null },
      readBaseAttributes: async () => 'dist/** linguist-generated\n',
      ...more,
    }),
  });

  it('is marked by the attributes that GitHub gives, if the base is not in the checkout', async () => {
    const context = listing([
      row('dist/a.js'),
      row('src/a.js', { status: 'renamed', previous: 'dist/b.js' }),
    ]);
    const { change } = await place(context);
    expect(change?.files.map(({ kind }) => kind)).toEqual(['text', 'text']);
    expect([...(change?.marked.keys() ?? [])]).toEqual(['dist/a.js', 'dist/b.js']);
    const unmarked = await place(listing([row('dist/a.js')], { readBaseAttributes: async () => null }));
    expect(unmarked.change?.marked.size).toBe(0);
    const inCheckout = await place(
      listing([row('dist/a.js')], { range: { base: git('rev-parse', 'HEAD'), head: '' } }),
    );
    expect(inCheckout.change?.marked.size).toBe(0);
  });

  it('is incomplete when there are more files', async () => {
    const more = 'GitHub lists 1 files only.';
    const files = [row('a.js')];
    const cut = await place(listing(files, { listed: { files, more } }));
    expect([cut.status, cut.change?.incomplete]).toEqual(['truncated', more]);
  });

  it('has as its lines the whole file at the head, if it is the very file that GitHub lists', async () => {
    const image = Buffer.from(Array.from({ length: 300 }, (_, at) => (at * 7) % 256));
    const moved = {
      'moved.png': image,
      'edited.js': 'edited\n// with a NUL\0\n',
      'same.js': 'a line of code\n',
    };
    const files = {
      'logo.png': image,
      'other.png': image,
      'nul.js': 'code with a NUL\0\n',
      'empty.js': '',
      ...moved,
    };
    for (const [name, text] of Object.entries(files)) await write(name, text);
    const listed = (name: string, blob = git('hash-object', path.basename(name))) => {
      const status = name in moved ? 'renamed' : 'added';
      const previous = status === 'renamed' ? 'old' : '';
      return row(name, { ...{ patch: null, additions: 0, status, blob, previous } });
    };
    const other = 'f'.repeat(40);
    const gone = row('gone.png', { patch: null, additions: 0, status: 'removed', blob: other });
    const names = Object.keys(files).filter((name) => name !== 'other.png');
    const rows = [
      ...names.map((name) => listed(name)),
      listed('other.png', other),
      listed('../logo.png'),
      gone,
    ];
    const { change } = await place(listing(rows));
    expect(change?.files.map(({ path: name, kind, isBinary }) => [name, isBinary ? 'binary' : kind])).toEqual(
      [
        ['logo.png', 'binary'],
        ['nul.js', 'text'],
        ['empty.js', 'unit'],
        ['moved.png', 'binary'],
        ['edited.js', 'text'],
        ['same.js', 'unit'],
        ['other.png', 'unknown'],
        ['../logo.png', 'unknown'],
        ['gone.png', 'unit'],
      ],
    );
    expect(change?.files[4]?.hunks[0]?.lines).toEqual(['+edited', '+// with a NUL\0']);
    expect(change?.files[1]?.hunks[0]?.lines).toEqual(['+code with a NUL\0']);
    const hidden = await place(listing([row('.gitattributes'), listed('same.js')]));
    expect(hidden.change?.files[1]?.kind).toBe('text');
  });

  it('gives way to what git finds in the checkout, unless it is whole', async () => {
    const base = git('rev-parse', 'HEAD');
    await write('b.js', 'new\n');
    const head = commit();
    const range = { base, head };
    const { status, change } = await place(listing([row('a.js', { patch: null })], { range }));
    expect([status, change?.files.map(({ path: name }) => name)]).toEqual(['complete', ['b.js']]);
    expect(context.get('changed-files.txt')).toBe('A\tb.js\n');
    const whole = await place(listing([row('a.js')], { range }));
    expect(whole.change?.files.map(({ path: name }) => name)).toEqual(['a.js']);
    const elsewhere = await place(
      listing([row('a.js')], { prefersGit: true, range: { base: 'f'.repeat(40), head } }),
    );
    expect(elsewhere.change?.files.map(({ path: name }) => name)).toEqual(['a.js']);
  });

  it('is kept where git can give a part only', async () => {
    const base = git('rev-parse', 'HEAD');
    await write('b.js', `${'x'.repeat(99)}\n`.repeat(41_000));
    const range = { base, head: commit() };
    const { status, change } = await place(listing([row('a.js', { patch: null })], { range }));
    expect([status, change?.files.map(({ path: name }) => name)]).toEqual(['truncated', ['a.js']]);
    expect(context.get('changed-files.txt')).toContain('a.js');
  });

  it('is unknown, with the reason, when GitHub lists nothing', async () => {
    const context = listing([], { listed: null, notes: ['Nobody answered.'] });
    expect(await place(context)).toMatchObject({
      status: 'missing',
      change: null,
      unknown: 'Nobody answered.',
    });
    expect(warnings).toEqual(['Pull request #7: Nobody answered.']);
  });
});

it('each entry says what to do if there is no change', () => {
  const quiet = quietWorld(world.base, world.temp);
  expect(explainNoChange(null, quiet)).toContain('The event names no change');
  expect(explainNoChange(null, { entry: 'command-line' })).toContain('Give it one with base');
  expect(explainNoChange('unknown', quiet)).toContain('could not be determined');
});
