/** The routes of GitHub's API that are used, answered from a state in memory. */

/** A pull request. */
export interface FakePull {
  readonly number: number;
  readonly title?: string;
  readonly body?: string | null;
  readonly author?: string;
  /** `repository` is null if the fork was deleted; the base repository by default. */
  readonly head: { readonly ref: string; readonly sha: string; readonly repository?: string | null };
  readonly base: { readonly ref: string; readonly sha: string };
  readonly files?: readonly FakeFile[];
}

/** A changed file; `patch` is missing for binary and large files. */
interface FakeFile {
  readonly filename: string;
  readonly status?: 'added' | 'removed' | 'modified' | 'renamed';
  readonly previous_filename?: string;
  readonly additions?: number;
  readonly deletions?: number;
  readonly patch?: string;
}

/** A comment of a pull request. */
export interface FakeComment {
  readonly id: number;
  readonly pull: number;
  readonly author: string;
  readonly body: string;
}

/** A status of a commit. */
export interface FakeStatus {
  readonly sha: string;
  readonly state: string;
  readonly context: string;
  readonly description: string | null;
  readonly target_url: string | null;
}

/** What GitHub holds. */
export interface GitHubState {
  readonly repository: string;
  readonly pulls: readonly FakePull[];
  /** Files by `owner/name@ref` and path. */
  readonly contents: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly branches: Readonly<Record<string, string>>;
  readonly comments: Map<number, FakeComment>;
  readonly statuses: FakeStatus[];
  addComment(comment: Omit<FakeComment, 'id'>): FakeComment;
}

/** A request to a route, with the values of its placeholders. */
interface Asked {
  readonly fill: Readonly<Record<string, string>>;
  /** Its path with its query, as it was sent. */
  readonly url: string;
  readonly query: URLSearchParams;
  readonly body: Readonly<Record<string, unknown>>;
  /** The author of a comment; null without a token. */
  readonly viewer: string | null;
}

/** A response: a JSON `body` or a raw `text`. */
export interface Answered {
  readonly status: number;
  readonly body?: unknown;
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The route that a request matches; null if there is none. */
export interface Route {
  /** Such as `GET /repos/{owner}/{repo}/pulls/{pull_number}`. */
  readonly name: string;
  /** The parameters of its query, or the members of its body. */
  readonly accepts: readonly string[];
  answer(state: GitHubState, asked: Omit<Asked, 'fill'>): Answered;
}

const REPO = '/repos/{owner}/{repo}';
type Answer = (state: GitHubState, asked: Asked) => Answered;
const ROUTES: readonly (readonly [name: string, accepts: readonly string[], answer: Answer])[] = [
  [
    `GET ${REPO}/contents/{path}`,
    ['ref'],
    ({ contents }, { fill, query }) => {
      const { owner, repo, path = '' } = fill;
      const text = contents[`${owner}/${repo}@${query.get('ref')}`]?.[path];
      return text === undefined ? refusal(404, 'Not Found') : { status: 200, text };
    },
  ],
  [
    `GET ${REPO}/commits/{ref}`,
    [],
    ({ branches }, { fill: { ref = '' } }) => {
      const sha = branches[ref.replace(/^heads\//u, '')] ?? (/^[0-9a-f]{40}$/u.test(ref) ? ref : null);
      // GitHub's response for an unknown ref.
      return sha === null ? refusal(422, `No commit found for SHA: ${ref}`) : { status: 200, body: { sha } };
    },
  ],
  [
    `GET ${REPO}/commits/{commit_sha}/pulls`,
    ['per_page', 'page'],
    (state, asked) => {
      // GitHub does not list the commits of forks.
      const own = state.pulls.filter(
        ({ head }) => head.sha === asked.fill['commit_sha'] && repositoryOf(head, state) === state.repository,
      );
      return page(own, asked, (pull) => pullAs(pull, state));
    },
  ],
  [
    `GET ${REPO}/pulls`,
    ['head', 'state', 'per_page', 'page'],
    (state, asked) => {
      const { query } = asked;
      const found = state.pulls.filter(({ head }) => {
        const [owner] = (repositoryOf(head, state) ?? '').split('/');
        return query.get('head') === `${owner}:${head.ref}`;
      });
      return page(found, asked, (pull) => pullAs(pull, state));
    },
  ],
  [
    `GET ${REPO}/pulls/{pull_number}`,
    [],
    (state, { fill }) =>
      onPull(state, fill['pull_number'], (pull) => ({ status: 200, body: pullAs(pull, state) })),
  ],
  [
    `GET ${REPO}/pulls/{pull_number}/files`,
    ['per_page', 'page'],
    (state, asked) =>
      onPull(state, asked.fill['pull_number'], ({ files = [] }) =>
        page(files, asked, (file) => ({ status: 'modified', additions: 1, deletions: 0, ...file })),
      ),
  ],
  [
    `POST ${REPO}/issues/{issue_number}/comments`,
    ['body'],
    (state, { fill, body, viewer }) =>
      onPull(state, fill['issue_number'], ({ number }) => {
        const text = textOf(body, 'body');
        if (isTooLong(text)) return TOO_LONG;
        const comment = state.addComment({ pull: number, author: viewer ?? '', body: text });
        return { status: 201, body: { id: comment.id, body: text } };
      }),
  ],
  [
    `PATCH ${REPO}/issues/comments/{comment_id}`,
    ['body'],
    (state, asked) =>
      onOwnComment(state, asked, (comment) => {
        const body = textOf(asked.body, 'body');
        if (isTooLong(body)) return TOO_LONG;
        state.comments.set(comment.id, { ...comment, body });
        return { status: 200, body: { id: comment.id, body } };
      }),
  ],
  [
    `DELETE ${REPO}/issues/comments/{comment_id}`,
    [],
    (state, asked) =>
      onOwnComment(state, asked, ({ id }) => {
        state.comments.delete(id);
        return { status: 204 };
      }),
  ],
  [
    `GET ${REPO}/commits/{ref}/statuses`,
    ['per_page', 'page'],
    ({ statuses }, asked) =>
      page(
        statuses.filter(({ sha }) => sha === asked.fill['ref']),
        asked,
        (status) => status,
      ),
  ],
  [
    `POST ${REPO}/statuses/{sha}`,
    ['state', 'context', 'description', 'target_url'],
    ({ statuses }, { fill: { sha = '' }, body }) => {
      if (!/^[0-9a-f]{40}$/u.test(sha)) return invalid(`No commit found for SHA: ${sha}`);
      const [state, description] = [textOf(body, 'state'), textOf(body, 'description')];
      if (!['error', 'failure', 'pending', 'success'].includes(state))
        return invalid(`There is no state ${state}.`);
      if ([...description].length > 140)
        return invalid('description is too long (maximum is 140 characters)');
      if (/[\u{10000}-\u{10ffff}]/u.test(description))
        return invalid("description doesn't accept 4-byte Unicode");
      const context = textOf(body, 'context') || 'default';
      const target_url = textOf(body, 'target_url') || null;
      statuses.push({ sha, state, context, description: description || null, target_url });
      return { status: 201, body: {} };
    },
  ],
];

/** Finds the route of a request. `path` is encoded, as it was sent. */
export function findRoute(method: string, path: string): Route | null {
  for (const [name, accepts, answer] of ROUTES) {
    const pattern = name.replace(/\{(\w+)\}/gu, '(?<$1>[^/]+)');
    const groups = new RegExp(`^${pattern}$`, 'u').exec(`${method} ${path}`)?.groups;
    if (groups === undefined) continue;
    const fill = Object.fromEntries(
      Object.entries(groups).map(([key, value]) => [key, decodeURIComponent(value)]),
    );
    return {
      name,
      accepts,
      answer(state, asked) {
        const isOwn = `${fill['owner']}/${fill['repo']}` === state.repository;
        if (!isOwn && !name.includes('/contents/')) return refusal(404, 'Not Found');
        if (asked.viewer === null && method !== 'GET') return refusal(401, 'Requires authentication');
        return answer(state, { ...asked, fill });
      },
    };
  }
  return null;
}

export function refusal(status: number, message: string): Answered {
  return { status, body: { message, documentation_url: 'https://docs.github.com/rest' } };
}

function invalid(message: string): Answered {
  return { status: 422, body: { message: 'Validation Failed', errors: [{ code: 'custom', message }] } };
}

const TOO_LONG = invalid('body is too long (maximum is 65536 characters)');

function isTooLong(text: string): boolean {
  return text === '' || [...text].length > 65_536;
}

function onPull(
  { pulls }: GitHubState,
  number: string | undefined,
  answer: (pull: FakePull) => Answered,
): Answered {
  const pull = pulls.find((each) => each.number === Number(number));
  return pull === undefined ? refusal(404, 'Not Found') : answer(pull);
}

function onOwnComment(
  { comments }: GitHubState,
  { fill, viewer }: Asked,
  answer: (comment: FakeComment) => Answered,
): Answered {
  const comment = comments.get(Number(fill['comment_id']));
  if (comment === undefined) return refusal(404, 'Not Found');
  return comment.author === viewer ? answer(comment) : refusal(403, 'Resource not accessible by integration');
}

/** null if the fork was deleted. */
function repositoryOf({ repository }: FakePull['head'], state: GitHubState): string | null {
  return repository === undefined ? state.repository : repository;
}

function pullAs(pull: FakePull, github: GitHubState): unknown {
  const side = ({ ref, sha }: FakePull['base'], name: string | null) => ({
    ref,
    sha,
    repo: name === null ? null : { full_name: name },
  });
  const { number, title = 'A change', body = null, author = 'octocat', head, base } = pull;
  return {
    number,
    title,
    body,
    state: 'open',
    user: { login: author },
    head: side(head, repositoryOf(head, github)),
    base: side(base, github.repository),
    changed_files: pull.files?.length ?? 0,
  };
}

/** A page of a list with its Link header. */
function page<T>(all: readonly T[], { url, query }: Asked, show: (item: T) => unknown): Answered {
  const size = Math.min(100, Number(query.get('per_page') ?? 30));
  const number = Number(query.get('page') ?? 1);
  const hasMore = number * size < all.length;
  return {
    status: 200,
    body: all.slice((number - 1) * size, number * size).map(show),
    headers: hasMore ? { link: `<${nextOf(url, number + 1)}>; rel="next", <https://x>; rel="last"` } : {},
  };
}

function nextOf(url: string, number: number): string {
  const next = new URL(url, 'https://api.github.com');
  next.searchParams.set('page', String(number));
  return next.pathname + next.search;
}

function textOf(body: Asked['body'], key: string): string {
  const value = body[key];
  return typeof value === 'string' ? value : '';
}

/** The only query that is sent; checked against GitHub's public schema by hand. */
const QUERY =
  'query($owner: String!, $repo: String!, $number: Int!, $after: String) { repository(owner: $owner, name: $repo) { pullRequest(number: $number) { comments(first: 100, after: $after) { nodes { fullDatabaseId body viewerDidAuthor } pageInfo { hasNextPage endCursor } } } } }';
const PAGE = 100;

/** Answers the query for the comments of a pull request; null for any other query, or one without a token. */
export function answerGraphql(
  state: GitHubState,
  { body, viewer }: Pick<Asked, 'body' | 'viewer'>,
): Answered | null {
  const variables = { ...(typeof body['variables'] === 'object' ? body['variables'] : {}) };
  const { owner, repo, number, after }: Readonly<Record<string, unknown>> = variables;
  if (viewer === null || textOf(body, 'query').replace(/\s+/gu, ' ').trim() !== QUERY) return null;
  const pull = state.pulls.find((each) => each.number === number);
  if (pull === undefined || `${owner}/${repo}` !== state.repository)
    return { status: 200, body: { data: null, errors: [{ type: 'NOT_FOUND', message: 'Not found.' }] } };
  const all = [...state.comments.values()].filter((each) => each.pull === number);
  const from = Number(after ?? 0);
  const nodes = all.slice(from, from + PAGE).map((comment) => ({
    fullDatabaseId: String(comment.id),
    body: comment.body,
    viewerDidAuthor: comment.author === viewer,
  }));
  const pageInfo = { hasNextPage: from + PAGE < all.length, endCursor: String(from + PAGE) };
  const pullRequest = { comments: { nodes, pageInfo } };
  return { status: 200, body: { data: { repository: { pullRequest } } } };
}
