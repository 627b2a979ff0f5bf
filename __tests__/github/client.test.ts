import { execFile } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { GitHubError, NetworkError } from '../../src/errors.ts';
import type { GitHub } from '../../src/github/api.ts';
import { createGitHub, type GitHubOptions } from '../../src/github/client.ts';
import { type Bounds, boundedFetch } from '../../src/github/transport.ts';
import { type GitHubServer, type GitHubWorld, startGitHubServer } from '../support/fakes/github/server.ts';
import { startRawServer } from '../support/fakes/raw-server.ts';
import { makeFolder, textOf } from '../support/surroundings.ts';
import { skipWaits } from '../support/waits.ts';

const SHA = 'a'.repeat(40);
const PULL = '/repos/{owner}/{repo}/pulls/{pull_number}';
const FILES = `${PULL}/files`;
const CONTENTS = '/repos/{owner}/{repo}/contents/{path}';
const COMMENTS = '/repos/{owner}/{repo}/issues/{issue_number}/comments';
const RAW = 'application/vnd.github.raw+json';
const HERE = { owner: 'octo', repo: 'demo' };
const PLACE = { ...HERE, path: '.github/a b#?.json', ref: SHA };
const WORLD: GitHubWorld = {
  pulls: [
    {
      number: 7,
      title: 'Add sums',
      head: { ref: 'sums', sha: SHA },
      base: { ref: 'main', sha: 'b'.repeat(40) },
      files: Array.from({ length: 250 }, (_, at) => ({ filename: `src/${at}.ts` })),
    },
  ],
  contents: { [`octo/demo@${SHA}`]: { '.github/a b#?.json': '{"ü":1}' } },
};

let close: () => Promise<void> = async () => undefined;
afterEach(() => {
  vi.unstubAllGlobals();
  return close();
});

let server: GitHubServer;
let waits: number[] = [];
async function start(changes: Partial<GitHubOptions> = {}, world: GitHubWorld = WORLD): Promise<GitHub> {
  server = await startGitHubServer(world);
  close = server.close;
  waits = skipWaits();
  return createGitHub({
    token: 'test-token',
    apiUrl: server.apiUrl,
    fetch,
    userAgent: 'structured-agent/0.1.0',
    ...changes,
  });
}

const getPull = (github: GitHub, number = 7) => github.request('GET', PULL, { ...HERE, pull_number: number });
const postComment = (github: GitHub, body = 'x') =>
  github.request('POST', COMMENTS, { ...HERE, issue_number: 7, body });

/** The rejection of a promise as a plain object. */
async function failureOf(promise: Promise<unknown>) {
  const error = await promise.catch((caught: unknown) => caught);
  if (!(error instanceof GitHubError)) throw new Error(`No GitHubError: ${String(error)}`);
  return { kind: error.kind, status: error.status, message: error.message };
}

describe('a request', () => {
  it('sends the token and the API version, and returns JSON', async () => {
    const { status, data } = await getPull(await start());
    expect([status, data]).toMatchObject([200, { number: 7, title: 'Add sums', head: { sha: SHA } }]);
    expect(server.requests[0]?.headers).toMatchObject({
      authorization: 'token test-token',
      accept: 'application/vnd.github+json',
      'x-github-api-version': '2022-11-28',
    });
  });

  it('sends no authorization without a token', async () => {
    await getPull(await start({ token: null }));
    expect(server.requests[0]?.headers.authorization).toBeUndefined();
  });

  it('goes to a server below a path, like GitHub Enterprise Server', async () => {
    const github = await start({}, { ...WORLD, prefix: '/api/v3' });
    await getPull(github);
    await failureOf(github.graphql('query { viewer { login } }', {}));
    const paths = server.requests.map(({ path: sent }) => sent);
    expect(paths).toEqual(['/api/v3/repos/octo/demo/pulls/7', '/api/graphql']);
    server.problems.length = 0;
  });

  it('returns the bytes of a file unchanged, and refuses those of one that is too large', async () => {
    const github = await start();
    expect([...(await github.bytes(CONTENTS, PLACE, RAW))]).toEqual([...Buffer.from('{"ü":1}')]);
    const requested = github.bytes(CONTENTS, PLACE, RAW, { maxBytes: 4 });
    expect(await failureOf(requested)).toMatchObject({ kind: 'too_large' });
  });

  it('fetches every page of a list, or says that it continues', async () => {
    const github = await start();
    const list = async (most?: number) => {
      const { items, complete } = await github.paginate(FILES, { ...HERE, pull_number: 7 }, most);
      return [items.length, complete];
    };
    expect(await list()).toEqual([250, true]);
    expect(await list(2)).toEqual([200, false]);
    expect(server.requests).toHaveLength(5);
  });

  it('gives up on a list that takes longer than a minute', async () => {
    let clock = 0;
    const github = await start({ now: () => (clock += 25_000) });
    expect(await failureOf(github.paginate(FILES, { ...HERE, pull_number: 7 }))).toEqual({
      kind: 'unavailable',
      status: null,
      message: `GitHub was too slow for GET ${FILES}.`,
    });
    expect(server.requests).toHaveLength(2);
  });
});

describe('a route parameter', () => {
  it('cannot lead to another route', async () => {
    const urls: string[] = [];
    const github = createGitHub({
      token: 'test-token',
      apiUrl: 'https://api.example',
      userAgent: 'structured-agent/0.1.0',
      fetch: async (input) => {
        // As fetch parses a URL.
        urls.push(new URL(String(input)).href);
        return new Response('{}');
      },
    });
    const hostile = textOf([...'. .. / \\ %2e %2F ? # @ : a // \ud800'.split(' '), '\t', '\n'], {
      pieceCount: 6,
    });
    await fc.assert(
      fc.asyncProperty(hostile, hostile, hostile, async (owner, repo, file) => {
        urls.length = 0;
        try {
          await github.request('GET', CONTENTS, { owner, repo, path: file });
        } catch (error) {
          expect(error).toMatchObject({ name: 'GitHubError', kind: 'invalid' });
        }
        for (const url of urls) {
          const { origin, pathname, search } = new URL(url);
          const [, repos, first = '', second = '', contents, rest = '', ...more] = pathname.split('/');
          expect([origin, repos, contents]).toEqual(['https://api.example', 'repos', 'contents']);
          expect([search, more]).toEqual(['', []]);
          expect([first, second, rest].map(decodeURIComponent)).toEqual([owner, repo, file]);
        }
      }),
      { numRuns: 150 },
    );
  });
});

describe('an error response', () => {
  it('401 names the input', async () => {
    expect(await failureOf(getPull(await start({ token: 'wrong' })))).toEqual({
      kind: 'unauthorized',
      status: 401,
      message: `GitHub answered 401 (Bad credentials) to GET ${PULL}. The token is wrong or no longer valid: see the input github-token.`,
    });
  });

  it('403 names the permission that GitHub requires', async () => {
    const github = await start();
    const headers = { 'x-accepted-github-permissions': 'issues=write; pull_requests=write' };
    server.fail('POST', { status: 403, headers, message: 'Resource not accessible by integration' });
    expect(await failureOf(postComment(github))).toEqual({
      kind: 'forbidden',
      status: 403,
      message: `GitHub answered 403 (Resource not accessible by integration) to POST ${COMMENTS}. Give the job \`permissions: pull-requests: write\`; the token of a pull request from a fork can only read, whatever the workflow gives.`,
    });
  });

  it('404 and 422 contain GitHub’s message', async () => {
    const github = await start();
    const missing = await failureOf(getPull(github, 8));
    const invalid = await failureOf(postComment(github, 'x'.repeat(65_537)));
    expect([missing.kind, invalid.kind]).toEqual(['not_found', 'invalid']);
    expect(invalid.message).toContain('(Validation Failed: body is too long (maximum is 65536 characters))');
  });

  it('is quoted on one short line, never with the token', async () => {
    const github = await start();
    server.fail('GET', { status: 418, message: `a\u001b[31m\n::error::b\u202e${'x'.repeat(5_000)}` });
    const { message } = await failureOf(getPull(github));
    expect(message).toMatch(/^[\x20-\x7e…]{1,400}$/u);
    expect(message).not.toContain('test-token');
  });

  it('of a GraphQL query is read from its errors', async () => {
    const github = await start();
    const body = '{"data":null,"errors":[{"type":"FORBIDDEN","message":"No."}]}';
    const send = async () => new Response(body, { headers: { 'content-type': 'application/json' } });
    const refused = createGitHub({ token: 't', apiUrl: server.apiUrl, fetch: send, userAgent: 'x' });
    expect(await failureOf(refused.graphql('query { x }', {}))).toMatchObject({
      kind: 'forbidden',
      status: 200,
    });
    expect(await failureOf(github.graphql('query { nothing }', {}))).toMatchObject({ kind: 'invalid' });
    server.problems.length = 0;
  });

  it('of a deprecated route prints nothing', async () => {
    const github = await start();
    const printed = vi.spyOn(console, 'warn').mockReturnValue();
    server.fail('GET', { status: 404, headers: { deprecation: 'true', sunset: 'soon' } });
    await failureOf(getPull(github));
    expect(printed).not.toHaveBeenCalled();
    printed.mockRestore();
  });
});

describe('a temporary failure', () => {
  const limited = (seconds: string, status = 429) => ({ status, headers: { 'retry-after': seconds } });
  it.each([
    ['a 500 response', [{ status: 500 }, { status: 500 }], [1_000, 4_000]],
    ['a 503 response', [{ status: 503 }], [1_000]],
    ['a broken connection', [{ kind: 'cut' }], [1_000]],
    ['broken JSON', [{ kind: 'broken_json' }], [1_000]],
    ['a rate limit', [limited('7', 403), limited('2')], [7_000, 2_000]],
  ] as const)('is retried after %s', async (_, faults, waited) => {
    const github = await start();
    for (const fault of faults) server.fail('GET', fault);
    await getPull(github);
    expect([server.requests.length, waits]).toEqual([faults.length + 1, waited]);
  });

  it.each([
    ['a broken connection', [{ kind: 'cut' }], 'unavailable', 3, [1_000, 4_000]],
    ['rate limits that end soon', [limited('1')], 'rate_limited', 3, [1_000, 1_000]],
    ['a rate limit that outlasts the maximum wait', [limited('60')], 'rate_limited', 1, []],
    ['a rate limit among others', [{ status: 502 }, limited('2')], 'rate_limited', 3, [1_000, 2_000]],
  ] as const)('is reported after at most three tries: %s', async (_, faults, kind, tries, waited) => {
    const github = await start();
    for (const [at, fault] of faults.entries()) server.fail('GET', fault, at === faults.length - 1 ? 9 : 1);
    const failure = await failureOf(getPull(github));
    expect([failure.kind, server.requests.length, waits]).toEqual([kind, tries, waited]);
    if (tries === 1) expect(failure.message).toContain('ends in 60 s');
  });

  it('is retried one second after a used-up rate limit is reset', async () => {
    const github = await start();
    const headers = {
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': String(Math.floor(Date.now() / 1_000) + 4),
    };
    server.fail('GET', { status: 403, headers });
    await getPull(github);
    expect([4_000, 5_000]).toContain(waits[0]);
    expect(waits).toHaveLength(1);
  });

  it('of a POST is not retried when it may have succeeded, but after a rate limit', async () => {
    const github = await start();
    server.fail('POST', { kind: 'lost' });
    expect(await failureOf(postComment(github))).toMatchObject({ kind: 'unavailable' });
    expect([server.requests.length, server.comments().length]).toEqual([1, 1]);
    server.fail('POST', limited('7', 403));
    // Two writes in a row do not wait for each other.
    for (const body of ['one', 'two']) await postComment(github, body);
    expect([waits, server.comments().length]).toEqual([[7_000], 3]);
  });

  it('ends when the run is interrupted, during a wait or a request', async () => {
    const waiting = new AbortController();
    const first = await start({ signal: waiting.signal });
    vi.unstubAllGlobals();
    skipWaits(() => waiting.abort());
    server.fail('GET', { status: 500 }, 9);
    expect(await failureOf(getPull(first))).toMatchObject({
      kind: 'unavailable',
      message: 'GitHub was not asked to the end: the run was interrupted.',
    });
    expect(server.requests.length).toBe(1);
    await close();
    const silent = new AbortController();
    const second = await start({ signal: silent.signal });
    server.fail('GET', { kind: 'silent' });
    server.before('GET', () => silent.abort());
    expect(await failureOf(getPull(second))).toMatchObject({ status: null });
  });
});

describe('the given fetch', () => {
  const requestWith = (send: typeof fetch) => {
    skipWaits();
    close = async () => undefined;
    return createGitHub({
      token: 'test-token',
      apiUrl: 'https://api.example',
      userAgent: 'x',
      fetch: send,
    }).request('GET', PULL, { ...HERE, pull_number: 7 });
  };

  const refusal = 'The proxy wants a password. Give it.';
  const refused = new NetworkError(refusal, { code: null, passing: false });
  const late = new DOMException('too late', 'TimeoutError');
  const quoting = new TypeError('Headers.append: "token test-token\n" is an invalid header value.');
  const tooLate = `GitHub's API gave no answer in time for GET ${PULL}.`;
  const unreached = `GitHub's API could not be reached for GET ${PULL}.`;
  it.each([
    ['a proxy that refuses is reported itself', refused, 'invalid', refusal, 1],
    ['a timeout is not retried', late, 'unavailable', tooLate, 1],
    ['an error with the token is not quoted', quoting, 'unavailable', unreached, 3],
  ])('%s', async (_, error, kind, message, tries) => {
    let requested = 0;
    const send = () => {
      requested += 1;
      return Promise.reject(error);
    };
    expect(await failureOf(requestWith(send))).toEqual({ kind, status: null, message });
    expect(requested).toBe(tries);
  });

  it('follows a redirect of a renamed repository, but only on the same server', async () => {
    const requested: string[] = [];
    const send = (location: string) => async (input: Parameters<typeof fetch>[0]) => {
      requested.push(String(input));
      return requested.length === 1
        ? new Response('{}', { status: 301, headers: { location } })
        : new Response('{"number":7}');
    };
    const { data } = await requestWith(send('https://api.example/repositories/1/pulls/7'));
    expect(data).toEqual({ number: 7 });
    requested.length = 0;
    const elsewhere = requestWith(send('https://evil.example/'));
    expect(await failureOf(elsewhere)).toMatchObject({ kind: 'not_found', status: 301 });
    expect(requested).toEqual(['https://api.example/repos/octo/demo/pulls/7']);
  });
});

describe('boundedFetch', () => {
  const BOUNDS: Bounds = { fetch, signal: undefined, timeoutMs: 60_000, maxBytes: 100, expectsJson: false };
  const startRaw = async (...args: Parameters<typeof startRawServer>) => {
    const raw = await startRawServer(...args);
    close = raw.close;
    return raw;
  };

  it('times out before the head and within the body', async () => {
    const raw = await startRaw((response, { path: asked }) => {
      if (asked === '/body') response.writeHead(200).write('x');
    });
    for (const asked of ['/head', '/body']) {
      const pending = boundedFetch(raw.url + asked, { method: 'GET' }, { ...BOUNDS, timeoutMs: 50 });
      await expect(pending).rejects.toMatchObject({ name: 'TimeoutError' });
    }
  });

  it('follows redirects of a GET at most twice, and no other redirect', async () => {
    const raw = await startRaw((response, { path: asked }) => {
      response.writeHead(asked === '/3' ? 200 : 302, { location: `/${Number(asked.slice(1)) + 1}` }).end();
    });
    const statusOf = async (asked: string, method: string) =>
      (await boundedFetch(raw.url + asked, { method }, BOUNDS)).status;
    expect(await statusOf('/1', 'GET')).toBe(200);
    expect([await statusOf('/0', 'GET'), await statusOf('/2', 'DELETE')]).toEqual([302, 302]);
  });
});

describe('loading the client', () => {
  const folders = makeFolder();
  const module = fileURLToPath(new URL('../../src/github/client.ts', import.meta.url));

  it('changes no variable of the process, also not for a moment', async () => {
    const raw = await startRawServer((response) => response.end('{"number":7}'));
    close = raw.close;
    const event = path.join(mkdtempSync(path.join(folders, 'event-')), 'event.json');
    writeFileSync(event, '{}');
    const script = `
      import { createGitHub } from ${JSON.stringify(module)};
      const changed = [];
      process.env = new Proxy(process.env, {
        set: (_, name) => changed.push(name),
        deleteProperty: (_, name) => changed.push(name),
      });
      const github = createGitHub({ token: 't', apiUrl: ${JSON.stringify(raw.url)}, fetch, userAgent: 'x' });
      const { data } = await github.request('GET', '/repos/{owner}/{repo}', { owner: 'o', repo: 'r' });
      console.log(data.number, changed.join());`;
    const args = ['--input-type=module', '--eval', script];
    const env = { ...process.env, GITHUB_EVENT_PATH: event };
    const { stdout } = await promisify(execFile)(process.execPath, args, { env });
    expect(stdout).toBe('7 \n');
  });
});
