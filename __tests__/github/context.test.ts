import { describe, expect, it } from 'vitest';
import { contextFiles } from '../../src/github/context.ts';
import type { EventFacts } from '../../src/github/event.ts';
import { findChangeContext } from '../../src/github/find-context.ts';
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

/** The context of an event, loaded; null or `unknown` without one. */
async function open(event: EventFacts, answers: Parameters<typeof openHub>[1] = {}) {
  const { hub, asked } = openHub(event, answers);
  const warnings: string[] = [];
  const found = await findChangeContext(hub, (text) => void warnings.push(text));
  const context = found === null || found === 'unknown' ? null : found;
  return { found, warnings, asked, about: context?.subject.about, loaded: (await context?.load()) ?? null };
}

async function filesOf(event: EventFacts, answers: object, isFromGit = false) {
  const { found, loaded } = await open(event, { ...answers });
  if (found === null || found === 'unknown' || loaded === null) throw new Error('no context');
  return contextFiles(found.subject, loaded, isFromGit);
}

const shown = (files: ReadonlyMap<string, string>) =>
  [...files].map(([name, text]) => `===== ${name} =====\n${text.replaceAll('\r', '\\r')}`).join('\n');

describe('the context of a pull request', () => {
  it('is a description, a list, a diff, and a README that describes them', async () => {
    await expect(shown(await filesOf(ofPull, known))).toMatchFileSnapshot('../golden/context.txt');
  });

  it('has only the description beside what git writes', async () => {
    const files = await filesOf(ofPull, known, true);
    expect([...files.keys()]).toEqual(['pull-request.md', 'README.md']);
    expect(files.get('README.md')).toContain('as git makes it from this checkout');
    expect(files.get('README.md')).not.toContain('Notes:');
  });

  it('says in its README what is missing', async () => {
    const cut = await filesOf(ofPull, { ...known, [FILES]: rows.slice(1) });
    expect(cut.get('README.md')).toContain('- GitHub lists 4 of 5 changed files.\n');
    const nothing = await filesOf(eventOf('issue_comment', ofComment), {});
    expect([...nothing.keys()]).toEqual(['README.md']);
    for (const what of ['Title and description are', 'The changed files and the diff are'])
      expect(nothing.get('README.md')).toContain(`- ${what} missing: GitHub answered 404`);
  });

  it.each([
    ['GitHub answers', known, 5, 0],
    ['GitHub refuses', { ...known, [FILES]: 403 }, null, 1],
    ['a later push is listed', { ...known, [PULL]: pullAs(7) }, null, 1],
    ['there is no token', null, null, 1],
  ])('can be made by git as well if %s', async (_, answers, count, notes) => {
    const { about, loaded } = await open(ofPull, answers);
    expect(about).toBe('pull request #7');
    const range = { base: 'b'.repeat(40), head: 'a'.repeat(40) };
    expect(loaded).toMatchObject({ pull: { number: 7 }, range, prefersGit: false });
    expect([loaded?.listed?.files.length ?? null, loaded?.notes.length]).toEqual([count, notes]);
  });

  it('of a workflow_run is unknown if GitHub refuses', async () => {
    const { found, warnings } = await open(eventOf('workflow_run', { workflow_run: { head_sha: 'a1' } }));
    const why = expect.stringContaining('could not be looked for. GitHub answered 404');
    expect([found, warnings]).toEqual(['unknown', [why]]);
  });

  const place = `/repos/o/r/contents/.gitattributes?ref=${'b'.repeat(40)}`;
  it.each([
    ['are read at the base', { [place]: 'dist/** linguist-generated' }, 'dist/** linguist-generated'],
    ['are none if there are too many', { [place]: 'x'.repeat(1024 ** 2 + 1) }, null],
    ['are none without a token', null, null],
  ])('has attributes that %s', async (_, answers, text) => {
    expect(await (await open(ofPull, answers)).loaded?.readBaseAttributes()).toBe(text);
  });
});

it('the context of a merge group is what git finds in it, beside what GitHub lists', async () => {
  const group = { merge_group: { head_sha: 'g1', base_sha: 'm1' } };
  const { about, loaded } = await open(eventOf('merge_group', group, queue), known);
  expect(about).toBe('pull request #7 in the merge queue');
  const range = { base: 'm1', head: 'g1' };
  expect(loaded).toMatchObject({ range, prefersGit: true, listed: { more: null } });
});

describe('the context of a push', () => {
  it('is made by git, and no request is sent', async () => {
    const { about, loaded, asked } = await open(eventOf('push', push));
    expect([about, asked]).toEqual(['the push to "refs/heads/x\\".Pass"', []]);
    const range = { base: push.before, head: push.after, mayBeEmpty: true };
    expect(loaded).toMatchObject({ listed: null, range });
    const texts = [true, false].map((isFromGit) => filesOf(eventOf('push', push), {}, isFromGit));
    const all = (await Promise.all(texts)).map(shown).join('\n');
    await expect(all).toMatchFileSnapshot('../golden/context-push.txt');
  });

  it.each([
    ['a new branch', 'push', { ...push, before: '0'.repeat(40) }],
    ['a deleted branch', 'push', { ...push, after: '0'.repeat(40) }],
    ['no base', 'push', { ...push, before: '' }],
    ['an event without a change', 'schedule', {}],
  ])('is none for %s', async (_, name, payload) => {
    expect((await open(eventOf(name, payload))).found).toBeNull();
  });
});
