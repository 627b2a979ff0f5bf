import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { type EventFacts, isFromFork, isPrivileged, readEvent, readSubject } from '../../src/github/event.ts';
import { makeFolder } from '../support/surroundings.ts';
import { eventOf, ofComment, queue } from './world.ts';

const file = path.join(makeFolder(), 'event.json');
const variables = {
  ...{ GITHUB_REPOSITORY: 'o/r', GITHUB_SHA: 'abc', GITHUB_REF: 'refs/heads/main', GITHUB_ACTOR: 'octocat' },
  ...{ GITHUB_EVENT_NAME: 'push', GITHUB_EVENT_PATH: file, GITHUB_RUN_ID: '42', GITHUB_RUN_ATTEMPT: '2' },
};

it('the subject has the facts of the runner, and is null outside GitHub', () => {
  writeFileSync(file, '{"pull_request":{"number":7}}');
  const run = { run_id: '42', run_attempt: 2, actor: 'octocat', checked_out: 'c1' };
  const change = { repository: 'o/r', sha: 'abc', ref: 'refs/heads/main', event: 'push', pull_request: 7 };
  expect(readSubject(readEvent(variables), variables, 'c1')).toEqual({ ...change, ...run });
  expect(readSubject(readEvent({}), {}, 'c1')).toBeNull();
});

it.each(['{broken', 'null'])('an event file that holds %s is that of an event without a payload', (text) => {
  writeFileSync(file, text);
  for (const name of [file, '/nowhere'])
    expect(readEvent({ ...variables, GITHUB_EVENT_PATH: name }).payload).toEqual({});
});

it.each([
  ['workflow_run', 'c1'],
  ['issue_comment', 'c1'],
  ['pull_request_target', 'c1'],
  ['push', 'merge1'],
  ['pull_request', 'merge1'],
])('the sha of %s with the checkout c1 and GITHUB_SHA merge1 is %s', (name, sha) => {
  expect(readSubject(eventOf(name), {}, 'c1')?.sha).toBe(sha);
  expect(readSubject(eventOf(name), {}, null)).toMatchObject({ sha: 'merge1', checked_out: null });
});

it.each<readonly [string, EventFacts['payload'], Partial<EventFacts>, number | null]>([
  ['pull_request', { pull_request: { number: 7 } }, {}, 7],
  ['issue_comment', ofComment, {}, 7],
  ['issue_comment', { issue: { number: 8 } }, {}, null],
  ['merge_group', {}, queue, 7],
  // Anyone who may push can create such a branch.
  ...['push', 'schedule', 'workflow_run'].map((name) => [name, {}, queue, null] as const),
])('the pull request of %s %j is known, or null', (name, payload, more, expected) => {
  expect(readSubject(eventOf(name, payload, more), {}, null)?.pull_request).toBe(expected);
});

it.each([
  ['pull_request', 'fork/r', true],
  ['pull_request_review', 'fork/r', true],
  ['pull_request', 'o/r', false],
  ['pull_request_target', 'fork/r', false],
  ['push', 'fork/r', false],
])('%s from %s is from a fork: %s', (name, full_name, expected) => {
  const head = { ref: 'topic', sha: 'a1', repo: { full_name } };
  expect(isFromFork(eventOf(name, { pull_request: { head } }))).toBe(expected);
});

const STRANGERS =
  'pull_request_target workflow_run issue_comment issues discussion discussion_comment check_run check_suite status deployment_status fork watch gollum an_event_of_tomorrow';
const MEMBERS =
  'push pull_request pull_request_review pull_request_review_comment merge_group schedule workflow_dispatch repository_dispatch release create delete ';
it('a trigger that strangers start, or that is unknown, is privileged', () => {
  for (const name of STRANGERS.split(' ')) expect(isPrivileged(eventOf(name)), name).toBe(true);
  for (const name of MEMBERS.split(' ')) expect(isPrivileged(eventOf(name)), name).toBe(false);
});
