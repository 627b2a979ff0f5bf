/** A pull request, and the hub of a run on it whose requests are answered from a list. */
import type { EventFacts, PullRequest } from '../../src/github/event.ts';
import { createHub } from '../../src/github/pull-request.ts';
import { type Answers, answering } from '../support/fakes/github/answers.ts';

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
