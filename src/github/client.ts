/**
 * A client for GitHub's API, with limits on size, time and retries. Requests are made by @actions/github, which is
 * loaded with the first request; responses are `unknown` until they are parsed.
 */
import { GitHubError } from '../errors.ts';
import { DISPLAY } from '../text/limits.ts';
import { race } from '../text/wait.ts';
import type { GitHub, Method, RequestOptions, RouteParameters } from './api.ts';
import { interruption, type Operation, toGitHubError, toRefusal, unreadable } from './failures.ts';
import type { Octokit, OctokitOptions, Reply } from './transport.ts';

/** Bytes of a response of GitHub. */
const MAX_RESPONSE = 32 * 1024 ** 2;
/** The time after which no further page of a list is requested. */
const LIST_MS = 60_000;

export interface GitHubOptions extends OctokitOptions {
  readonly now?: () => number;
}

const JSON_TYPE = 'application/vnd.github+json';
const API_VERSION = '2022-11-28';

/** Creates a client for GitHub's API. Nothing is loaded or sent before the first request. */
export function createGitHub(options: GitHubOptions): GitHub {
  const { token, signal, now = () => performance.now() } = options;
  let loading: Promise<Octokit> | null = null;
  const send = async <T>(operation: Operation, work: (octokit: Octokit) => Promise<T>): Promise<T> => {
    loading ??= import('./transport.ts').then(({ createOctokit }) => createOctokit(options));
    const reply = loading.then(work);
    try {
      // Nothing else ends the plugins' waits for rate limits and between retries.
      return await (signal === undefined ? reply : race(reply, signal));
    } catch (error) {
      throw signal?.aborted === true ? interruption(signal) : toGitHubError(error, operation);
    }
  };
  const ask = (
    method: Method,
    route: string,
    parameters: RouteParameters,
    accept: string,
    how: RequestOptions,
  ): Promise<Reply> => {
    const operation = { method, route, needs: how.needs ?? null, signedIn: token !== null };
    requireHarmless(operation, parameters);
    return send(operation, async (octokit) => {
      const reply: Reply = await octokit.request(`${method} ${route}`, {
        ...parameters,
        headers: { accept, 'x-github-api-version': API_VERSION },
        request: {
          repeatable: how.repeatable ?? method !== 'POST',
          maxBytes: how.maxBytes ?? MAX_RESPONSE,
          expectsJson: accept === JSON_TYPE,
        },
      });
      // A redirect that is not followed, which the client treats as a success.
      if (reply.status >= 300) throw toRefusal(reply, operation);
      return reply;
    });
  };
  const request: GitHub['request'] = async (method, route, parameters = {}, how = {}) => {
    const { status, data, headers } = await ask(method, route, parameters, JSON_TYPE, how);
    return { status, data: data === '' ? null : data, headers };
  };
  return {
    request,
    async bytes(route, parameters, accept, how = {}) {
      const { data } = await ask('GET', route, parameters, accept, how);
      return data instanceof ArrayBuffer ? new Uint8Array(data) : new Uint8Array();
    },
    // The client's own `paginate` is not used: it sends the token to whatever URL the Link header names, treats a 409
    // response as the end of the list, and has no limit.
    async paginate(route, parameters, maxPages = 30) {
      const operation = { method: 'GET', route, needs: null, signedIn: token !== null };
      const items: unknown[] = [];
      const until = now() + LIST_MS;
      for (let page = 1; page <= maxPages; page++) {
        if (now() > until) throw new GitHubError('unavailable', `GitHub was too slow for GET ${route}.`);
        const { data, headers } = await request('GET', route, { ...parameters, per_page: 100, page });
        if (!Array.isArray(data)) throw unreadable(operation, 'a list');
        items.push(...data);
        if (!/;\s*rel="?next\b/u.test(String(headers['link'] ?? ''))) return { items, complete: true };
      }
      return { items, complete: false };
    },
    graphql(query, variables, how = {}) {
      const operation = {
        method: 'POST',
        route: '/graphql',
        needs: how.needs ?? null,
        signedIn: token !== null,
      };
      return send(operation, (octokit) =>
        octokit.graphql<unknown>(query, {
          ...variables,
          headers: { accept: JSON_TYPE, 'x-github-api-version': API_VERSION },
          request: { repeatable: true, maxBytes: MAX_RESPONSE, expectsJson: true },
        }),
      );
    },
  };
}

/**
 * Rejects values that would change the target of a request: URL parsing removes `..` segments, and an empty value
 * removes a path segment.
 */
function requireHarmless({ method, route }: Operation, parameters: RouteParameters): void {
  for (const [, key = ''] of route.matchAll(/\{(\w+)\}/gu)) {
    const value = String(parameters[key] ?? '');
    const segments = value.split(/[\\/]/u);
    if (!segments.some((each) => /^(?:\.|%2e){0,2}$/iu.test(each)) && !/\p{Cc}|\p{Cs}/u.test(value)) continue;
    const message = `${JSON.stringify(value.toWellFormed().slice(0, DISPLAY.phrase))} cannot stand for {${key}} in ${method} ${route}.`;
    throw new GitHubError('invalid', message);
  }
}
