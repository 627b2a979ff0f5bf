/** The committed bundle with a fake GitHub: what it requests and reports there, without effect on the verdict. */
import { cpSync } from 'node:fs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { GitHubServer } from '../support/fakes/github/server.ts';
import { left, runAction, submits } from '../support/fakes/runner/action.ts';
import { makeFolder } from '../support/surroundings.ts';
import { commitChange, pullRequestEvent, servePullRequest } from '../support/worlds/pull-request.ts';

const MILD = JSON.stringify({ type: 'object', properties: { passed: { type: 'boolean' } } });
const STRICT = MILD.replace('"type":"boolean"', '"const":false');
const checkout = makeFolder();
const commits = commitChange(checkout, { 'judge.json': STRICT }, { 'judge.json': MILD });
const files = [{ filename: 'judge.json' }, { filename: '.github/workflows/ci.yml' }];
const own = `octo/demo@${commits.before}`;
const contents = { [own]: { 'judge.json': STRICT }, 'org/judges@v1': { 'a/x.json': MILD } };

let hub: GitHubServer;
beforeEach(async () => {
  hub = await servePullRequest('A change', files, commits, { contents });
});
afterEach(() => hub.close());

/** One run on the pull request, which is checked out. */
function runStep(inputs: Readonly<Record<string, string>>) {
  return runAction({
    script: [submits({ passed: true, summary: 'It does.' })],
    prepare: async ({ workspace }) => cpSync(checkout, workspace, { recursive: true }),
    inputs: { 'github-token': 'test-token', gate: 'off', ...inputs },
    github: { hub, event: pullRequestEvent('A change', commits) },
    variables: { GITHUB_WORKFLOW_REF: 'octo/demo/.github/workflows/ci.yml@refs/pull/7/merge' },
  });
}

const operations = () => hub.requests.map(({ operation }) => operation);

it('the base’s schema is used, and the change of it reported everywhere', async () => {
  const inputs = { schema: './judge.json', comment: 'always', 'max-turns': '2' };
  const run = await runStep({ ...inputs, 'trusted-files': 'base' });
  expect([run.exitCode, run.outputs.get('run-reason')]).toEqual([53, 'max_turns']);
  for (const text of [run.summary, hub.comments()[0]?.body, run.log]) {
    expect(text).toContain('which judges it. The version of the base branch was used.');
    expect(text).toMatch(/\(this workflow\)|&#40;this workflow&#41;/u);
  }
  const mild = await runStep(inputs);
  expect(mild.exitCode).toBe(0);
  expect(mild.summary).toContain('which judges it. The changed version was used;');
});

it('what needs a token is reported, and judged without one, by what git knows', async () => {
  const reports = { comment: 'always', 'commit-status': 'agent' };
  const run = await runStep({ 'github-token': '', schema: './judge.json', ...reports });
  expect([run.exitCode, operations()]).toEqual([0, []]);
  expect(run.log).toContain('neither a comment nor a commit status');
  expect(run.summary).toContain('which judges it');
});

it('a schema of another repository is read at its ref, and no request is made that is not needed', async () => {
  const run = await runStep({ schema: '@org/judges/a/x.json@v1', gate: 'passed' });
  expect([run.exitCode, run.outputs.get('passed')]).toEqual([0, 'true']);
  const pullRequest = 'GET /repos/{owner}/{repo}/pulls/{pull_number}';
  const schema = 'GET /repos/{owner}/{repo}/contents/{path}';
  expect(operations().toSorted()).toEqual([schema, pullRequest, `${pullRequest}/files`]);
  expect(left(run)).not.toContain('test-token');
});
