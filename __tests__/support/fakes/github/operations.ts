/** The REST operations of the fake GitHub: published examples, filled in from its state. */
import type { Operation } from './description.ts';
import type { FakeComment, FakePull, GitHubState } from './state.ts';

/** A valid request. */
interface AskedOperation {
  readonly operation: Operation;
  readonly query: URLSearchParams;
  readonly body: unknown;
  /** The authenticated user; null without a token. */
  readonly viewer: string | null;
  readonly accept: string;
}

/** A response: a JSON `body` or a raw `text`. */
export interface Answered {
  readonly status: number;
  readonly body?: unknown;
  readonly text?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

type Answer = (state: GitHubState, asked: AskedOperation) => Answered;

/** GitHub's limit. */
const MAX_COMMENT = 65_536;
const MAX_DESCRIPTION = 140;

/** Responds to an operation. */
export function answerOperation(state: GitHubState, asked: AskedOperation): Answered {
  const { fill, name } = asked.operation;
  const answer = ANSWERS[name];
  if (answer === undefined) return refusal(501, `The fake GitHub has no answer to ${name}.`);
  const isOwn = `${fill['owner']}/${fill['repo']}` === state.repository;
  if (!isOwn && !name.includes('/contents/')) return refusal(404, 'Not Found');
  if (asked.viewer === null && !name.startsWith('GET ')) return refusal(401, 'Requires authentication');
  return answer(state, asked);
}

const ANSWERS: Readonly<Record<string, Answer>> = {
  'GET /repos/{owner}/{repo}/contents/{path}': contents,
  'GET /repos/{owner}/{repo}/commits/{ref}'(state, { operation }) {
    const { ref = '' } = operation.fill;
    const sha = state.branches[ref.replace(/^heads\//u, '')] ?? (/^[0-9a-f]{40}$/u.test(ref) ? ref : null);
    // GitHub's response for an unknown ref.
    if (sha === null) return refusal(422, `No commit found for SHA: ${ref}`);
    return { status: 200, body: { ...like(operation.example(200)), sha, files: [] } };
  },
  'GET /repos/{owner}/{repo}/commits/{commit_sha}/pulls'(state, { operation, query }) {
    // It does not contain the commits of forks.
    const found = state.pulls.filter(
      ({ head }) =>
        head.sha === operation.fill['commit_sha'] && repositoryOf(head, state) === state.repository,
    );
    const [example] = [operation.example(200)].flat();
    return page(found, query, state, (pull) => pullAs(example, pull, state));
  },
  'GET /repos/{owner}/{repo}/pulls'(state, { operation, query }) {
    const [wanted, is] = [query.get('head'), query.get('state') ?? 'open'];
    const found = state.pulls.filter(({ head, state: has = 'open' }) => {
      const [owner = ''] = (repositoryOf(head, state) ?? '').split('/');
      return (is === 'all' || has === is) && (wanted === null || wanted === `${owner}:${head.ref}`);
    });
    const [example] = [operation.example(200)].flat();
    return page(found, query, state, (pull) => pullAs(example, pull, state));
  },
  'GET /repos/{owner}/{repo}/pulls/{pull_number}'(state, asked) {
    const pull = findPull(state, asked.operation.fill['pull_number']);
    if (pull === undefined) return refusal(404, 'Not Found');
    if (asked.accept !== 'application/vnd.github.diff')
      return { status: 200, body: pullAs(asked.operation.example(200), pull, state) };
    if (pull.diff === null)
      return refusal(406, 'Sorry, the diff exceeded the maximum number of lines (20000)');
    return { status: 200, text: pull.diff ?? '' };
  },
  'GET /repos/{owner}/{repo}/pulls/{pull_number}/files'(state, { operation, query }) {
    const pull = findPull(state, operation.fill['pull_number']);
    if (pull === undefined) return refusal(404, 'Not Found');
    const [example] = [operation.example(200)].flat();
    return page(pull.files ?? [], query, state, (file) => {
      const { patch: _, ...rest } = like(example);
      const { additions = 1, deletions = 0, status = 'modified' } = file;
      const { sha } = status === 'removed' ? pull.base : pull.head;
      const contents_url = `${state.url}/repos/${state.repository}/contents/${encodeURIComponent(file.filename)}?ref=${sha}`;
      const changes = additions + deletions;
      return { ...rest, status, additions, deletions, changes, contents_url, ...file };
    });
  },
  'GET /repos/{owner}/{repo}/issues/{issue_number}/comments'(state, { operation, query }) {
    const number = Number(operation.fill['issue_number']);
    const found = [...state.comments.values()].filter(({ pull }) => pull === number);
    const [example] = [operation.example(200)].flat();
    return page(found, query, state, (comment) => commentAs(example, comment, state));
  },
  'POST /repos/{owner}/{repo}/issues/{issue_number}/comments'(state, { operation, body, viewer }) {
    const pull = findPull(state, operation.fill['issue_number']);
    if (pull === undefined) return refusal(404, 'Not Found');
    if (pull.locked === true) return refusal(403, 'Unable to create comment because issue is locked.');
    const text = textOf(body, 'body');
    if (text === '' || [...text].length > MAX_COMMENT)
      return invalid('IssueComment', 'body is too long (maximum is 65536 characters)');
    const comment = state.addComment({ pull: pull.number, author: viewer ?? '', body: text });
    return { status: 201, body: commentAs(operation.example(201), comment, state) };
  },
  'PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}'(state, { operation, body, viewer }) {
    const comment = state.comments.get(Number(operation.fill['comment_id']));
    if (comment === undefined) return refusal(404, 'Not Found');
    if (comment.author !== viewer) return refusal(403, 'Resource not accessible by integration');
    const text = textOf(body, 'body');
    if (text === '' || [...text].length > MAX_COMMENT)
      return invalid('IssueComment', 'body is too long (maximum is 65536 characters)');
    const changed = { ...comment, body: text };
    state.comments.set(comment.id, changed);
    return { status: 200, body: commentAs(operation.example(200), changed, state) };
  },
  'DELETE /repos/{owner}/{repo}/issues/comments/{comment_id}'(state, { operation, viewer }) {
    const comment = state.comments.get(Number(operation.fill['comment_id']));
    if (comment === undefined) return refusal(404, 'Not Found');
    if (comment.author !== viewer) return refusal(403, 'Resource not accessible by integration');
    state.comments.delete(comment.id);
    return { status: 204 };
  },
  'POST /repos/{owner}/{repo}/statuses/{sha}'(state, { operation, body }) {
    const { sha = '' } = operation.fill;
    if (!/^[0-9a-f]{40}$/u.test(sha)) return invalid('Status', `No commit found for SHA: ${sha}`);
    const description = textOf(body, 'description');
    if ([...description].length > MAX_DESCRIPTION)
      return invalid('Status', 'description is too long (maximum is 140 characters)');
    if (/[\u{10000}-\u{10ffff}]/u.test(description))
      return invalid('Status', "description doesn't accept 4-byte Unicode");
    const status = {
      sha,
      state: textOf(body, 'state'),
      context: textOf(body, 'context') || 'default',
      description: description || null,
      target_url: textOf(body, 'target_url') || null,
    };
    state.statuses.push(status);
    const { sha: _, ...shown } = status;
    return { status: 201, body: { ...like(operation.example(201)), ...shown } };
  },
};

function contents(state: GitHubState, { operation, query, accept }: AskedOperation): Answered {
  const { owner, repo, path = '' } = operation.fill;
  const ref = query.get('ref') ?? 'HEAD';
  const tree = state.contents[`${owner}/${repo}@${ref}`] ?? {};
  const text = Object.hasOwn(tree, path) ? tree[path] : undefined;
  if (text === undefined) return refusal(404, 'Not Found');
  if (accept === 'application/vnd.github.raw+json') return { status: 200, text };
  const content = Buffer.from(text).toString('base64');
  const name = path.split('/').at(-1) ?? '';
  return {
    status: 200,
    body: { ...like(operation.example(200)), path, name, content, size: Buffer.byteLength(text) },
  };
}

/** A page of a list with its Link header. */
function page<T>(
  all: readonly T[],
  query: URLSearchParams,
  state: GitHubState,
  show: (item: T) => unknown,
): Answered {
  const size = Math.min(100, Number(query.get('per_page') ?? 30));
  const number = Number(query.get('page') ?? 1);
  const more = number * size < all.length;
  const next = new URLSearchParams(query);
  next.set('page', String(number + 1));
  return {
    status: 200,
    body: all.slice((number - 1) * size, number * size).map(show),
    headers: more ? { link: `<${state.url}/next?${next}>; rel="next", <${state.url}/last>; rel="last"` } : {},
  };
}

function findPull(state: GitHubState, number: string | undefined): FakePull | undefined {
  return state.pulls.find((each) => each.number === Number(number));
}

/** null if the fork was deleted. */
function repositoryOf({ repository }: FakePull['head'], state: GitHubState): string | null {
  return repository === undefined ? state.repository : repository;
}

function pullAs(example: unknown, pull: FakePull, state: GitHubState): unknown {
  const given = like(example);
  const side = (key: 'head' | 'base', repository: string | null) => {
    const { repo, ...rest } = like(given[key]);
    const [owner = ''] = (repository ?? 'gone/gone').split('/');
    const full = repository === null ? null : { ...like(repo), full_name: repository };
    return {
      ...rest,
      label: `${owner}:${pull[key].ref}`,
      ref: pull[key].ref,
      sha: pull[key].sha,
      repo: full,
    };
  };
  const { head } = pull;
  return {
    ...given,
    number: pull.number,
    title: pull.title ?? 'A change',
    body: pull.body ?? null,
    state: pull.state ?? 'open',
    locked: pull.locked ?? false,
    user: { ...like(given['user']), login: pull.author ?? 'octocat' },
    head: side('head', repositoryOf(head, state)),
    base: side('base', state.repository),
    requested_teams: [],
    ...('changed_files' in given ? { changed_files: pull.files?.length ?? 0 } : {}),
  };
}

function commentAs(example: unknown, comment: FakeComment, state: GitHubState): unknown {
  const given = like(example);
  return {
    ...given,
    id: comment.id,
    body: comment.body,
    html_url: `https://github.com/${state.repository}/pull/${comment.pull}#issuecomment-${comment.id}`,
    user: { ...like(given['user']), login: comment.author },
  };
}

function refusal(status: number, message: string): Answered {
  return {
    status,
    body: { message, documentation_url: 'https://docs.github.com/rest', status: String(status) },
  };
}

function invalid(resource: string, message: string): Answered {
  const errors = [{ resource, code: 'custom', field: 'body', message }];
  return {
    status: 422,
    body: { message: 'Validation Failed', errors, documentation_url: 'https://docs.github.com/rest' },
  };
}

function textOf(body: unknown, key: string): string {
  const value = like(body)[key];
  return typeof value === 'string' ? value : '';
}

function like(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

/** Checked against GitHub's public schema by hand; any other text is rejected. */
const KNOWN = `query($owner: String!, $name: String!, $number: Int!, $after: String) { repository(owner: $owner, name: $name) { pullRequest(number: $number) { locked comments(first: 100, after: $after) { nodes { fullDatabaseId url body viewerDidAuthor } pageInfo { hasNextPage endCursor } } } } }`;
const PAGE = 100;

/** Responds to a GraphQL request; `complain` receives its problems. */
export function answerGraphql(
  state: GitHubState,
  viewer: string | null,
  body: unknown,
  complain: (problem: string) => void,
): Answered {
  // This API requires a token.
  if (viewer === null)
    return { status: 401, body: { message: 'This endpoint requires you to be authenticated.' } };
  const { query, variables } = read(body);
  if (query.replace(/\s+/gu, ' ').trim() !== KNOWN) {
    complain(`POST /graphql: an unknown query: ${query}`);
    return failed('undefinedField', 'Unknown query');
  }
  const { owner, name, number, after } = variables;
  if (typeof owner !== 'string' || typeof name !== 'string' || !Number.isInteger(number)) {
    complain(`POST /graphql: wrong variables: ${JSON.stringify(variables)}`);
    return failed('INVALID', 'Variables do not fit');
  }
  if (`${owner}/${name}` !== state.repository)
    return failed('NOT_FOUND', 'Could not resolve to a Repository.');
  const pull = state.pulls.find((each) => each.number === number);
  if (pull === undefined) return failed('NOT_FOUND', 'Could not resolve to a PullRequest.');
  const all = [...state.comments.values()].filter((each) => each.pull === number);
  const from = typeof after === 'string' ? Number(Buffer.from(after, 'base64').toString('utf8')) : 0;
  const nodes = all.slice(from, from + PAGE).map((each) => ({
    fullDatabaseId: String(each.id),
    url: `https://github.com/${state.repository}/pull/${number}#issuecomment-${each.id}`,
    body: each.body,
    viewerDidAuthor: each.author === viewer,
  }));
  const end = from + nodes.length;
  const pageInfo = {
    hasNextPage: end < all.length,
    endCursor: nodes.length === 0 ? null : Buffer.from(String(end)).toString('base64'),
  };
  const comments = { nodes, pageInfo };
  return {
    status: 200,
    body: { data: { repository: { pullRequest: { locked: pull.locked === true, comments } } } },
  };
}

function read(body: unknown): { query: string; variables: Readonly<Record<string, unknown>> } {
  const { query, variables } = { query: '', variables: {}, ...(typeof body === 'object' ? body : {}) };
  return { query: String(query), variables };
}

function failed(type: string, message: string): Answered {
  return { status: 200, body: { data: null, errors: [{ type, message, path: ['repository'] }] } };
}
