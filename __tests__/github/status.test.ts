import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createGitHub } from '../../src/github/api.ts';
import { createStatusSetter } from '../../src/github/status.ts';
import { type GitHubServer, startGitHubServer } from '../support/github-server.ts';

const SHA = 'c'.repeat(40);
let server: GitHubServer;

function setter(headSha: string | null, targetUrl: string | null = null) {
  const github = createGitHub({
    token: 'test-token',
    apiUrl: server.apiUrl,
    graphqlUrl: server.graphqlUrl,
    fetch,
    userAgent: 'structured-agent/0.1.0',
    pause: async () => undefined,
  });
  const world = { github, repository: 'octo/demo', name: 'verdict', targetUrl, headSha: async () => headSha };
  return createStatusSetter(world);
}

beforeEach(async () => {
  server = await startGitHubServer();
});
afterEach(() => server.close());

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

  it('sets nothing where there is no commit', async () => {
    expect(await setter(null)({ state: 'error', description: 'No.' })).toBe(false);
    expect(server.requests).toEqual([]);
  });

  it('is sent again after a failure, for setting it twice does no harm', async () => {
    server.fail('POST', { kind: 'lost' });
    await setter(SHA)({ state: 'success', description: 'Yes.' });
    expect(server.statuses().map(({ state }) => state)).toEqual(['success', 'success']);
  });

  it('refused, names the permission', async () => {
    server.fail('POST', { status: 403 });
    await expect(setter(SHA)({ state: 'success', description: 'Yes.' })).rejects.toMatchObject({
      kind: 'forbidden',
      message: expect.stringContaining('`permissions: statuses: write`'),
    });
  });
});
