import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type GitHubServer, startGitHubServer } from '../support/fakes/github/server.ts';
import { type ActionOptions, runAction } from '../support/fakes/runner/action.ts';
import { COMMITS, checkOut } from '../support/worlds/checkout.ts';

const HEAD = COMMITS.head;
const BASE = COMMITS.base;
const GOOD = {
  calls: [
    { name: 'structured_output', arguments: '{"passed":true,"summary":"Fine, @octocat.","findings":[]}' },
  ],
};
const BAD = {
  calls: [{ name: 'structured_output', arguments: '{"passed":false,"summary":"Broken.","findings":[]}' }],
};
const REPOSITORY = 'octo/demo';

let server: GitHubServer;
beforeEach(async () => {
  server = await startGitHubServer({
    repository: REPOSITORY,
    pulls: [
      {
        number: 7,
        head: { ref: 'change', sha: HEAD },
        base: { ref: 'main', sha: BASE },
        files: [{ filename: 'a.txt', patch: '@@ -1 +1 @@\n-a\n+b' }],
        diff: 'diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-a\n+b\n',
      },
    ],
    branches: { main: BASE },
  });
});
afterEach(() => server.close());

/** A run on the pull request. */
function judge(
  options: ActionOptions,
  run: Readonly<Record<string, string>> = {},
  inputs: ActionOptions['inputs'] = {},
) {
  let event = '';
  const variables = {
    GITHUB_REPOSITORY: REPOSITORY,
    GITHUB_EVENT_NAME: 'pull_request',
    GITHUB_REF: 'refs/pull/7/merge',
    GITHUB_SERVER_URL: 'https://github.com',
    GITHUB_RUN_ID: '100',
    GITHUB_RUN_ATTEMPT: '1',
    GITHUB_API_URL: server.apiUrl,
    GITHUB_GRAPHQL_URL: server.graphqlUrl,
    NO_PROXY: '127.0.0.1',
    ...run,
  };
  return runAction({
    ...options,
    inputs: {
      'github-token': 'test-token',
      comment: 'always',
      'comment-key': 'e2e',
      'commit-status': 'verdict',
      ...inputs,
    },
    variables: {
      ...variables,
      get GITHUB_EVENT_PATH() {
        return event;
      },
    },
    async prepare({ temp, workspace }) {
      checkOut(workspace, COMMITS.merge);
      event = path.join(path.dirname(temp), 'event.json');
      const repo = { full_name: REPOSITORY };
      await writeFile(
        event,
        JSON.stringify({
          pull_request: {
            number: 7,
            title: 'A change',
            body: '',
            user: { login: 'octocat' },
            head: { ref: 'change', sha: HEAD, repo },
            base: { ref: 'main', sha: BASE, repo },
          },
        }),
      );
    },
  });
}

describe('the verdict on GitHub', () => {
  it('2 MB of nesting leaves no green run without its summary and its comment', async () => {
    const nested = (levels: number) =>
      `{"passed":true,"more":${'['.repeat(levels)}${'1,'.repeat(1_000_000)}1${']'.repeat(levels)}}`;
    const submits = (text: string) => ({ calls: [{ name: 'structured_output', arguments: text }] });
    const schema =
      '{"type":"object","required":["passed"],"properties":{"passed":{"type":"boolean"},"more":{}}}';
    const { exitCode, outputs, summary } = await judge(
      { script: [submits(nested(490)), submits(nested(99))] },
      {},
      { schema, gate: 'passed' },
    );
    expect([exitCode, outputs.get('passed'), outputs.get('run-rejections')]).toEqual([0, 'true', '1']);
    expect(summary).toContain('✅ Success');
    expect(server.comments()[0]?.body).toContain('✅ Success');
  });

  it('is a comment and a status, which the next run brings up to date', async () => {
    const first = await judge({ script: [BAD] });
    expect([first.exitCode, first.envelope?.['conclusion']]).toEqual([1, 'failure']);
    const [comment] = server.comments();
    expect(comment?.body).toContain('❌ Failure: the gate is not met');
    expect(first.outputs.get('run-comment-url')).toBe(
      `https://github.com/${REPOSITORY}/pull/7#issuecomment-${comment?.id}`,
    );
    const second = await judge({ script: [GOOD] }, { GITHUB_RUN_ID: '101' });
    expect([second.exitCode, server.comments().length, server.comments()[0]?.id]).toEqual([
      0,
      1,
      comment?.id,
    ]);
    expect(server.comments()[0]?.body).toContain('✅ Success: the gate is met');
    expect(server.statuses().map(({ sha, state, context }) => `${sha === HEAD} ${state} ${context}`)).toEqual(
      ['true pending verdict', 'true failure verdict', 'true pending verdict', 'true success verdict'],
    );
    const { log, summary, transcript } = second;
    expect(`${log}${summary}${transcript}`.replaceAll('::add-mask::test-token\n', '')).not.toContain(
      'test-token',
    );
  });

  it('that an older run gives does not replace that of a newer one', async () => {
    await judge({ script: [GOOD] }, { GITHUB_RUN_ID: '101' });
    const late = await judge({ script: [BAD] });
    expect(server.comments()[0]?.body).toContain('✅ Success');
    expect(late.log).toContain('A newer run has already commented');
  });

  it('which GitHub does not take is a warning, and the same verdict', async () => {
    server.fail('POST', { status: 403, message: 'Resource not accessible by integration' }, 99);
    const { exitCode, log, outputs } = await judge({ script: [GOOD] });
    expect([exitCode, outputs.get('passed'), outputs.get('run-comment-url')]).toEqual([0, 'true', '']);
    expect(log).toContain('The pull request comment could not be written.');
    expect(log).toContain('permissions: pull-requests: write');
    expect(log).toContain('permissions: statuses: write');
  });
});
