/**
 * The client of @actions/github with plugins for retries and rate limits, configured to fail closed: responses are
 * limited in size and time, read completely and validated; the token is sent to one server only; and the plugins are
 * told which failures may be retried. Loaded with the first request to GitHub.
 */
import { GitHub, getOctokitOptions } from '@actions/github/lib/utils';
import type { Octokit as Core } from '@octokit/core';
import { retry } from '@octokit/plugin-retry';
import { type ThrottlingOptions, throttling } from '@octokit/plugin-throttling';
import { GitHubError } from '../errors.ts';
import { parseOrUndefined } from '../text/json.ts';
import { member } from './event.ts';
import { interruption, isTransient } from './failures.ts';

/** The time limit of one request. */
const REQUEST_MS = 30_000;
/** All delays that GitHub's rate limits impose on one request. */
const RATE_LIMIT_MS = 20_000;

export type Octokit = Core;

export interface OctokitOptions {
  /** null for unauthenticated requests. */
  readonly token: string | null;
  /** For example `https://api.github.com` or `https://ghe.example/api/v3`. The GraphQL endpoint is derived from it. */
  readonly apiUrl: string;
  readonly fetch: typeof fetch;
  readonly userAgent: string;
  readonly signal?: AbortSignal | undefined;
}

export interface Reply {
  readonly status: number;
  readonly data: unknown;
  readonly headers: Readonly<Record<string, string | number | undefined>>;
}

/** Options of a request, and state that the hooks store in them. */
interface RequestNotes {
  readonly repeatable: boolean;
  readonly maxBytes: number;
  readonly expectsJson: boolean;
  /** How often the retry plugin may repeat the request. */
  retries?: number;
  failures?: number;
  /** Seconds spent waiting for rate limits so far. */
  waited?: number;
}

const MAX_TRIES = 3;
/** Maximum number of redirects. A renamed repository redirects to its new URL, which does not redirect. */
const MAX_REDIRECTS = 2;

export function createOctokit(options: OctokitOptions): Octokit {
  const { token, apiUrl, userAgent } = options;
  // The default logger prints to the console, bypassing the log sink.
  const log = { debug: ignore, info: ignore, warn: ignore, error: ignore };
  const settings = {
    baseUrl: apiUrl.replace(/(?<!\/)\/+$/u, ''),
    userAgent,
    log,
    request: { log },
    retry: { retries: MAX_TRIES - 1 },
    throttle: throttleFor(apiUrl),
  };
  const Client = GitHub.plugin(boundRequests(options), retry, throttling);
  return new Client(token === null ? settings : getOctokitOptions(token, settings));
}

function ignore(): void {}

/**
 * Waits for a rate limit if the total wait is short. The plugin's pause of one to three seconds between writes is
 * disabled: a run writes only a comment and a status, and the legs of a matrix do not know of each other's writes.
 */
function throttleFor(apiUrl: string): ThrottlingOptions {
  const pass: unknown = { key: () => ({ schedule: (_: unknown, work: () => Promise<void>) => work() }) };
  const unpaced = pass as NonNullable<ThrottlingOptions['write']>;
  const mayWait = (seconds: number, { request }: { request: object }, _: unknown, repeated: number) => {
    const notes = request as RequestNotes;
    notes.waited = (notes.waited ?? 0) + seconds;
    return (
      repeated < MAX_TRIES - 1 && (notes.failures ?? 0) < MAX_TRIES && notes.waited * 1_000 <= RATE_LIMIT_MS
    );
  };
  return {
    id: apiUrl,
    write: unpaced,
    notifications: unpaced,
    onRateLimit: mayWait,
    onSecondaryRateLimit: mayWait,
  };
}

/** A plugin that runs closer to the network than those for retries and rate limits, so that they see its results. */
function boundRequests({ fetch, signal }: OctokitOptions) {
  return (octokit: Core) => {
    octokit.hook.before('request', (options) => {
      const notes = options.request as unknown as RequestNotes;
      options.request.fetch = (url: string, init: RequestInit) =>
        boundedFetch(url, init, { ...notes, fetch, signal });
    });
    octokit.hook.error('request', (error, options) => {
      const notes = options.request as unknown as RequestNotes;
      notes.failures = (notes.failures ?? 0) + 1;
      const isOver = signal?.aborted === true || notes.failures >= MAX_TRIES;
      notes.retries = !isOver && isTransient(error, notes.repeatable) ? MAX_TRIES - 1 : 0;
      const status = member(error, 'status');
      const retryAfter = member(member(member(error, 'response'), 'headers'), 'retry-after');
      // GitHub indicates a rate limit by this header, but the plugin only checks the message.
      if ((status === 403 || status === 429) && retryAfter !== undefined)
        error.message += ' (secondary rate limit)';
      throw error;
    });
  };
}

export interface Bounds extends Pick<RequestNotes, 'maxBytes' | 'expectsJson'> {
  readonly fetch: typeof fetch;
  readonly signal: AbortSignal | undefined;
  /** Maximum duration in milliseconds. **Default:** 30,000. */
  readonly timeoutMs?: number;
}

/**
 * Sends a request and reads the response completely: the client treats a truncated body as empty. A GET follows
 * redirects on the same server, such as for a renamed repository, but not to another server, because the request
 * carries the token. Rejects as fetch does, with a TimeoutError on timeout, and with a GitHubError if the response is
 * too large. Rejects with a SyntaxError if the response is not JSON although JSON was expected.
 */
export async function boundedFetch(url: string, init: RequestInit, bounds: Bounds): Promise<Response> {
  const timeout = AbortSignal.timeout(bounds.timeoutMs ?? REQUEST_MS);
  const signal = bounds.signal === undefined ? timeout : AbortSignal.any([bounds.signal, timeout]);
  try {
    let address = url;
    for (let hops = 0; ; hops++) {
      const response = await bounds.fetch(address, { ...init, redirect: 'manual', signal });
      const next = init.method === 'GET' && hops < MAX_REDIRECTS ? redirectOf(response, address) : null;
      if (next === null)
        return check(response, await readBody(response, bounds.maxBytes), bounds.expectsJson);
      await response.body?.cancel();
      address = next;
    }
  } catch (error) {
    throw bounds.signal?.aborted === true ? interruption(bounds.signal) : error;
  }
}

function redirectOf(response: Response, from: string): string | null {
  if (![301, 302, 307, 308].includes(response.status)) return null;
  const location = response.headers.get('location') ?? '';
  if (!URL.canParse(location, from)) return null;
  const to = new URL(location, from);
  return to.origin === new URL(from).origin ? to.href : null;
}

async function readBody(response: Response, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    // Leaving the loop cancels the stream.
    if (size > maxBytes) {
      const message = `GitHub's answer is larger than the ${Math.floor(maxBytes / 1024)} KiB that are read of it.`;
      throw new GitHubError('too_large', message, { status: response.status });
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Null body statuses of the Fetch standard. */
const BODILESS = [204, 205, 304];

/**
 * Returns the response with the content type that its body really has; the client would pass on invalid JSON as text.
 */
function check(response: Response, body: Buffer, expectsJson: boolean): Response {
  const { status, ok } = response;
  const headers = new Headers(response.headers);
  const isJson = (expectsJson || !ok) && parseOrUndefined(body.toString('utf8')) !== undefined;
  if (ok && expectsJson && !isJson && body.length > 0)
    throw new SyntaxError('An answer of GitHub is not JSON.');
  headers.set('content-type', isJson ? 'application/json' : 'application/octet-stream');
  return new Response(BODILESS.includes(status) ? null : new Uint8Array(body), { status, headers });
}
