import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createGitHub } from '../../src/github/client.ts';
import { createHub } from '../../src/github/pull-request.ts';
import { createStatusSetter } from '../../src/github/status.ts';
import { type GitHubServer, startGitHubServer } from '../support/fakes/github/server.ts';
import { skipWaits } from '../support/waits.ts';
import { eventOf, ofComment, pullAs } from './world.ts';

const [HEAD, MERGE, OTHER, GROUP] = ['a', 'b', 'c', 'd'].map((digit) => digit.repeat(40)) as [
  string,
  string,
  string,
  string,
];
let server: GitHubServer;
beforeEach(async () => {
  skipWaits();
  const pull = { number: 7, head: { ref: 'topic', sha: HEAD }, base: { ref: 'main', sha: OTHER } };
  server = await startGitHubServer({ repository: 'o/r', pulls: [pull] });
});
afterEach(() => {
  vi.unstubAllGlobals();
  return server.close();
});

const push = eventOf('push', {}, { sha: HEAD });

function setter(event = push, checkedOut: string | null = HEAD) {
  const { apiUrl } = server;
  const github = createGitHub({ token: 'test-token', apiUrl, fetch, userAgent: 'structured-agent/0.1.0' });
  return createStatusSetter(createHub(event, github, checkedOut), 'verdict', 'https://github.com/x');
}

it('sets the status of the commit, with a link to the run, and nothing without a commit', async () => {
  expect(await setter()({ state: 'failure', description: 'No.' })).toBe(true);
  expect(await setter(eventOf('push', {}, { sha: '' }))({ state: 'error', description: 'No.' })).toBe(false);
  const status = { state: 'failure', context: 'verdict', description: 'No.' };
  expect(server.statuses()).toEqual([{ sha: HEAD, ...status, target_url: 'https://github.com/x' }]);
});

const ofPull = { pull_request: pullAs(7, { head: { ref: 'topic', sha: HEAD } }) };
const group = { merge_group: { head_sha: GROUP } };
const after = { workflow_run: { head_sha: HEAD } };
it.each([
  ['issue_comment', ofComment, HEAD, HEAD],
  ['issue_comment', ofComment, MERGE, null],
  ['issue_comment', ofComment, null, null],
  ['pull_request', ofPull, HEAD, HEAD],
  ['pull_request', ofPull, MERGE, HEAD],
  ['pull_request', ofPull, OTHER, null],
  ['pull_request', ofPull, null, null],
  ['pull_request_review', ofPull, MERGE, HEAD],
  ['pull_request_target', ofPull, HEAD, HEAD],
  ['pull_request_target', ofPull, MERGE, null],
  ['workflow_run', after, HEAD, HEAD],
  ['workflow_run', after, MERGE, null],
  ['merge_group', group, GROUP, GROUP],
  ['merge_group', group, MERGE, null],
  ['push', {}, MERGE, MERGE],
  ['push', {}, OTHER, null],
  ['push', {}, null, null],
  ['schedule', {}, OTHER, null],
])('%s %j gets a success only if its head is judged: %s', async (name, payload, checkedOut, sha) => {
  const ref = name === 'pull_request_target' ? 'refs/heads/main' : 'refs/pull/7/merge';
  const event = eventOf(name, payload, { ref, sha: MERGE });
  const success = { state: 'success', description: 'Yes.' } as const;
  const set = async (setting: Promise<boolean>) => {
    await setting.catch(() => undefined);
    const status = server.statuses().at(-1);
    return status?.state === 'success' ? status.sha : null;
  };
  expect(await set(setter(event, checkedOut)(success))).toBe(sha);
  // A merge of verdicts says what its legs judged, whatever is checked out.
  expect(await set(setter(event, 'e'.repeat(40))(success, checkedOut))).toBe(sha);
});

it('sets an error instead of a success on a commit that was not judged, and any other state as given', async () => {
  const set = setter(push, OTHER);
  const refusal =
    'The commit status is an error instead of a success. The commit that was judged is cccccccccccc,';
  await expect(set({ state: 'success', description: 'Yes.' })).rejects.toThrow(refusal);
  for (const state of ['pending', 'failure', 'error'] as const) await set({ state, description: 'No.' });
  expect(server.statuses().map(({ state }) => state)).toEqual(['error', 'pending', 'failure', 'error']);
  expect(server.statuses()[0]?.description).toContain('not known to be one on this commit');
});

it('is retried after a failure, because setting a status twice is harmless', async () => {
  server.fail('POST', { kind: 'lost' });
  await setter()({ state: 'success', description: 'Yes.' });
  expect(server.statuses().map(({ state }) => state)).toEqual(['success', 'success']);
});

it('names the missing permission', async () => {
  server.fail('POST', { status: 403 });
  const refused = setter()({ state: 'success', description: 'Yes.' });
  await expect(refused).rejects.toThrow('`permissions: statuses: write`');
});

it('replaces a status that the commit has already, and adds none, if only that is asked for', async () => {
  const skipped = { state: 'error', description: 'No key.', ifPresent: true } as const;
  expect(await setter()(skipped)).toBe(true);
  expect(server.statuses()).toEqual([]);
  await setter()({ state: 'success', description: 'Yes.' });
  await setter()(skipped);
  expect(server.statuses().map(({ state }) => state)).toEqual(['success', 'error']);
});
