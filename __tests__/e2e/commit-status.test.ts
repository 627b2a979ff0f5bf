/** The committed bundle with a fake GitHub: on which checkouts it sets a success. */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
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

const below = (name: string, commit: string) => (workspace: string) => {
  mkdirSync(path.join(workspace, name), { recursive: true });
  checkOut(path.join(workspace, name), commit);
};
const nothing = () => undefined;
const two = (workspace: string) => {
  below('one', base)(workspace);
  below('two', head)(workspace);
};
const deep = { 'working-directory': 'source/deep' };

// How a checkout is read (packed refs, worktrees) is in __tests__/github/checked-out.test.ts.
it.each<
  [keyof typeof EVENTS, string, (workspace: string) => void, string, Readonly<Record<string, string>>?]
>([
  ['pull_request', 'GitHub’s merge commit', below('.', merge), 'success'],
  ['pull_request', 'the head', below('.', head), 'success'],
  ['pull_request', 'nothing', nothing, 'error'],
  ['issue_comment', 'the head in the working directory', below('source/deep', head), 'success', deep],
  ['issue_comment', 'the head of before a push', below('.', older), 'error'],
  ['issue_comment', 'two commits in two folders', two, 'error'],
  ['pull_request_target', 'the base', below('.', base), 'error'],
  ['workflow_run', 'nothing', nothing, 'error'],
])(
  'on %s with a checkout of %s a verdict that passes sets its status on the head',
  async (name, _, prepare, state, inputs = {}) => {
    const [payload, sha, ref] = EVENTS[name];
    const run = await runAction({
      script: [submits({ passed: true, summary: 'Good.' })],
      inputs: { 'github-token': 'test-token', 'commit-status': 'agent', ...inputs },
      github: { hub, name, event: payload },
      variables: { GITHUB_SHA: sha, GITHUB_REF: ref },
      prepare: async ({ workspace }) => prepare(workspace),
    });
    expect([run.exitCode, run.outputs.get('run-conclusion')]).toEqual([0, 'success']);
    expect(hub.statuses().map((status) => `${status.state} ${status.sha}`)).toEqual([
      `pending ${head}`,
      `${state} ${head}`,
    ]);
    const warnings = run.log.split('\n').filter((line) => line.startsWith('::warning'));
    expect(warnings.some((line) => /instead of a success\. .*[Cc]heck/u.test(line))).toBe(state === 'error');
  },
);

const NO_KEY = { 'api-key': '', provider: 'openai', 'base-url': '' };
it.each<[string, Readonly<Record<string, string>>, number]>([
  ['an invalid input', { 'max-turns': 'x' }, 52],
  ['no key', NO_KEY, 52],
  ['no key and on-missing-key: skip', { ...NO_KEY, 'on-missing-key': 'skip' }, 0],
])(
  'a later run with %s leaves no green status and no green comment in place',
  async (_, inputs, exitCode) => {
    const [payload, sha, ref] = EVENTS.pull_request;
    const judge = (more: Readonly<Record<string, string>>) =>
      runAction({
        script: [submits({ passed: true, summary: 'Good.' })],
        inputs: { 'github-token': 'test-token', 'commit-status': 'agent', comment: 'always', ...more },
        github: { hub, name: 'pull_request', event: payload },
        variables: { GITHUB_SHA: sha, GITHUB_REF: ref },
        prepare: async ({ workspace }) => below('.', head)(workspace),
      });
    await judge({});
    expect(hub.statuses().at(-1)?.state).toBe('success');
    const later = await judge(inputs);
    expect(later.exitCode).toBe(exitCode);
    expect(hub.statuses().at(-1)).toMatchObject({ state: 'error', sha: head });
    const comments = hub.comments();
    expect(comments).toHaveLength(1);
    expect(comments[0]?.body).not.toContain('passed');
  },
);
