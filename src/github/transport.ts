/**
 * The client of @actions/github with its plugins for retries and rate limits, made to fail closed: answers are bounded in
 * size and time, read to their end and checked, the token goes to one server only, and the plugins learn which failures
 * may be repeated. Loaded with the first request to GitHub.
 */
import type { Octokit as Core } from '@octokit/core';
import { retry } from '@octokit/plugin-retry';
import { type ThrottlingOptions, throttling } from '@octokit/plugin-throttling';
import { GitHubError } from '../errors.ts';
import { member } from './event.ts';
import { interruption, isTransient } from './failures.ts';

/** The client, as far as it is used. */
export type Octokit = Core;

/** What it is made from. */
export interface OctokitOptions {
  /** null asks without saying who asks. */
  readonly token: string | null;
  /** Such as `https://api.github.com` or `https://ghe.example/api/v3`. GraphQL is asked beside it. */
  readonly apiUrl: string;
  readonly fetch: typeof fetch;
  readonly userAgent: string;
  /** Ends requests and waits. */
  readonly signal?: AbortSignal | undefined;
}

/** What it answers. */
export interface Reply {
  readonly status: number;
  readonly data: unknown;
  readonly headers: Readonly<Record<string, string | number | undefined>>;
}

/** What a request says of itself, and what the hooks note about it, in its options. */
interface RequestNotes {
  readonly repeatable: boolean;
  readonly maxBytes: number;
  readonly expectsJson: boolean;
  /** How often the plugin for retries may repeat it. */
  retries?: number;
  /** How often it failed so far. */
  failures?: number;
  /** For how many seconds it waited for rate limits so far. */
  waited?: number;
}

const MAX_TRIES = 3;
/** The longest that one request may wait for rate limits, in seconds. */
const MAX_WAIT_S = 20;
/** The longest that one try may take, in milliseconds. */
const TIMEOUT_MS = 30_000;
/** A renamed repository answers with its new address, and that one with none. */
const MAX_REDIRECTS = 2;

/** Makes the client of a token, or of nobody. */
export async function createOctokit(options: OctokitOptions): Promise<Octokit> {
  const { GitHub, getOctokitOptions } = await importToolkit();
  const { token, apiUrl, userAgent } = options;
  // What it would print goes to the console, past the one sink of the log.
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
 * Loads the package without the event. It reads the file that GITHUB_EVENT_PATH names as soon as it is imported: all of
 * it, waiting forever for a pipe that a later process of the job put there, throwing where it is no JSON, and printing a
 * missing path past the log. `readEvent` has read it by then, bounded.
 */
async function importToolkit() {
  const variable = 'GITHUB_EVENT_PATH';
  const eventPath = process.env[variable];
  delete process.env[variable];
  try {
    return await import('@actions/github/lib/utils');
  } finally {
    if (eventPath !== undefined) process.env[variable] = eventPath;
  }
}

/**
 * A limit is waited for where the whole wait is short. The plugin would keep a second or three between two writes as well:
 * a run writes a comment and a status, and the legs of a matrix know nothing of each other's writes.
 */
function throttleFor(apiUrl: string): ThrottlingOptions {
  const pass: unknown = { key: () => ({ schedule: (_: unknown, work: () => Promise<void>) => work() }) };
  const unpaced = pass as NonNullable<ThrottlingOptions['write']>;
  const mayWait = (seconds: number, { request }: { request: object }, _: unknown, repeated: number) => {
    const notes = request as RequestNotes;
    notes.waited = (notes.waited ?? 0) + seconds;
    return repeated < MAX_TRIES - 1 && (notes.failures ?? 0) < MAX_TRIES && notes.waited <= MAX_WAIT_S;
  };
  return {
    id: apiUrl,
    write: unpaced,
    notifications: unpaced,
    onRateLimit: mayWait,
    onSecondaryRateLimit: mayWait,
  };
}

/** A plugin, nearer to the network than those for retries and limits, so that they see what it makes of an answer. */
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
      // GitHub says by this header that a limit is meant, and the plugin listens to the words only.
      if ((status === 403 || status === 429) && retryAfter !== undefined)
        error.message += ' (secondary rate limit)';
      throw error;
    });
  };
}

/** The bounds of a request. */
export interface Bounds extends Pick<RequestNotes, 'maxBytes' | 'expectsJson'> {
  readonly fetch: typeof fetch;
  /** Ends it early. */
  readonly signal: AbortSignal | undefined;
  /** The longest that it may take; half a minute unless given. */
  readonly timeoutMs?: number;
}

/**
 * Sends a request and reads its answer to the end: the client takes a body that breaks off for an empty one. A GET is sent
 * on to where the same server says, as it does for a renamed repository; to no other server, since the token travels with
 * it. Rejects as fetch does, with a TimeoutError when the time is over, and with a GitHubError where the answer is too
 * large or is no JSON where that was asked for.
 */
export async function boundedFetch(url: string, init: RequestInit, bounds: Bounds): Promise<Response> {
  const timeout = AbortSignal.timeout(bounds.timeoutMs ?? TIMEOUT_MS);
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
    // Leaving the loop cancels the rest.
    if (size > maxBytes) {
      const message = `GitHub's answer is larger than the ${Math.floor(maxBytes / 1024)} KiB that are read of it.`;
      throw new GitHubError('too_large', message, { status: response.status });
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Statuses whose answers have no body, by the Fetch standard. */
const BODILESS = [204, 205, 304];

/** The answer under the type that its body really has; the client would hand on JSON that is broken as a text. */
function check(response: Response, body: Buffer, expectsJson: boolean): Response {
  const { status, ok } = response;
  const headers = new Headers(response.headers);
  const isJson = (expectsJson || !ok) && isParsable(body);
  if (ok && expectsJson && !isJson && body.length > 0)
    throw new SyntaxError('An answer of GitHub is not JSON.');
  headers.set('content-type', isJson ? 'application/json' : 'application/octet-stream');
  return new Response(BODILESS.includes(status) ? null : new Uint8Array(body), { status, headers });
}

function isParsable(body: Buffer): boolean {
  try {
    JSON.parse(body.toString('utf8'));
    return true;
  } catch {
    return false;
  }
}
