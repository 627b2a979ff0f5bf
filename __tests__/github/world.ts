/** A pull request, and the hub of a run on it, answered by a list or by the loopback server. */
import { afterEach, beforeEach, vi } from 'vitest';
import { createGitHub } from '../../src/github/client.ts';
import type { EventFacts, PullRequest } from '../../src/github/event.ts';
import { createHub } from '../../src/github/pull-request.ts';
import { type Answers, answering } from '../support/fakes/github/answers.ts';
import { type GitHubServer, startGitHubServer } from '../support/fakes/github/server.ts';
import { skipWaits } from '../support/waits.ts';

/** The commits of a pull request. */
export const [HEAD, BASE] = ['a'.repeat(40), 'c'.repeat(40)];

/** A pull request of a fork, as GitHub describes it. */
export function pullAs(number: number, more: object = {}) {
  return {
    number,
    state: 'open',
    title: 'T',
    body: null,
    user: { login: 'mona' },
    base: { ref: 'main', sha: 'b1', repo: { full_name: 'o/r' } },
    head: { ref: 'topic', sha: 'a1', repo: { full_name: 'fork/r' } } as PullRequest['head'],
    changed_files: 1,
    ...more,
  };
}

/** An event of `o/r`. */
export function eventOf(name: string, payload: EventFacts['payload'] = {}, more: Partial<EventFacts> = {}) {
  return { repository: 'o/r', name, sha: 'merge1', ref: 'refs/heads/main', payload, ...more };
}

export const queue = { ref: 'refs/heads/gh-readonly-queue/main/pr-7-0123abc' };
export const ofComment = { issue: { number: 7, pull_request: {} } };

/** The hub of a run, and the requests that it made. */
export function openHub(event: EventFacts, answers: Answers | null = {}, checkedOut: string | null = null) {
  const { github, asked } = answering(answers ?? {});
  return { hub: createHub(event, answers === null ? null : github, checkedOut), asked };
}

/** A server for each test of a file, with pull request 7 from a fork, and the hub of a run on it. No request waits. */
export function serveEach() {
  const head = { ref: 'topic', sha: HEAD, repository: 'fork/r' };
  let server: GitHubServer;
  beforeEach(async () => {
    skipWaits();
    server = await startGitHubServer({
      repository: 'o/r',
      tokens: { 'test-token': 'github-actions[bot]', 'other-token': 'other[bot]' },
      pull: { number: 7, head, base: { ref: 'main', sha: BASE } },
    });
  });
  afterEach(() => {
    vi.unstubAllGlobals();
    return server.close();
  });
  return {
    get server() {
      return server;
    },
    connect(event: EventFacts, token = 'test-token') {
      const { apiUrl } = server;
      const github = createGitHub({ token, apiUrl, fetch, userAgent: 'structured-agent/0.1.0' });
      return createHub(event, github, null);
    },
  };
}
