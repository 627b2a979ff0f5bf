/** The change that a run is about: what git makes of a checkout, what GitHub lists, and what it gives in part or not at all. */
import { createHash } from 'node:crypto';
import { readFileSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Change, parseDiff } from '../../src/evidence/change.ts';
import type { LoadedContext } from '../../src/github/context.ts';
import { findChangeContext } from '../../src/github/find-context.ts';
import { type ContextSandbox, inlineDiff, placeContext } from '../../src/run/place-change.ts';
import type { ChangedFile } from '../../src/types.ts';
import { changeOf, diffOf } from '../evidence/files.ts';
import { never } from '../git/world.ts';
import { eventOf, openHub, pullAs } from '../github/world.ts';
import { gitIn } from '../sandbox/world.ts';
import { putFiles } from '../support/local.ts';
import { scriptsIn } from '../support/scripts.ts';
import { skipWaits } from '../support/waits.ts';
import {
  contextOf,
  coverageOf,
  filesWith,
  listedFile,
  onPullRequest,
  readFile,
  submit,
} from '../support/worlds/change.ts';
import { commitChange } from '../support/worlds/pull-request.ts';
import { base, command, converse } from '../support/worlds/run.ts';

const OTHER = 'f'.repeat(40);
const workspace = () => path.join(base, 'workspace');

/** Places a change in a sandbox that reads any file, and runs scripts without isolation, in another folder. */
async function place(files: readonly ChangedFile[], more: Partial<LoadedContext> = {}) {
  const [warnings, context] = [[] as string[], new Map<string, string>()];
  const sandbox: ContextSandbox = {
    ...{ workingDirectory: base, contextFolder: '/tmp/context', shellOffered: true },
    ready: async () => undefined,
    read: async (name) => ({ kind: 'file', bytes: readFileSync(name), truncated: false }),
    addContext: async (name, bytes) => void context.set(name, String(bytes)),
    runScript: scriptsIn(base, path.join(base, 'temp')),
  };
  const warn = (text: string) => warnings.push(text);
  const placed = await placeContext(contextOf(files, more), sandbox, never, warn, workspace());
  const { change, diff } = placed;
  expect(context.get('diff.patch')).toBe(diff?.text);
  const list = context.get('changed-files.txt') ?? '';
  for (const file of change.files) expect(list).toContain(file.path);
  const kinds = change.files.map((file) => `${file.path} ${file.kind}`);
  const marks = Array.from(change.marked, (pair) => pair.join(' '));
  const found = [...kinds, ...marks, change.why, ...warnings].filter(Boolean);
  return { text: `${placed.context}, ${change.status}: ${found.join(', ')}`, list, diff: diff?.text };
}
const placeFromGit = (range: LoadedContext['range']) =>
  place([], { listed: null, notes: ['The reason.'], range });
const row = (name: string, more: Partial<ChangedFile> = {}) => listedFile(0, { path: name, ...more });
const part = row('dist/a.js', { patch: null });
const LARGE = { 'b.txt': `${'x'.repeat(99)}\n`.repeat(41_000) };

it('the change that git makes has each file, of a push or since a base, marked by the attributes of the base only', async () => {
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
    `complete, measured: .gitattributes text, dist/a.js text, src/latin.ts text, src/new.ts ${renamed}, src/nul.ts text, dist/a.js generated`;
  const pushed = await placeFromGit({ base: before, head: after });
  expect(pushed.text).toBe(text('unit'));
  expect(pushed.list).toContain('R100\tsrc/old.ts\tsrc/new.ts\n');
  expect(pushed.diff).toContain('+an evil line with a single NUL\u2400\n+\\x01\\x1b\n');
  // What is uncommitted belongs to the change since a base.
  putFiles(workspace(), { 'src/new.ts': `${old}five\n`, '.gitattributes': '* linguist-vendored\n' });
  expect((await placeFromGit({ ref: 'main' })).text).toBe(text('text'));
});

const many = Object.fromEntries(Array.from({ length: 3_001 }, (_, at) => [`f${at}`, '']));
it.each([
  ['4 MB', LARGE, null, /^truncated, partial: a.txt text, b.txt unknown, .* 3000 files or 4 MB/u],
  ['3,001 files', many, null, /^complete, partial: a.txt text, f0 unit, .* 3000 files or 4 MB/u],
  ['4 MB, and GitHub lists it', LARGE, part, /^truncated, measured: dist\/a.js unknown$/u],
])('the change that git makes is known in part if it has %s', async (_, files, listed, text) => {
  const { before, after } = commitChange(workspace(), {}, { 'a.txt': 'a\n', ...files });
  const range = { base: before, head: after };
  const placed = await (listed === null ? placeFromGit(range) : place([listed], { range }));
  expect(placed.text).toMatch(text);
});

it('the change that git makes ends the run if the ref is of another history', async () => {
  commitChange(workspace(), {}, {});
  gitIn(workspace(), 'checkout', '-q', '--orphan', 'other');
  gitIn(workspace(), 'commit', '-q', '--allow-empty', '-m', 'unrelated');
  await expect(placeFromGit({ ref: 'main' })).rejects.toThrow('no commit in common');
});

const bare = { patch: null, additions: 0, deletions: 0 };
const blobOf = (text: string | Buffer) =>
  createHash('sha1').update(`blob ${text.length}\0`).update(text).digest('hex');

it('the change that GitHub lists has as its lines the whole file at the head, if it is the very file that GitHub lists', async () => {
  const image = Buffer.from(Array.from({ length: 300 }, (_, at) => (at * 7) % 256));
  const files: [name: string, text: string | Buffer, status: string, kind: string, blob?: string][] = [
    ['logo.png', image, 'added', 'binary'],
    ['text.png', 'a text\n', 'added', 'text'],
    ['nul.js', 'with a NUL\0\n', 'added', 'text'],
    ['empty.js', '', 'added', 'unit'],
    ['moved.png', image, 'renamed', 'binary'],
    ['edited.js', 'edited\n// with a NUL\0\n', 'renamed', 'text'],
    ['same.js', 'a line of code\n', 'renamed', 'unit'],
    ['other.png', image, 'modified', 'unknown', OTHER],
    ['gone.png', image, 'removed', 'unit', OTHER],
  ];
  commitChange(workspace(), {}, Object.fromEntries(files));
  const rows = files.map(([name, text, status, , blob = blobOf(text)]) =>
    row(name, { ...bare, previous: status === 'renamed' ? 'old' : '', status, blob }),
  );
  const kinds = files.map(([name, , , kind]) => `${name} ${kind}`);
  const placed = await place(rows);
  expect(placed.text).toBe(`truncated, measured: ${kinds.join(', ')}`);
  // With `*.js -diff`, GitHub counts no lines of a file that was edited as well.
  const hidden = await place([row('x/.gitattributes'), ...rows.slice(6, 7)]);
  expect(hidden.text).toBe('truncated, measured: x/.gitattributes text, same.js text');
});

it('the change that GitHub lists gives way to what git finds in the checkout, unless it is whole', async () => {
  const { before, after } = commitChange(workspace(), {}, { 'b.js': 'new\n' });
  const range = { base: before, head: after };
  const absent = { base: OTHER, head: after };
  const whole = row('dist/a.js');
  const renamed = row('a.js', { status: 'renamed', previous: 'dist/b.js' });
  const readBaseAttributes = async () => 'dist/** linguist-generated\n';
  const marked = 'dist/a.js text, a.js text, dist/a.js generated, dist/b.js generated';
  const rows: [files: ChangedFile[], more: Partial<LoadedContext>, text: string][] = [
    [[part], { range }, 'complete, measured: b.js text'],
    [[part], { range: absent }, 'truncated, measured: dist/a.js unknown'],
    [[whole], { range, readBaseAttributes }, 'complete, measured: dist/a.js text'],
    [[whole], { range, prefersGit: true }, 'complete, measured: b.js text'],
    [[whole], { range: absent, prefersGit: true }, 'complete, measured: dist/a.js text'],
    [[whole, renamed], { range: absent, readBaseAttributes }, `complete, measured: ${marked}`],
  ];
  for (const [files, more, text] of rows) expect((await place(files, more)).text).toBe(text);
  const missing = 'missing, partial: The reason., Pull request #7: The reason.';
  expect((await placeFromGit(absent)).text).toBe(missing);
});

describe('a run on a change', () => {
  beforeEach(() => void skipWaits());
  afterEach(() => void vi.unstubAllGlobals());
  const PULL = '/repos/o/r/pulls/7';
  /** The context of a pull request whose files GitHub refuses to list. */
  const refused = (status: number) => {
    const answers = { [`${PULL}/files`]: status, [PULL]: pullAs(7) };
    const { hub } = openHub(eventOf('pull_request', { pull_request: pullAs(7) }), answers);
    return { findContext: () => findChangeContext(hub, expect.unreachable) };
  };
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
    ['with a NUL, read as a whole', withNul, readFile('a.ts'), code, 'accepted', 'measured, 1 of 1', null],
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
    putFiles(workspace(), { 'sub/docs/a.md': '' });
    commitChange(path.join(workspace(), 'sub'), filesWith('old', 1), filesWith('new', 1));
    symlinkSync('sub/src', path.join(workspace(), 'link'));
    const inputs = { schema: 'code-review', 'min-coverage': 'auto', 'working-directory': folder };
    for (const [about, world] of [
      ['pull request #7', onPullRequest([listedFile(0)])],
      ['what changed since the merge base with "main"', { since: 'main' }],
    ] as const) {
      // A provider that says how much of the first message it was given: next to nothing.
      const read = { ...readFile(file || '.'), usage: { inputTokens: 1, outputTokens: 1 } };
      const judged = await converse([read, submit('code-review')], inputs, world);
      expect(judged.report.verdict.reason).toBe('accepted');
      expect(coverageOf(judged)).toBe(`measured, ${count} of ${count} files`);
      const message = judged.asked[0]?.messages.at(-1)?.text;
      expect(message).toContain(`This run is about ${about}`);
      expect(message?.includes('<diff sha256=')).toBe(count === 1);
    }
  });
});

const added = (name: string, line = 'one') => diffOf(name, `+${line}`);
const moved = 'diff --git a/src/old.ts b/src/b.ts\nrename from src/old.ts\nrename to src/b.ts\n';
const inline = (diff: string, over: Partial<Change> = {}) =>
  inlineDiff({ ...changeOf(...parseDiff(diff)), ...over }, diff, 'src');

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
  ['has a file without its lines', added('src/a.ts') + added('src/b.ts').replace('+1,1 @@', '+1,2 @@')],
  ['is long', added('src/a.ts', 'x'.repeat(60_000))],
])('the first message has no diff of a change that %s', (_, diff, over) => {
  expect(inline(diff, over)).toBeNull();
});
