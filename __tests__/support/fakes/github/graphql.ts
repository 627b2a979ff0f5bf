/** The one GraphQL query that the action sends, answered as GitHub answers it. */
import type { Answered } from './operations.ts';
import type { GitHubState } from './state.ts';

/** Checked against GitHub's public schema by hand; any other text is refused. */
const KNOWN = `query($owner: String!, $name: String!, $number: Int!, $after: String) { repository(owner: $owner, name: $name) { pullRequest(number: $number) { locked comments(first: 100, after: $after) { nodes { fullDatabaseId url body viewerDidAuthor } pageInfo { hasNextPage endCursor } } } } }`;
const PAGE = 100;

/** The answer; `complain` is told what is wrong with the question. */
export function answerGraphql(
  state: GitHubState,
  viewer: string | null,
  body: unknown,
  complain: (problem: string) => void,
): Answered {
  // Nobody without a token may ask this API anything.
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
