import { expect, it } from 'vitest';
import { createStatusSetter } from '../../src/github/commit-status.ts';
import type { EventFacts } from '../../src/github/event.ts';
import { BASE, eventOf, HEAD, ofComment, pullAs, queue, serveEach } from './world.ts';

const github = serveEach();

/** Commits: the test merge of the pull request, and a merge group. */
const [MERGE, GROUP] = ['b'.repeat(40), 'd'.repeat(40)];
const ofPull = { pull_request: pullAs(7, { head: { ref: 'topic', sha: HEAD } }) };
const ofBranch = { head_sha: HEAD, head_branch: 'topic', head_repository: { owner: { login: 'fork' } } };
const [MAIN, TEST] = ['refs/heads/main', 'refs/pull/7/merge'];

const success = { state: 'success', description: 'Yes.' } as const;
const setter = (event = eventOf('push', {}, { sha: HEAD })) =>
  createStatusSetter(github.connect(event), 'verdict', 'https://github.com/x');
const statuses = () => github.server.statuses();
const states = () => statuses().map(({ state }) => state);

it('sets a state as given, with a link to the run, but no success that was not judged, and none without a commit', async () => {
  const set = setter();
  const error =
    'The commit status is an error instead of a success. The commit that was judged is cccccccccccc,';
  await expect(set(success, BASE)).rejects.toThrow(error);
  const given = ['pending', 'failure', 'error'] as const;
  for (const state of given) expect(await set({ state, description: 'No.' }, BASE)).toBe(true);
  expect(await setter(eventOf('push', {}, { sha: '' }))(success, HEAD)).toBe(false);
  const all = { sha: HEAD, context: 'verdict', target_url: 'https://github.com/x', description: 'No.' };
  const description = expect.stringContaining('not known to be one on this commit');
  const refused = { ...all, state: 'error', description };
  expect(statuses()).toEqual([refused, ...given.map((state) => ({ ...all, state }))]);
});

it.each<[string, EventFacts['payload'], ref: string, head: string, passing: readonly unknown[]]>([
  ['issue_comment', ofComment, TEST, HEAD, [HEAD]],
  ['pull_request', ofPull, TEST, HEAD, [HEAD, MERGE]],
  ['pull_request_review', ofPull, TEST, HEAD, [HEAD, MERGE]],
  ['pull_request_target', ofPull, MAIN, HEAD, [HEAD]],
  ['workflow_run', { workflow_run: ofBranch }, TEST, HEAD, [HEAD]],
  ['merge_group', { merge_group: { head_sha: GROUP, base_sha: BASE } }, queue.ref, GROUP, [GROUP]],
  ['push', {}, TEST, MERGE, [MERGE]],
  ['schedule', {}, TEST, MERGE, [MERGE]],
])('on %s the status is that of the head, a success only if it was judged', async (...row) => {
  const [name, payload, ref, head, passing] = row;
  const set = setter(eventOf(name, payload, { ref, sha: MERGE }));
  const commits = [HEAD, MERGE, GROUP, BASE, null];
  for (const judged of commits) await set(success, judged).catch(() => undefined);
  const expected = commits.map((each) => ({
    sha: head,
    state: passing.includes(each) ? 'success' : 'error',
  }));
  expect(statuses()).toMatchObject(expected);
});

it('is retried after a failure, because setting a status twice is harmless', async () => {
  github.server.fail('POST', { kind: 'lost' });
  await setter()(success, HEAD);
  expect(states()).toEqual(['success', 'success']);
});

it('a refusal is an error that names the permission', async () => {
  github.server.fail('POST', { status: 403 });
  await expect(setter()(success, HEAD)).rejects.toThrow('Give the job `permissions: statuses: write`');
});

it('replaces a status that the commit has already, and adds none, if only that is asked for', async () => {
  const skipped = { state: 'error', description: 'No key.', ifPresent: true } as const;
  expect(await setter()(skipped, null)).toBe(true);
  expect(states()).toEqual([]);
  await setter()(success, HEAD);
  await setter()(skipped, null);
  expect(states()).toEqual(['success', 'error']);
});
