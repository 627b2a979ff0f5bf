import { expect, it } from 'vitest';
import { eventOf, ofComment, openHub, pullAs, queue } from './world.ts';

const group = { merge_group: { head_sha: 'g1', base_sha: 'm1' } };
const after = { workflow_run: { head_sha: 'a1' } };
const ofBranch = { head_branch: 'topic', head_repository: { owner: { login: 'fork' } } };
const NUMBER = '/repos/o/r/pulls/7';
const COMMIT = '/repos/o/r/commits/a1/pulls';

it.each(['pull_request', 'pull_request_target', 'pull_request_review'])(
  'the pull request of %s is read from the event, without a request',
  async (name) => {
    const { hub, asked } = openHub(eventOf(name, { pull_request: pullAs(7) }));
    expect(await hub.findPullRequest()).toMatchObject({ number: 7, title: 'T', head: { sha: 'a1' } });
    expect([await hub.findNumber(), asked]).toEqual([7, []]);
  },
);

it.each([
  ['issue_comment', ofComment, {}, { base: { sha: 'b1' }, head: { sha: 'a1' } }],
  ['merge_group', group, queue, { base: { sha: 'm1' }, head: { sha: 'g1' } }],
])('that of %s is requested by its number, once', async (name, payload, more, commits) => {
  const { hub, asked } = openHub(eventOf(name, payload, more), { [NUMBER]: pullAs(7) });
  expect(await hub.findNumber()).toBe(7);
  expect(asked).toEqual([]);
  expect(await hub.findPullRequest()).toMatchObject({ number: 7, user: { login: 'mona' }, ...commits });
  await hub.findPullRequest();
  expect(asked).toEqual([NUMBER]);
});

const others = [
  pullAs(1, { state: 'closed' }),
  pullAs(2, { head: { ref: 'x', sha: 'other', repo: null } }),
  pullAs(3, { base: { ref: 'main', sha: 'b1', repo: { full_name: 'elsewhere/r' } } }),
];
it.each([
  ['the open one whose head is the commit', 'workflow_run', after, COMMIT, [...others, pullAs(7)], 7],
  ['that of a pushed commit', 'push', {}, COMMIT, [...others, pullAs(7)], 7],
  ['null if there are two', 'workflow_run', after, COMMIT, [pullAs(7), pullAs(8)], null],
  ['null if there is none', 'workflow_run', after, COMMIT, others, null],
  // Commits of forks are not listed.
  [
    'that of the branch',
    'workflow_run',
    { workflow_run: { head_sha: 'a1', ...ofBranch } },
    '/repos/o/r/pulls',
    [...others, pullAs(7)],
    7,
  ],
])('without a number it is %s', async (_, name, payload, path, listed, number) => {
  const { hub, asked } = openHub(eventOf(name, payload, { sha: 'a1' }), { [path]: listed });
  expect((await hub.findPullRequest())?.number ?? null).toBe(number);
  expect([await hub.findNumber(), asked]).toEqual([number, [path]]);
});

it.each([
  ['schedule', {}],
  ['issue_comment', { issue: { number: 7 } }],
  ['workflow_dispatch', {}],
])('%s %j has none, and nothing is requested', async (name, payload) => {
  const { hub, asked } = openHub(eventOf(name, payload), null);
  expect([await hub.findPullRequest(), await hub.findNumber(), asked]).toEqual([null, null, []]);
});

it.each([
  ['GitHub refuses', {}, 'GitHub answered 404'],
  ['there is no token', null, 'GitHub was not asked: github-token is empty.'],
])('it is an error if %s', async (_, answers, says) => {
  const { hub } = openHub(eventOf('issue_comment', ofComment), answers);
  await expect(hub.findPullRequest()).rejects.toMatchObject({
    name: 'GitHubError',
    message: expect.stringContaining(says),
  });
});
