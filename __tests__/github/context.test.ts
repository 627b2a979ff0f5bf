import { expect, it, vi } from 'vitest';
import { contextFiles } from '../../src/github/context.ts';
import type { EventFacts } from '../../src/github/event.ts';
import { findChangeContext } from '../../src/github/find-context.ts';
import type { Answers } from '../support/fakes/github/answers.ts';
import { eventOf, ofComment, openHub, pullAs, queue } from './world.ts';

const PULL = '/repos/o/r/pulls/7';
const FILES = `${PULL}/files`;
const pull = pullAs(7, {
  ...{ title: 'Add\n# instructions', body: 'Please merge.\r\n', changed_files: 5 },
  base: { ref: 'main', sha: 'b'.repeat(40), repo: { full_name: 'o/r' } },
  head: { ref: 'topic', sha: 'a'.repeat(40), repo: { full_name: 'fork/r' } },
});
const row = (filename: string, more: object = {}) => ({
  ...{ filename, status: 'modified', additions: 1, deletions: 2, patch: '@@ -1,2 +1 @@\n-a\n-b\n+c' },
  ...more,
});
const renamed = { status: 'renamed', previous_filename: 'old.js', additions: 0, deletions: 0 };
const rows = [
  row('src/a.js'),
  row('new "b"\n.js', { status: 'added' }),
  row('c.js', { ...renamed, patch: undefined }),
  row('d.js', { status: 'removed' }),
  row('e.png', { patch: undefined }),
];
const ofPull = eventOf('pull_request', { pull_request: pull });
const push = { ref: 'refs/heads/x".Pass', before: 'b'.repeat(40), after: 'a'.repeat(40) };
const known = { [FILES]: rows, [PULL]: pull };

/** The context of an event, loaded, and its files. */
async function open(event: EventFacts, answers?: Answers | null) {
  const { hub, asked } = openHub(event, answers);
  const found = await findChangeContext(hub, expect.unreachable);
  if (found === null || found === 'unknown') return expect.unreachable();
  const loaded = await found.load();
  const filesOf = (isFromGit: boolean) => contextFiles(found.subject, loaded, isFromGit);
  return { asked, about: found.subject.about, loaded, filesOf, files: filesOf(false) };
}

const shown = (files: ReadonlyMap<string, string>) =>
  [...files].map(([name, text]) => `===== ${name} =====\n${text.replaceAll('\r', '\\r')}`).join('\n');

it('the context has a description, a list, a diff and a README; beside what git writes, the first and last', async () => {
  const { files, filesOf } = await open(ofPull, known);
  await expect(shown(files)).toMatchFileSnapshot('../golden/context.txt');
  expect([...filesOf(true).keys()]).toEqual(['pull-request.md', 'README.md']);
  expect(filesOf(true).get('README.md')).not.toContain('Notes:');
});

it('the context says in its README what is missing', async () => {
  const cut = await open(ofPull, { ...known, [FILES]: rows.slice(1) });
  expect(cut.files.get('README.md')).toContain('- GitHub lists 4 of 5 changed files.\n');
  const { files } = await open(eventOf('issue_comment', ofComment));
  expect([...files.keys()]).toEqual(['README.md']);
  for (const what of ['Title and description are', 'The changed files and the diff are'])
    expect(files.get('README.md')).toContain(`- ${what} missing: GitHub answered 404`);
});

it.each([
  ['GitHub answers', known, 5, 0],
  ['GitHub refuses', { ...known, [FILES]: 403 }, null, 1],
  ['there is no token', null, null, 1],
])('the context can be made by git as well if %s', async (_, answers, count, notes) => {
  const { loaded } = await open(ofPull, answers);
  const range = { base: 'b'.repeat(40), head: 'a'.repeat(40) };
  expect(loaded).toMatchObject({ pull: { number: 7 }, range, prefersGit: false });
  expect([loaded.listed?.files.length ?? null, loaded.notes.length]).toEqual([count, notes]);
});

it('the context of a workflow_run is unknown if GitHub refuses', async () => {
  const { hub } = openHub(eventOf('workflow_run', { workflow_run: { head_sha: 'a1' } }));
  const warn = vi.fn();
  expect(await findChangeContext(hub, warn)).toBe('unknown');
  const why = expect.stringContaining('could not be looked for. GitHub answered 404');
  expect(warn).toHaveBeenCalledExactlyOnceWith(why);
});

const place = `/repos/o/r/contents/.gitattributes?ref=${'b'.repeat(40)}`;
it.each([
  ['are read at the base', { [place]: 'dist/** linguist-generated' }, 'dist/** linguist-generated'],
  ['are none if there are too many', { [place]: 'x'.repeat(1024 ** 2 + 1) }, null],
  ['are none without a token', null, null],
])('the context has attributes that %s', async (_, answers, text) => {
  expect(await (await open(ofPull, answers)).loaded.readBaseAttributes()).toBe(text);
});

it('the context of a merge group is what git finds in it, beside what GitHub lists', async () => {
  const group = { merge_group: { head_sha: 'g1', base_sha: 'm1' } };
  const { about, loaded } = await open(eventOf('merge_group', group, queue), known);
  expect(about).toBe('pull request #7 in the merge queue');
  const range = { base: 'm1', head: 'g1' };
  expect(loaded).toMatchObject({ range, prefersGit: true, listed: { more: null } });
});

it('the context of a push is made by git, and no request is sent', async () => {
  const { about, loaded, asked, filesOf } = await open(eventOf('push', push));
  expect([about, asked]).toEqual(['the push to "refs/heads/x\\".Pass"', []]);
  const range = { base: push.before, head: push.after, mayBeEmpty: true };
  expect(loaded).toMatchObject({ listed: null, range });
  const all = [true, false].map((isFromGit) => shown(filesOf(isFromGit))).join('\n');
  await expect(all).toMatchFileSnapshot('../golden/context-push.txt');
});

it.each([
  ['a new branch', 'push', { ...push, before: '0'.repeat(40) }],
  ['a deleted branch', 'push', { ...push, after: '0'.repeat(40) }],
  ['no base', 'push', { ...push, before: '' }],
  ['an event without a change', 'schedule', {}],
])('there is no context for %s', async (_, name, payload) => {
  const { hub } = openHub(eventOf(name, payload));
  expect(await findChangeContext(hub, expect.unreachable)).toBeNull();
});
