/** What is asked of GitHub's API, whatever the client is made of. */

/** The verbs that are sent. */
export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';

/** What fills a route's `{placeholders}`; the rest becomes the query of a GET, and the JSON body of all others. */
export type RouteParameters = Readonly<Record<string, string | number | boolean | undefined>>;

/** How one request may differ. */
export interface RequestOptions {
  /** Whether it does no harm to send it twice; true of all but POST unless given. */
  readonly repeatable?: boolean;
  /** The permission that a workflow has to give, such as `pull-requests: write`; for the message of a refusal. */
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
  readonly headers: Readonly<Record<string, string | number | undefined>>;
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
  /** The body of a GET as it came; `accept` such as `application/vnd.github.raw+json`. */
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
