import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { isFromFork, isPrivileged, readEvent, readSubject } from '../../src/github/event.ts';
import { makeFolder } from '../support/surroundings.ts';
import { eventOf } from './world.ts';

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
it('a trigger that strangers start, or that is unknown, is privileged, and judges what is checked out', () => {
  const of = (name: string) => [isPrivileged(eventOf(name)), readSubject(eventOf(name), {}, 'c1')?.sha];
  for (const name of STRANGERS.split(' ')) expect(of(name), name).toEqual([true, 'c1']);
  for (const name of MEMBERS.split(' ')) expect(of(name), name).toEqual([false, 'merge1']);
  const unknown = { sha: 'merge1', checked_out: null };
  expect(readSubject(eventOf('workflow_run'), {}, null)).toMatchObject(unknown);
});
