/** The client of @actions/github with the plugins for retries and rate limits. Loaded with the first request. */
import { GitHub, getOctokitOptions } from '@actions/github/lib/utils';
import type { Octokit as Core } from '@octokit/core';
import { retry } from '@octokit/plugin-retry';
import { throttling } from '@octokit/plugin-throttling';
import { GitHubError } from '../errors.ts';

export interface GitHubOptions {
  /** null for requests without a token. */
  readonly token: string | null;
  /** For example `https://api.github.com` or `https://ghe.example/api/v3`. The GraphQL endpoint is derived from it. */
  readonly apiUrl: string;
  readonly fetch: typeof fetch;
  readonly userAgent: string;
}

export type Octokit = InstanceType<typeof GitHub>;

/** The time limit of one request, in milliseconds. */
const REQUEST_MS = 30_000;
/** The longest wait for the end of a rate limit, in seconds, and how often one is waited for. */
const RATE_LIMIT_SECONDS = 20;
const RATE_LIMIT_WAITS = 2;

export function createOctokit({ token, apiUrl, fetch, userAgent }: GitHubOptions): Octokit {
  const mayWait = (seconds: number, _: object, __: unknown, waits: number) =>
    seconds <= RATE_LIMIT_SECONDS && waits < RATE_LIMIT_WAITS;
  const settings = {
    baseUrl: apiUrl.replace(/(?<!\/)\/+$/u, ''),
    userAgent,
    request: { fetch: readWhole(fetch) },
    throttle: { onRateLimit: mayWait, onSecondaryRateLimit: mayWait },
  };
  const Client = GitHub.plugin(requireJson, retry, throttling);
  return new Client(token === null ? settings : getOctokitOptions(token, settings));
}

/**
 * Returns a `fetch` with a time limit that reads answers to their end: the client takes one that breaks off for an empty
 * one. The redirect of a renamed repository is followed, but not to another server: the request carries the token.
 */
function readWhole(send: typeof fetch): typeof fetch {
  return async (url, init) => {
    const within = { ...init, signal: AbortSignal.timeout(REQUEST_MS) };
    let response = await send(url, within);
    const to = new URL(response.headers.get('location') ?? '', String(url));
    const isMoved = response.status >= 300 && response.status < 400;
    if (isMoved && to.origin === new URL(String(url)).origin) response = await send(to, within);
    const body = await response.arrayBuffer();
    return new Response(body.byteLength === 0 ? null : body, response);
  };
}

/** Refuses what is no answer of GitHub: the client would pass on as an answer a text, or where another redirect leads. */
function requireJson({ hook }: Core): void {
  hook.after('request', ({ data, status }, { method, url }) => {
    if (status < 300 && (typeof data !== 'string' || status === 204)) return;
    const message = `GitHub's answer (${status}) to ${method} ${url} is not JSON. A proxy may have answered in its place.`;
    throw new GitHubError(message);
  });
}
