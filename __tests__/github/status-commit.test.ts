import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createGitHub } from '../../src/github/client.ts';
import { createStatusSetter } from '../../src/github/status-commit.ts';
import { type GitHubServer, startGitHubServer } from '../support/fakes/github/server.ts';
import { skipWaits } from '../support/waits.ts';

const SHA = 'c'.repeat(40);
let server: GitHubServer;

function setter(sha: string, targetUrl: string | null = null, problem: string | null = null) {
  const github = createGitHub({
    token: 'test-token',
    apiUrl: server.apiUrl,
    fetch,
    userAgent: 'structured-agent/0.1.0',
  });
  const findCommit = async () => ({ sha, problem });
  return createStatusSetter({ github, repository: 'octo/demo', name: 'verdict', targetUrl, findCommit });
}

beforeEach(async () => {
  skipWaits();
  server = await startGitHubServer();
});
afterEach(() => {
  vi.unstubAllGlobals();
  return server.close();
});

describe('createStatusSetter', () => {
  it('sets the status of the commit, with a link to the run', async () => {
    expect(await setter(SHA, 'https://github.com/x')({ state: 'failure', description: 'No.' })).toBe(true);
    expect(server.statuses()).toEqual([
      {
        sha: SHA,
        state: 'failure',
        context: 'verdict',
        description: 'No.',
        target_url: 'https://github.com/x',
      },
    ]);
  });

  it('sets nothing without a commit', async () => {
    expect(await setter('')({ state: 'error', description: 'No.' })).toBe(false);
    expect(server.requests).toEqual([]);
  });

  it('sets an error instead of a success on a commit that was not judged, and any other state as given', async () => {
    const set = setter(SHA, null, 'Check it out.');
    const refusal = 'The commit status is an error instead of a success. Check it out.';
    await expect(set({ state: 'success', description: 'Yes.' })).rejects.toThrow(refusal);
    for (const state of ['pending', 'failure', 'error'] as const)
      expect(await set({ state, description: 'No.' })).toBe(true);
    expect(server.statuses().map(({ sha, state }) => [sha, state])).toEqual(
      ['error', 'pending', 'failure', 'error'].map((state) => [SHA, state]),
    );
    expect(server.statuses()[0]?.description).toContain('not known to be one on this commit');
  });

  it('is retried after a failure, because setting a status twice is harmless', async () => {
    server.fail('POST', { kind: 'lost' });
    await setter(SHA)({ state: 'success', description: 'Yes.' });
    expect(server.statuses().map(({ state }) => state)).toEqual(['success', 'success']);
  });

  it('names the missing permission', async () => {
    server.fail('POST', { status: 403 });
    await expect(setter(SHA)({ state: 'success', description: 'Yes.' })).rejects.toMatchObject({
      kind: 'forbidden',
      message: expect.stringContaining('`permissions: statuses: write`'),
    });
  });
});
