import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { NetworkError } from '../../src/errors.ts';
import { createGitHub } from '../../src/github/client.ts';
import { textOf } from '../support/surroundings.ts';
import { skipWaits } from '../support/waits.ts';
import {
  CONTENTS,
  FILES,
  failureOf,
  getPull,
  HERE,
  PULL,
  RAW,
  SHA,
  server,
  start,
  stop,
  WORLD,
} from './client-world.ts';

describe('a request', () => {
  afterEach(stop);

  it('sends the token and the API version, and returns JSON', async () => {
    const github = await start();
    const { status, data } = await getPull(github);
    expect([status, data]).toMatchObject([200, { number: 7, title: 'Add sums', head: { sha: SHA } }]);
    expect(server.requests[0]?.headers).toMatchObject({
      authorization: 'token test-token',
      accept: 'application/vnd.github+json',
      'x-github-api-version': '2022-11-28',
    });
  });

  it('sends no authorization without a token', async () => {
    const github = await start({ token: null });
    await getPull(github);
    expect(server.requests[0]?.headers.authorization).toBeUndefined();
  });

  it('goes to a server below a path, like GitHub Enterprise Server', async () => {
    const github = await start({}, { ...WORLD, prefix: '/api/v3' });
    expect(server.graphqlUrl).toMatch(/\/api\/graphql$/u);
    await getPull(github);
    await failureOf(github.graphql('query { viewer { login } }', {}));
    expect(server.requests.map(({ path }) => path)).toEqual([
      '/api/v3/repos/octo/demo/pulls/7',
      '/api/graphql',
    ]);
    server.problems.length = 0;
  });

  it('returns the bytes of a file unchanged', async () => {
    const github = await start();
    const place = { ...HERE, path: '.github/a b#?.json', ref: SHA };
    expect([...(await github.bytes(CONTENTS, place, RAW))]).toEqual([...Buffer.from('{"ü":1}')]);
  });

  it('fetches every page of a list', async () => {
    const github = await start();
    const { items, complete } = await github.paginate(FILES, { ...HERE, pull_number: 7 });
    expect([items.length, complete, server.requests.length]).toEqual([250, true, 3]);
  });

  it('reports that a list continues after the page limit', async () => {
    const github = await start();
    const { items, complete } = await github.paginate(FILES, { ...HERE, pull_number: 7 }, 2);
    expect([items.length, complete]).toEqual([200, false]);
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

  it('refuses a response that is too large, and stops reading', async () => {
    const github = await start();
    const bounds = { maxBytes: 4 };
    const requested = github.bytes(PULL, { ...HERE, pull_number: 7 }, 'application/vnd.github.diff', bounds);
    expect(await failureOf(requested)).toMatchObject({ kind: 'too_large' });
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
    const hostile = textOf([...'. .. / \\ %2e %2F ? # @ : a //'.split(' '), '\t'], { pieceCount: 6 });
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
          expect([origin, repos, contents]).toEqual(['https://api.example', 'repos', 'contents']);
          expect([search, more]).toEqual(['', []]);
          expect([first, second, rest].map(decodeURIComponent)).toEqual([owner, repo, path]);
        }
      }),
      { numRuns: 500 },
    );
  });

  it.each(['', '.', '..', '../..', 'a/../b', 'a//b', 'a\nb', '\ud800'])(
    'is refused before sending as %j',
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

describe('the given fetch', () => {
  beforeEach(() => void skipWaits());
  afterEach(() => void vi.unstubAllGlobals());
  const requestWith = (send: typeof fetch) =>
    createGitHub({
      token: 'test-token',
      apiUrl: 'https://api.example',
      userAgent: 'structured-agent/0.1.0',
      fetch: send,
    }).request('GET', PULL, { ...HERE, pull_number: 7 });

  it('reports a proxy error itself', async () => {
    const error = new NetworkError('The proxy wants a password. Give it.', { code: null, passing: false });
    expect(await failureOf(requestWith(() => Promise.reject(error)))).toEqual({
      kind: 'invalid',
      status: null,
      message: 'The proxy wants a password. Give it.',
    });
  });

  it('is not retried after a timeout', async () => {
    let requested = 0;
    const silent = async () => {
      requested += 1;
      throw new DOMException('too late', 'TimeoutError');
    };
    expect(await failureOf(requestWith(silent))).toEqual({
      kind: 'unavailable',
      status: null,
      message: `GitHub's API gave no answer in time for GET ${PULL}.`,
    });
    expect(requested).toBe(1);
  });

  it('may quote the token in an error, whose message is not used', async () => {
    const error = new TypeError('Headers.append: "token test-token\n" is an invalid header value.');
    const { message } = await failureOf(requestWith(() => Promise.reject(error)));
    expect(message).not.toContain('test-token');
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
    expect(await failureOf(requestWith(send('https://evil.example/')))).toMatchObject({
      kind: 'not_found',
      status: 301,
    });
    expect(requested).toEqual(['https://api.example/repos/octo/demo/pulls/7']);
  });
});
