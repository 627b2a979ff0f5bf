/** A pull request, and the hub of a run on it, answered by a list or by the loopback server. */
import { createGitHub } from '../../src/github/client.ts';
import type { EventFacts, PullRequest } from '../../src/github/event.ts';
import { createHub } from '../../src/github/pull-request.ts';
import { type Answers, answering } from '../support/fakes/github/answers.ts';
import { type GitHubServer, startGitHubServer } from '../support/fakes/github/server.ts';

/** Commits: the head of the pull request, its test merge, its base, and a merge group. */
export const [HEAD = '', MERGE = '', BASE = '', GROUP = ''] = ['a', 'b', 'c', 'd'].map((digit) =>
  digit.repeat(40),
);

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
export const ofGroup = { merge_group: { head_sha: GROUP, base_sha: BASE } };
const ofPull = { pull_request: pullAs(7, { head: { ref: 'topic', sha: HEAD } }) };
const head_repository = { owner: { login: 'fork' } };

/** An event about pull request 7 of a fork, whose test merge started the run. A push is one of that merge. */
export function triggerOf(name: string, more: Partial<EventFacts> = {}) {
  const payloads: Readonly<Record<string, EventFacts['payload']>> = {
    pull_request: ofPull,
    pull_request_review: ofPull,
    pull_request_target: ofPull,
    issue_comment: ofComment,
    workflow_run: { workflow_run: { head_sha: HEAD, head_branch: 'topic', head_repository } },
    merge_group: ofGroup,
  };
  const refs: Readonly<Record<string, string>> = {
    pull_request_target: 'refs/heads/main',
    merge_group: queue.ref,
  };
  const ref = refs[name] ?? 'refs/pull/7/merge';
  return eventOf(name, payloads[name] ?? {}, { ref, sha: MERGE, ...more });
}

/** The hub of a run, and the requests that it made. */
export function openHub(event: EventFacts, answers: Answers | null = {}, checkedOut: string | null = null) {
  const { github, asked } = answering(answers ?? {});
  return { hub: createHub(event, answers === null ? null : github, checkedOut), asked };
}

/** A server with pull request 7 from a fork. */
export function serve(locked = false) {
  const head = { ref: 'topic', sha: HEAD, repository: 'fork/r' };
  return startGitHubServer({
    repository: 'o/r',
    tokens: { 'test-token': 'github-actions[bot]', 'other-token': 'other[bot]' },
    pulls: [{ number: 7, head, base: { ref: 'main', sha: BASE }, locked }],
  });
}

/** The hub of a run on that server. */
export function connect(
  { apiUrl }: GitHubServer,
  event: EventFacts,
  checkedOut: string | null = null,
  token = 'test-token',
) {
  const github = createGitHub({ token, apiUrl, fetch, userAgent: 'structured-agent/0.1.0' });
  return createHub(event, github, checkedOut);
}

/** How GitHub refuses a request, and what the error says to do; NEEDS stands for the permission. */
export const REFUSALS = [
  [{ status: 401, message: 'Bad credentials' }, 'see the input github-token'],
  [{ status: 403, message: 'Resource not accessible by integration' }, 'Give the job `permissions: NEEDS`'],
  [{ status: 404, message: 'Not Found' }, 'the job needs `permissions: NEEDS`'],
  [
    { status: 403, message: 'You have exceeded a secondary rate limit.' },
    "The token's rate limit is used up",
  ],
  [{ status: 429, message: 'Slow down' }, "The token's rate limit is used up"],
  [{ status: 502, message: 'Bad gateway' }, 'https://www.githubstatus.com'],
] as const;
