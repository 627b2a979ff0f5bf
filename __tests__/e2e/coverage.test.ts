/** Coverage through the committed bundle: on each trigger, in outputs, reports and a merge. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { hasSandbox } from '../sandbox/world.ts';
import type { GitHubServer } from '../support/fakes/github/server.ts';
import type { Reply } from '../support/fakes/model/server.ts';
import { calls, runAction, submits } from '../support/fakes/runner/action.ts';
import { commitChange, pullRequestEvent, servePullRequest } from '../support/worlds/pull-request.ts';

const NAMES = Array.from({ length: 40 }, (_, at) => `file${String(at).padStart(3, '0')}`);
/** Files whose lines no other file has. */
const filesWith = (middle: string) =>
  Object.fromEntries(
    NAMES.map((name) => [
      `src/${name}.ts`,
      `const first_${name} = 1;\nconst ${middle}_${name} = 2;\nconst last_${name} = 3;\n`,
    ]),
  );
/** As GitHub lists them. */
const ROWS = NAMES.map((name) => ({
  ...{ filename: `src/${name}.ts`, status: 'modified' as const, additions: 1, deletions: 1 },
  patch: `@@ -1,3 +1,3 @@\n const first_${name} = 1;\n-const old_${name} = 2;\n+const new_${name} = 2;\n const last_${name} = 3;`,
}));

const kept = mkdtempSync(path.join(os.tmpdir(), 'coverage-e2e-'));
let commits: ReturnType<typeof commitChange>;
let hub: GitHubServer;
const checkOut = async ({ workspace }: { readonly workspace: string }) =>
  cpSync(kept, workspace, { recursive: true });

beforeAll(() => {
  commits = commitChange(kept, filesWith('old'), filesWith('new'));
});
afterAll(() => rmSync(kept, { recursive: true }));
beforeEach(async () => {
  hub = await servePullRequest('Rename', ROWS, commits);
});
afterEach(() => hub.close());

const look = (which: string) =>
  calls('shell', {
    command: `awk '/^diff --git/ { at++ } at ${which} 20' "/tmp/context/diff.patch"`,
  });
const [half, rest] = [look('<='), look('>')];
const green = submits({ passed: true, complete: true, summary: 'Fine.', findings: [] });
const toldToReadOn: readonly Reply[] = [half, green, rest, green];

const TRIGGERS = {
  pull_request: () => pullRequestEvent('Rename', commits),
  push: () => ({ ref: 'refs/heads/topic', ...commits, commits: [{}] }),
  merge_group: () => ({
    merge_group: {
      ...{ head_sha: commits.after, base_sha: commits.before, base_ref: 'refs/heads/main' },
      head_ref: `refs/heads/gh-readonly-queue/main/pr-7-${commits.before}`,
    },
  }),
} as const;

function runOn(
  name: keyof typeof TRIGGERS,
  script: readonly Reply[],
  inputs: Readonly<Record<string, string>> = {},
) {
  const queue = name === 'merge_group' ? { GITHUB_REF: TRIGGERS.merge_group().merge_group.head_ref } : {};
  return runAction({
    prepare: checkOut,
    script,
    inputs: { schema: 'code-review', 'github-token': 'test-token', 'min-coverage': 'auto', ...inputs },
    github: { hub, name, event: TRIGGERS[name]() },
    variables: queue,
  });
}

type Run = Awaited<ReturnType<typeof runOn>>;
const endOf = ({ exitCode, outputs, envelope }: Run) =>
  [outputs.get('run-conclusion'), outputs.get('run-reason'), exitCode, envelope?.['subtype']].join(' ');
const ACCEPTED = 'success accepted 0 success';
const UNSUPPORTED = 'inconclusive unsupported 1 error_evidence';

const LAST = NAMES.slice(20).map((name) => `src/${name}.ts`);

it.runIf(hasSandbox).each([
  ['pull_request', toldToReadOn, ACCEPTED, '1', []],
  ['push', toldToReadOn, ACCEPTED, '1', []],
  ['merge_group', toldToReadOn, ACCEPTED, '1', []],
  ['pull_request', [half, green], UNSUPPORTED, '0.5', LAST],
] as const)('on %s, what was shown is in every report', async (trigger, script, end, share, unseen) => {
  const run = await runOn(trigger, script);
  expect([endOf(run), run.outputs.get('run-coverage')]).toEqual([end, share]);
  const shown = 40 - unseen.length;
  const files = { changed: 40, required: 40, shown, unseen, not_required: [] };
  const coverage = { status: 'measured', why: null, files };
  expect(run.envelope).toMatchObject({ evidence: { context: 'complete', coverage } });
  const isPublished = end === ACCEPTED;
  expect([Object.hasOwn(run.envelope ?? {}, 'structured_output'), run.outputs.has('passed')]).toEqual([
    isPublished,
    isPublished,
  ]);
  expect(run.log).toContain(`Shown to the model: ${shown} of 40 changed files.`);
  if (isPublished) return;
  expect(run.envelope?.['error']).toMatch(
    /^The payload meets its gate, but only 20 of 40 changed files were/u,
  );
  for (const text of [run.log, run.summary])
    expect(text).toMatch(/20 of 40 changed files\..*src\/file020\.ts/su);
});

it.runIf(hasSandbox)(
  'a merge has the coverage of each leg, which is a weakness where it decides nothing',
  async () => {
    const legs = [
      await runOn('pull_request', [half, rest, green], { leg: 'api', 'min-coverage': 'off' }),
      await runOn('pull_request', [half, green], { leg: 'web', 'min-coverage': 'off' }),
    ];
    expect(legs[1]?.summary).toMatch(/Weaker than it could be:\*\* [^\n]*20 of 40/u);
    const envelopes = legs.map(({ envelope }, at) => [
      `verdicts/${at}/result.json`,
      JSON.stringify(envelope),
    ]);
    const merged = await runAction({
      entry: 'merge',
      files: Object.fromEntries(envelopes),
      prepare: checkOut,
      inputs: { verdicts: 'verdicts', expect: 'api, web' },
      github: { hub, event: pullRequestEvent('Rename', commits) },
    });
    expect(merged.exitCode).toBe(0);
    expect(merged.summary).toContain('Runs of web: unseen files.');
  },
);
