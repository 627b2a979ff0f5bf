import { expect, it } from 'vitest';
import type { EventFacts } from '../../src/github/event.ts';
import { eventOf, ofComment, openHub, pullAs, queue } from './world.ts';

const ofPull = { pull_request: pullAs(7) };
const group = { merge_group: { head_sha: 'g1', base_sha: 'm1' } };
const after = { workflow_run: { head_sha: 'a1' } };
const ofBranch = {
  workflow_run: { head_sha: 'a1', head_branch: 'topic', head_repository: { owner: { login: 'fork' } } },
};
const NUMBER = { '/repos/o/r/pulls/7': pullAs(7) };
const others = [
  pullAs(1, { state: 'closed' }),
  pullAs(2, { head: { ref: 'x', sha: 'other', repo: null } }),
  pullAs(3, { base: { ref: 'main', sha: 'b1', repo: { full_name: 'elsewhere/r' } } }),
];
const ofCommit = (...pulls: readonly object[]) => ({ '/repos/o/r/commits/a1/pulls': [...others, ...pulls] });
const ofBase = { number: 7, base: { sha: 'b1' }, head: { sha: 'a1' } };

type Pull = Readonly<Record<string, unknown>>;
it.each<[string, EventFacts['payload'], Partial<EventFacts>, Pull, Pull | null]>([
  ['pull_request', ofPull, {}, {}, { ...ofBase, title: 'T' }],
  ['pull_request_target', ofPull, {}, {}, ofBase],
  ['pull_request_review', ofPull, {}, {}, ofBase],
  ['issue_comment', ofComment, {}, NUMBER, { ...ofBase, user: { login: 'mona' } }],
  ['merge_group', group, queue, NUMBER, { number: 7, base: { sha: 'm1' }, head: { sha: 'g1' } }],
  ['workflow_run', after, {}, ofCommit(pullAs(7)), ofBase],
  ['push', {}, { sha: 'a1' }, ofCommit(pullAs(7)), ofBase],
  // It is not clear which one is meant.
  ['workflow_run', after, {}, ofCommit(pullAs(7), pullAs(8)), null],
  ['workflow_run', after, {}, ofCommit(), null],
  // The commits of forks are not listed, so the branch is asked for.
  ['workflow_run', ofBranch, {}, { '/repos/o/r/pulls': [...others, pullAs(7)] }, ofBase],
  ['schedule', {}, {}, {}, null],
  ['workflow_dispatch', {}, {}, {}, null],
  ['issue_comment', { issue: { number: 7 } }, {}, {}, null],
])('the pull request of %s %j is requested once, if at all', async (name, payload, more, answers, pull) => {
  const { hub, asked } = openHub(eventOf(name, payload, more), answers);
  const found = await hub.findPullRequest();
  if (pull === null) expect(found).toBeNull();
  else expect(found).toMatchObject(pull);
  expect([await hub.findNumber(), await hub.findPullRequest()]).toEqual([pull?.['number'] ?? null, found]);
  expect(asked).toEqual(Object.keys(answers));
});

it('the number that an event contains is not requested', async () => {
  const { hub, asked } = openHub(eventOf('issue_comment', ofComment));
  expect([await hub.findNumber(), asked]).toEqual([7, []]);
});

it.each([
  ['GitHub refuses', {}, 'GitHub answered 404'],
  ['there is no token', null, 'GitHub was not asked: github-token is empty.'],
])('it is an error if %s', async (_, answers, message) => {
  const { hub } = openHub(eventOf('issue_comment', ofComment), answers);
  await expect(hub.findPullRequest()).rejects.toThrow(message);
});
