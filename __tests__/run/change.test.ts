/** The change that a run is about: what git makes of a checkout, what GitHub lists, and what it gives in part or not at all. */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Change, parseDiff } from '../../src/evidence/change.ts';
import type { ChangeContext, LoadedContext } from '../../src/github/context.ts';
import { findChangeContext } from '../../src/github/find-context.ts';
import { type ContextSandbox, inlineDiff, placeContext } from '../../src/run/place-change.ts';
import { findContext } from '../../src/run/prepare.ts';
import type { ChangedFile } from '../../src/types.ts';
import { changeOf, diffOf } from '../evidence/files.ts';
import { never } from '../git/world.ts';
import { eventOf, openHub, pullAs } from '../github/world.ts';
import { gitIn } from '../sandbox/world.ts';
import { putFiles } from '../support/local.ts';
import { scriptsIn } from '../support/scripts.ts';
import { skipWaits } from '../support/waits.ts';
import {
  coverageOf,
  filesWith,
  listedFile,
  onPullRequest,
  readFile,
  submit,
} from '../support/worlds/change.ts';
import { commitChange } from '../support/worlds/pull-request.ts';
import { quietWorld } from '../support/worlds/quiet.ts';
import { base, command, converse } from '../support/worlds/run.ts';

let [warnings, context] = [[] as string[], new Map<string, string>()];
beforeEach(() => {
  [warnings, context] = [[], new Map()];
});
const workspace = () => path.join(base, 'workspace');
const git = (...args: readonly string[]) => gitIn(workspace(), ...args);

/** Places a change in a sandbox that reads files of the workspace, and runs scripts in a folder without isolation. */
async function place(change: ChangeContext | 'unknown' | null, folder = workspace()) {
  const root = workspace();
  const sandbox: ContextSandbox = {
    ...{ workingDirectory: folder, contextFolder: '/tmp/context' },
    ...{ shellOffered: true, ready: async () => undefined },
    read: async (name, maxBytes) => {
      if (!name.startsWith(`${root}/`)) throw new Error('denied');
      const bytes = readFileSync(name);
      return { kind: 'file', bytes: bytes.subarray(0, maxBytes), truncated: bytes.length > maxBytes };
    },
    addContext: async (name, bytes) => void context.set(name, String(bytes)),
    runScript: scriptsIn(folder, path.join(base, 'temp')),
  };
  if (change === null || change === 'unknown') throw new Error('no context');
  const placed = await placeContext(change, sandbox, never, (text) => warnings.push(text), root);
  const { files, why, status, marked } = placed.change;
  const found = files.map(({ path: name, kind }) => `${name} ${kind}`);
  return {
    ...{ diff: placed.diff, files, why, marked: Object.fromEntries(marked) },
    text: `${placed.context}, ${status}: ${found.join(', ')}`,
  };
}
const since = (ref: string) => findContext({ base: ref }, quietWorld(base, base));
const pushOf = (before: string, after: string) => {
  const { hub } = openHub(eventOf('push', { ref: 'refs/heads/main', before, after }), null);
  return findChangeContext(hub, (text) => warnings.push(text));
};
const LARGE = { 'b.txt': `${'x'.repeat(99)}\n`.repeat(41_000) };

describe('the change that git makes', () => {
  it('has each file, of a push or since a base, marked by the attributes of the base only', async () => {
    const old = 'one\ntwo\nthree\nfour\n';
    const { before, after } = commitChange(
      workspace(),
      { '.gitattributes': 'dist/** linguist-generated\n', 'src/old.ts': old },
      {
        ...{ '.gitattributes': '* linguist-generated\n', 'dist/a.js': 'made\n' },
        ...{ 'src/old.ts': null, 'src/new.ts': old, 'src/latin.ts': Buffer.from('caf\xe9\n', 'latin1') },
        'src/nul.ts': 'an evil line with a single NUL\0\n\x01\x1b\n',
      },
    );
    const text = (renamed: string) =>
      `complete, measured: .gitattributes text, dist/a.js text, src/latin.ts text, src/new.ts ${renamed}, src/nul.ts text`;
    const marked = { 'dist/a.js': 'generated' };
    // Wherever the agent starts.
    const pushed = await place(await pushOf(before, after), base);
    expect([pushed.text, pushed.why, pushed.marked, warnings]).toEqual([text('unit'), null, marked, []]);
    expect(context.get('changed-files.txt')).toContain('R100\tsrc/old.ts\tsrc/new.ts\n');
    expect(context.get('diff.patch')).toContain('+an evil line with a single NUL\u2400\n+\\x01\\x1b\n');
    expect(pushed.diff).toEqual({ path: '/tmp/context/diff.patch', text: context.get('diff.patch') });
    // What is uncommitted belongs to the change since a base.
    putFiles(workspace(), { 'src/new.ts': `${old}five\n`, '.gitattributes': '* linguist-vendored\n' });
    const found = await since('main');
    expect(Object(found).subject.about).toContain('since the merge base with "main"');
    const local = await place(found);
    expect([local.text, local.marked]).toEqual([text('text'), marked]);
  });

  const many = Object.fromEntries(Array.from({ length: 3_001 }, (_, at) => [`f${at}`, '']));
  const tooLarge = 'more than 3000 files or 4 MB';
  it.each<[string, Readonly<Record<string, string>>, string | null, string, string]>([
    ['without its base', {}, 'f'.repeat(40), 'missing, partial: ', 'fetch-depth: 0'],
    ['of 4 MB', LARGE, null, 'truncated, partial: a.txt text, b.txt unknown', tooLarge],
    ['of 3,001 files', many, null, 'complete, partial: a.txt text, f0 unit', tooLarge],
  ])('is known in part: a push %s', async (_, files, from, text, why) => {
    const { before, after } = commitChange(workspace(), {}, { 'a.txt': 'a\n', ...files });
    const placed = await place(await pushOf(from ?? before, after));
    expect(placed.text.slice(0, text.length)).toBe(text);
    expect(placed.why).toContain(why);
    expect(warnings).toEqual(from === null ? [] : [`The push to "refs/heads/main": ${placed.why}`]);
  });

  it('ends the run for a ref that git does not know, and for one of another history', async () => {
    commitChange(workspace(), {}, {});
    const message = expect.stringContaining('"nowhere" is not a branch');
    const error = { name: 'InputError', input: 'base', message };
    await expect(place(await since('nowhere'))).rejects.toMatchObject(error);
    git('checkout', '-q', '--orphan', 'other');
    git('commit', '-q', '--allow-empty', '-m', 'unrelated');
    await expect(place(await since('main'))).rejects.toThrow('no commit in common');
  });
});

const bare = { patch: null, additions: 0, deletions: 0 };
const other = 'f'.repeat(40);
const blobOf = (text: string | Buffer) =>
  createHash('sha1').update(`blob ${text.length}\0`).update(text).digest('hex');

describe('the change that GitHub lists', () => {
  const row = (name: string, more: Partial<ChangedFile> = {}) => listedFile(0, { path: name, ...more });
  const listing = (files: readonly ChangedFile[], more: Partial<LoadedContext> = {}): ChangeContext => ({
    subject: { about: 'pull request #7', contents: '', author: '' },
    load: async () => ({
      ...{ pull: null, range: { base: other, head: '' }, prefersGit: false, notes: [] },
      listed: { files, more: null },
      readBaseAttributes: async () => 'dist/** linguist-generated\n',
      ...more,
    }),
  });
  const textOf = async (...given: Parameters<typeof listing>) => (await place(listing(...given))).text;

  it('is marked by the attributes that GitHub gives, if the base is not in the checkout', async () => {
    const { before } = commitChange(workspace(), {}, {});
    const renamed = row('src/a.js', { status: 'renamed', previous: 'dist/b.js' });
    const marked = await place(listing([row('dist/a.js'), renamed]));
    expect(marked.marked).toEqual({ 'dist/a.js': 'generated', 'dist/b.js': 'generated' });
    const without = { readBaseAttributes: async () => null };
    for (const more of [without, { range: { base: before, head: '' } }])
      expect((await place(listing([row('dist/a.js')], more))).marked).toEqual({});
  });

  it('has as its lines the whole file at the head, if it is the very file that GitHub lists', async () => {
    const image = Buffer.from(Array.from({ length: 300 }, (_, at) => (at * 7) % 256));
    const files: [name: string, text: string | Buffer, status: string, kind: string, blob?: string][] = [
      ['logo.png', image, 'added', 'binary'],
      ['text.png', 'a text\n', 'added', 'text'],
      ['nul.js', 'with a NUL\0\n', 'added', 'text'],
      ['empty.js', '', 'added', 'unit'],
      ['moved.png', image, 'renamed', 'binary'],
      ['edited.js', 'edited\n// with a NUL\0\n', 'renamed', 'text'],
      ['same.js', 'a line of code\n', 'renamed', 'unit'],
      ['other.png', image, 'modified', 'unknown', other],
      ['../logo.png', image, 'added', 'unknown'],
      ['gone.png', image, 'removed', 'unit', other],
    ];
    commitChange(workspace(), {}, Object.fromEntries(files));
    const rows = files.map(([name, text, status, , blob = blobOf(text)]) =>
      row(name, { ...bare, previous: status === 'renamed' ? 'old' : '', status, blob }),
    );
    const placed = await place(listing(rows));
    const kinds = files.map(([name, , , kind]) => `${name} ${kind}`);
    expect(placed.text).toBe(`truncated, measured: ${kinds.join(', ')}`);
    const lines = placed.files[5]?.hunks.flat().map(({ number, text }) => `${number} ${text}`);
    expect(lines).toEqual(['1 edited', '2 // with a NUL\0']);
    // With `*.js -diff`, GitHub counts no lines of a file that was edited as well.
    const hidden = await textOf([row('x/.gitattributes'), ...rows.slice(6, 7)]);
    expect(hidden).toBe('truncated, measured: x/.gitattributes text, same.js text');
  });

  it('gives way to what git finds in the checkout, unless it is whole, or git can give a part only', async () => {
    const part = row('a.js', { patch: null });
    const { before, after } = commitChange(workspace(), {}, { 'b.js': 'new\n' });
    const range = { base: before, head: after };
    expect(await textOf([part], { range })).toBe('complete, measured: b.js text');
    expect(context.get('changed-files.txt')).toBe('A\tb.js\n');
    expect(await textOf([row('a.js')], { range })).toBe('complete, measured: a.js text');
    expect(await textOf([row('a.js')], { range, prefersGit: true })).toBe('complete, measured: b.js text');
    const absent = { prefersGit: true, range: { base: other, head: after } };
    expect(await textOf([row('a.js')], absent)).toBe('complete, measured: a.js text');
    putFiles(workspace(), LARGE);
    git('add', '-A');
    git('commit', '-qm', 'large');
    const large = { base: before, head: git('rev-parse', 'HEAD') };
    expect(await textOf([part], { range: large })).toBe('truncated, measured: a.js unknown');
    expect(context.get('changed-files.txt')).toContain('a.js');
  });
});

describe('a run on a change', () => {
  beforeEach(() => void skipWaits());
  afterEach(() => void vi.unstubAllGlobals());
  const PULL = '/repos/o/r/pulls/7';
  /** The context of a pull request whose files GitHub refuses to list. */
  const refused = (status: number) => ({
    findContext: () => {
      const event = eventOf('pull_request', { pull_request: pullAs(7) });
      const { hub } = openHub(event, { [`${PULL}/files`]: status, [PULL]: pullAs(7) });
      return findChangeContext(hub, () => undefined);
    },
  });
  const lost = { findContext: async () => 'unknown' as const };
  const none = { findContext: async () => null };
  const local = { ...none, entry: 'command-line' as const };
  const NUL = 'one();\nnul("\0");\n';
  const withNul = onPullRequest([listedFile(0, { ...bare, path: 'a.ts', blob: blobOf(NUL) })]);
  const run = command('true');
  const head = readFile('a.ts', { limit: 1 });
  const [partial, unknown] = ['partial, 0 of 0', 'unknown, 0 of 0'];
  const [code, security] = ['code-review', 'security-review'] as const;

  it.each([
    ['GitHub answers 403', refused(403), run, code, 'unsupported', partial, 'pull-requests: read'],
    ['GitHub answers 422', refused(422), run, security, 'unsupported', partial, 'answered 422'],
    ['GitHub answers 500', refused(500), run, code, 'unsupported', partial, 'answered 500'],
    ['that is not found', lost, run, code, 'unsupported', partial, 'pull-requests: read'],
    ['that is not required', refused(500), run, 'verdict', 'accepted', partial, 'answered 500'],
    ['that an event lacks', none, run, code, 'accepted', unknown, 'The event names no change'],
    ['that a command line lacks', local, run, 'verdict', 'accepted', unknown, 'Give it one with base'],
    ['with a NUL, read in part', withNul, head, code, 'unsupported', 'measured, 0 of 1', null],
  ] as const)('that GitHub does not give: %s', async (...row) => {
    const [, world, read, schema, reason, coverage, why] = row;
    commitChange(workspace(), {}, { 'a.ts': NUL });
    const judged = await converse([read, submit(schema)], { schema, 'min-coverage': 'auto' }, world);
    expect([judged.report.verdict.reason, coverageOf(judged)]).toEqual([reason, `${coverage} files`]);
    expect(judged.report.evidence?.coverage?.why ?? null).toEqual(why && expect.stringContaining(why));
  });

  it.each<[folder: string, file: string]>([
    ['.', 'sub/src/file000.ts'],
    ['sub', 'src/file000.ts'],
    ['sub/src', 'file000.ts'],
    ['link', 'file000.ts'],
    ['sub/docs', ''],
  ])('of a checkout below the workspace, judged in %s', async (folder, file) => {
    const count = file === '' ? 0 : 1;
    mkdirSync(path.join(workspace(), 'sub/docs'), { recursive: true });
    symlinkSync('sub/src', path.join(workspace(), 'link'));
    commitChange(path.join(workspace(), 'sub'), filesWith('old', 1), filesWith('new', 1));
    const inputs = { schema: 'code-review', 'min-coverage': 'auto', 'working-directory': folder };
    for (const world of [onPullRequest([listedFile(0)]), { since: 'main' }]) {
      // A provider that says how much of the first message it was given: next to nothing.
      const read = { ...readFile(file || '.'), usage: { inputTokens: 1, outputTokens: 1 } };
      const judged = await converse([read, submit('code-review')], inputs, world);
      expect(judged.report.verdict.reason).toBe('accepted');
      expect(coverageOf(judged)).toBe(`measured, ${count} of ${count} files`);
      const isInlined = judged.asked[0]?.messages.at(-1)?.text.includes('<diff sha256=');
      expect(isInlined).toBe(count === 1);
    }
  });
});

describe('the first message', () => {
  const added = (name: string, line = 'one') => diffOf(name, `+${line}`);
  const moved =
    'diff --git a/src/old.ts b/src/b.ts\nsimilarity index 100%\nrename from src/old.ts\nrename to src/b.ts\n';
  const inline = (diff: string, over: Partial<Change> = {}) =>
    inlineDiff({ ...changeOf(...parseDiff(diff)), ...over }, diff, 'src');

  it('has what has to be seen, between marks that nothing in it can hold', () => {
    const a = added('src/a.ts', 'diff --git a/src/go.sum b/src/go.sum');
    const text = `changed\tsrc/a.ts\nchanged\tsrc/b.ts\n\n${a}${moved}`;
    const hash = createHash('sha256').update(text).digest('hex');
    const diff = [added('docs/a.md'), a, added('src/go.sum'), moved, added('src/made.ts')].join('');
    const marked = new Map([['src/made.ts', 'generated' as const]]);
    expect(inline(diff, { marked })).toBe(`<diff sha256="${hash}">\n${text}</diff sha256="${hash}">`);
  });

  it.each<[string, string, Partial<Change>?]>([
    ['is not known as a whole', added('src/a.ts'), { status: 'partial' }],
    ['has a file without its lines', added('src/a.ts') + added('src/b.ts').replace('+1,1 @@', '+1,2 @@')],
    ['has nothing that has to be seen', added('docs/a.md')],
    ['is long', added('src/a.ts', 'x'.repeat(60_000))],
  ])('has no diff of a change that %s', (_, diff, over) => {
    expect(inline(diff, over)).toBeNull();
  });
});
