/** The interface to GitHub's API, independent of the client that implements it. */

export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';

/**
 * Values for a route's `{placeholders}`; the rest becomes the query of a GET, or the JSON body of any other request.
 */
export type RouteParameters = Readonly<Record<string, string | number | boolean | undefined>>;

export interface RequestOptions {
  /** Whether the request may safely be sent twice. **Default:** `true` for all methods but POST. */
  readonly repeatable?: boolean;
  /** The required workflow permission, such as `pull-requests: write`, for the error message. */
  readonly needs?: string;
  /** Maximum size of the response in bytes. **Default:** 32 MiB. */
  readonly maxBytes?: number;
}

export interface JsonAnswer {
  readonly status: number;
  /** null if there was no body. */
  readonly data: unknown;
  /** Header names in lower case. */
  readonly headers: Readonly<Record<string, string | number | undefined>>;
}

/** A list that may not have been fetched completely. */
export interface Pages {
  readonly items: readonly unknown[];
  /** Whether the last page fetched was the last page of the list. */
  readonly complete: boolean;
}

/**
 * The part of the GitHub API that is used. Every method rejects with a GitHubError, whose message is a human-readable
 * sentence. Placeholder values are percent-encoded; a value that could change the path (`..`, an empty one) is rejected
 * before anything is sent.
 */
export interface GitHub {
  request(
    method: Method,
    route: string,
    parameters?: RouteParameters,
    options?: RequestOptions,
  ): Promise<JsonAnswer>;
  /** Returns the raw body of a GET; `accept` is a media type such as `application/vnd.github.raw+json`. */
  bytes(
    route: string,
    parameters: RouteParameters,
    accept: string,
    options?: RequestOptions,
  ): Promise<Uint8Array>;
  /** Fetches a list in pages of 100, at most `maxPages` (**Default:** 30); no page is requested after one minute. */
  paginate(route: string, parameters: RouteParameters, maxPages?: number): Promise<Pages>;
  /** Returns the `data` of a query; retried like a GET if it fails. */
  graphql(
    query: string,
    variables: Readonly<Record<string, string | number | null>>,
    options?: Pick<RequestOptions, 'needs'>,
  ): Promise<unknown>;
}
