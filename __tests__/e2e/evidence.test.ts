/** The evidence of a verdict in its envelope, its page and a merge, through the committed bundle. */
import { execFileSync } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type GitHubServer, startGitHubServer } from '../support/fakes/github/server.ts';
import {
  type ActionOptions,
  type ActionRun,
  type Places,
  runAction,
  submits,
} from '../support/fakes/runner/action.ts';
import { parseLog } from '../support/fakes/runner/runner.ts';

const HEAD = 'a'.repeat(40);
const BASE = 'b'.repeat(40);
const LEGS = ['api', 'web'] as const;
const SOURCE = 'export const server = listen(3000);\n';
const PACKAGES = { 'packages/api/index.js': SOURCE, 'packages/web/index.js': SOURCE };
const pull = {
  number: 7,
  title: 'Change both',
  body: '',
  author: 'mona',
  head: { ref: 'topic', sha: HEAD },
  base: { ref: 'main', sha: BASE },
  files: Object.keys(PACKAGES).map((filename) => ({
    filename,
    additions: 1,
    deletions: 0,
    patch: '@@ -0,0 +1 @@\n+x',
  })),
};
const event = {
  pull_request: {
    number: 7,
    title: pull.title,
    body: '',
    user: { login: 'mona' },
    head: { ref: 'topic', sha: HEAD, repo: { full_name: 'octo/demo' } },
    base: { ref: 'main', sha: BASE, repo: { full_name: 'octo/demo' } },
  },
};

let hub: GitHubServer;
beforeEach(async () => {
  hub = await startGitHubServer({ pulls: [pull], branches: { main: BASE }, contents: {} });
});
afterEach(() => hub.close());

/** A run outside of pull requests, and one on it. */
const onPush = { variables: { GITHUB_REPOSITORY: 'octo/demo', GITHUB_RUN_ID: '100' } };
const onPullRequest = (apiUrl: string) => ({ github: { hub: { ...hub, apiUrl }, event } });
type Where = Pick<ActionOptions, 'github' | 'variables'>;

const prepare = async ({ workspace }: Places): Promise<void> => {
  const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: workspace });
  git('init', '-q', '-b', 'main');
  git('remote', 'add', 'origin', 'https://github.com/octo/demo');
};

const finding = {
  ...{ severity: 'error', path: 'index.js', line: 1, quote: SOURCE.trim() },
  ...{ title: 'Leak', message: 'It leaks.' },
};
const red = submits({ passed: false, summary: 'No.', findings: [finding] });

function leg(name: (typeof LEGS)[number], files: Readonly<Record<string, string>>, where: Where) {
  const inputs = {
    ...{ leg: name, 'working-directory': `packages/${name}`, gate: 'none', 'sarif-file': 'out.sarif' },
    'github-token': 'test-token',
  };
  return runAction({ files, prepare, inputs, ...where, script: [red] });
}

function merge(
  envelopes: readonly ActionRun['envelope'][],
  files: Readonly<Record<string, string>>,
  where: Where,
) {
  const verdicts = Object.fromEntries(
    envelopes.map((envelope, at) => [`verdicts/${at}/result.json`, JSON.stringify(envelope)]),
  );
  return runAction({
    entry: 'merge',
    files: { ...files, ...verdicts },
    prepare,
    inputs: { verdicts: 'verdicts', expect: 'api, web', 'sarif-file': 'merged.sarif' },
    ...where,
  });
}

/** Files of the annotations, and of the results of a SARIF file. */
const annotated = (run: ActionRun) =>
  parseLog(run.log)
    .filter(({ properties }) => properties['title'] === 'Leak')
    .map(({ properties }) => properties['file']);
function inSarif(run: ActionRun, file: string): readonly string[] {
  const sarif: {
    runs: [{ results: { locations: [{ physicalLocation: { artifactLocation: { uri: string } } }] }[] }];
  } = JSON.parse(run.files[file] ?? '');
  return sarif.runs[0].results.map(({ locations }) => locations[0].physicalLocation.artifactLocation.uri);
}

describe('legs with a working directory', () => {
  it.each([
    ['alone', {}],
    ['beside an index.js at the root, on a pull request that changes the others', { 'index.js': '0\n' }],
  ])('have findings at their own files, and so does the merge: %s', async (_, more) => {
    const files = { ...PACKAGES, ...more };
    const where = 'index.js' in more ? onPullRequest(hub.apiUrl) : onPush;
    const runs = await Promise.all(LEGS.map((name) => leg(name, files, where)));
    const own = LEGS.map((name) => `packages/${name}/index.js`);
    for (const [at, run] of runs.entries()) {
      const file = own[at] ?? '';
      expect(run.envelope).toMatchObject({
        structured_output: { findings: [finding] },
        evidence: { findings: [{ path: file }] },
      });
      expect([annotated(run), inSarif(run, 'out.sarif')]).toEqual([[file], [file]]);
      expect(run.summary).toMatch(new RegExp(`/blob/[0-9a-f]+/${file}#L1\\)`, 'u'));
    }
    const merged = await merge(
      runs.map(({ envelope }) => envelope),
      files,
      where,
    );
    expect(merged.exitCode).toBe(1);
    expect(merged.envelope?.['structured_output']).toMatchObject({
      findings: LEGS.map((name, at) => ({ path: own[at], line: 1, legs: [name], votes: 1 })),
    });
    expect([annotated(merged), inSarif(merged, 'merged.sarif')]).toEqual([own, own]);
    for (const file of own) expect(merged.summary).toMatch(new RegExp(`/blob/[0-9a-f]+/${file}#L1\\)`, 'u'));
  });
});

describe('a pull request without a diff', () => {
  const green = submits({ passed: true, summary: 'Fine.', findings: [] });
  const NO_DIFF = 'The model was not given the diff of this pull request';
  const NO_CALL = 'The payload was accepted without a single tool call';

  it('does not change the verdict, and every report names the weak evidence', async () => {
    // Nothing listens on this port.
    const where = onPullRequest('http://127.0.0.1:9');
    const runGreen = (name: string) =>
      runAction({
        files: PACKAGES,
        prepare,
        script: [green],
        inputs: { leg: name, 'github-token': 'test-token', 'report-file': 'report.html' },
        ...where,
      });
    const runs = await Promise.all(LEGS.map(runGreen));
    for (const run of runs) {
      expect(run.exitCode).toBe(0);
      expect(run.envelope?.['evidence']).toMatchObject({
        ...{ context: 'missing', tool_calls: 0, findings: [] },
        coverage: {
          status: 'unknown',
          why: expect.stringContaining('changed files and the diff are missing'),
        },
      });
      expect(run.summary).toMatch(/weaker than it could be:\*\*\n> - The model was not given the diff/u);
      for (const text of [NO_DIFF, NO_CALL]) {
        expect(run.summary).toContain(`> - ${text}`);
        expect(run.log).toContain(`weaker than it could be: ${text}`);
        expect(run.files['report.html']).toContain(text);
      }
    }
    const merged = await merge(
      runs.map(({ envelope }) => envelope),
      PACKAGES,
      where,
    );
    expect(merged.exitCode).toBe(0);
    expect(merged.summary).toContain('> - 2 of 2 runs judged the change without its diff: api, web.');
    expect(merged.summary).toContain(
      '✅⚠️&nbsp;**api** | passes | Judged without the diff of the change.<br>Accepted without a single tool call. |',
    );
    expect(merged.log).toContain('2 of 2 runs had a payload accepted without a single tool call: api, web.');
    expect(merged.envelope).toMatchObject({
      merged: { legs: LEGS.map(() => ({ votes: [{ evidence: { context: 'missing', tool_calls: 0 } }] })) },
    });
    expect(merged.envelope).not.toHaveProperty('evidence');
  });
});

it('proves a finding about a secret by its line, with the rules in the bundle', async () => {
  // Put together here: a key that stands in a file as it is alarms every scanner on the way.
  const token = ['ghp', '_', 'a1B2c3D4e5F6g7H8i9J0a1B2c3D4e5F6g7H8'].join('');
  const files = { 'config.js': `// Settings\nexport const token = '${token}'; // secretlint-disable-line\n` };
  const row = { ...finding, severity: 'high', path: 'config.js', category: 'secret' };
  const payload = {
    ...{ passed: false, complete: true, summary: 'A token.' },
    findings: [
      { ...row, line: 1 },
      { ...row, line: 2 },
    ],
  };
  const script = [submits(payload)];
  const run = await runAction({ files, prepare, inputs: { schema: 'security-review' }, ...onPush, script });
  expect(run.envelope).toMatchObject({
    evidence: {
      grounding: { exact: 1, unproven: 1 },
      findings: [
        { line: 1, grounding: 'unproven' },
        { line: 2, grounding: 'exact' },
      ],
    },
  });
});
