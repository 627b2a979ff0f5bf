import { afterEach, describe, expect, it, vi } from 'vitest';
import { GitHubError, NetworkError } from '../../src/errors.ts';
import { createGitHub, type GitHub } from '../../src/github/client.ts';
import type { GitHubOptions } from '../../src/github/octokit.ts';
import { type GitHubServer, type GitHubWorld, startGitHubServer } from '../support/fakes/github/server.ts';
import { skipWaits } from '../support/waits.ts';

const SHA = 'a'.repeat(40);
const HERE = { owner: 'octo', repo: 'demo' };
const PULL = '/repos/octo/demo/pulls/7';
const WORLD: GitHubWorld = {
  pulls: [{ number: 7, title: 'Add', head: { ref: 'x', sha: SHA }, base: { ref: 'main', sha: SHA } }],
};
const OPTIONS = { token: 'test-token', userAgent: 'structured-agent/0.1.0', fetch };

let server: GitHubServer | null = null;
let waits: number[] = [];
afterEach(async () => {
  vi.unstubAllGlobals();
  await server?.close();
  server = null;
});

async function start(changes: Partial<GitHubOptions> = {}, world = WORLD) {
  server = await startGitHubServer(world);
  waits = skipWaits();
  return { server, github: createGitHub({ ...OPTIONS, apiUrl: server.apiUrl, ...changes }) };
}

const getPull = (github: GitHub, number = 7) =>
  github(
    'pull-requests: read',
    async ({ rest }) => (await rest.pulls.get({ ...HERE, pull_number: number })).data,
  );
const query = (github: GitHub) =>
  github('pull-requests: read', ({ graphql }) => graphql('query { viewer { login } }'));
const comment = (github: GitHub) =>
  github('pull-requests: write', ({ rest }) =>
    rest.issues.createComment({ ...HERE, issue_number: 7, body: 'x', request: { retries: 0 } }),
  );

/** The rejection of a promise as a plain object. */
async function failureOf(promise: Promise<unknown>) {
  const error = await promise.catch((caught: unknown) => caught);
  if (!(error instanceof GitHubError)) throw new Error(`No GitHubError: ${String(error)}`);
  return { kind: error.kind, status: error.status, message: error.message };
}

describe('a request', () => {
  it.each([
    ['test-token', 'token test-token'],
    [null, undefined],
  ])('is sent with the token, if there is one: %s', async (token, authorization) => {
    const { server, github } = await start({ token });
    expect(await getPull(github)).toMatchObject({ number: 7, title: 'Add' });
    expect(server.requests[0]?.headers.authorization).toBe(authorization);
  });

  it('goes to a server below a path, like GitHub Enterprise Server', async () => {
    const { server, github } = await start({}, { ...WORLD, prefix: '/api/v3' });
    await getPull(github);
    await failureOf(query(github));
    expect(server.requests.map(({ path }) => path)).toEqual([`/api/v3${PULL}`, '/api/graphql']);
    server.problems.length = 0;
  });

  it('follows the redirect of a renamed repository, but only on the same server', async () => {
    const urls: string[] = [];
    const send = (location: string): GitHub =>
      createGitHub({
        ...OPTIONS,
        apiUrl: 'https://api.example',
        async fetch(input) {
          urls.push(String(input));
          const moved = { status: 301, headers: { location } };
          return urls.length === 1 ? Response.json({}, moved) : Response.json({ number: 7 });
        },
      });
    expect(await getPull(send('/repositories/1/pulls/7'))).toEqual({ number: 7 });
    urls.length = 0;
    expect((await failureOf(getPull(send('https://evil.example/')))).message).toContain('answer (301)');
    expect(urls).toEqual([`https://api.example${PULL}`]);
  });

  it('of a deprecated route prints nothing', async () => {
    const { server, github } = await start();
    const printed = vi.spyOn(console, 'warn').mockReturnValue();
    server.fail('GET', { status: 404, headers: { deprecation: 'true', sunset: 'soon' } });
    await failureOf(getPull(github));
    expect(printed).not.toHaveBeenCalled();
    printed.mockRestore();
  });
});

describe('a refusal', () => {
  const limit = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '9999999999' };
  const secondary = 'You have exceeded a secondary rate limit.';
  const needs =
    'Give the job `permissions: pull-requests: read`; the token of a pull request from a fork can only';
  it.each([
    [401, {}, 'Bad credentials', 'unauthorized', 'wrong or no longer valid: see the input github-token.'],
    [403, {}, 'Resource not accessible', 'forbidden', needs],
    [404, {}, 'Not Found', 'not_found', 'the job needs `permissions: pull-requests: read`.'],
    [422, {}, 'Validation Failed', 'invalid', '(Validation Failed - https://docs.github.com/rest) to GET'],
    [403, limit, 'API rate limit exceeded', 'rate_limited', "The token's rate limit is used up for now."],
    [403, { 'retry-after': '60' }, secondary, 'rate_limited', "The token's rate limit is used up for now."],
    [429, {}, 'Slow down', 'rate_limited', "The token's rate limit is used up for now."],
    [403, {}, 'Unable to comment because issue is locked.', 'forbidden', 'Unlock the conversation'],
    [418, {}, `a\u001b[31m\n::error::b\u202e${'x'.repeat(5_000)}`, 'invalid', '(a ::error::b'],
  ] as const)('%i with %j %j is %s, and says what to do', async (status, headers, message, kind, says) => {
    const { server, github } = await start();
    server.fail('GET', { status, headers, message }, 9);
    const failure = await failureOf(getPull(github));
    expect(failure.kind).toBe(kind);
    expect(failure.message).toContain(says);
    expect(failure.message).toContain(` to GET ${PULL}.`);
    expect(failure.message).toMatch(/^GitHub answered [\x20-\x7e…]{1,600}$/u);
    expect(waits).toEqual(status === 418 ? [1_000, 4_000] : []);
  });

  it.each([
    ['FORBIDDEN', 'forbidden'],
    ['NOT_FOUND', 'not_found'],
    ['RATE_LIMITED', 'rate_limited'],
    ['SOMETHING', 'invalid'],
  ])('of a GraphQL query is read from its errors: %s', async (type, kind) => {
    skipWaits();
    const answer = { data: null, errors: [{ type, message: 'No.' }] };
    const send = async () => Response.json(answer);
    const github = createGitHub({ ...OPTIONS, apiUrl: 'https://api.example', fetch: send });
    const { message, ...failure } = await failureOf(query(github));
    expect([failure.kind, message]).toEqual([kind, expect.stringContaining(' to POST /graphql')]);
  });
});

describe('a failure that may pass', () => {
  const late = 'You have exceeded a secondary rate limit.';
  const limited = (seconds: string) => ({ status: 403, headers: { 'retry-after': seconds }, message: late });
  it.each([
    ['500 responses', [{ status: 500 }, { status: 502 }], [1_000, 4_000]],
    ['a broken connection', [{ kind: 'cut' }], [1_000]],
    ['a rate limit', [limited('7'), limited('2')], [7_000, 2_000]],
  ] as const)('is retried after %s', async (_, faults, waited) => {
    const { server, github } = await start();
    for (const fault of faults) server.fail('GET', fault);
    await getPull(github);
    expect([server.requests.length, waits]).toEqual([faults.length + 1, waited]);
  });

  it.each([
    ['a broken connection', { kind: 'cut' }, 'unavailable', 3],
    ['a 502 response', { status: 502 }, 'unavailable', 3],
    ['rate limits that end soon', limited('1'), 'rate_limited', 3],
    ['a rate limit that lasts', limited('60'), 'rate_limited', 1],
    ['an answer that is not JSON', { kind: 'broken_json' }, 'unavailable', 1],
  ] as const)('is reported in the end: %s', async (_, fault, kind, tries) => {
    const { server, github } = await start();
    server.fail('GET', fault, 9);
    expect([(await failureOf(getPull(github))).kind, server.requests.length]).toEqual([kind, tries]);
  });

  it('of a comment is not retried when it may have succeeded, but after a rate limit', async () => {
    const { server, github } = await start();
    server.fail('POST', { kind: 'lost' });
    expect(await failureOf(comment(github))).toMatchObject({ kind: 'unavailable' });
    expect([server.requests.length, server.comments().length]).toEqual([1, 1]);
    server.fail('POST', limited('7'));
    await comment(github);
    expect(server.comments().length).toBe(2);
    expect(waits).toContain(7_000);
  });

  const refusal = 'The proxy wants a password. Give it.';
  const refused = new NetworkError(refusal, { passing: false });
  const quoting = new TypeError('Headers.append: "token test-token\n" is an invalid header value.');
  it.each([
    ['a proxy that refuses is reported itself', refused, refusal],
    ['a timeout', new DOMException('too late', 'TimeoutError'), `reached for GET ${PULL} (TimeoutError).`],
    ['an error with the token is not quoted', quoting, `reached for GET ${PULL} (TypeError).`],
  ])('of the given fetch: %s', async (_, error, says) => {
    skipWaits();
    const send = () => Promise.reject(error);
    const github = createGitHub({ ...OPTIONS, apiUrl: 'https://api.example', fetch: send });
    const failure = await failureOf(getPull(github));
    expect(failure).toMatchObject({ kind: 'unavailable', status: null });
    expect(failure.message.endsWith(says)).toBe(true);
    expect(failure.message).not.toContain('test-token');
  });

  it('has a time limit for each request', async () => {
    const limits: unknown[] = [];
    const timeout = vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
      limits.push(ms);
      return AbortSignal.abort(new DOMException('too late', 'TimeoutError'));
    });
    const { github } = await start();
    expect((await failureOf(getPull(github))).message).toContain('(TimeoutError)');
    expect(limits).toEqual([30_000, 30_000, 30_000]);
    timeout.mockRestore();
  });
});
