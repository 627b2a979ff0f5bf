import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { GitHubError, NetworkError } from '../../src/errors.ts';
import { createGitHub } from '../../src/github/client.ts';
import { skipWaits } from '../support/waits.ts';

const API = 'https://api.example';
const PULL = '/repos/octo/demo/pulls/7';
const UNREACHED = `GitHub could not be reached for GET ${PULL}`;
const found = Response.json({ number: 7 });

let waits: number[] = [];
beforeEach(() => {
  waits = skipWaits();
});
afterEach(() => void vi.unstubAllGlobals());

/** A client that gets these answers, the last one again and again, and what it asks for with which token. */
function open(answers: readonly (Response | Error)[], changes: { apiUrl?: string; token?: null } = {}) {
  const asked: (string | null)[][] = [];
  const send: typeof fetch = async (url, init) => {
    asked.push([String(url), new Headers(init?.headers).get('authorization')]);
    init?.signal?.throwIfAborted();
    const answer = answers[asked.length - 1] ?? answers.at(-1);
    if (answer instanceof Response) return answer.clone();
    throw answer;
  };
  const options = { apiUrl: API, token: 'test-token', userAgent: 'structured-agent/0.1.0' };
  const github = createGitHub({ ...options, fetch: send, ...changes });
  const place = { owner: 'octo', repo: 'demo', pull_number: 7 };
  return {
    asked,
    get: () => github('pull-requests: read', async ({ rest }) => (await rest.pulls.get(place)).data),
    query: () => github('pull-requests: read', ({ graphql }) => graphql('query { viewer { login } }')),
  };
}

const refusal = (status: number, message = 'No.', headers: Record<string, string> = {}) =>
  Response.json({ message, documentation_url: 'https://docs.github.com/rest' }, { status, headers });
const secondary = 'You have exceeded a secondary rate limit.';

/** The message of the GitHubError that a promise rejects with. */
async function failureOf(promise: Promise<unknown>): Promise<string> {
  const error = await promise.catch((caught: unknown) => caught);
  if (error instanceof GitHubError) return error.message;
  throw new Error(`No GitHubError: ${String(error)}`);
}

it('a request goes to a server below a path, like GitHub Enterprise Server, and needs no token', async () => {
  const { get, query, asked } = open([found], { apiUrl: 'https://ghe.example/api/v3', token: null });
  expect(await get()).toEqual({ number: 7 });
  await query();
  const urls = [`https://ghe.example/api/v3${PULL}`, 'https://ghe.example/api/graphql'];
  expect(asked).toEqual(urls.map((url) => [url, null]));
});

it.each([
  ['/repositories/1/pulls/7', [`${API}/repositories/1/pulls/7`]],
  ['https://evil.example/', []],
])(
  'a request follows the redirect of a renamed repository to %s only on the same server',
  async (location, more) => {
    const { get, asked } = open([refusal(301, '', { location }), found]);
    if (more.length > 0) expect(await get()).toEqual({ number: 7 });
    else expect(await failureOf(get())).toContain('answer (301)');
    const urls = [`${API}${PULL}`, ...more];
    expect(asked).toEqual(urls.map((url) => [url, 'token test-token']));
  },
);

it('a request is retried after failures that may pass, and if its answer breaks off', async () => {
  const cut = new ReadableStream({ pull: (controller) => controller.error(new Error('cut')) });
  const unreachable = new TypeError('fetch failed');
  const limited = refusal(403, secondary, { 'retry-after': '7' });
  const { get, asked } = open([refusal(502), unreachable, new Response(cut), limited, found]);
  expect(await get()).toEqual({ number: 7 });
  expect(asked.length).toBe(5);
  expect(waits.toSorted((one, other) => one - other)).toEqual([1_000, 4_000, 7_000, 9_000]);
});

it('a request has a time limit', async () => {
  const late = AbortSignal.abort(new DOMException('too late', 'TimeoutError'));
  const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(late);
  expect(await failureOf(open([found]).get())).toBe(`${UNREACHED} (TimeoutError).`);
  expect(new Set(timeout.mock.calls.flat())).toEqual(new Set([30_000]));
  timeout.mockRestore();
});

const hostile = `a\u001b[31m\n::error::b\u202e${'x'.repeat(5_000)}`;
/** The status of a refused query is 200. */
const failed = (type: string) => Response.json({ data: null, errors: [{ type, message: 'No.' }] });
const used = "The token's rate limit is used up";
it.each([
  ['see the input github-token', refusal(401)],
  ['Give the job `permissions: pull-requests: read`', refusal(403)],
  ['the job needs `permissions: pull-requests: read`', refusal(404)],
  [used, refusal(403, secondary)],
  [used, refusal(403, '', { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '9999999999' })],
  [used, refusal(429)],
  ['https://www.githubstatus.com', refusal(502)],
  ['422 (Failed - https://docs.github.com/rest) to', refusal(422, 'Failed')],
  ['Unlock the conversation', refusal(403, 'Unable to comment because issue is locked.')],
  ['(a ::error::b', refusal(418, hostile)],
  ['answered 403 ', failed('FORBIDDEN')],
  ['answered 404 ', failed('NOT_FOUND')],
  ['answered 429 ', failed('RATE_LIMITED')],
  ['answered 422 ', failed('SOMETHING')],
])('a refusal says on one line what to do: %s', async (says, answer) => {
  const { get, query } = open([answer]);
  const message = await failureOf(answer.ok ? query() : get());
  expect(message).toContain(says);
  expect(message).toContain(` to ${answer.ok ? 'POST /graphql' : `GET ${PULL}`}.`);
  expect(message).toMatch(/^GitHub answered [\x20-\x7e…]{1,600}$/u);
});

const broken = new Response('{"id": 1, "bo', { headers: { 'content-type': 'application/json' } });
const refused = new NetworkError('The proxy wants a password. Give it.', { passing: false });
const quoting = new TypeError('Headers.append: "token test-token\n" is an invalid header value.');
const proxy = 'is not JSON. A proxy may have answered in its place.';
it.each([
  [`GitHub's answer (200) to GET /repos/{owner}/{repo}/pulls/{pull_number} ${proxy}`, broken],
  [refused.message, refused],
  [`${UNREACHED} (TypeError).`, quoting],
])('a refusal by another than GitHub is reported without the token: %s', async (says, answer) => {
  expect(await failureOf(open([answer]).get())).toBe(says);
});
