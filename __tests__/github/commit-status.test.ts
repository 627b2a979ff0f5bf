import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createStatusSetter } from '../../src/github/commit-status.ts';
import type { EventFacts } from '../../src/github/event.ts';
import type { GitHubServer } from '../support/fakes/github/server.ts';
import { skipWaits } from '../support/waits.ts';
import { BASE, connect, eventOf, HEAD, ofComment, pullAs, queue, serve } from './world.ts';

let server: GitHubServer;
beforeEach(async () => {
  skipWaits();
  server = await serve();
});
afterEach(() => {
  vi.unstubAllGlobals();
  return server.close();
});

/** Commits: the test merge of the pull request, and a merge group. */
const [MERGE, GROUP] = ['b'.repeat(40), 'd'.repeat(40)];
const ofPull = { pull_request: pullAs(7, { head: { ref: 'topic', sha: HEAD } }) };
const owner = { login: 'fork' };
const ofBranch = { head_sha: HEAD, head_branch: 'topic', head_repository: { owner } };
const payloads: Readonly<Record<string, EventFacts['payload']>> = {
  ...{ pull_request: ofPull, pull_request_review: ofPull, pull_request_target: ofPull },
  ...{ issue_comment: ofComment, workflow_run: { workflow_run: ofBranch } },
  merge_group: { merge_group: { head_sha: GROUP, base_sha: BASE } },
};
const refs: Readonly<Record<string, string>> = {
  pull_request_target: 'refs/heads/main',
  merge_group: queue.ref,
};

const push = eventOf('push', {}, { sha: HEAD });
const success = { state: 'success', description: 'Yes.' } as const;
const setter = (event = push) =>
  createStatusSetter(connect(server, event), 'verdict', 'https://github.com/x');
const states = () => server.statuses().map(({ state }) => state);

it('sets the status of the commit, with a link to the run, and nothing without a commit', async () => {
  const failure = { state: 'failure', description: 'No.' } as const;
  expect(await setter()(failure, HEAD)).toBe(true);
  expect(await setter(eventOf('push', {}, { sha: '' }))(failure, HEAD)).toBe(false);
  const link = { context: 'verdict', target_url: 'https://github.com/x' };
  expect(server.statuses()).toEqual([{ sha: HEAD, ...failure, ...link }]);
});

it.each([
  ['issue_comment', HEAD, HEAD],
  ['issue_comment', MERGE, null],
  ['issue_comment', null, null],
  ['pull_request', HEAD, HEAD],
  ['pull_request', MERGE, HEAD],
  ['pull_request', BASE, null],
  ['pull_request', null, null],
  ['pull_request_review', MERGE, HEAD],
  ['pull_request_target', HEAD, HEAD],
  ['pull_request_target', MERGE, null],
  ['workflow_run', HEAD, HEAD],
  ['workflow_run', MERGE, null],
  ['merge_group', GROUP, GROUP],
  ['merge_group', MERGE, null],
  ['push', MERGE, MERGE],
  ['push', BASE, null],
  ['push', null, null],
  ['schedule', BASE, null],
])('on %s a success for the commit %s is set on %s', async (name, judged, sha) => {
  const event = eventOf(name, payloads[name], { ref: refs[name] ?? 'refs/pull/7/merge', sha: MERGE });
  await setter(event)(success, judged).catch(() => undefined);
  const status = server.statuses().at(-1);
  expect(status?.state === 'success' ? status.sha : null).toBe(sha);
});

it('sets an error instead of a success on a commit that was not judged, and any other state as given', async () => {
  const set = setter();
  const refusal =
    'The commit status is an error instead of a success. The commit that was judged is cccccccccccc,';
  await expect(set(success, BASE)).rejects.toThrow(refusal);
  for (const state of ['pending', 'failure', 'error'] as const)
    await set({ state, description: 'No.' }, BASE);
  expect(states()).toEqual(['error', 'pending', 'failure', 'error']);
  expect(server.statuses()[0]?.description).toContain('not known to be one on this commit');
});

it('is retried after a failure, because setting a status twice is harmless', async () => {
  server.fail('POST', { kind: 'lost' });
  await setter()(success, HEAD);
  expect(states()).toEqual(['success', 'success']);
});

it('a refusal is an error that names the permission', async () => {
  server.fail('POST', { status: 403 });
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
