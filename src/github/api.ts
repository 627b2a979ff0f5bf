/** GitHub's API: requests with a token, bounded in size, time and tries. What answers say is unknown until it is read. */
import type { Octokit } from '@octokit/core';
import { GitHubError } from '../errors.ts';
import { type Answer, exchange } from './api-exchange.ts';
import { type Asked, failureOf, graphqlRefusal, isAmbiguous, refusalOf, waitFor } from './api-failures.ts';
import { member } from './event.ts';

/** The verbs that are sent. */
export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';

/** What fills a route's `{placeholders}`; the rest becomes the query of a GET, and the JSON body of all others. */
export type RouteParameters = Readonly<Record<string, string | number | boolean | undefined>>;

/** How one request may differ. */
export interface RequestOptions {
  /** Whether it does no harm to send it twice; true of all but POST unless given. */
  readonly repeatable?: boolean;
  /** The permission that a workflow has to give, such as `pull-requests: write`; for the sentence of a refusal. */
  readonly needs?: string;
  /** Most bytes of the answer; 32 MiB unless given. */
  readonly maxBytes?: number;
}

/** An answer of JSON. */
export interface JsonAnswer {
  readonly status: number;
  /** null where there was no body. */
  readonly data: unknown;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/** A list, of which not all may have been fetched. */
export interface Pages {
  readonly items: readonly unknown[];
  /** Whether nothing is left behind the last page that was fetched. */
  readonly complete: boolean;
}

/**
 * GitHub, as far as it is asked. Every method rejects with a GitHubError, whose message is a sentence for people.
 * Placeholders are percent-encoded, and a value that could lead elsewhere (`..`, an empty one) is refused unsent.
 */
export interface GitHub {
  request(
    method: Method,
    route: string,
    parameters?: RouteParameters,
    options?: RequestOptions,
  ): Promise<JsonAnswer>;
  /** The body of a GET as text, with U+FFFD for what is no UTF-8; `accept` such as `application/vnd.github.diff`. */
  text(route: string, parameters: RouteParameters, accept: string, options?: RequestOptions): Promise<string>;
  /** The body of a GET as it came. */
  bytes(
    route: string,
    parameters: RouteParameters,
    accept: string,
    options?: RequestOptions,
  ): Promise<Uint8Array>;
  /** A list over all its pages of 100, at most `maxPages` of them (30 unless given), none begun after a minute. */
  paginate(route: string, parameters: RouteParameters, maxPages?: number): Promise<Pages>;
  /** The `data` of a query; sent again like a GET where it failed. */
  graphql(
    query: string,
    variables: Readonly<Record<string, string | number | null>>,
    options?: Pick<RequestOptions, 'needs'>,
  ): Promise<unknown>;
}

/** The world of the client. */
export interface GitHubOptions {
  /** null asks without saying who asks. */
  readonly token: string | null;
  /** Such as `https://api.github.com` or `https://ghe.example/api/v3`. */
  readonly apiUrl: string;
  /** Such as `https://api.github.com/graphql` or `https://ghe.example/api/graphql`. */
  readonly graphqlUrl: string;
  readonly fetch: typeof fetch;
  readonly userAgent: string;
  /** Ends requests and waits. */
  readonly signal?: AbortSignal | undefined;
  /** Waits some milliseconds, or until the signal; the clock's own unless given. */
  readonly pause?: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
  readonly now?: () => number;
}

const API_VERSION = '2022-11-28';
const JSON_TYPE = 'application/vnd.github+json';
const MAX_BYTES = 32 * 1024 * 1024;
const MAX_TRIES = 3;
/** The longest that the waits between the tries of one request may take together, in milliseconds. */
const MAX_WAIT_MS = 20_000;
/** The longest that one try may take, and after which no further page of a list is asked for, in milliseconds. */
const TIMEOUT_MS = 30_000;
const MAX_LIST_MS = 60_000;

/** A client of GitHub's API. Nothing is loaded or sent before it is asked. */
export function createGitHub(options: GitHubOptions): GitHub {
  const { now = () => performance.now() } = options;
  const ask = createAsking(options);
  const asked = (method: Method, route: string, needs: string | undefined): Asked => {
    return { method, route, needs: needs ?? null, signedIn: options.token !== null };
  };
  const request: GitHub['request'] = async (method, route, parameters = {}, how = {}) => {
    const what = asked(method, route, how.needs);
    requireHarmless(what, parameters);
    const repeatable = how.repeatable ?? method !== 'POST';
    return ask(what, route, parameters, { ...how, repeatable, accept: JSON_TYPE }, readJson);
  };
  const bytes: GitHub['bytes'] = async (route, parameters, accept, how = {}) => {
    const what = asked('GET', route, how.needs);
    requireHarmless(what, parameters);
    return ask(what, route, parameters, { ...how, repeatable: true, accept }, ({ body }) => body);
  };
  return {
    request,
    bytes,
    text: async (...given) => new TextDecoder().decode(await bytes(...given)),
    async paginate(route, parameters, maxPages = 30) {
      const items: unknown[] = [];
      const until = now() + MAX_LIST_MS;
      for (let page = 1; page <= maxPages; page++) {
        if (now() > until) throw new GitHubError('unavailable', `GitHub was too slow for GET ${route}.`);
        const { data, headers } = await request('GET', route, { ...parameters, per_page: 100, page });
        if (!Array.isArray(data)) throw unreadable(asked('GET', route, undefined), 'a list');
        items.push(...data);
        if (!/;\s*rel="?next\b/u.test(headers['link'] ?? '')) return { items, complete: true };
      }
      return { items, complete: false };
    },
    async graphql(query, variables, how = {}) {
      const what = asked('POST', '/graphql', how.needs);
      const body = { endpoint: options.graphqlUrl, query, variables };
      return ask(what, '{+endpoint}', body, { repeatable: true, accept: JSON_TYPE }, readGraphql);
    },
  };
}

type How = RequestOptions & { readonly repeatable: boolean; readonly accept: string };
type Fill = Readonly<Record<string, unknown>>;
type Read<T> = (answer: Answer, asked: Asked) => T;

/** Asks until there is an answer, a refusal that will not pass, or no more time for it. */
function createAsking(options: GitHubOptions) {
  const { signal, pause = rest } = options;
  let loading: Promise<Octokit> | null = null;
  return async <T>(asked: Asked, route: string, fill: Fill, how: How, read: Read<T>): Promise<T> => {
    loading ??= loadClient(options);
    const client = await loading;
    let left = MAX_WAIT_MS;
    for (let tries = 1; ; tries++) {
      let answer: Answer | null = null;
      try {
        answer = await sendOnce(client, `${asked.method} ${route}`, fill, how, options);
        const refusal = refusalOf(answer, asked);
        if (refusal !== null) throw refusal;
        return read(answer, asked);
      } catch (error) {
        const failure = failureOf(error, asked);
        const wait = tries < MAX_TRIES ? waitFor(failure, answer, tries) : null;
        if (wait === null || wait > left || (!how.repeatable && isAmbiguous(failure))) throw failure;
        left -= wait;
        await pause(wait, signal);
        if (signal?.aborted) throw failure;
      }
    }
  };
}

async function loadClient({ token, apiUrl, userAgent }: GitHubOptions): Promise<Octokit> {
  const { Octokit } = await import('@octokit/core');
  const baseUrl = apiUrl.replace(/(?<!\/)\/+$/u, '');
  return new Octokit({ ...(token === null ? {} : { auth: token }), baseUrl, userAgent });
}

/**
 * One request. The client fills the route and signs the request; the answer is read by us, since the client takes a body
 * that breaks off for an empty one, and has no bounds.
 */
async function sendOnce(
  client: Octokit,
  route: string,
  fill: Fill,
  how: How,
  { fetch, signal }: GitHubOptions,
): Promise<Answer> {
  const answers: Answer[] = [];
  const bounds = { fetch, signal, timeoutMs: TIMEOUT_MS, maxBytes: how.maxBytes ?? MAX_BYTES };
  const failures: unknown[] = [];
  const send = async (url: string, init: RequestInit) => {
    try {
      answers.push(await exchange(url, init, bounds));
    } catch (error) {
      failures.push(error);
    }
    return new Response(null, { status: 204 });
  };
  const headers = { accept: how.accept, 'x-github-api-version': API_VERSION };
  await client.request(route, { ...fill, headers, request: { fetch: send } });
  const [answer] = answers;
  if (answer === undefined) throw failures[0];
  return answer;
}

/** The body of an answer of JSON; null where there is none. */
function readJson({ status, headers, body }: Answer, asked: Asked): JsonAnswer {
  if (body.byteLength === 0) return { status, data: null, headers };
  try {
    return { status, data: JSON.parse(new TextDecoder().decode(body)), headers };
  } catch {
    throw unreadable(asked, 'JSON');
  }
}

function readGraphql(answer: Answer, asked: Asked): unknown {
  const { data } = readJson(answer, asked);
  const errors = member(data, 'errors');
  if (Array.isArray(errors) && errors.length > 0) throw graphqlRefusal(errors, asked);
  return member(data, 'data');
}

function unreadable({ method, route }: Asked, wanted: string): GitHubError {
  const message = `GitHub's answer to ${method} ${route} is not ${wanted}. A proxy may have answered in its place.`;
  return new GitHubError('unavailable', message, { status: 200 });
}

/** Refuses what would lead a request elsewhere: a URL loses its `..` segments, and a route the place of an empty value. */
function requireHarmless(asked: Asked, parameters: RouteParameters): void {
  for (const [, key = ''] of asked.route.matchAll(/\{(\w+)\}/gu)) {
    const value = String(parameters[key] ?? '');
    const segments = value.split(/[\\/]/u);
    if (!segments.some((each) => /^(?:\.|%2e){0,2}$/iu.test(each)) && !/\p{Cc}|\p{Cs}/u.test(value)) continue;
    const message = `${JSON.stringify(value.toWellFormed().slice(0, 200))} cannot stand for {${key}} in ${asked.method} ${asked.route}.`;
    throw new GitHubError('invalid', message);
  }
}

/** Waits, or until the signal. */
function rest(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', done, { once: true });
    if (signal?.aborted) done();
  });
}
