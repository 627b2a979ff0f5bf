/**
 * A loopback GitHub with pull requests, files, comments and statuses, which records requests. A request that GitHub
 * would not understand gets status 400, is listed in `problems` and makes `close` throw.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listen } from '../../local.ts';
import {
  type Answered,
  answerGraphql,
  type FakeComment,
  type FakePull,
  type FakeStatus,
  findRoute,
  type GitHubState,
  refusal,
} from './routes.ts';

export type { FakePull } from './routes.ts';

/** The initial state. */
export interface GitHubWorld extends Partial<Pick<GitHubState, 'repository' | 'contents' | 'branches'>> {
  /** Users by token; `test-token` of `github-actions[bot]` by default. Other tokens get status 401. */
  readonly tokens?: Readonly<Record<string, string>>;
  readonly pulls?: readonly FakePull[];
  readonly comments?: readonly Omit<FakeComment, 'id'>[];
  readonly statuses?: readonly FakeStatus[];
  /** The prefix of the API paths: `/api/v3` as on GitHub Enterprise Server. */
  readonly prefix?: string;
}

/** A request as it arrived. */
interface GitHubRequest {
  /** The route, such as `GET /repos/{owner}/{repo}/pulls/{pull_number}`, or `POST /graphql`. */
  readonly operation: string;
  /** With its query, as it was sent. */
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
}

/** A fault instead of, or (`lost`) right after, a request. */
type Fault =
  | {
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly message?: string;
    }
  /** `cut`: the connection breaks before, `lost`: after the request was done; `silent`: there is no response. */
  | { readonly kind: 'cut' | 'lost' | 'silent' | 'broken_json' };

/** The running server. */
export type GitHubServer = Awaited<ReturnType<typeof startGitHubServer>>;

/** GitHub's ids exceed 32 bits and increase. */
const FIRST_ID = 3_100_000_000;

/** Starts the server on a free loopback port. */
export async function startGitHubServer(world: GitHubWorld = {}) {
  const { tokens = { 'test-token': 'github-actions[bot]' }, prefix = '' } = world;
  const state = createState(world);
  const requests: GitHubRequest[] = [];
  const problems: string[] = [];
  const faults: { readonly operation: string; readonly fault: Fault; left: number }[] = [];
  const graphql = `${prefix.replace(/\/v3$/u, '')}/graphql`;

  /** Returns the name of the request's route, and a function that does what it asks for. */
  const read = ({ method = '', url = '', headers }: IncomingMessage, raw: string) => {
    const [path = '', search = ''] = url.split('?', 2);
    const query = new URLSearchParams(search);
    const body = raw === '' ? {} : JSON.parse(raw);
    const isGraphql = `${method} ${path}` === `POST ${graphql}`;
    const route = isGraphql ? null : findRoute(method, path.slice(prefix.length));
    const operation = isGraphql ? 'POST /graphql' : (route?.name ?? `${method} ${path}`);
    const token = /^(?:token|bearer) (.+)$/iu.exec(headers.authorization ?? '')?.[1];
    const answer = (): Answered => {
      const viewer = token === undefined ? null : tokens[token];
      if (viewer === undefined) return refusal(401, 'Bad credentials');
      const sent = [...query.keys(), ...(isGraphql ? [] : Object.keys(body))];
      const unknown = sent.filter((key) => route?.accepts.includes(key) === false);
      const answered = isGraphql
        ? answerGraphql(state, { body, viewer })
        : route?.answer(state, { url, query, body, viewer });
      const isKnown = answered !== undefined && answered !== null && unknown.length === 0;
      if (isKnown && isWellFormed(headers)) return answered;
      problems.push(`${operation}: ${unknown.join(' ')} ${JSON.stringify(headers)}`);
      return refusal(400, 'GitHub would not understand this.');
    };
    return { request: { operation, path: url, headers }, answer };
  };

  const server = createServer((incoming, response) => {
    void (async () => {
      const { request, answer } = read(incoming, await bodyOf(incoming));
      requests.push(request);
      const fault = faults.find(({ operation, left }) => left > 0 && request.operation.startsWith(operation));
      if (fault === undefined) return send(response, answer());
      fault.left -= 1;
      misbehave(response, fault.fault, answer);
    })().catch((error: unknown) => {
      problems.push(String(error));
      response.destroy();
    });
  });
  const url = `http://127.0.0.1:${await listen(server)}`;
  return {
    /** For GITHUB_API_URL and GITHUB_GRAPHQL_URL. */
    apiUrl: `${url}${prefix}`,
    graphqlUrl: `${url}${graphql}`,
    requests: requests as readonly GitHubRequest[],
    /** The problems so far; a test that provokes one empties the list. */
    problems,
    /** The existing comments, in order of their ids. */
    comments: (): readonly FakeComment[] =>
      [...state.comments.values()].toSorted((one, other) => one.id - other.id),
    /** The statuses in the order they were set. */
    statuses: (): readonly FakeStatus[] => state.statuses,
    /** Adds a comment, as another job or a person would. */
    addComment: (comment: Omit<FakeComment, 'id'>) => void state.addComment(comment),
    /** Makes the next requests of a route with this prefix fail. */
    fail: (operation: string, fault: Fault, times = 1) => void faults.push({ operation, fault, left: times }),
    /** Stops the server. Throws if there were problems. */
    async close(): Promise<void> {
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
      if (problems.length > 0) throw new Error(`The fake GitHub had to complain:\n${problems.join('\n')}`);
    },
  };
}

function createState(world: GitHubWorld): GitHubState {
  const { repository = 'octo/demo', pulls = [], contents = {}, branches = {} } = world;
  let nextId = FIRST_ID;
  const comments = new Map<number, FakeComment>();
  const addComment = (comment: Omit<FakeComment, 'id'>) => {
    const added = { ...comment, id: nextId++ };
    comments.set(added.id, added);
    return added;
  };
  for (const comment of world.comments ?? []) addComment(comment);
  return {
    repository,
    pulls,
    contents,
    branches,
    comments,
    statuses: [...(world.statuses ?? [])],
    addComment,
  };
}

function isWellFormed(headers: IncomingMessage['headers']): boolean {
  return (
    /^structured-agent\//u.test(headers['user-agent'] ?? '') &&
    /^application\/vnd\.github\.v3(?:\+json|\.raw)$/u.test(headers.accept ?? '')
  );
}

async function bodyOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString('utf8');
}

function send(response: ServerResponse, { status, body, text, headers = {} }: Answered): void {
  const type = text === undefined ? 'application/json; charset=utf-8' : 'application/octet-stream';
  response.writeHead(status, { 'content-type': type, ...headers });
  response.end(text ?? (body === undefined ? '' : JSON.stringify(body)));
}

function misbehave(response: ServerResponse, fault: Fault, answer: () => Answered): void {
  if ('status' in fault) {
    send(response, { ...refusal(fault.status, fault.message ?? 'No.'), headers: { ...fault.headers } });
    return;
  }
  if (fault.kind === 'silent') return;
  if (fault.kind === 'broken_json') {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end('{"id": 1, "bo');
    return;
  }
  if (fault.kind === 'lost') answer();
  response.destroy();
}
