/** The change as it is placed: from what git makes of a checkout, and from what GitHub lists. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Change, parseDiff } from '../../src/evidence/change.ts';
import type { ChangeContext, LoadedContext } from '../../src/github/context.ts';
import { findChangeContext } from '../../src/github/find-context.ts';
import { createHub } from '../../src/github/pull-request.ts';
import { findContext } from '../../src/run/change.ts';
import { type ContextSandbox, inlineDiff, placeContext } from '../../src/run/place-change.ts';
import type { ChangedFile } from '../../src/types.ts';
import { createWorld, gitIn, type World } from '../sandbox/world.ts';
import { putFiles } from '../support/local.ts';
import { scriptsIn } from '../support/scripts.ts';
import { quietWorld } from '../support/worlds/quiet.ts';

let world: World;
let warnings: string[] = [];
let context = new Map<string, string>();
beforeEach(async () => {
  [warnings, context] = [[], new Map()];
  world = await createWorld();
});
afterEach(() => world.close());

const git = (...args: readonly string[]) => gitIn(world.workspace, ...args);
const write = (files: Readonly<Record<string, string | Buffer>>) => putFiles(world.workspace, files);
function commit(files: Readonly<Record<string, string | Buffer>> = {}): string {
  write(files);
  git('add', '-A');
  git('commit', '-q', '--allow-empty', '-m', 'more');
  return git('rev-parse', 'HEAD');
}

/** Places a change in a sandbox that reads files of the workspace, and runs scripts in a folder without isolation. */
async function place(change: ChangeContext | 'unknown' | null, folder = world.workspace) {
  const { temp, workspace } = world;
  const sandbox: ContextSandbox = {
    ...{ workingDirectory: folder, contextFolder: '/tmp/context' },
    ...{ shellOffered: true, ready: async () => undefined },
    read: async (name, maxBytes) => {
      if (!name.startsWith(`${workspace}/`)) throw new Error('denied');
      const bytes = readFileSync(name);
      return { kind: 'file', bytes: bytes.subarray(0, maxBytes), truncated: bytes.length > maxBytes };
    },
    addContext: async (name, bytes) => void context.set(name, String(bytes)),
    runScript: scriptsIn(folder, temp),
  };
  if (change === null || change === 'unknown') throw new Error('no context');
  const { signal } = new AbortController();
  const placed = await placeContext(change, sandbox, signal, (text) => warnings.push(text), workspace);
  const { files, why, status, marked } = placed.change;
  const found = files.map(({ path: name, kind }) => `${name} ${kind}`);
  return {
    ...{ diff: placed.diff, files, why, marked: Object.fromEntries(marked) },
    text: `${placed.context}, ${status}: ${found.join(', ')}`,
  };
}
const since = (base: string) => findContext({ base }, quietWorld(world.base, world.temp));
const pushOf = (before: string, after: string) => {
  const payload = { ref: 'refs/heads/main', before, after };
  const event = { repository: 'o/r', name: 'push', sha: after, ref: '', payload };
  return findChangeContext(createHub(event, null, null), (text) => warnings.push(text));
};

describe('the change of a push', () => {
  it('is read from what git writes, and marked by the attributes of its base only', async () => {
    const attributes = 'dist/** linguist-generated\nvendor/** linguist-vendored\n';
    const before = commit({ '.gitattributes': attributes, 'src/old.ts': 'one\ntwo\nthree\nfour\n' });
    git('mv', 'src/old.ts', 'src/new.ts');
    const after = commit({
      '.gitattributes': '* linguist-generated\n',
      'dist/a.js': 'made\n',
      'vendor/a.js': 'theirs\n',
      'src/nul.ts': 'an evil line with a single NUL\0\n\x01\x1b\n',
      'src/latin.ts': Buffer.from('caf\xe9\n', 'latin1'),
      'a.png': Buffer.from([1, 2, 0, 1, 2, 0]),
      'text.png': 'a text\n',
    });
    // Wherever the agent starts.
    const placed = await place(await pushOf(before, after), world.base);
    expect(placed.text).toBe(
      'complete, measured: .gitattributes text, a.png binary, dist/a.js text, src/latin.ts text, ' +
        'src/new.ts unit, src/nul.ts text, text.png text, vendor/a.js text',
    );
    expect([placed.why, warnings]).toEqual([null, []]);
    expect(context.get('changed-files.txt')).toContain('R100\tsrc/old.ts\tsrc/new.ts\n');
    expect(context.get('diff.patch')).toContain('+an evil line with a single NUL\u2400\n+\\x01\\x1b\n');
    expect(placed.diff).toEqual({ path: '/tmp/context/diff.patch', text: context.get('diff.patch') });
    expect(placed.marked).toEqual({ 'dist/a.js': 'generated', 'vendor/a.js': 'vendored' });
  });

  it('is empty when the branch was moved back to an earlier commit', async () => {
    const first = git('rev-parse', 'HEAD');
    const second = commit({ 'a.js': 'new\n' });
    git('reset', '-q', '--hard', first);
    expect((await place(await pushOf(second, first))).text).toBe('complete, measured: ');
  });

  it('is missing when the base is gone, or a shallow clone does not have it', async () => {
    const before = git('rev-parse', 'HEAD');
    const gone = await place(await pushOf('f'.repeat(40), before));
    expect(gone.text).toBe('missing, partial: ');
    expect(gone.why).toContain('after a force push');
    const head = commit({ 'a.js': 'new\n' });
    const origin = path.join(world.base, 'origin');
    gitIn(world.base, 'clone', '-q', '--bare', world.workspace, origin);
    await rm(world.workspace, { recursive: true });
    gitIn(world.base, 'clone', '-q', '--depth', '1', `file://${origin}`, world.workspace);
    const shallow = await place(await pushOf(before, head));
    expect(shallow.text).toBe('missing, partial: ');
    expect(warnings.at(-1)).toBe(`The push to "refs/heads/main": ${shallow.why}`);
    expect(shallow.why).toContain('fetch-depth: 0');
    git('fetch', '-q', '--unshallow');
    expect((await place(await pushOf(before, head))).text).toBe('complete, measured: a.js text');
  });

  it.each<[string, Readonly<Record<string, string>>, string]>([
    [
      'more than 4 MB',
      { 'a.txt': 'a\n', 'b.txt': `${'x'.repeat(99)}\n`.repeat(41_000) },
      'truncated, partial: a.txt text, b.txt unknown',
    ],
    [
      '3,001 files',
      Object.fromEntries(Array.from({ length: 3_001 }, (_, at) => [`f${at}`, ''])),
      'complete, partial: f0 unit',
    ],
  ])('is incomplete with %s', async (_, files, text) => {
    const before = git('rev-parse', 'HEAD');
    const placed = await place(await pushOf(before, commit(files)));
    expect(placed.text.slice(0, text.length)).toBe(text);
    expect(placed.why).toContain('more than 3000 files or 4 MB');
  });
});

describe('the change since a base', () => {
  it('has what is uncommitted, and the attributes of the base', async () => {
    commit({ '.gitattributes': 'dist/** linguist-generated\n' });
    git('checkout', '-qb', 'topic');
    commit({ 'dist/a.js': 'new\n' });
    write({ 'README.md': 'edited\n', '.gitattributes': '* linguist-generated\n' });
    const found = await since('main');
    expect(Object(found).subject.about).toContain('since the merge base with "main"');
    const placed = await place(found);
    expect(placed.text).toBe('complete, measured: .gitattributes text, README.md text, dist/a.js text');
    expect(placed.marked).toEqual({ 'dist/a.js': 'generated' });
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
  const other = 'f'.repeat(40);
  const listing = (files: readonly ChangedFile[], more: Partial<LoadedContext> = {}): ChangeContext => ({
    subject: { about: 'pull request #7', contents: '', author: '' },
    load: async () => ({
      ...{ pull: null, range: { base: other, head: '' }, prefersGit: false, notes: [] },
      listed: { files, more: null },
      readBaseAttributes: async () => 'dist/** linguist-generated\n',
      ...more,
    }),
  });

  it('is marked by the attributes that GitHub gives, if the base is not in the checkout', async () => {
    const renamed = row('src/a.js', { status: 'renamed', previous: 'dist/b.js' });
    const marked = await place(listing([row('dist/a.js'), renamed]));
    expect(marked.marked).toEqual({ 'dist/a.js': 'generated', 'dist/b.js': 'generated' });
    const without = { readBaseAttributes: async () => null };
    const present = { range: { base: git('rev-parse', 'HEAD'), head: '' } };
    for (const more of [without, present])
      expect((await place(listing([row('dist/a.js')], more))).marked).toEqual({});
  });

  it('has as its lines the whole file at the head, if it is the very file that GitHub lists', async () => {
    const image = Buffer.from(Array.from({ length: 300 }, (_, at) => (at * 7) % 256));
    const added = { 'logo.png': image, 'nul.js': 'code with a NUL\0\n', 'empty.js': '' };
    const edited = { 'edited.js': 'edited\n// with a NUL\0\n' };
    const moved = { 'moved.png': image, ...edited, 'same.js': 'a line of code\n' };
    write({ ...added, ...moved, 'other.png': image });
    const bare = (name: string, status: string, blob = git('hash-object', name)) =>
      row(name, { patch: null, additions: 0, previous: status === 'renamed' ? 'old' : '', status, blob });
    const rows = [
      ...Object.keys(added).map((name) => bare(name, 'added')),
      ...Object.keys(moved).map((name) => bare(name, 'renamed')),
      bare('other.png', 'modified', other),
      bare('../logo.png', 'added', git('hash-object', 'logo.png')),
      bare('gone.png', 'removed', other),
    ];
    const placed = await place(listing(rows));
    expect(placed.text).toBe(
      'truncated, measured: logo.png binary, nul.js text, empty.js unit, moved.png binary, edited.js text, ' +
        'same.js unit, other.png unknown, ../logo.png unknown, gone.png unit',
    );
    const lines = placed.files[4]?.hunks.flat().map(({ number, text }) => `${number} ${text}`);
    expect(lines).toEqual(['1 edited', '2 // with a NUL\0']);
    const hidden = await place(listing([row('.gitattributes'), ...rows.slice(5, 6)]));
    expect(hidden.text).toBe('truncated, measured: .gitattributes text, same.js text');
  });

  it('gives way to what git finds in the checkout, unless it is whole, or git can give a part only', async () => {
    const base = git('rev-parse', 'HEAD');
    const part = row('a.js', { patch: null });
    const range = { base, head: commit({ 'b.js': 'new\n' }) };
    const textOf = async (...given: Parameters<typeof listing>) => (await place(listing(...given))).text;
    expect(await textOf([part], { range })).toBe('complete, measured: b.js text');
    expect(context.get('changed-files.txt')).toBe('A\tb.js\n');
    expect(await textOf([row('a.js')], { range })).toBe('complete, measured: a.js text');
    expect(await textOf([row('a.js')], { range, prefersGit: true })).toBe('complete, measured: b.js text');
    const absent = { prefersGit: true, range: { base: other, head: range.head } };
    expect(await textOf([row('a.js')], absent)).toBe('complete, measured: a.js text');
    const large = { base, head: commit({ 'b.js': `${'x'.repeat(99)}\n`.repeat(41_000) }) };
    expect(await textOf([part], { range: large })).toBe('truncated, measured: a.js unknown');
    expect(context.get('changed-files.txt')).toContain('a.js');
  });

  it('is incomplete when there are more files, and unknown, with the reason, when there is no list', async () => {
    const more = 'GitHub lists 1 files only.';
    const cut = await place(listing([], { listed: { files: [row('a.js')], more } }));
    expect([cut.text, cut.why]).toEqual(['truncated, partial: a.js text', more]);
    const missing = await place(listing([], { listed: null, notes: ['Nobody answered.'] }));
    expect([missing.text, missing.why]).toEqual(['missing, partial: ', 'Nobody answered.']);
    expect(warnings).toEqual(['Pull request #7: Nobody answered.']);
  });
});

const added = (path: string, line = 'one') => `diff --git a/${path} b/${path}
--- /dev/null
+++ b/${path}
@@ -0,0 +1 @@
+${line}
`;
const moved = `diff --git a/src/old.ts b/src/b.ts
similarity index 100%
rename from src/old.ts
rename to src/b.ts
`;
const inline = (diff: string, over: Partial<Change> = {}) =>
  inlineDiff(
    { files: parseDiff(diff), status: 'measured', why: null, marked: new Map(), ...over },
    diff,
    'src',
  );

it('the first message has what has to be seen, between marks that nothing in it can hold', () => {
  const a = added('src/a.ts', 'diff --git a/src/go.sum b/src/go.sum');
  const text = `changed\tsrc/a.ts\nchanged\tsrc/b.ts\n\n${a}${moved}`;
  const hash = createHash('sha256').update(text).digest('hex');
  const diff = [added('docs/a.md'), a, added('src/go.sum'), moved, added('src/made.ts')].join('');
  const marked = new Map([['src/made.ts', 'generated' as const]]);
  expect(inline(diff, { marked })).toBe(`<diff sha256="${hash}">\n${text}</diff sha256="${hash}">`);
});

it.each<[string, string, Partial<Change>?]>([
  ['is not known as a whole', added('src/a.ts'), { status: 'partial' }],
  ['has a file without its lines', `${added('src/a.ts')}${added('src/b.ts').replace('+1 @@', '+1,2 @@')}`],
  ['has nothing that has to be seen', added('docs/a.md')],
  ['is long', added('src/a.ts', 'x'.repeat(60_000))],
])('the first message has no diff of a change that %s', (_, diff, over) => {
  expect(inline(diff, over)).toBeNull();
});
