/**
 * A loopback GitHub with pull requests, files, comments and statuses, which records requests. A request that GitHub
 * would not understand gets status 400, is listed in `problems` and makes `close` throw.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { serve } from '../../local.ts';

export interface FakePull {
  readonly number: number;
  readonly title?: string;
  readonly body?: string | null;
  readonly author?: string;
  /** `repository` is that of a fork. */
  readonly head: { readonly ref: string; readonly sha: string; readonly repository?: string };
  readonly base: { readonly ref: string; readonly sha: string };
  /** `patch` is missing for binary and large files. */
  readonly files?: readonly {
    readonly filename: string;
    readonly status?: 'added' | 'removed' | 'modified' | 'renamed';
    readonly previous_filename?: string;
    readonly additions?: number;
    readonly patch?: string;
  }[];
}

interface FakeComment {
  readonly id: number;
  readonly pull: number;
  readonly author: string;
  readonly body: string;
}

interface FakeStatus {
  readonly sha: string;
  readonly state: string;
  readonly context: string;
  readonly description: string | null;
  readonly target_url: string | null;
}

/** The initial state. */
export interface GitHubWorld {
  /** `octo/demo` by default. */
  readonly repository?: string;
  /** Users by token; `test-token` of `github-actions[bot]` by default. Other tokens get status 401. */
  readonly tokens?: Readonly<Record<string, string>>;
  readonly pull: FakePull;
  /** Files by `owner/name@ref` and path. */
  readonly contents?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly branches?: Readonly<Record<string, string>>;
  readonly comments?: readonly Omit<FakeComment, 'id'>[];
  readonly statuses?: readonly FakeStatus[];
}

/** What a request asks for. */
interface Asked {
  /** The values of the placeholders of its route. */
  readonly fill: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly body: Partial<FakeStatus> & {
    readonly body?: string;
    readonly query?: string;
    readonly variables?: Readonly<Record<'owner' | 'repo' | 'number' | 'after', string>>;
  };
  /** The author of a comment; null without a token. */
  readonly viewer: string | null;
}

/** A response: a JSON `body` or a raw `text`. */
interface Answered {
  readonly status: number;
  readonly body?: unknown;
  readonly text?: string;
}

/** What happens to a request. `lost`: it is done, and the connection breaks before the answer. */
type Fault = { readonly status: number } | { readonly kind: 'lost' };

/** The running server. */
export type GitHubServer = Awaited<ReturnType<typeof startGitHubServer>>;

/** GitHub's ids exceed 32 bits and increase. */
const FIRST_ID = 3_100_000_000;
const MAX_COMMENT = 65_536;
/** The only query that is sent; checked against GitHub's public schema by hand. */
const QUERY =
  'query($owner: String!, $repo: String!, $number: Int!, $after: String) { repository(owner: $owner, name: $repo) { pullRequest(number: $number) { comments(first: 100, after: $after) { nodes { fullDatabaseId body viewerDidAuthor } pageInfo { hasNextPage endCursor } } } } }';

const REPO = '/repos/{owner}/{repo}';
const PULL = `${REPO}/pulls/{pull_number}`;
const COMMENT = `${REPO}/issues/comments/{comment_id}`;

const refusal = (status: number, message: string): Answered => ({
  status,
  body: { message, documentation_url: 'https://docs.github.com/rest' },
});
const NOT_FOUND = refusal(404, 'Not Found');
const NOT_UNDERSTOOD = refusal(400, 'GitHub would not understand this.');

/** Creates the state, and the routes that are used, with the placeholders of GitHub's documentation. */
function createRoutes({
  repository = 'octo/demo',
  pull,
  contents = {},
  branches = {},
  ...world
}: GitHubWorld) {
  const { title = 'A change', body = null, author = 'octocat', head, base, files = [] } = pull;
  const pullRequest = {
    ...{ number: pull.number, title, body, state: 'open', user: { login: author } },
    head: { ref: head.ref, sha: head.sha, repo: { full_name: head.repository ?? repository } },
    base: { ...base, repo: { full_name: repository } },
    changed_files: files.length,
  };
  const listed = files.map((file) => ({ status: 'modified', additions: 1, deletions: 0, ...file }));
  const statuses = [...(world.statuses ?? [])];
  const comments = new Map<number, FakeComment>();
  let nextId = FIRST_ID;
  const addComment = (comment: Omit<FakeComment, 'id'>) => {
    const id = nextId++;
    comments.set(id, { ...comment, id });
  };
  world.comments?.forEach(addComment);
  const listPullIf = (isAsked: boolean) => ({ status: 200, body: isAsked ? [pullRequest] : [] });

  const routes: Readonly<Record<string, (asked: Asked) => Answered>> = {
    [`GET ${REPO}/contents/{path}`]({ fill: { owner, repo, path = '' }, query }) {
      const text = contents[`${owner}/${repo}@${query.get('ref')}`]?.[path];
      return text === undefined ? NOT_FOUND : { status: 200, text };
    },
    [`GET ${REPO}/commits/{ref}`]({ fill: { ref = '' } }) {
      const sha = branches[ref.replace(/^heads\//u, '')] ?? (/^[0-9a-f]{40}$/u.test(ref) ? ref : null);
      // GitHub's response for an unknown ref.
      return sha === null ? refusal(422, `No commit found for SHA: ${ref}`) : { status: 200, body: { sha } };
    },
    // GitHub does not list the commits of forks.
    [`GET ${REPO}/commits/{commit_sha}/pulls`]: ({ fill }) =>
      listPullIf(head.sha === fill['commit_sha'] && head.repository === undefined),
    [`GET ${REPO}/commits/{ref}/statuses`]({ fill, query }) {
      const own = statuses.filter(({ sha }) => sha === fill['ref']);
      return firstPage(query, own);
    },
    [`POST ${REPO}/statuses/{sha}`]({ fill: { sha = '' }, body }) {
      const { state = '', context = 'default', description = null, target_url = null } = body;
      statuses.push({ sha, state, context, description, target_url });
      return { status: 201, body: {} };
    },
    [`GET ${REPO}/pulls`]({ query }) {
      const [owner] = pullRequest.head.repo.full_name.split('/');
      return listPullIf(query.get('head') === `${owner}:${head.ref}`);
    },
    [`GET ${PULL}`]: () => ({ status: 200, body: pullRequest }),
    [`GET ${PULL}/files`]: ({ query }) => firstPage(query, listed),
    [`POST ${REPO}/issues/{issue_number}/comments`]({ body: { body = '' }, viewer }) {
      addComment({ pull: pull.number, author: viewer ?? '', body });
      return { status: 201, body: {} };
    },
    [`PATCH ${COMMENT}`]({ fill, body: { body = '' } }) {
      const comment = comments.get(Number(fill['comment_id']));
      if (comment === undefined) return NOT_FOUND;
      comments.set(comment.id, { ...comment, body });
      return { status: 200, body: {} };
    },
    [`DELETE ${COMMENT}`]: ({ fill }) =>
      comments.delete(Number(fill['comment_id'])) ? { status: 204 } : NOT_FOUND,
    ['POST /graphql']({ body: { query = '', variables }, viewer }) {
      if (variables === undefined || query.replace(/\s+/gu, ' ').trim() !== QUERY) return NOT_UNDERSTOOD;
      const { owner, repo, number, after } = variables;
      if (`${owner}/${repo}` !== repository || Number(number) !== pull.number) return NOT_UNDERSTOOD;
      const from = Number(after ?? 0);
      const nodes = [...comments.values()].slice(from, from + 100).map(({ id, body, author }) => ({
        ...{ fullDatabaseId: String(id), body, viewerDidAuthor: author === viewer },
      }));
      const pageInfo = { hasNextPage: from + 100 < comments.size, endCursor: String(from + 100) };
      const data = { repository: { pullRequest: { comments: { nodes, pageInfo } } } };
      return { status: 200, body: { data } };
    },
  };
  const patterns = Object.entries(routes).map(([name, answer]) => {
    const pattern = name.replace(/\{(\w+)\}/gu, '(?<$1>[^/]+)');
    return { name, answer, pattern: new RegExp(`^${pattern}$`, 'u') };
  });
  return { patterns, repository, comments, statuses, addComment };
}

/** No list of a test has a second page. */
function firstPage(query: URLSearchParams, all: readonly unknown[]): Answered {
  return { status: 200, body: all.slice(0, Number(query.get('per_page') ?? 30)) };
}

/** Starts the server on a free loopback port. */
export async function startGitHubServer(world: GitHubWorld) {
  const { tokens = { 'test-token': 'github-actions[bot]' } } = world;
  const { patterns, repository, comments, statuses, addComment } = createRoutes(world);
  const requests: { readonly operation: string }[] = [];
  const problems: string[] = [];
  const faults: { readonly operation: string; readonly fault: Fault; left: number }[] = [];

  const serveRequest = async (incoming: IncomingMessage, response: ServerResponse) => {
    const { method, headers } = incoming;
    const raw = await textOf(incoming);
    const url = new URL(incoming.url ?? '', 'http://github.test');
    const asked = `${method} ${url.pathname}`;
    const route = patterns.find(({ pattern }) => pattern.test(asked));
    const operation = route?.name ?? asked;
    requests.push({ operation });
    const answer = (): Answered => {
      const token = /^(?:token|bearer) (.+)$/iu.exec(headers.authorization ?? '')?.[1];
      const viewer = token === undefined ? null : tokens[token];
      if (viewer === undefined) return refusal(401, 'Bad credentials');
      const values = Object.entries(route?.pattern.exec(asked)?.groups ?? {});
      const fill = Object.fromEntries(values.map(([key, value]) => [key, decodeURIComponent(value)]));
      const { owner, repo = '', path: file, pull_number, issue_number = pull_number } = fill;
      // Files of other repositories may be read.
      if (repo !== '' && file === undefined && `${owner}/${repo}` !== repository) return NOT_FOUND;
      if (issue_number !== undefined && Number(issue_number) !== world.pull.number) return NOT_FOUND;
      const body: Asked['body'] = raw === '' ? {} : JSON.parse(raw);
      if ((body.body ?? '').length > MAX_COMMENT) return refusal(422, 'body is too long');
      const answered =
        isWellFormed(headers) && route?.answer({ fill, query: url.searchParams, body, viewer });
      if (answered && answered !== NOT_UNDERSTOOD) return answered;
      problems.push(`${url} ${raw} ${JSON.stringify(headers)}`);
      return NOT_UNDERSTOOD;
    };
    const next = faults.find((each) => each.left > 0 && operation.startsWith(each.operation));
    if (next === undefined) return send(response, answer());
    next.left -= 1;
    if ('status' in next.fault) return send(response, refusal(next.fault.status, 'No.'));
    answer();
    response.destroy();
  };

  const server = createServer((incoming, response) => {
    serveRequest(incoming, response).catch((error: unknown) => {
      problems.push(String(error));
      response.destroy();
    });
  });
  const { port, close } = await serve(server);
  const url = `http://127.0.0.1:${port}`;
  return {
    /** For GITHUB_API_URL and GITHUB_GRAPHQL_URL. */
    apiUrl: url,
    graphqlUrl: `${url}/graphql`,
    /** Each with its route, such as `GET /repos/{owner}/{repo}/pulls/{pull_number}`. */
    requests: requests as readonly { readonly operation: string }[],
    /** The existing comments, in order of their ids. */
    comments: (): readonly FakeComment[] => [...comments.values()],
    /** The statuses in the order they were set. */
    statuses: (): readonly FakeStatus[] => statuses,
    /** Adds a comment, as another job or a person would. */
    addComment,
    /** Makes the next requests of a route with this prefix fail. */
    fail: (operation: string, fault: Fault, times = 1) => void faults.push({ operation, fault, left: times }),
    /** Stops the server. Throws if there were problems. */
    async close(): Promise<void> {
      await close();
      if (problems.length > 0) throw new Error(`The fake GitHub had to complain:\n${problems.join('\n')}`);
    },
  };
}

function isWellFormed({ 'user-agent': agent = '', accept = '' }: IncomingMessage['headers']): boolean {
  return /^structured-agent\//u.test(agent) && /^application\/vnd\.github\.v3(?:\+json|\.raw)$/u.test(accept);
}

function send(response: ServerResponse, { status, body, text }: Answered): void {
  const type = text === undefined ? 'application/json; charset=utf-8' : 'application/octet-stream';
  response.writeHead(status, { 'content-type': type });
  response.end(text ?? (body === undefined ? '' : JSON.stringify(body)));
}
