import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createGitHub } from '../../src/github/client.ts';
import { createStatusSetter } from '../../src/github/status-commit.ts';
import { type GitHubServer, startGitHubServer } from '../support/fakes/github/server.ts';
import { skipWaits } from '../support/waits.ts';

const SHA = 'c'.repeat(40);
let server: GitHubServer;
beforeEach(async () => {
  skipWaits();
  server = await startGitHubServer();
});
afterEach(() => {
  vi.unstubAllGlobals();
  return server.close();
});

function setter(sha = SHA, problem: string | null = null) {
  const { apiUrl } = server;
  const github = createGitHub({ token: 'test-token', apiUrl, fetch, userAgent: 'structured-agent/0.1.0' });
  const findCommit = async () => ({ sha, problem });
  const targetUrl = 'https://github.com/x';
  return createStatusSetter({ github, repository: 'octo/demo', name: 'verdict', targetUrl, findCommit });
}

it('sets the status of the commit, with a link to the run, and nothing without a commit', async () => {
  expect(await setter()({ state: 'failure', description: 'No.' })).toBe(true);
  expect(await setter('')({ state: 'error', description: 'No.' })).toBe(false);
  const status = { state: 'failure', context: 'verdict', description: 'No.' };
  expect(server.statuses()).toEqual([{ sha: SHA, ...status, target_url: 'https://github.com/x' }]);
});

it('sets an error instead of a success on a commit that was not judged, and any other state as given', async () => {
  const set = setter(SHA, 'Check it out.');
  const refusal = 'The commit status is an error instead of a success. Check it out.';
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
