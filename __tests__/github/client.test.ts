import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { GitHubError, NetworkError } from '../../src/errors.ts';
import { createGitHub, type GitHub } from '../../src/github/client.ts';
import type { GitHubOptions } from '../../src/github/octokit.ts';
import { type GitHubServer, startGitHubServer } from '../support/fakes/github/server.ts';
import { skipWaits } from '../support/waits.ts';
import { HEAD } from './world.ts';

const HERE = { owner: 'octo', repo: 'demo' };
const PULL = '/repos/octo/demo/pulls/7';
const pulls = [{ number: 7, title: 'Add', head: { ref: 'x', sha: HEAD }, base: { ref: 'main', sha: HEAD } }];

let server: GitHubServer;
let waits: number[] = [];
beforeEach(async () => {
  server = await startGitHubServer({ pulls });
  waits = skipWaits();
});
afterEach(() => {
  vi.unstubAllGlobals();
  return server.close();
});

function open(changes: Partial<GitHubOptions> = {}): GitHub {
  const options = { token: 'test-token', userAgent: 'structured-agent/0.1.0', fetch };
  return createGitHub({ ...options, apiUrl: server.apiUrl, ...changes });
}
const getPull = (github = open()) =>
  github('pull-requests: read', async ({ rest }) => (await rest.pulls.get({ ...HERE, pull_number: 7 })).data);
const query = (github = open()) =>
  github('pull-requests: read', ({ graphql }) => graphql('query { viewer { login } }'));

/** The message of the GitHubError that a promise rejects with. */
async function failureOf(promise: Promise<unknown>): Promise<string> {
  const error = await promise.catch((caught: unknown) => caught);
  if (error instanceof GitHubError) return error.message;
  throw new Error(`No GitHubError: ${String(error)}`);
}

describe('a request', () => {
  it('goes to a server below a path, like GitHub Enterprise Server', async () => {
    await server.close();
    server = await startGitHubServer({ pulls, prefix: '/api/v3' });
    expect(await getPull(open({ token: null }))).toMatchObject({ number: 7, title: 'Add' });
    await failureOf(query());
    expect(server.requests.map(({ path }) => path)).toEqual([`/api/v3${PULL}`, '/api/graphql']);
    server.problems.length = 0;
  });

  it.each([
    ['/repositories/1/pulls/7', 2],
    ['https://evil.example/', 1],
  ])(
    'follows the redirect of a renamed repository to %s only on the same server',
    async (location, count) => {
      const urls: string[] = [];
      const send: typeof fetch = async (input) => {
        urls.push(String(input));
        const moved = { status: 301, headers: { location } };
        return urls.length === 1 ? Response.json({}, moved) : Response.json({ number: 7 });
      };
      const getting = getPull(open({ apiUrl: 'https://api.example', fetch: send }));
      if (count === 2) expect(await getting).toEqual({ number: 7 });
      else expect(await failureOf(getting)).toContain('answer (301)');
      expect(urls.length).toBe(count);
    },
  );

  it('is retried after failures that may pass', async () => {
    const headers = { 'retry-after': '7' };
    const limited = { status: 403, headers, message: 'You have exceeded a secondary rate limit.' };
    for (const fault of [{ status: 502 }, { kind: 'cut' }, limited] as const) server.fail('GET', fault);
    await getPull();
    expect([server.requests.length, waits.toSorted((one, other) => one - other)]).toEqual([
      4,
      [1_000, 4_000, 7_000],
    ]);
  });

  it('is retried if its answer breaks off', async () => {
    const broken = new ReadableStream({ pull: (controller) => controller.error(new Error('cut')) });
    const answers = [new Response(broken), Response.json({ number: 7 })];
    const send: typeof fetch = async () => answers.shift() ?? Response.error();
    expect(await getPull(open({ fetch: send }))).toEqual({ number: 7 });
  });

  it('has a time limit', async () => {
    const limits: unknown[] = [];
    const timeout = vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
      limits.push(ms);
      return AbortSignal.abort(new DOMException('too late', 'TimeoutError'));
    });
    expect(await failureOf(getPull())).toContain('(TimeoutError)');
    expect(new Set(limits)).toEqual(new Set([30_000]));
    timeout.mockRestore();
  });
});

describe('a refusal', () => {
  const limit = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '9999999999' };
  const hostile = `a\u001b[31m\n::error::b\u202e${'x'.repeat(5_000)}`;
  const used = "The token's rate limit is used up";
  it.each([
    [{ status: 401, message: 'Bad credentials' }, 'see the input github-token'],
    [{ status: 403 }, 'Give the job `permissions: pull-requests: read`'],
    [{ status: 404 }, 'the job needs `permissions: pull-requests: read`'],
    [{ status: 403, message: 'You have exceeded a secondary rate limit.' }, used],
    [{ status: 403, headers: limit }, used],
    [{ status: 429 }, used],
    [{ status: 502 }, 'https://www.githubstatus.com'],
    [{ status: 422, message: 'Failed' }, '422 (Failed - https://docs.github.com/rest) to'],
    [{ status: 403, message: 'Unable to comment because issue is locked.' }, 'Unlock the conversation'],
    [{ status: 418, message: hostile }, '(a ::error::b'],
  ] as const)('%j says what to do, on one line', async (fault, says) => {
    server.fail('GET', fault, 9);
    const message = await failureOf(getPull());
    expect(message).toContain(says);
    expect(message).toContain(` to GET ${PULL}.`);
    expect(message).toMatch(/^GitHub answered [\x20-\x7e…]{1,600}$/u);
  });

  it.each([
    ['FORBIDDEN', 403],
    ['NOT_FOUND', 404],
    ['RATE_LIMITED', 429],
    ['SOMETHING', 422],
  ])('of a GraphQL query is read from its errors: %s', async (type, status) => {
    const send = async () => Response.json({ data: null, errors: [{ type, message: 'No.' }] });
    const message = await failureOf(query(open({ fetch: send })));
    expect(message).toMatch(new RegExp(`^GitHub answered ${status} .* to POST /graphql`, 'u'));
  });

  it('that is not JSON is not taken for an answer', async () => {
    server.fail('GET', { kind: 'broken_json' }, 9);
    expect(await failureOf(getPull())).toContain('is not JSON. A proxy may have answered');
  });

  const refusal = 'The proxy wants a password. Give it.';
  const refused = new NetworkError(refusal, { passing: false });
  const quoting = new TypeError('Headers.append: "token test-token\n" is an invalid header value.');
  it.each([
    ['a proxy that refuses is reported itself', refused, refusal],
    ['a timeout', new DOMException('too late', 'TimeoutError'), `reached for GET ${PULL} (TimeoutError).`],
    ['an error with the token is not quoted', quoting, `reached for GET ${PULL} (TypeError).`],
  ])('of the given fetch: %s', async (_, error, says) => {
    const message = await failureOf(getPull(open({ fetch: () => Promise.reject(error) })));
    expect([message.endsWith(says), message.includes('test-token')]).toEqual([true, false]);
  });
});
