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

  it('says who asks, for which version, and gets JSON', async () => {
    const github = await start();
    const { status, data } = await getPull(github);
    expect([status, data]).toMatchObject([200, { number: 7, title: 'Add sums', head: { sha: SHA } }]);
    expect(server.requests[0]?.headers).toMatchObject({
      authorization: 'token test-token',
      accept: 'application/vnd.github+json',
      'x-github-api-version': '2022-11-28',
    });
  });

  it('without a token says nothing about who asks', async () => {
    const github = await start({ token: null });
    await getPull(github);
    expect(server.requests[0]?.headers.authorization).toBeUndefined();
  });

  it('goes to a server below a path, as GitHub Enterprise Server is', async () => {
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

  it('gives the bytes of a file as they are', async () => {
    const github = await start();
    const place = { ...HERE, path: '.github/a b#?.json', ref: SHA };
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
    const bounds = { maxBytes: 4 };
    const asked = github.bytes(PULL, { ...HERE, pull_number: 7 }, 'application/vnd.github.diff', bounds);
    expect(await failureOf(asked)).toMatchObject({ kind: 'too_large' });
  });
});

describe('what fills a route', () => {
  it('cannot lead elsewhere', async () => {
    const urls: string[] = [];
    const github = createGitHub({
      token: 'test-token',
      apiUrl: 'https://api.example',
      userAgent: 'structured-agent/0.1.0',
      fetch: async (input) => {
        // As fetch itself reads an address.
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

describe('the fetch that is handed in', () => {
  beforeEach(() => void skipWaits());
  afterEach(() => void vi.unstubAllGlobals());
  const asking = (send: typeof fetch) =>
    createGitHub({
      token: 'test-token',
      apiUrl: 'https://api.example',
      userAgent: 'structured-agent/0.1.0',
      fetch: send,
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
