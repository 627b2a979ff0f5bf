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
  /** `repository` is null if the fork was deleted; the base repository by default. */
  readonly head: { readonly ref: string; readonly sha: string; readonly repository?: string | null };
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
  readonly pulls?: readonly FakePull[];
  /** Files by `owner/name@ref` and path. */
  readonly contents?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly branches?: Readonly<Record<string, string>>;
  readonly comments?: readonly Omit<FakeComment, 'id'>[];
  readonly statuses?: readonly FakeStatus[];
  /** The prefix of the API paths: `/api/v3` as on GitHub Enterprise Server. */
  readonly prefix?: string;
}

type State = ReturnType<typeof createState>;

/** What a request asks for. */
interface Asked {
  /** The values of the placeholders of its route. */
  readonly fill: Readonly<Record<string, string>>;
  readonly url: URL;
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
  readonly headers?: Readonly<Record<string, string>>;
}

/** A fault instead of a request. `cut`: the connection breaks before, `lost`: after the request was done. */
type Fault =
  | { readonly status: number; readonly headers?: Answered['headers']; readonly message?: string }
  | { readonly kind: 'cut' | 'lost' | 'broken_json' };

/** The running server. */
export type GitHubServer = Awaited<ReturnType<typeof startGitHubServer>>;

/** GitHub's ids exceed 32 bits and increase. */
const FIRST_ID = 3_100_000_000;
const MAX_COMMENT = 65_536;
/** The only query that is sent; checked against GitHub's public schema by hand. */
const QUERY =
  'query($owner: String!, $repo: String!, $number: Int!, $after: String) { repository(owner: $owner, name: $repo) { pullRequest(number: $number) { comments(first: 100, after: $after) { nodes { fullDatabaseId body viewerDidAuthor } pageInfo { hasNextPage endCursor } } } } }';

const GRAPHQL = 'POST /graphql';
const REPO = '/repos/{owner}/{repo}';
const PULL = `${REPO}/pulls/{pull_number}`;
const COMMENT = `${REPO}/issues/comments/{comment_id}`;

/** The routes that are used, with the placeholders of GitHub's documentation. */
const ROUTES: Readonly<Record<string, (state: State, asked: Asked) => Answered>> = {
  [`GET ${REPO}/contents/{path}`]({ contents }, { fill: { owner, repo, path = '' }, url }) {
    const text = contents[`${owner}/${repo}@${url.searchParams.get('ref')}`]?.[path];
    return text === undefined ? NOT_FOUND : { status: 200, text };
  },
  [`GET ${REPO}/commits/{ref}`]({ branches }, { fill: { ref = '' } }) {
    const sha = branches[ref.replace(/^heads\//u, '')] ?? (/^[0-9a-f]{40}$/u.test(ref) ? ref : null);
    // GitHub's response for an unknown ref.
    return sha === null ? refusal(422, `No commit found for SHA: ${ref}`) : { status: 200, body: { sha } };
  },
  [`GET ${REPO}/commits/{commit_sha}/pulls`](state, { fill, url }) {
    // GitHub does not list the commits of forks.
    const isOwn = ({ head }: FakePull) =>
      head.sha === fill['commit_sha'] && repositoryOf(head, state) === state.repository;
    return page(url, pullsAs(state.pulls.filter(isOwn), state));
  },
  [`GET ${REPO}/commits/{ref}/statuses`]({ statuses }, { fill, url }) {
    const own = statuses.filter(({ sha }) => sha === fill['ref']);
    return page(url, own);
  },
  [`POST ${REPO}/statuses/{sha}`]({ statuses }, { fill: { sha = '' }, body }) {
    const { state = '', context = 'default', description = null, target_url = null } = body;
    statuses.push({ sha, state, context, description, target_url });
    return { status: 201, body: {} };
  },
  [`GET ${REPO}/pulls`](state, { url }) {
    const isAsked = ({ head }: FakePull) =>
      url.searchParams.get('head') === `${repositoryOf(head, state)?.split('/')[0]}:${head.ref}`;
    return page(url, pullsAs(state.pulls.filter(isAsked), state));
  },
  [`GET ${PULL}`](state, { fill }) {
    const [body] = pullsAs(pullsOf(state, fill['pull_number']), state);
    return body === undefined ? NOT_FOUND : { status: 200, body };
  },
  [`GET ${PULL}/files`](state, { fill, url }) {
    const [pull] = pullsOf(state, fill['pull_number']);
    if (pull === undefined) return NOT_FOUND;
    const usual = { status: 'modified', additions: 1, deletions: 0 };
    return page(url, pull.files?.map((file) => ({ ...usual, ...file })) ?? []);
  },
  [`POST ${REPO}/issues/{issue_number}/comments`](state, { fill, body: { body = '' }, viewer }) {
    const [pull] = pullsOf(state, fill['issue_number']);
    if (pull === undefined) return NOT_FOUND;
    if (body.length > MAX_COMMENT) return TOO_LONG;
    return { status: 201, body: state.addComment({ pull: pull.number, author: viewer ?? '', body }) };
  },
  [`PATCH ${COMMENT}`]({ comments }, { fill, body: { body = '' } }) {
    const comment = comments.get(Number(fill['comment_id']));
    if (comment === undefined) return NOT_FOUND;
    if (body.length > MAX_COMMENT) return TOO_LONG;
    comments.set(comment.id, { ...comment, body });
    return { status: 200, body: {} };
  },
  [`DELETE ${COMMENT}`]({ comments }, { fill }) {
    return comments.delete(Number(fill['comment_id'])) ? { status: 204 } : NOT_FOUND;
  },
  [GRAPHQL](state, { body: { query = '', variables }, viewer }) {
    if (variables === undefined || query.replace(/\s+/gu, ' ').trim() !== QUERY) return NOT_UNDERSTOOD;
    const { owner, repo, number, after } = variables;
    if (`${owner}/${repo}` !== state.repository || pullsOf(state, number).length === 0)
      return { status: 200, body: { data: null, errors: [{ type: 'NOT_FOUND', message: 'Not found.' }] } };
    const all = [...state.comments.values()].filter(({ pull }) => pull === Number(number));
    const from = Number(after ?? 0);
    const nodes = all.slice(from, from + 100).map(({ id, body, author }) => ({
      ...{ fullDatabaseId: String(id), body, viewerDidAuthor: author === viewer },
    }));
    const pageInfo = { hasNextPage: from + 100 < all.length, endCursor: String(from + 100) };
    const data = { repository: { pullRequest: { comments: { nodes, pageInfo } } } };
    return { status: 200, body: { data } };
  },
};

const PATTERNS = Object.entries(ROUTES).map(([name, answer]) => {
  const pattern = name.replace(/\{(\w+)\}/gu, '(?<$1>[^/]+)');
  return { name, answer, pattern: new RegExp(`^${pattern}$`, 'u') };
});

/** Starts the server on a free loopback port. */
export async function startGitHubServer(world: GitHubWorld = {}) {
  const { tokens = { 'test-token': 'github-actions[bot]' }, prefix = '' } = world;
  const state = createState(world);
  const requests: { readonly operation: string; readonly path: string }[] = [];
  const problems: string[] = [];
  const faults: { readonly operation: string; readonly fault: Fault; left: number }[] = [];
  const graphqlPath = `${prefix.replace(/\/v3$/u, '')}/graphql`;

  const serveRequest = async (incoming: IncomingMessage, response: ServerResponse) => {
    const { method = '', url: path = '', headers } = incoming;
    const raw = await textOf(incoming);
    const url = new URL(path, 'http://github.test');
    const asked = url.pathname === graphqlPath ? GRAPHQL : `${method} ${url.pathname.slice(prefix.length)}`;
    const route = PATTERNS.find(({ pattern }) => pattern.test(asked));
    const operation = route?.name ?? asked;
    requests.push({ operation, path });
    const answer = (): Answered => {
      const token = /^(?:token|bearer) (.+)$/iu.exec(headers.authorization ?? '')?.[1];
      const viewer = token === undefined ? null : tokens[token];
      if (viewer === undefined) return refusal(401, 'Bad credentials');
      const values = Object.entries(route?.pattern.exec(asked)?.groups ?? {});
      const fill = Object.fromEntries(values.map(([key, value]) => [key, decodeURIComponent(value)]));
      const { owner, repo = '', path: file } = fill;
      // Files of other repositories may be read.
      if (repo !== '' && file === undefined && `${owner}/${repo}` !== state.repository) return NOT_FOUND;
      const body = raw === '' ? {} : JSON.parse(raw);
      const answered = isWellFormed(headers) && route?.answer(state, { fill, url, body, viewer });
      if (answered && answered !== NOT_UNDERSTOOD) return answered;
      problems.push(`${url} ${raw} ${JSON.stringify(headers)}`);
      return NOT_UNDERSTOOD;
    };
    const next = faults.find((each) => each.left > 0 && operation.startsWith(each.operation));
    if (next === undefined) return send(response, answer());
    next.left -= 1;
    const { fault } = next;
    if ('status' in fault) {
      const { status, message = 'No.', headers = {} } = fault;
      return send(response, { ...refusal(status, message), headers });
    }
    if (fault.kind === 'broken_json') {
      const headers = { 'content-type': 'application/json' };
      return send(response, { status: 200, text: '{"id": 1, "bo', headers });
    }
    if (fault.kind === 'lost') answer();
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
    apiUrl: `${url}${prefix}`,
    graphqlUrl: `${url}${graphqlPath}`,
    /** Each with its route, such as `GET /repos/{owner}/{repo}/pulls/{pull_number}`, and its path with the query. */
    requests: requests as readonly { readonly operation: string; readonly path: string }[],
    /** The problems so far; a test that provokes one empties the list. */
    problems,
    /** The existing comments, in order of their ids. */
    comments: (): readonly FakeComment[] => [...state.comments.values()],
    /** The statuses in the order they were set. */
    statuses: (): readonly FakeStatus[] => state.statuses,
    /** Adds a comment, as another job or a person would. */
    addComment: (comment: Omit<FakeComment, 'id'>) => void state.addComment(comment),
    /** Makes the next requests of a route with this prefix fail. */
    fail: (operation: string, fault: Fault, times = 1) => void faults.push({ operation, fault, left: times }),
    /** Stops the server. Throws if there were problems. */
    async close(): Promise<void> {
      await close();
      if (problems.length > 0) throw new Error(`The fake GitHub had to complain:\n${problems.join('\n')}`);
    },
  };
}

function createState(world: GitHubWorld) {
  const { repository = 'octo/demo', pulls = [], contents = {}, branches = {}, statuses = [] } = world;
  const comments = new Map<number, FakeComment>();
  let nextId = FIRST_ID;
  const addComment = (comment: Omit<FakeComment, 'id'>) => {
    const added = { ...comment, id: nextId++ };
    comments.set(added.id, added);
    return added;
  };
  world.comments?.forEach(addComment);
  return { repository, pulls, contents, branches, comments, statuses: [...statuses], addComment };
}

function refusal(status: number, message: string): Answered {
  return { status, body: { message, documentation_url: 'https://docs.github.com/rest' } };
}

const NOT_FOUND = refusal(404, 'Not Found');
const TOO_LONG = refusal(422, 'body is too long');
const NOT_UNDERSTOOD = refusal(400, 'GitHub would not understand this.');

function isWellFormed({ 'user-agent': agent = '', accept = '' }: IncomingMessage['headers']): boolean {
  return /^structured-agent\//u.test(agent) && /^application\/vnd\.github\.v3(?:\+json|\.raw)$/u.test(accept);
}

function pullsOf({ pulls }: State, number: string | undefined): readonly FakePull[] {
  return pulls.filter((pull) => pull.number === Number(number));
}

/** null if the fork was deleted. */
function repositoryOf({ repository }: FakePull['head'], state: State): string | null {
  return repository === undefined ? state.repository : repository;
}

/** Pull requests as GitHub describes them. */
function pullsAs(pulls: readonly FakePull[], state: State): readonly unknown[] {
  const repo = (full_name: string | null) => (full_name === null ? null : { full_name });
  return pulls.map(
    ({ number, title = 'A change', body = null, author = 'octocat', head, base, files = [] }) => ({
      ...{ number, title, body, state: 'open', user: { login: author }, changed_files: files.length },
      head: { ref: head.ref, sha: head.sha, repo: repo(repositoryOf(head, state)) },
      base: { ...base, repo: repo(state.repository) },
    }),
  );
}

/** A page of a list with its Link header. */
function page({ pathname, searchParams }: URL, all: readonly unknown[]): Answered {
  const size = Math.min(100, Number(searchParams.get('per_page') ?? 30));
  const end = size * Number(searchParams.get('page') ?? 1);
  const body = all.slice(end - size, end);
  if (end >= all.length) return { status: 200, body };
  const next = new URLSearchParams(searchParams);
  next.set('page', String(end / size + 1));
  const link = `<${pathname}?${next}>; rel="next", <https://x>; rel="last"`;
  return { status: 200, body, headers: { link } };
}

function send(response: ServerResponse, { status, body, text, headers }: Answered): void {
  const type = text === undefined ? 'application/json; charset=utf-8' : 'application/octet-stream';
  response.writeHead(status, { 'content-type': type, ...headers });
  response.end(text ?? (body === undefined ? '' : JSON.stringify(body)));
}
