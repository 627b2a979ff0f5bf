import { afterEach, describe, expect, it, vi } from 'vitest';
import { skipWaits } from '../support/waits.ts';
import {
  COMMENTS,
  failureOf,
  getPull,
  PULL,
  postComment,
  server,
  start,
  stop,
  waits,
} from './client-world.ts';

describe('an error response', () => {
  afterEach(stop);

  it('401 names the input', async () => {
    const github = await start({ token: 'wrong' });
    expect(await failureOf(getPull(github))).toEqual({
      kind: 'unauthorized',
      status: 401,
      message: `GitHub answered 401 (Bad credentials) to GET ${PULL}. The token is wrong or no longer valid: see the input github-token.`,
    });
  });

  it('403 names the permission that GitHub requires', async () => {
    const github = await start();
    const headers = { 'x-accepted-github-permissions': 'issues=write; pull_requests=write' };
    server.fail('POST', { status: 403, headers, message: 'Resource not accessible by integration' });
    const posting = postComment(github);
    expect(await failureOf(posting)).toEqual({
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
    expect(await failureOf(github.graphql('query { nothing }', {}))).toMatchObject({
      kind: 'invalid',
      status: 200,
    });
    server.problems.length = 0;
  });
});

describe('the plugins of the client', () => {
  afterEach(stop);

  it('do not wait between two writes', async () => {
    const github = await start();
    for (const body of ['one', 'two']) await postComment(github, body);
    expect([server.comments().length, waits]).toEqual([2, []]);
  });

  it('print nothing about a deprecated route', async () => {
    const github = await start();
    const printed = vi.spyOn(console, 'warn').mockReturnValue();
    server.fail('GET', { status: 404, headers: { deprecation: 'true', sunset: 'soon' } });
    await failureOf(getPull(github));
    expect(printed).not.toHaveBeenCalled();
    printed.mockRestore();
  });
});

describe('a temporary failure', () => {
  afterEach(stop);

  it.each([500, 502, 503])('is retried after a %i response, after growing waits', async (status) => {
    const github = await start();
    server.fail('GET', { status }, 2);
    await getPull(github);
    expect([server.requests.length, waits]).toEqual([3, [1_000, 4_000]]);
  });

  it.each(['cut', 'broken_json'] as const)('is retried after %s', async (kind) => {
    const github = await start();
    server.fail('GET', { kind });
    await getPull(github);
    expect(server.requests.length).toBe(2);
  });

  it('is reported after three tries', async () => {
    const github = await start();
    server.fail('GET', { kind: 'cut' }, 9);
    expect(await failureOf(getPull(github))).toMatchObject({ kind: 'unavailable', status: null });
    expect(server.requests.length).toBe(3);
  });

  it('is reported after three tries even when GitHub requests more', async () => {
    const github = await start();
    server.fail('GET', { status: 429, headers: { 'retry-after': '1' } }, 9);
    expect(await failureOf(getPull(github))).toMatchObject({ kind: 'rate_limited' });
    expect(waits).toEqual([1_000, 1_000]);
  });

  it('of a POST is not retried when it may have succeeded', async () => {
    const github = await start();
    server.fail('POST', { kind: 'lost' });
    const posting = postComment(github);
    expect(await failureOf(posting)).toMatchObject({ kind: 'unavailable' });
    expect([server.requests.length, server.comments().length]).toEqual([1, 1]);
  });

  it('is retried after a rate limit as long as GitHub says, even for a POST', async () => {
    const github = await start();
    server.fail('POST', { status: 403, headers: { 'retry-after': '7' } });
    server.fail('POST', { status: 429, headers: { 'retry-after': '2' } });
    await postComment(github);
    expect([waits, server.comments().length]).toEqual([[7_000, 2_000], 1]);
  });

  it('is reported at once when a rate limit outlasts the maximum wait', async () => {
    const github = await start();
    server.fail('GET', { status: 429, headers: { 'retry-after': '60' } });
    const { kind, message } = await failureOf(getPull(github));
    expect([kind, waits]).toEqual(['rate_limited', []]);
    expect(message).toContain('ends in 60 s');
  });

  it('is retried one second after a used-up rate limit is reset', async () => {
    const github = await start();
    const reset = String(Math.floor(Date.now() / 1_000) + 4);
    server.fail('GET', {
      status: 403,
      headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset },
    });
    await getPull(github);
    expect([4_000, 5_000]).toContain(waits[0]);
    expect(waits).toHaveLength(1);
  });

  it('counts a retry after a rate limit among the three tries', async () => {
    const github = await start();
    server.fail('GET', { status: 502 });
    server.fail('GET', { status: 429, headers: { 'retry-after': '2' } });
    server.fail('GET', { status: 502 }, 9);
    await failureOf(getPull(github));
    expect([server.requests.length, waits]).toEqual([3, [1_000, 2_000]]);
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
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(server.requests.length).toBe(1);
    await stop();
    const silent = new AbortController();
    const second = await start({ signal: silent.signal });
    server.fail('GET', { kind: 'silent' });
    server.before('GET', () => silent.abort());
    expect(await failureOf(getPull(second))).toMatchObject({ status: null });
  });
});
