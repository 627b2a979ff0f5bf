/** The committed bundle with a fake GitHub: the commit on which it sets a success, against attempts to move it. */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type GitHubServer, startGitHubServer } from '../support/fakes/github/server.ts';
import { runAction, submits } from '../support/fakes/runner/action.ts';
import { COMMITS, checkOut } from '../support/worlds/checkout.ts';

const { base, older, head, merge } = COMMITS;

let hub: GitHubServer;
beforeEach(async () => {
  const pull = { number: 7, head: { ref: 'topic', sha: head, repository: 'mallory/demo' } };
  hub = await startGitHubServer({
    pulls: [{ ...pull, base: { ref: 'main', sha: base }, files: [] }],
    branches: { main: base },
  });
});
afterEach(() => hub.close());

const ends = { head: { ref: 'topic', sha: head }, base: { ref: 'main', sha: base } };
/** The event, and GITHUB_SHA and GITHUB_REF as the runner sets them. */
const EVENTS = {
  pull_request: [{ pull_request: { number: 7, ...ends } }, merge, 'refs/pull/7/merge'],
  pull_request_target: [{ pull_request: { number: 7, ...ends } }, base, 'refs/heads/main'],
  issue_comment: [{ issue: { number: 7, pull_request: {} } }, base, 'refs/heads/main'],
  workflow_run: [{ workflow_run: { event: 'pull_request', head_sha: head } }, base, 'refs/heads/main'],
} as const;

/** One run that passes: the statuses that it set, and its warnings. */
async function pass(
  name: string,
  [payload, sha, ref]: readonly [object, string, string],
  prepare: (workspace: string) => void,
  inputs: Readonly<Record<string, string>> = {},
) {
  const run = await runAction({
    script: [submits({ passed: true, summary: 'Good.' })],
    inputs: { 'github-token': 'test-token', 'commit-status': 'agent', context: 'none', ...inputs },
    github: { hub, name, event: payload },
    variables: { GITHUB_SHA: sha, GITHUB_REF: ref },
    prepare: async ({ workspace }) => prepare(workspace),
  });
  expect([run.exitCode, run.outputs.get('run-conclusion')]).toEqual([0, 'success']);
  const set = hub.statuses().map((status) => `${status.state} ${status.sha}`);
  return { set, warnings: run.log.split('\n').filter((line) => line.startsWith('::warning')), run };
}

const below = (name: string, commit: string) => (workspace: string) => {
  mkdirSync(path.join(workspace, name), { recursive: true });
  checkOut(path.join(workspace, name), commit);
};

// How a checkout is read (packed refs, shallow clones, worktrees) is in __tests__/github/checked-out.test.ts.
describe('a success on a head that was not judged', () => {
  it.each([
    ['pull_request', 'without a checkout', () => undefined],
    ['workflow_run', 'without a checkout', () => undefined],
    ['pull_request_target', 'with a plain checkout', below('.', base)],
    ['issue_comment', 'with a plain checkout in a folder', below('source', base)],
    [
      'issue_comment',
      'with two checkouts',
      (workspace: string) => {
        below('one', base)(workspace);
        below('two', head)(workspace);
      },
    ],
  ] as const)('is not set on %s %s', async (name, _, prepare) => {
    const { set, warnings } = await pass(name, EVENTS[name], prepare);
    expect(set).toEqual([`pending ${head}`, `error ${head}`]);
    expect(warnings.join('\n')).toMatch(
      /The commit status is an error instead of a success\. .*[Cc]heck out/u,
    );
  });

  it.each([
    ['at the root', (workspace: string) => checkOut(workspace, older), {}],
    ['in the working directory', below('source/deep', older), { 'working-directory': 'source/deep' }],
  ])('is not set by a push after the checkout %s', async (_, prepare, inputs) => {
    const { set, run } = await pass('issue_comment', EVENTS.issue_comment, prepare, inputs);
    expect(set).toEqual([`pending ${older}`, `success ${older}`]);
    expect(run.envelope).toMatchObject({ subject: { sha: older, checked_out: older } });
  });

  it.each(['push', 'workflow_dispatch'])(
    'is not set on %s by a branch with a merge queue name',
    async (name) => {
      const event = [{}, older, 'refs/heads/gh-readonly-queue/main/pr-7-0123abc'] as const;
      const { set, run } = await pass(name, event, (workspace) => checkOut(workspace, older), {
        comment: 'always',
        context: 'auto',
      });
      expect(set).toEqual([`pending ${older}`, `success ${older}`]);
      expect([hub.comments(), run.envelope?.['subject']]).toEqual([
        [],
        expect.objectContaining({ pull_request: null }),
      ]);
      expect(JSON.stringify(run.requests[0]?.body)).not.toContain('pull request #7');
    },
  );
});

describe('a success on the head', () => {
  it.each([
    ['pull_request', 'GitHub’s merge commit is checked out', below('.', merge)],
    ['pull_request', 'the head is checked out', below('.', head)],
    ['issue_comment', 'its merge commit is checked out in a folder', below('source', merge)],
  ] as const)('is set on %s when %s', async (name, _, prepare) => {
    const { set } = await pass(name, EVENTS[name], prepare);
    expect(set).toEqual([`pending ${head}`, `success ${head}`]);
  });
});
