/** The committed bundle beside a GitHub on loopback: on which commit it sets a success, and what an attacker would have it set one on. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type GitHubServer, startGitHubServer } from '../support/fakes/github/server.ts';
import { runAction, submits } from '../support/fakes/runner/action.ts';
import { COMMITS, checkOut, gitIn } from '../support/worlds/checkout.ts';

const { base, older, head, merge } = COMMITS;
const folder = mkdtempSync(path.join(os.tmpdir(), 'commit-status-'));
const eventFile = path.join(folder, 'event.json');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

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
/** The event, and GITHUB_SHA and GITHUB_REF as the runner has them there. */
const EVENTS = {
  pull_request: [{ pull_request: { number: 7, ...ends } }, merge, 'refs/pull/7/merge'],
  pull_request_target: [{ pull_request: { number: 7, ...ends } }, base, 'refs/heads/main'],
  issue_comment: [{ issue: { number: 7, pull_request: {} } }, base, 'refs/heads/main'],
  workflow_run: [{ workflow_run: { event: 'pull_request', head_sha: head } }, base, 'refs/heads/main'],
} as const;

/** One run that passes; the statuses that it set, and its warnings. */
async function pass(
  name: string,
  [payload, sha, ref]: readonly [object, string, string],
  prepare: (workspace: string) => void,
  inputs: Readonly<Record<string, string>> = {},
) {
  writeFileSync(eventFile, JSON.stringify(payload));
  const run = await runAction({
    script: [submits({ passed: true, summary: 'Good.' })],
    inputs: { 'github-token': 'test-token', 'commit-status': 'agent', context: 'none', ...inputs },
    variables: {
      GITHUB_REPOSITORY: 'octo/demo',
      GITHUB_SERVER_URL: 'https://github.com',
      GITHUB_API_URL: hub.apiUrl,
      GITHUB_GRAPHQL_URL: hub.graphqlUrl,
      GITHUB_EVENT_NAME: name,
      GITHUB_EVENT_PATH: eventFile,
      GITHUB_RUN_ID: '100',
      GITHUB_SHA: sha,
      GITHUB_REF: ref,
    },
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

describe('a success for a head that nobody judged', () => {
  it.each([
    ['pull_request', 'is not to be had without a checkout', () => undefined],
    ['pull_request_target', 'is not to be had without a checkout', () => undefined],
    ['issue_comment', 'is not to be had without a checkout', () => undefined],
    ['workflow_run', 'is not to be had without a checkout', () => undefined],
    ['pull_request_target', 'is not to be had with a plain checkout', below('.', base)],
    ['issue_comment', 'is not to be had with a plain checkout', below('.', base)],
    ['workflow_run', 'is not to be had with a plain checkout', below('.', base)],
    ['issue_comment', 'is not to be had with a plain checkout in a folder', below('source', base)],
    [
      'issue_comment',
      'is not to be had with two checkouts',
      (workspace: string) => {
        below('one', base)(workspace);
        below('two', head)(workspace);
      },
    ],
    [
      'issue_comment',
      'is not to be had with packed refs',
      (workspace: string) => {
        checkOut(workspace, base);
        gitIn(workspace)('checkout', '-q', 'main');
        gitIn(workspace)('pack-refs', '--all', '--prune');
      },
    ],
  ] as const)('on %s %s', async (name, _, prepare) => {
    const { set, warnings } = await pass(name, EVENTS[name], prepare);
    expect(set).toEqual([`pending ${head}`, `error ${head}`]);
    expect(warnings.join('\n')).toMatch(
      /The commit status is an error instead of a success\. .*[Cc]heck out/u,
    );
  });

  it.each([
    ['at the root', (workspace: string) => checkOut(workspace, older), {}],
    ['in a folder', below('source', older), {}],
    ['in the working directory', below('source/deep', older), { 'working-directory': 'source/deep' }],
    [
      'with packed refs',
      (workspace: string) => {
        checkOut(workspace, older);
        gitIn(workspace)('checkout', '-q', '-b', 'x');
        gitIn(workspace)('pack-refs', '--all', '--prune');
      },
      {},
    ],
  ])('is not to be had by a push after the checkout %s', async (_, prepare, inputs) => {
    const { set, run } = await pass('issue_comment', EVENTS.issue_comment, prepare, inputs);
    expect(set).toEqual([`pending ${older}`, `success ${older}`]);
    expect(run.envelope).toMatchObject({ subject: { sha: older, checked_out: older } });
  });

  it.each(['push', 'workflow_dispatch', 'schedule'])(
    'is not to be had on %s by a branch that is called like one of the merge queue',
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

describe('the head gets its success', () => {
  it.each([
    ['pull_request', 'GitHub’s merge of it is checked out', below('.', merge)],
    ['pull_request', 'the head itself is', below('.', head)],
    ['issue_comment', 'the head itself is, in a folder', below('source', head)],
    ['issue_comment', 'its merge is, in a folder', below('source', merge)],
    [
      'issue_comment',
      'its merge is, in a shallow clone',
      (workspace: string) => {
        const origin = path.join(folder, 'origin');
        rmSync(origin, { recursive: true, force: true });
        mkdirSync(origin);
        checkOut(origin, merge);
        gitIn(origin)('checkout', '-q', '-b', 'merged');
        gitIn(workspace)('clone', '-q', '--depth=1', '--branch=merged', `file://${origin}`, 'source');
      },
    ],
    [
      'workflow_run',
      'it is, in a worktree',
      (workspace: string) => {
        const origin = path.join(workspace, '..', 'origin');
        mkdirSync(origin);
        checkOut(origin, base);
        gitIn(origin)('worktree', 'add', '-q', '--detach', path.join(workspace, 'source'), head);
      },
    ],
  ] as const)('on %s where %s', async (name, _, prepare) => {
    const { set } = await pass(name, EVENTS[name], prepare);
    expect(set).toEqual([`pending ${head}`, `success ${head}`]);
  });
});
