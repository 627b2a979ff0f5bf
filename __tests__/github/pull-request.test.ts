import { describe, expect, it } from 'vitest';
import type { EventFacts } from '../../src/github/event.ts';
import { createPullRequestFinder, type PullRequestFinder } from '../../src/github/pull-request.ts';
import { answering } from '../support/fakes/github/answers.ts';

const pull = (number: number, more: object = {}) => ({
  number,
  state: 'open',
  title: 'T',
  body: null,
  user: { login: 'mona' },
  base: { ref: 'main', sha: 'b1', repo: { full_name: 'o/r' } },
  head: { ref: 'topic', sha: 'a1', repo: { full_name: 'fork/r' } },
  ...more,
});
const read = (number: number) => ({
  number,
  title: 'T',
  body: '',
  author: 'mona',
  base: { ref: 'main', sha: 'b1' },
  head: { ref: 'topic', sha: 'a1', repository: 'fork/r' },
  changedFiles: null,
});
const event = (name: string, payload: unknown, more: Partial<EventFacts> = {}): EventFacts => ({
  repository: 'o/r',
  name,
  sha: 'merge1',
  ref: 'refs/heads/main',
  payload,
  ...more,
});
const queue = { ref: 'refs/heads/gh-readonly-queue/main/pr-7-0123abc' };
const group = { merge_group: { head_sha: 'g1', base_sha: 'm1' } };
/** The status commit for a verdict on the checkout, or on the given commits. */
const statusOf = async (finder: PullRequestFinder, ...judged: readonly (string | null)[]) => {
  const { sha, problem } = await finder.findStatusCommit(...judged);
  return problem === null ? sha : `not ${sha}`;
};
const after = { workflow_run: { head_sha: 'a1', pull_requests: [] } };

describe('the pull request', () => {
  it.each(['pull_request', 'pull_request_target', 'pull_request_review'])(
    'of %s is read from the event, without a request',
    async (name) => {
      const { github, asked } = answering({});
      const finder = createPullRequestFinder(event(name, { pull_request: pull(7) }), github, 'a1');
      expect([finder.number, await finder.find(), await statusOf(finder), asked]).toEqual([
        7,
        read(7),
        'a1',
        [],
      ]);
    },
  );

  it.each([
    ['issue_comment', { issue: { number: 7, pull_request: {} } }, {}, read(7), 'a1'],
    [
      'merge_group',
      group,
      queue,
      { ...read(7), base: { ref: 'main', sha: 'm1' }, head: { ...read(7).head, sha: 'g1' } },
      'g1',
    ],
  ])('of %s is requested by its number, once', async (name, payload, more, expected, head) => {
    const { github, asked } = answering({ '/repos/o/r/pulls/7': pull(7) });
    const finder = createPullRequestFinder(event(name, payload, more), github, head);
    expect(await finder.find()).toEqual(expected);
    expect([finder.number, await finder.find(), await statusOf(finder)]).toEqual([7, expected, head]);
    expect(asked).toEqual(['/repos/o/r/pulls/7']);
  });

  it.each([
    ['workflow_run', after, {}, 'a1'],
    ['push', {}, { sha: 'a1' }, 'a1'],
  ])('of %s is the open one whose head is the commit', async (name, payload, more, head) => {
    const others = [
      pull(1, { state: 'closed' }),
      pull(2, { head: { ref: 'x', sha: 'other', repo: null } }),
      pull(3, { base: { ref: 'main', sha: 'b1', repo: { full_name: 'elsewhere/r' } } }),
    ];
    const { github } = answering({ '/repos/o/r/commits/a1/pulls': [...others, pull(7)] });
    const finder = createPullRequestFinder(event(name, payload, more), github, head);
    expect([finder.number, await finder.find(), await statusOf(finder)]).toEqual([null, read(7), head]);
  });

  it('of a workflow_run is found by its branch, because commits of forks are not listed', async () => {
    const moved = pull(6, { head: { ref: 'topic', sha: 'a2', repo: { full_name: 'fork/r' } } });
    const { github, asked } = answering({ '/repos/o/r/pulls': [moved, pull(7)] });
    const run = { head_sha: 'a1', head_branch: 'topic', head_repository: { owner: { login: 'fork' } } };
    const finder = createPullRequestFinder(event('workflow_run', { workflow_run: run }), github);
    expect(await finder.find()).toEqual(read(7));
    expect(asked).toEqual(['/repos/o/r/pulls']);
  });

  it('of a commit with two open pull requests is null', async () => {
    const { github } = answering({ '/repos/o/r/commits/a1/pulls': [pull(7), pull(8)] });
    expect(await createPullRequestFinder(event('workflow_run', after), github).find()).toBeNull();
  });

  it.each([
    ['schedule', {}],
    ['issue_comment', { issue: { number: 7 } }],
    ['pull_request', { pull_request: { number: 7 } }],
  ])('of %s %j is null without a token, and the status is set on the job’s commit', async (name, payload) => {
    const finder = createPullRequestFinder(event(name, payload), null, 'merge1');
    expect([await finder.find(), await statusOf(finder)]).toEqual([null, 'merge1']);
  });

  const ofPull = { pull_request: pull(7) };
  const byComment = { issue: { number: 7, pull_request: {} } };
  it.each([
    ['issue_comment', byComment, 'a1', 'a1'],
    ['issue_comment', byComment, 'a0', 'not a1'],
    ['issue_comment', byComment, 'merge1', 'not a1'],
    ['issue_comment', byComment, null, 'not a1'],
    ['pull_request', ofPull, 'a1', 'a1'],
    ['pull_request', ofPull, 'merge1', 'a1'],
    ['pull_request', ofPull, 'a-merge-of-their-own', 'not a1'],
    ['pull_request', ofPull, null, 'not a1'],
    ['pull_request_review', ofPull, 'merge1', 'a1'],
    ['pull_request_target', ofPull, 'a1', 'a1'],
    ['pull_request_target', ofPull, 'merge1', 'not a1'],
    ['pull_request_target', ofPull, 'b1', 'not a1'],
    ['workflow_run', after, 'a1', 'a1'],
    ['workflow_run', after, 'merge1', 'not a1'],
    ['merge_group', group, 'g1', 'g1'],
    ['merge_group', group, 'merge1', 'not g1'],
    ['push', {}, 'merge1', 'merge1'],
    ['push', {}, 'other', 'not merge1'],
    ['push', {}, null, 'not merge1'],
    ['schedule', {}, 'other', 'not merge1'],
  ])(
    'of %s %j gets a success only if its head is checked out: %s',
    async (name, payload, checkedOut, shown) => {
      const { github } = answering({ '/repos/o/r/pulls/7': pull(7) });
      const ref = name === 'pull_request_target' ? 'refs/heads/main' : 'refs/pull/7/merge';
      const finder = createPullRequestFinder(event(name, payload, { ref }), github, checkedOut);
      expect(await statusOf(finder)).toBe(shown);
      // A merge of verdicts says what its legs judged, whatever is checked out.
      const elsewhere = createPullRequestFinder(event(name, payload, { ref }), github, 'elsewhere');
      expect(await statusOf(elsewhere, checkedOut)).toBe(shown);
    },
  );

  it('throws when GitHub does not return it', async () => {
    const { github } = answering({});
    const payload = { issue: { number: 7, pull_request: {} } };
    await expect(
      createPullRequestFinder(event('issue_comment', payload), github).find(),
    ).rejects.toMatchObject({ name: 'GitHubError' });
  });
});
