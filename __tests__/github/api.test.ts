import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { GitHubError, NetworkError } from '../../src/errors.ts';
import { createGitHub, type GitHubOptions } from '../../src/github/api.ts';
import { type GitHubServer, type GitHubWorld, startGitHubServer } from '../support/github-server.ts';

const SHA = 'a'.repeat(40);
const PULL = '/repos/{owner}/{repo}/pulls/{pull_number}';
const FILES = `${PULL}/files`;
const CONTENTS = '/repos/{owner}/{repo}/contents/{path}';
const COMMENTS = '/repos/{owner}/{repo}/issues/{issue_number}/comments';
const RAW = 'application/vnd.github.raw+json';
const HERE = { owner: 'octo', repo: 'demo' };
const WORLD: GitHubWorld = {
  pulls: [
    {
      number: 7,
      title: 'Add sums',
      head: { ref: 'sums', sha: SHA },
      base: { ref: 'main', sha: 'b'.repeat(40) },
      files: Array.from({ length: 250 }, (_, at) => ({ filename: `src/${at}.ts` })),
      diff: 'diff --git a/x b/x\n',
    },
  ],
  contents: { [`octo/demo@${SHA}`]: { '.github/a b#?.json': '{"ü":1}' } },
};

let server: GitHubServer;
let waits: number[] = [];

async function start(changes: Partial<GitHubOptions> = {}, world: GitHubWorld = WORLD) {
  server = await startGitHubServer(world);
  waits = [];
  return createGitHub({
    token: 'test-token',
    apiUrl: server.apiUrl,
    graphqlUrl: server.graphqlUrl,
    fetch: (input, init) => fetch(input, { ...init, redirect: 'manual' }),
    userAgent: 'structured-agent/0.1.0',
    pause: async (ms) => void waits.push(ms),
    ...changes,
  });
}

/** What a promise is rejected with, as a plain object. */
async function failureOf(promise: Promise<unknown>) {
  const error = await promise.catch((caught: unknown) => caught);
  if (!(error instanceof GitHubError)) throw new Error(`No GitHubError: ${String(error)}`);
  return { kind: error.kind, status: error.status, message: error.message };
}

function stop(): Promise<void> {
  return server.close();
}

describe('a request', () => {
  afterEach(stop);

  it('says who asks, for which version, and gets JSON', async () => {
    const github = await start();
    const { status, data } = await github.request('GET', PULL, { ...HERE, pull_number: 7 });
    expect([status, data]).toMatchObject([200, { number: 7, title: 'Add sums', head: { sha: SHA } }]);
    expect(server.requests[0]?.headers).toMatchObject({
      authorization: 'token test-token',
      accept: 'application/vnd.github+json',
      'x-github-api-version': '2022-11-28',
    });
  });

  it('without a token says nothing about who asks', async () => {
    const github = await start({ token: null });
    await github.request('GET', PULL, { ...HERE, pull_number: 7 });
    expect(server.requests[0]?.headers.authorization).toBeUndefined();
  });

  it('goes to a server below a path, as GitHub Enterprise Server is', async () => {
    const github = await start({}, { ...WORLD, prefix: '/api/v3' });
    expect(server.graphqlUrl).toMatch(/\/api\/graphql$/u);
    await github.request('GET', PULL, { ...HERE, pull_number: 7 });
    await failureOf(github.graphql('query { viewer { login } }', {}));
    expect(server.requests.map(({ path }) => path)).toEqual([
      '/api/v3/repos/octo/demo/pulls/7',
      '/api/graphql',
    ]);
    server.problems.length = 0;
  });

  it('gives a diff, a file and its bytes as they are', async () => {
    const github = await start();
    const diff = await github.text(PULL, { ...HERE, pull_number: 7 }, 'application/vnd.github.diff');
    const place = { ...HERE, path: '.github/a b#?.json', ref: SHA };
    const file = await github.text(CONTENTS, place, RAW);
    expect([diff, file]).toEqual(['diff --git a/x b/x\n', '{"ü":1}']);
    expect([...(await github.bytes(CONTENTS, place, RAW))]).toEqual([...Buffer.from('{"ü":1}')]);
  });

  it('fetches every page of a list', async () => {
    const github = await start();
    const { items, complete } = await github.paginate(FILES, { ...HERE, pull_number: 7 });
    expect([items.length, complete, server.requests.length]).toEqual([250, true, 3]);
  });

  it('says that a list goes on behind the pages it may fetch', async () => {
    const github = await start();
    const { items, complete } = await github.paginate(FILES, { ...HERE, pull_number: 7 }, 2);
    expect([items.length, complete]).toEqual([200, false]);
  });

  it('gives up a list that takes longer than a minute', async () => {
    let clock = 0;
    const github = await start({ now: () => (clock += 25_000) });
    expect(await failureOf(github.paginate(FILES, { ...HERE, pull_number: 7 }))).toEqual({
      kind: 'unavailable',
      status: null,
      message: `GitHub was too slow for GET ${FILES}.`,
    });
    expect(server.requests).toHaveLength(2);
  });

  it('refuses an answer that is too large, and reads no further', async () => {
    const github = await start();
    const asked = github.text(PULL, { ...HERE, pull_number: 7 }, 'application/vnd.github.diff', {
      maxBytes: 4,
    });
    expect(await failureOf(asked)).toMatchObject({ kind: 'too_large' });
  });
});

describe('what fills a route', () => {
  it('cannot lead elsewhere', async () => {
    const urls: string[] = [];
    const github = createGitHub({
      token: 'test-token',
      apiUrl: 'https://api.example',
      graphqlUrl: 'https://api.example/graphql',
      userAgent: 'structured-agent/0.1.0',
      fetch: async (input) => {
        // As fetch itself reads an address.
        urls.push(new URL(String(input)).href);
        return new Response('{}');
      },
    });
    const hostile = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc
        .array(fc.constantFrom('.', '..', '/', '\\', '%2e', '%2F', '?', '#', '@', ':', 'a', '//', '\t'), {
          maxLength: 6,
        })
        .map((parts) => parts.join('')),
    );
    await fc.assert(
      fc.asyncProperty(hostile, hostile, hostile, async (owner, repo, path) => {
        urls.length = 0;
        try {
          await github.request('GET', CONTENTS, { owner, repo, path });
        } catch (error) {
          expect(error).toMatchObject({ name: 'GitHubError', kind: 'invalid' });
        }
        for (const url of urls) {
          const { origin, pathname, search } = new URL(url);
          const [, repos, first = '', second = '', contents, rest = '', ...more] = pathname.split('/');
          expect([origin, repos, contents, search, more]).toEqual([
            'https://api.example',
            'repos',
            'contents',
            '',
            [],
          ]);
          expect([first, second, rest].map(decodeURIComponent)).toEqual([owner, repo, path]);
        }
      }),
      { numRuns: 500 },
    );
  });

  it.each(['', '.', '..', '../..', 'a/../b', 'a//b', 'a\nb', '\ud800'])(
    'is refused unsent as %j',
    async (path) => {
      const github = await start();
      expect(await failureOf(github.request('GET', CONTENTS, { ...HERE, path }))).toMatchObject({
        kind: 'invalid',
        status: null,
      });
      expect(server.requests).toEqual([]);
      await stop();
    },
  );
});

describe('a refusal', () => {
  afterEach(stop);

  it('401 names the input', async () => {
    const github = await start({ token: 'wrong' });
    expect(await failureOf(github.request('GET', PULL, { ...HERE, pull_number: 7 }))).toEqual({
      kind: 'unauthorized',
      status: 401,
      message: `GitHub answered 401 (Bad credentials) to GET ${PULL}. The token is wrong or no longer valid: see the input github-token.`,
    });
  });

  it('403 names the permission that GitHub asks for', async () => {
    const github = await start();
    const headers = { 'x-accepted-github-permissions': 'issues=write; pull_requests=write' };
    server.fail('POST', { status: 403, headers, message: 'Resource not accessible by integration' });
    const asked = github.request('POST', COMMENTS, { ...HERE, issue_number: 7, body: 'x' });
    expect(await failureOf(asked)).toEqual({
      kind: 'forbidden',
      status: 403,
      message: `GitHub answered 403 (Resource not accessible by integration) to POST ${COMMENTS}. Give the job \`permissions: pull-requests: write\`; the token of a pull request from a fork can only read, whatever the workflow gives.`,
    });
  });

  it('404 and 422 say what GitHub says', async () => {
    const github = await start();
    const missing = await failureOf(github.request('GET', PULL, { ...HERE, pull_number: 8 }));
    const invalid = await failureOf(
      github.request('POST', COMMENTS, { ...HERE, issue_number: 7, body: 'x'.repeat(65_537) }),
    );
    expect([missing.kind, invalid.kind]).toEqual(['not_found', 'invalid']);
    expect(invalid.message).toContain('(Validation Failed: body is too long (maximum is 65536 characters))');
  });

  it('quotes GitHub on one short line, and never the token', async () => {
    const github = await start();
    server.fail('GET', { status: 418, message: `a\u001b[31m\n::error::b\u202e${'x'.repeat(5_000)}` });
    const { message } = await failureOf(github.request('GET', PULL, { ...HERE, pull_number: 7 }));
    expect(message).toMatch(/^[\x20-\x7e…]{1,400}$/u);
    expect(message).not.toContain('test-token');
  });

  it('of a GraphQL query is in its errors', async () => {
    const github = await start();
    expect(await failureOf(github.graphql('query { nothing }', {}))).toMatchObject({
      kind: 'invalid',
      status: 200,
    });
    server.problems.length = 0;
  });
});

describe('a failure that may pass', () => {
  afterEach(stop);

  it.each([500, 502, 503])('%i is asked again, after growing waits', async (status) => {
    const github = await start();
    server.fail('GET', { status }, 2);
    await github.request('GET', PULL, { ...HERE, pull_number: 7 });
    expect([server.requests.length, waits]).toEqual([3, [1_000, 3_000]]);
  });

  it.each(['cut', 'broken_json'] as const)('%s is asked again', async (kind) => {
    const github = await start();
    server.fail('GET', { kind });
    await github.request('GET', PULL, { ...HERE, pull_number: 7 });
    expect(server.requests.length).toBe(2);
  });

  it('ends after three tries', async () => {
    const github = await start();
    server.fail('GET', { kind: 'cut' }, 9);
    expect(await failureOf(github.request('GET', PULL, { ...HERE, pull_number: 7 }))).toMatchObject({
      kind: 'unavailable',
      status: null,
    });
    expect(server.requests.length).toBe(3);
  });

  it('ends after three tries even where GitHub would have us go on', async () => {
    const github = await start();
    server.fail('GET', { status: 429, headers: { 'retry-after': '1' } }, 9);
    expect(await failureOf(github.request('GET', PULL, { ...HERE, pull_number: 7 }))).toMatchObject({
      kind: 'rate_limited',
    });
    expect(waits).toEqual([1_000, 1_000]);
  });

  it('of a POST is not asked again where it may have been done', async () => {
    const github = await start();
    server.fail('POST', { kind: 'lost' });
    const asked = github.request('POST', COMMENTS, { ...HERE, issue_number: 7, body: 'x' });
    expect(await failureOf(asked)).toMatchObject({ kind: 'unavailable' });
    expect([server.requests.length, server.comments().length]).toEqual([1, 1]);
  });

  it('a rate limit is waited for, even before a POST, as long as GitHub says', async () => {
    const github = await start();
    server.fail('POST', { status: 403, headers: { 'retry-after': '7' } });
    server.fail('POST', { status: 429, headers: { 'retry-after': '2' } });
    await github.request('POST', COMMENTS, { ...HERE, issue_number: 7, body: 'x' });
    expect([waits, server.comments().length]).toEqual([[7_000, 2_000], 1]);
  });

  it('a rate limit that outlasts the patience is told at once', async () => {
    const github = await start();
    server.fail('GET', { status: 429, headers: { 'retry-after': '60' } });
    const { kind, message } = await failureOf(github.request('GET', PULL, { ...HERE, pull_number: 7 }));
    expect([kind, waits]).toEqual(['rate_limited', []]);
    expect(message).toContain('ends in 60 s');
  });

  it("a used-up rate limit is reckoned by GitHub's own clock", async () => {
    const github = await start();
    const date = 'Tue, 01 Jan 2019 00:00:00 GMT';
    const reset = String(Date.parse(date) / 1_000 + 4);
    server.fail('GET', {
      status: 403,
      headers: { date, 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset },
    });
    await github.request('GET', PULL, { ...HERE, pull_number: 7 });
    expect(waits).toEqual([4_000]);
  });

  it('ends when the run is interrupted, also while it waits and while GitHub is silent', async () => {
    const waiting = new AbortController();
    const first = await start({ signal: waiting.signal, pause: async () => waiting.abort() });
    server.fail('GET', { status: 500 }, 9);
    expect(await failureOf(first.request('GET', PULL, { ...HERE, pull_number: 7 }))).toMatchObject({
      status: 500,
    });
    expect(server.requests.length).toBe(1);
    await stop();
    const silent = new AbortController();
    const second = await start({ signal: silent.signal });
    server.fail('GET', { kind: 'silent' });
    server.before('GET', () => silent.abort());
    expect(await failureOf(second.request('GET', PULL, { ...HERE, pull_number: 7 }))).toMatchObject({
      status: null,
    });
  });
});

describe('the fetch that is handed in', () => {
  const asking = (send: typeof fetch) =>
    createGitHub({
      token: 'test-token',
      apiUrl: 'https://api.example',
      graphqlUrl: 'https://api.example/graphql',
      userAgent: 'structured-agent/0.1.0',
      fetch: send,
      pause: async () => undefined,
    }).request('GET', PULL, { ...HERE, pull_number: 7 });

  it('says itself what a proxy did', async () => {
    const error = new NetworkError('The proxy wants a password. Give it.', { code: null, passing: false });
    expect(await failureOf(asking(() => Promise.reject(error)))).toEqual({
      kind: 'invalid',
      status: null,
      message: 'The proxy wants a password. Give it.',
    });
  });

  it('that gives up on a silent GitHub is not asked again', async () => {
    let asked = 0;
    const silent = async () => {
      asked += 1;
      throw new DOMException('too late', 'TimeoutError');
    };
    expect(await failureOf(asking(silent))).toEqual({
      kind: 'unavailable',
      status: null,
      message: `GitHub's API gave no answer in time for GET ${PULL}.`,
    });
    expect(asked).toBe(1);
  });

  it('may quote the token in its errors, and we do not', async () => {
    const error = new TypeError('Headers.append: "token test-token\n" is an invalid header value.');
    const { message } = await failureOf(asking(() => Promise.reject(error)));
    expect(message).not.toContain('test-token');
  });

  it('is sent on to the new address of a renamed repository, and to no other server', async () => {
    const asked: string[] = [];
    const send = (location: string) => async (input: Parameters<typeof fetch>[0]) => {
      asked.push(String(input));
      return asked.length === 1
        ? new Response('{}', { status: 301, headers: { location } })
        : new Response('{"number":7}');
    };
    const { data } = await asking(send('https://api.example/repositories/1/pulls/7'));
    expect(data).toEqual({ number: 7 });
    asked.length = 0;
    expect(await failureOf(asking(send('https://evil.example/')))).toMatchObject({
      kind: 'not_found',
      status: 301,
    });
    expect(asked).toEqual(['https://api.example/repos/octo/demo/pulls/7']);
  });
});
