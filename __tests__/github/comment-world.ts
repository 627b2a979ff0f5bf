/** A pull request with comments, and a run that writes its own. */
import { afterEach, beforeEach, vi } from 'vitest';
import { createGitHub } from '../../src/github/client.ts';
import { createCommentWriter } from '../../src/github/comment.ts';
import type { CommentText } from '../../src/reporters/report-types.ts';
import { type FakePull, type GitHubServer, startGitHubServer } from '../support/fakes/github/server.ts';
import { skipWaits } from '../support/waits.ts';

export const SHA = 'a'.repeat(40);
const PULL: FakePull = { number: 7, head: { ref: 'x', sha: SHA }, base: { ref: 'main', sha: SHA } };
export const BOT = 'github-actions[bot]';
export const TEXT: CommentText = {
  key: 'CI / review',
  commit: SHA,
  runId: '100',
  attempt: 1,
  body: 'Good.',
  create: true,
};
export const LIST = 'POST /graphql';
export const CREATE = 'POST /repos';
export const UPDATE = 'PATCH /repos';

export let server: GitHubServer;

export async function start(pull: Partial<FakePull> = {}, token = 'test-token') {
  server = await startGitHubServer({
    tokens: { 'test-token': BOT, 'other-token': 'other[bot]' },
    pulls: [{ ...PULL, ...pull }],
  });
  return writer(token);
}

export function writer(token = 'test-token', number: number | null = 7) {
  const github = createGitHub({ token, apiUrl: server.apiUrl, fetch, userAgent: 'structured-agent/0.1.0' });
  const place = number === null ? null : { repository: 'octo/demo', number };
  return createCommentWriter({ github, findPullRequest: async () => place });
}

/** The current comments without their markers. */
export function standing(): string[] {
  return server.comments().map(({ body }) => body.replace(/^<!--.*-->\n/u, ''));
}

export function sentOperations(): string[] {
  return server.requests.map(
    ({ operation }) => operation.split(' ')[0] + (operation === LIST ? ' list' : ''),
  );
}

/** The marker that a run writes for the key of `TEXT`. */
export async function markerOf(changes: Partial<CommentText> = {}): Promise<string> {
  const other = await startGitHubServer({ pulls: [PULL] });
  const before = server;
  server = other;
  await writer()({ ...TEXT, ...changes });
  server = before;
  const [comment] = other.comments();
  await other.close();
  return comment?.body.split('\n')[0] ?? '';
}

beforeEach(() => void skipWaits());
afterEach(() => {
  vi.unstubAllGlobals();
  return server.close();
});
