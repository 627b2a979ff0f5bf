import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { isFromFork, isPrivileged, readEvent, readSubject } from '../../src/github/event.ts';
import { makeFolder } from '../support/surroundings.ts';

const file = path.join(makeFolder(), 'event.json');

function environment(event: string, payload: unknown, more: Readonly<Record<string, string>> = {}) {
  writeFileSync(file, typeof payload === 'string' ? payload : JSON.stringify(payload));
  return {
    ...{
      GITHUB_REPOSITORY: 'o/r',
      GITHUB_SHA: 'abc',
      GITHUB_REF: 'refs/heads/main',
      GITHUB_ACTOR: 'octocat',
    },
    ...{ GITHUB_EVENT_NAME: event, GITHUB_EVENT_PATH: file, GITHUB_RUN_ID: '42', GITHUB_RUN_ATTEMPT: '2' },
    ...more,
  };
}

const subjectOf = (variables: Readonly<Record<string, string>>, checkedOut: string | null = null) =>
  readSubject(readEvent(variables), variables, checkedOut);

it('the subject has the facts of the runner, and is null outside GitHub', () => {
  const run = { run_id: '42', run_attempt: 2, actor: 'octocat', checked_out: 'c1' };
  const change = { repository: 'o/r', sha: 'abc', ref: 'refs/heads/main', event: 'push', pull_request: null };
  expect(subjectOf(environment('push', {}), 'c1')).toEqual({ ...change, ...run });
  expect(subjectOf({}, 'c1')).toBeNull();
});

it.each([
  ['workflow_run', 'c1'],
  ['issue_comment', 'c1'],
  ['pull_request_target', 'c1'],
  ['push', 'abc'],
  ['pull_request', 'abc'],
])('the sha of %s with the checkout c1 and GITHUB_SHA abc is %s', (event, sha) => {
  expect(subjectOf(environment(event, {}), 'c1')?.sha).toBe(sha);
  expect(subjectOf(environment(event, {}))).toMatchObject({ sha: 'abc', checked_out: null });
});

const QUEUE = { GITHUB_REF: 'refs/heads/gh-readonly-queue/main/pr-9-0123abc' };
it.each<readonly [string, unknown, Readonly<Record<string, string>>, number | null]>([
  ['pull_request', { pull_request: { number: 7 } }, {}, 7],
  ['issue_comment', { issue: { number: 8, pull_request: {} } }, {}, 8],
  ['issue_comment', { issue: { number: 8 } }, {}, null],
  ['merge_group', {}, QUEUE, 9],
  ...['push', 'schedule', 'workflow_run'].map((event) => [event, {}, QUEUE, null] as const),
  ['pull_request', '{broken', {}, null],
  ['pull_request', 'null', {}, null],
  ['pull_request', {}, { GITHUB_EVENT_PATH: '/nowhere' }, null],
])('the pull request of %s %j is known, or null', (event, payload, more, expected) => {
  expect(subjectOf(environment(event, payload, more))?.pull_request).toBe(expected);
});

it.each([
  ['pull_request', 'fork/r', true],
  ['pull_request_review', 'fork/r', true],
  ['pull_request', 'o/r', false],
  ['pull_request_target', 'fork/r', false],
  ['push', 'fork/r', false],
])('%s from %s is from a fork: %s', (event, full_name, expected) => {
  const payload = { pull_request: { head: { repo: { full_name } } } };
  expect(isFromFork(readEvent(environment(event, payload)))).toBe(expected);
});

const STRANGERS =
  'pull_request_target workflow_run issue_comment issues discussion discussion_comment check_run check_suite status deployment_status fork watch gollum an_event_of_tomorrow';
const MEMBERS =
  'push pull_request pull_request_review pull_request_review_comment merge_group schedule workflow_dispatch repository_dispatch release create delete ';
it('a trigger that strangers start, or that is unknown, is privileged', () => {
  for (const name of STRANGERS.split(' ')) expect(isPrivileged({ GITHUB_EVENT_NAME: name }), name).toBe(true);
  for (const name of MEMBERS.split(' ')) expect(isPrivileged({ GITHUB_EVENT_NAME: name }), name).toBe(false);
});
