/**
 * A loopback GitHub with pull requests, files, comments and statuses. It accepts only requests that GitHub's published
 * description (`description.ts`) allows, validates its responses as well, and records requests.
 * An invalid request gets status 400, is listed in `problems` and makes `close` throw.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type Operation, openDescription } from './description.ts';
import { type Answered, answerGraphql, answerOperation } from './operations.ts';
import {
  createState,
  type FakeComment,
  type FakeStatus,
  type GitHubState,
  type GitHubWorld,
} from './state.ts';

export type { FakeComment, FakePull, GitHubWorld } from './state.ts';

/** A request as it arrived. */
export interface GitHubRequest {
  /** The operation, such as `GET /repos/{owner}/{repo}/pulls/{pull_number}`, or `POST /graphql`. */
  readonly operation: string;
  /** With its query, as it was sent. */
  readonly path: string;
  readonly body: unknown;
  readonly headers: IncomingMessage['headers'];
}

/** A fault instead of, or (`lost`) right after, a request. */
export type Fault =
  | {
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly message?: string;
    }
  /** `cut`: the connection breaks before, `lost`: after the request was done; `silent`: there is no response. */
  | { readonly kind: 'cut' | 'lost' | 'silent' | 'broken_json' };

/** The running server. */
export interface GitHubServer {
  /** For GITHUB_API_URL. */
  readonly apiUrl: string;
  /** For GITHUB_GRAPHQL_URL. */
  readonly graphqlUrl: string;
  readonly requests: readonly GitHubRequest[];
  /** The problems of requests and responses so far; a test that provokes one empties the list. */
  readonly problems: string[];
  /** The existing comments, in order of their ids. */
  comments(): readonly FakeComment[];
  /** The statuses in the order they were set. */
  statuses(): readonly FakeStatus[];
  /** Adds a comment, as another job or a person would; gives its id. */
  addComment(comment: Omit<FakeComment, 'id'>): number;
  /** Changes or removes a comment without a request. */
  changeComment(id: number, body: string | null): void;
  /** Makes the next `times` requests (1 by default) of an operation with this prefix fail. */
  fail(operation: string, fault: Fault, times?: number): void;
  /** Removes the pending faults. */
  mend(): void;
  /** Runs once, before the next request of that operation is handled. */
  before(operation: string, hook: () => void | Promise<void>): void;
  /** Stops the server. Throws if there were problems. */
  close(): Promise<void>;
}

const API_VERSION = '2022-11-28';
const ACCEPTED = [
  'application/vnd.github+json',
  'application/vnd.github.raw+json',
  'application/vnd.github.diff',
];

/** Starts the server on a free loopback port. */
export async function startGitHubServer(world: GitHubWorld = {}): Promise<GitHubServer> {
  const state = createState(world);
  const requests: GitHubRequest[] = [];
  const problems: string[] = [];
  const faults: { readonly operation: string; readonly fault: Fault; left: number }[] = [];
  const hooks: { readonly operation: string; readonly hook: () => void | Promise<void>; done: boolean }[] =
    [];
  const prefix = world.prefix ?? '';
  const paths = { rest: prefix, graphql: `${prefix.replace(/\/v3$/u, '')}/graphql` };
  const handle = createHandler(state, paths, problems);

  const server = createServer((incoming, response) => {
    void (async () => {
      const raw = await bodyOf(incoming);
      const asked = handle.read(incoming, raw);
      requests.push({ ...asked.request });
      const { operation } = asked.request;
      const hook = hooks.find((each) => !each.done && operation.startsWith(each.operation));
      if (hook !== undefined) {
        hook.done = true;
        await hook.hook();
      }
      const fault = faults.find((each) => each.left > 0 && operation.startsWith(each.operation));
      if (fault === undefined) return send(response, asked.answer());
      fault.left -= 1;
      misbehave(response, fault.fault, asked.answer);
    })().catch((error: unknown) => {
      problems.push(String(error));
      response.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
  state.url = url;
  return {
    apiUrl: `${url}${paths.rest}`,
    graphqlUrl: `${url}${paths.graphql}`,
    requests,
    problems,
    comments: () => [...state.comments.values()].toSorted((one, other) => one.id - other.id),
    statuses: () => state.statuses,
    addComment: (comment) => state.addComment(comment).id,
    changeComment(id, body) {
      const comment = state.comments.get(id);
      if (body === null || comment === undefined) state.comments.delete(id);
      else state.comments.set(id, { ...comment, body });
    },
    fail: (operation, fault, times = 1) => void faults.push({ operation, fault, left: times }),
    mend: () => void faults.splice(0),
    before: (operation, hook) => void hooks.push({ operation, hook, done: false }),
    async close() {
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
      if (problems.length > 0) throw new Error(`The fake GitHub had to complain:\n${problems.join('\n')}`);
    },
  };
}

/** Reads requests and responds to valid ones. */
function createHandler(
  state: GitHubState,
  paths: { readonly rest: string; readonly graphql: string },
  problems: string[],
) {
  const description = openDescription();
  return {
    read({ method = '', url = '', headers }: IncomingMessage, raw: string) {
      const [path = '', query = ''] = url.split('?', 2);
      const body: unknown = raw === '' ? undefined : JSON.parse(raw);
      const isGraphql = method === 'POST' && path === paths.graphql;
      const operation = path.startsWith(paths.rest)
        ? description.find(method, path.slice(paths.rest.length))
        : null;
      const name = isGraphql ? 'POST /graphql' : (operation?.name ?? `${method} ${path}`);
      const answer = (): Answered => {
        const faults = [...checkHeaders(headers, raw)];
        if (!isGraphql && operation !== null)
          faults.push(...operation.checkRequest(new URLSearchParams(query), body));
        if (!isGraphql && operation === null)
          faults.push('GitHub has no such operation, or none that is described here.');
        const viewer = state.viewerOf(headers.authorization);
        if (viewer === 'wrong') return refusal(401, 'Bad credentials');
        if (isGraphql && faults.length === 0)
          return answerGraphql(state, viewer, body, (fault) => problems.push(fault));
        if (operation === null || faults.length > 0) {
          problems.push(...faults.map((fault) => `${name}: ${fault}`));
          return refusal(400, faults.join(' '));
        }
        const asked = {
          operation,
          query: new URLSearchParams(query),
          body,
          viewer,
          accept: headers.accept ?? '',
        };
        const answered = answerOperation(state, asked);
        problems.push(...wrongs(operation, answered));
        return answered;
      };
      return { request: { operation: name, path: url, body, headers }, answer };
    },
  };
}

function wrongs(operation: Operation, { status, body, text }: Answered): readonly string[] {
  const found = text === undefined ? operation.checkAnswer(status, body) : [];
  return found.map((each) => `The fake GitHub itself, at ${operation.name}: ${each}`);
}

function checkHeaders(headers: IncomingMessage['headers'], raw: string): readonly string[] {
  const faults: string[] = [];
  if (!/^structured-agent\//u.test(headers['user-agent'] ?? ''))
    faults.push('The user agent does not say who asks.');
  if (headers['x-github-api-version'] !== API_VERSION) faults.push(`The API version is not ${API_VERSION}.`);
  if (!ACCEPTED.includes(headers.accept ?? ''))
    faults.push(`Nothing is described for accept: ${headers.accept}.`);
  if (raw !== '' && !headers['content-type']?.startsWith('application/json'))
    faults.push('The body is no JSON.');
  return faults;
}

function refusal(status: number, message: string): Answered {
  return { status, body: { message, documentation_url: 'https://docs.github.com/rest' } };
}

async function bodyOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString('utf8');
}

function send(response: ServerResponse, { status, body, text, headers = {} }: Answered): void {
  const type =
    text === undefined ? 'application/json; charset=utf-8' : 'application/octet-stream; charset=utf-8';
  response.writeHead(status, { 'content-type': type, ...headers });
  response.end(text ?? (body === undefined ? '' : JSON.stringify(body)));
}

function misbehave(response: ServerResponse, fault: Fault, answer: () => Answered): void {
  if ('status' in fault) {
    send(response, { ...refusal(fault.status, fault.message ?? 'No.'), headers: { ...fault.headers } });
    return;
  }
  switch (fault.kind) {
    case 'cut':
      response.destroy();
      return;
    case 'lost':
      answer();
      response.destroy();
      return;
    case 'broken_json':
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end('{"id": 1, "bo');
      return;
    case 'silent':
      return;
  }
}
