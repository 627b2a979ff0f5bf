import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type GitHubServer, startGitHubServer } from './server.ts';

const SHA = 'a'.repeat(40);
const HEADERS = {
  authorization: 'token test-token',
  accept: 'application/vnd.github+json',
  'user-agent': 'structured-agent/0',
  'x-github-api-version': '2022-11-28',
  'content-type': 'application/json',
};
let server: GitHubServer;

beforeEach(async () => {
  server = await startGitHubServer({
    pulls: [{ number: 7, head: { ref: 'x', sha: SHA }, base: { ref: 'main', sha: SHA } }],
    contents: { 'else/where@v1': { 'gate.json': '{}' } },
    branches: { main: SHA },
  });
});
afterEach(async () => {
  server.problems.length = 0;
  await server.close();
});

async function ask(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const init = {
    method,
    headers: { ...HEADERS, ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  };
  return (await fetch(`${server.apiUrl}${path}`, init)).status;
}

describe('the fake GitHub', () => {
  it('accepts described requests, and its responses match the description', async () => {
    expect([
      await ask('GET', '/repos/octo/demo/pulls/7'),
      await ask('GET', '/repos/octo/demo/pulls/7/files?per_page=100&page=1'),
      await ask('GET', `/repos/octo/demo/commits/${SHA}/pulls`),
      await ask('GET', '/repos/octo/demo/commits/heads%2Fmain'),
      await ask('GET', '/repos/else/where/contents/gate.json?ref=v1'),
      await ask('POST', '/repos/octo/demo/issues/7/comments', { body: 'x' }),
      await ask('GET', '/repos/octo/demo/issues/7/comments'),
      await ask('PATCH', '/repos/octo/demo/issues/comments/3100000000', { body: 'y' }),
      await ask('DELETE', '/repos/octo/demo/issues/comments/3100000000'),
      await ask('POST', `/repos/octo/demo/statuses/${SHA}`, { state: 'success', context: 'x' }),
    ]).toEqual([200, 200, 200, 200, 200, 201, 200, 200, 204, 201]);
    expect(server.problems).toEqual([]);
  });

  it.each([
    ['an unknown path', 'GET', '/repos/octo/demo/nothing', undefined, {}],
    ['an unknown method', 'PUT', '/repos/octo/demo/pulls/7', undefined, {}],
    ['an unknown query parameter', 'GET', '/repos/octo/demo/pulls/7?x=1', undefined, {}],
    ['an invalid number', 'GET', '/repos/octo/demo/pulls/seven', undefined, {}],
    ['a missing body', 'POST', '/repos/octo/demo/issues/7/comments', undefined, {}],
    ['a wrong type', 'POST', '/repos/octo/demo/issues/7/comments', { body: 7 }, {}],
    ['an unknown property', 'POST', '/repos/octo/demo/issues/7/comments', { body: 'x', text: 'y' }, {}],
    ['an invalid state', 'POST', `/repos/octo/demo/statuses/${SHA}`, { state: 'green' }, {}],
    [
      'another version',
      'GET',
      '/repos/octo/demo/pulls/7',
      undefined,
      { 'x-github-api-version': '2021-01-01' },
    ],
    ['another media type', 'GET', '/repos/octo/demo/pulls/7', undefined, { accept: 'text/html' }],
    ['another user agent', 'GET', '/repos/octo/demo/pulls/7', undefined, { 'user-agent': 'curl' }],
  ] as const)('rejects %s and reports it when it closes', async (_, method, path, body, headers) => {
    expect(await ask(method, path, body, headers)).toBe(400);
    expect(server.problems.length).toBeGreaterThan(0);
  });

  it('rejects an invalid token and an unknown repository like GitHub', async () => {
    expect([
      await ask('GET', '/repos/octo/demo/pulls/7', undefined, { authorization: 'token other' }),
      await ask('GET', '/repos/octo/other/pulls/7'),
    ]).toEqual([401, 404]);
    expect(server.problems).toEqual([]);
  });

  it('throws on close after a problem', async () => {
    const other = await startGitHubServer();
    await fetch(`${other.apiUrl}/nothing`);
    await expect(other.close()).rejects.toThrow('had to complain');
  });
});
