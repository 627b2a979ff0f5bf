import { execFileSync } from 'node:child_process';
import { rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { isPrivileged, readEvent, readSubject } from '../../src/github/event.ts';
import { makeFolder } from '../support/surroundings.ts';

const folder = makeFolder();

function environment(event: string, payload: unknown, more: Readonly<Record<string, string>> = {}) {
  const file = path.join(folder, `${event}.json`);
  writeFileSync(file, typeof payload === 'string' ? payload : JSON.stringify(payload));
  return {
    GITHUB_REPOSITORY: 'o/r',
    GITHUB_SHA: 'abc',
    GITHUB_REF: 'refs/heads/main',
    GITHUB_EVENT_NAME: event,
    GITHUB_EVENT_PATH: file,
    GITHUB_RUN_ID: '42',
    GITHUB_RUN_ATTEMPT: '2',
    ...more,
  };
}

const subjectOf = (variables: Readonly<Record<string, string>>, checkedOut: string | null = null) =>
  readSubject(readEvent(variables), variables, checkedOut);

const PRIVILEGED =
  'pull_request_target workflow_run issue_comment issues discussion discussion_comment check_run check_suite status deployment_status fork watch gollum an_event_of_tomorrow';
const ORDINARY = 'push pull_request pull_request_review merge_group workflow_dispatch schedule';

describe('readSubject', () => {
  it('returns the facts of the runner', () => {
    expect(subjectOf(environment('push', {}), 'c1')).toEqual({
      repository: 'o/r',
      sha: 'abc',
      ref: 'refs/heads/main',
      event: 'push',
      pull_request: null,
      run_id: '42',
      run_attempt: 2,
      checked_out: 'c1',
    });
  });

  it.each([
    ['workflow_run', 'c1'],
    ['issue_comment', 'c1'],
    ['pull_request_target', 'c1'],
    ['push', 'abc'],
    ['pull_request', 'abc'],
  ])('for %s with the checkout c1 and GITHUB_SHA abc the sha is %s', (event, sha) => {
    expect(subjectOf(environment(event, {}), 'c1')?.sha).toBe(sha);
    expect(subjectOf(environment(event, {}))).toMatchObject({ sha: 'abc', checked_out: null });
  });

  it('returns null outside GitHub', () => {
    expect(subjectOf({}, 'c1')).toBeNull();
  });

  const QUEUE = { GITHUB_REF: 'refs/heads/gh-readonly-queue/main/pr-9-0123abc' };
  it.each<readonly [string, unknown, Readonly<Record<string, string>>, number | null]>([
    ['pull_request', { pull_request: { number: 7 } }, {}, 7],
    ['issue_comment', { issue: { number: 8, pull_request: {} } }, {}, 8],
    ['issue_comment', { issue: { number: 8 } }, {}, null],
    ['merge_group', {}, QUEUE, 9],
    ...['push', 'workflow_dispatch', 'schedule', 'issue_comment', 'workflow_run'].map(
      (event) => [event, {}, QUEUE, null] as const,
    ),
    ['pull_request', { pull_request: { number: '7; rm' } }, {}, null],
    ['pull_request', '{broken', {}, null],
    ['pull_request', 'null', {}, null],
  ])('for %s %j returns the pull request, or null', (event, payload, more, expected) => {
    expect(subjectOf(environment(event, payload, more))?.pull_request).toBe(expected);
  });
});

describe('the event file', () => {
  const file = path.join(folder, 'file.json');
  const numberIn = () =>
    subjectOf({ ...environment('pull_request', {}), GITHUB_EVENT_PATH: file })?.pull_request;
  const payload = JSON.stringify({ pull_request: { number: 7 } });
  afterEach(() => rmSync(file));

  it('may be a symlink', () => {
    writeFileSync(path.join(folder, 'target.json'), payload);
    symlinkSync('target.json', file);
    expect(numberIn()).toBe(7);
  });

  it('is ignored when it is a pipe, without blocking', () => {
    execFileSync('mkfifo', [file]);
    expect(numberIn()).toBeNull();
  });

  it('is ignored when it is larger than any event', () => {
    writeFileSync(file, payload.padEnd(33 * 1024 * 1024));
    expect(numberIn()).toBeNull();
  });
});

it.each([
  ['that strangers start with the permissions of the repository, or that is unknown', PRIVILEGED, true],
  ['that members start, or that has no permissions', `${ORDINARY} `, false],
])('a trigger %s is privileged or not', (_, names, expected) => {
  for (const name of names.split(' ')) expect(isPrivileged({ GITHUB_EVENT_NAME: name }), name).toBe(expected);
});
