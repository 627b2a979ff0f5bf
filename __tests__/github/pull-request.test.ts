import { describe, expect, it } from 'vitest';
import type { EventFacts } from '../../src/github/event.ts';
import { createPullRequestFinder } from '../../src/github/pull-request.ts';
import { answering } from '../support/github-answers.ts';

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
const after = { workflow_run: { head_sha: 'a1', pull_requests: [] } };

describe('the pull request', () => {
  it.each(['pull_request', 'pull_request_target', 'pull_request_review'])(
    'of %s stands in the event, and nobody is asked',
    async (name) => {
      const { github, asked } = answering({});
      const finder = createPullRequestFinder(event(name, { pull_request: pull(7) }), github);
      expect([finder.number, await finder.find(), await finder.headSha(), asked]).toEqual([
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
  ])('of %s is asked for by its number, once', async (name, payload, more, expected, head) => {
    const { github, asked } = answering({ '/repos/o/r/pulls/7': pull(7) });
    const finder = createPullRequestFinder(event(name, payload, more), github);
    expect(await finder.find()).toEqual(expected);
    expect([finder.number, await finder.find(), await finder.headSha()]).toEqual([7, expected, head]);
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
    const finder = createPullRequestFinder(event(name, payload, more), github);
    expect([finder.number, await finder.find(), await finder.headSha()]).toEqual([null, read(7), head]);
  });

  it('of a workflow_run is looked for by its branch: the repository does not list the commits of forks', async () => {
    const moved = pull(6, { head: { ref: 'topic', sha: 'a2', repo: { full_name: 'fork/r' } } });
    const { github, asked } = answering({ '/repos/o/r/pulls': [moved, pull(7)] });
    const run = { head_sha: 'a1', head_branch: 'topic', head_repository: { owner: { login: 'fork' } } };
    const finder = createPullRequestFinder(event('workflow_run', { workflow_run: run }), github);
    expect(await finder.find()).toEqual(read(7));
    expect(asked).toEqual(['/repos/o/r/pulls']);
  });

  it('of a comment has the head that was judged, and not the one that was pushed since', async () => {
    const { github } = answering({
      '/repos/o/r/pulls/7': pull(7, { head: { ref: 'topic', sha: 'pushed', repo: null } }),
      '/repos/o/r/commits/judged': { parents: [{ sha: 'b1' }] },
    });
    const comment = event('issue_comment', { issue: { number: 7, pull_request: {} } });
    expect(await createPullRequestFinder(comment, github).headSha('judged')).toBe('judged');
    const after = createPullRequestFinder(comment, github, 'pushed');
    expect([await after.headSha('judged'), await after.headSha()]).toEqual(['judged', 'pushed']);
  });

  it('of a commit that two are open for is none: nobody can say which', async () => {
    const { github } = answering({ '/repos/o/r/commits/a1/pulls': [pull(7), pull(8)] });
    expect(await createPullRequestFinder(event('workflow_run', after), github).find()).toBeNull();
  });

  it.each([
    ['schedule', {}],
    ['issue_comment', { issue: { number: 7 } }],
    ['pull_request', { pull_request: { number: 7 } }],
  ])(
    "of %s %j is none where nobody can be asked, and checks are shown on the job's commit",
    async (name, payload) => {
      const finder = createPullRequestFinder(event(name, payload), null);
      expect([await finder.find(), await finder.headSha()]).toEqual([null, 'merge1']);
    },
  );

  it.each([
    ['the head itself', 'a1', 'a1'],
    ['the commit that merges it', 'm2', 'a1'],
    ['an older head, since somebody pushed after the checkout', 'a0', 'a0'],
    ['the default branch', 'merge1', 'a1'],
  ])('is shown the verdict where what is checked out is %s', async (_, checkedOut, shown) => {
    const { github } = answering({
      '/repos/o/r/pulls/7': pull(7),
      '/repos/o/r/commits/m2': { sha: 'm2', parents: [{ sha: 'b1' }, { sha: 'a1' }] },
      '/repos/o/r/commits/a0': { sha: 'a0', parents: [{ sha: 'b1' }] },
    });
    const facts = event('issue_comment', { issue: { number: 7, pull_request: {} } });
    expect(await createPullRequestFinder(facts, github, checkedOut).headSha()).toBe(shown);
  });

  it('that GitHub does not tell is an error for whoever needs it', async () => {
    const { github } = answering({});
    const payload = { issue: { number: 7, pull_request: {} } };
    await expect(
      createPullRequestFinder(event('issue_comment', payload), github).find(),
    ).rejects.toMatchObject({
      name: 'GitHubError',
    });
  });
});
