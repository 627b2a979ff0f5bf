import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createStatusSetter } from '../../src/github/status.ts';
import type { GitHubServer } from '../support/fakes/github/server.ts';
import { skipWaits } from '../support/waits.ts';
import { BASE, connect, eventOf, GROUP, HEAD, MERGE, REFUSALS, serve, triggerOf } from './world.ts';

let server: GitHubServer;
beforeEach(async () => {
  skipWaits();
  server = await serve();
});
afterEach(() => {
  vi.unstubAllGlobals();
  return server.close();
});

const push = eventOf('push', {}, { sha: HEAD });
const success = { state: 'success', description: 'Yes.' } as const;
const setter = (event = push, checkedOut: string | null = HEAD) =>
  createStatusSetter(connect(server, event, checkedOut), 'verdict', 'https://github.com/x');
const states = () => server.statuses().map(({ state }) => state);

it('sets the status of the commit, with a link to the run, and nothing without a commit', async () => {
  expect(await setter()({ state: 'failure', description: 'No.' })).toBe(true);
  expect(await setter(eventOf('push', {}, { sha: '' }))({ state: 'error', description: 'No.' })).toBe(false);
  const status = { state: 'failure', context: 'verdict', description: 'No.' };
  expect(server.statuses()).toEqual([{ sha: HEAD, ...status, target_url: 'https://github.com/x' }]);
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
])('on %s with the checkout %s a success is set on %s', async (name, checkedOut, sha) => {
  const event = triggerOf(name);
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
  const set = setter(push, BASE);
  const refusal =
    'The commit status is an error instead of a success. The commit that was judged is cccccccccccc,';
  await expect(set(success)).rejects.toThrow(refusal);
  for (const state of ['pending', 'failure', 'error'] as const) await set({ state, description: 'No.' });
  expect(states()).toEqual(['error', 'pending', 'failure', 'error']);
  expect(server.statuses()[0]?.description).toContain('not known to be one on this commit');
});

it('is retried after a failure, because setting a status twice is harmless', async () => {
  server.fail('POST', { kind: 'lost' });
  await setter()(success);
  expect(states()).toEqual(['success', 'success']);
});

it.each(REFUSALS)('%j is an error that says what to do', async (fault, fix) => {
  server.fail('POST', fault, 20);
  await expect(setter()(success)).rejects.toThrow(fix.replace('NEEDS', 'statuses: write'));
});

it('replaces a status that the commit has already, and adds none, if only that is asked for', async () => {
  const skipped = { state: 'error', description: 'No key.', ifPresent: true } as const;
  expect(await setter()(skipped)).toBe(true);
  expect(states()).toEqual([]);
  await setter()(success);
  await setter()(skipped);
  expect(states()).toEqual(['success', 'error']);
});
