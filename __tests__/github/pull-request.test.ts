import { expect, it } from 'vitest';
import type { EventFacts } from '../../src/github/event.ts';
import { eventOf, ofComment, openHub, pullAs, queue } from './world.ts';

const ofPull = { pull_request: pullAs(7) };
const group = { merge_group: { head_sha: 'g1', base_sha: 'm1' } };
const after = { workflow_run: { head_sha: 'a1' } };
const head_repository = { owner: { login: 'fork' } };
const ofBranch = { workflow_run: { head_sha: 'a1', head_branch: 'topic', head_repository } };
const NUMBER = { '/repos/o/r/pulls/7': pullAs(7) };
const others = [
  pullAs(1, { state: 'closed' }),
  pullAs(2, { head: { ref: 'x', sha: 'other', repo: null } }),
  pullAs(3, { base: { ref: 'main', sha: 'b1', repo: { full_name: 'elsewhere/r' } } }),
];
const ofCommit = (...pulls: readonly object[]) => ({ '/repos/o/r/commits/a1/pulls': [...others, ...pulls] });
const ofBase = { number: 7, base: { sha: 'b1' }, head: { sha: 'a1' } };

type Pull = Readonly<Record<string, unknown>>;
it.each<[string, EventFacts['payload'], Partial<EventFacts>, Pull, Pull | null]>([
  ['pull_request', ofPull, {}, {}, { ...ofBase, title: 'T' }],
  ['pull_request_target', ofPull, {}, {}, ofBase],
  ['issue_comment', ofComment, {}, NUMBER, { ...ofBase, user: { login: 'mona' } }],
  ['merge_group', group, queue, NUMBER, { number: 7, base: { sha: 'm1' }, head: { sha: 'g1' } }],
  ['workflow_run', after, {}, ofCommit(pullAs(7)), ofBase],
  // Anyone who may push can create a branch with the name of a queue.
  ['push', {}, { ...queue, sha: 'a1' }, ofCommit(pullAs(7)), ofBase],
  // It is not clear which one is meant.
  ['workflow_run', after, {}, ofCommit(pullAs(7), pullAs(8)), null],
  ['workflow_run', after, {}, ofCommit(), null],
  // The commits of forks are not listed, so the branch is asked for.
  ['workflow_run', ofBranch, {}, { '/repos/o/r/pulls': [...others, pullAs(7)] }, ofBase],
  ['schedule', {}, queue, {}, null],
  ['workflow_run', {}, queue, {}, null],
  ['issue_comment', { issue: { number: 7 } }, {}, {}, null],
])('the pull request of %s %j is requested once, if at all', async (name, payload, more, answers, pull) => {
  const { hub, asked } = openHub(eventOf(name, payload, more), answers);
  const found = await hub.findPullRequest();
  if (pull === null) expect([found, await hub.listChangedFiles()]).toEqual([null, null]);
  else expect(found).toMatchObject(pull);
  expect([await hub.findNumber(), await hub.findPullRequest()]).toEqual([pull?.['number'] ?? null, found]);
  expect(asked).toEqual(Object.keys(answers));
});

it.each([
  ['GitHub refuses', {}, 'GitHub answered 404'],
  ['there is no token', null, 'GitHub was not asked: github-token is empty.'],
])('only the number, which the event contains, is known if %s', async (_, answers, message) => {
  const { hub, asked } = openHub(eventOf('issue_comment', ofComment), answers);
  expect([await hub.findNumber(), asked]).toEqual([7, []]);
  await expect(hub.findPullRequest()).rejects.toThrow(message);
});

const row = (more: object = {}) => ({
  ...{ filename: 'a.js', status: 'modified', additions: 1, deletions: 0, patch: '+a', sha: 'f1' },
  ...more,
});
const at = (sha: string, changed_files = 1) =>
  pullAs(7, { head: { ref: 'topic', sha, repo: null }, changed_files });
const ofJudged = { pull_request: at('judged') };

async function list(rows: readonly object[], pull: object, event: EventFacts, checkedOut?: string | null) {
  const answers = { '/repos/o/r/pulls/7/files': rows, '/repos/o/r/pulls/7': pull };
  const { hub } = openHub(event, answers, checkedOut ?? null);
  const listed = await hub.listChangedFiles();
  expect(hub.changed).toEqual(new Set(listed?.files.map((file) => file.path)));
  return listed;
}

it.each([
  ['pull_request', ofJudged, null, 'later', 'which was pushed later'],
  ['pull_request_target', ofJudged, 'merge1', 'later', 'which was pushed later'],
  ['issue_comment', ofComment, 'judged', 'later', 'which is not checked out'],
  ['issue_comment', ofComment, 'judged', 'judged', null],
  ['issue_comment', ofComment, 'merge1', 'later', null],
  ['issue_comment', ofComment, null, 'later', null],
  ['merge_group', { ...ofComment, ...group }, 'judged', 'later', null],
])('files pushed after the judged commit are not used: %s', async (name, payload, checkout, head, why) => {
  const listed = list([row()], at(head), eventOf(name, payload), checkout);
  if (why === null) expect(await listed).toMatchObject({ files: [{ path: 'a.js' }] });
  else await expect(listed).rejects.toThrow(`GitHub lists the files of later, ${why}`);
});

const many = (count: number) => Array.from({ length: count }, () => row());
const patch = `+${'x'.repeat(2_500_000)}`;
const large = row({ patch });
const renamed = { filename: 'b.js', status: 'renamed', previous_filename: 'c.js', sha: null };
const file = { path: 'a.js', previous: '', status: 'modified', additions: 1, patch: '+a', blob: 'f1' };
const other = { path: 'b.js', previous: 'c.js', status: 'renamed', deletions: 0, patch: null, blob: '' };
it.each<[string, readonly object[], number, string | null, readonly object[]]>([
  ['fewer files than changed', many(1), 5, 'GitHub lists 1 of 5 changed files.', [file]],
  ['all files', [row(), row({ ...renamed, patch: undefined })], 2, null, [file, other]],
  ['nearly as many as it can', many(2_999), 2_999, null, many(2_999).map(() => file)],
  ['as many as it can', many(3_000), 3_000, 'GitHub lists 3000 of 3000', many(3_000).map(() => file)],
  ['a diff of 5 MB', [large, large], 2, 'Of the diff, 4 MB are known.', [{ patch }, { patch: null }]],
])('says what is missing if GitHub lists %s', async (_, rows, count, more, files) => {
  const listed = await list(rows, at('judged', count), eventOf('pull_request', ofJudged));
  expect(listed).toMatchObject({ more: more && expect.stringContaining(more), files });
});
