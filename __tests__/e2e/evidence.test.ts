/** What a verdict rests on, through the committed bundle: on each trigger, in the envelope, outputs, reports and a merge. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { hasSandbox } from '../sandbox/world.ts';
import type { GitHubServer } from '../support/fakes/github/server.ts';
import type { Reply } from '../support/fakes/model/server.ts';
import { type ActionRun, calls, runAction, submits } from '../support/fakes/runner/action.ts';
import { listedFiles } from '../support/worlds/change.ts';
import { commitChange, pullRequestEvent, servePullRequest } from '../support/worlds/pull-request.ts';

const LISTED = listedFiles(40);
const ALL = LISTED.map((file) => file.path);
/** Files whose lines no other file has. */
const filesWith = (middle: string) =>
  Object.fromEntries(
    ALL.map((name) => {
      const word = path.basename(name, '.ts');
      const text = `const first_${word} = 1;\nconst ${middle}_${word} = 2;\nconst last_${word} = 3;\n`;
      return [name, text];
    }),
  );

const kept = mkdtempSync(path.join(os.tmpdir(), 'evidence-e2e-'));
let commits: ReturnType<typeof commitChange>;
let hub: GitHubServer;
const checkOut = async ({ workspace }: { readonly workspace: string }) =>
  cpSync(kept, workspace, { recursive: true });

beforeAll(() => {
  commits = commitChange(kept, filesWith('old'), filesWith('new'));
});
afterAll(() => rmSync(kept, { recursive: true }));
beforeEach(async () => {
  const rows = LISTED.map(({ path: filename, patch, additions, deletions }) => {
    return { filename, patch: patch ?? '', additions, deletions, status: 'modified' as const };
  });
  hub = await servePullRequest('Rename', rows, commits);
});
afterEach(() => hub.close());

const look = (which: string) =>
  calls('shell', {
    command: `awk '/^diff --git/ { at++ } at ${which} 20' "/tmp/context/diff.patch"`,
  });
const [half, rest] = [look('<='), look('>')];
const green = submits({ passed: true, complete: true, summary: 'Fine.', findings: [] });
const toldToReadOn: readonly Reply[] = [half, green, rest, green];

const push = () => ({ ref: 'refs/heads/topic', ...commits, commits: [{}] });
const TRIGGERS = {
  pull_request: () => pullRequestEvent('Rename', commits),
  push,
  'push of another history': () => ({ ...push(), before: 'f'.repeat(40) }),
  merge_group: () => ({
    merge_group: {
      ...{ head_sha: commits.after, base_sha: commits.before, base_ref: 'refs/heads/main' },
      head_ref: `refs/heads/gh-readonly-queue/main/pr-7-${commits.before}`,
    },
  }),
} as const;

function runOn(
  trigger: keyof typeof TRIGGERS,
  script: readonly Reply[],
  inputs: Readonly<Record<string, string>> = {},
) {
  const [name = ''] = trigger.split(' ');
  const queue = name === 'merge_group' ? { GITHUB_REF: TRIGGERS.merge_group().merge_group.head_ref } : {};
  return runAction({
    prepare: checkOut,
    script,
    inputs: { schema: 'code-review', 'github-token': 'test-token', 'min-coverage': 'auto', ...inputs },
    github: { hub, name, event: TRIGGERS[trigger]() },
    variables: queue,
  });
}

const endOf = ({ exitCode, outputs, envelope }: ActionRun) =>
  [outputs.get('run-conclusion'), outputs.get('run-reason'), exitCode, envelope?.['subtype']].join(' ');
const ACCEPTED = 'success accepted 0 success';
const UNSUPPORTED = 'inconclusive unsupported 1 error_evidence';
const lost = 'push of another history';
const off = { 'min-coverage': 'off' };

it.runIf(hasSandbox).each([
  ['pull_request', {}, toldToReadOn, ACCEPTED, '1', []],
  ['push', {}, toldToReadOn, ACCEPTED, '1', []],
  ['merge_group', {}, toldToReadOn, ACCEPTED, '1', []],
  ['pull_request', {}, [half, green], UNSUPPORTED, '0.5', ALL.slice(20)],
  ['pull_request', {}, [green], UNSUPPORTED, '0', ALL],
  ['pull_request', off, [green], ACCEPTED, '0', ALL],
  [lost, {}, [half, green], UNSUPPORTED, '', null],
  [lost, off, [half, green], ACCEPTED, '', null],
] as const)('on %s with %j, what was shown is in every report', async (...row) => {
  const [trigger, inputs, script, end, share, unseen] = row;
  const run = await runOn(trigger, script, inputs);
  expect([endOf(run), run.outputs.get('run-coverage')]).toEqual([end, share]);
  const isPublished = end === ACCEPTED;
  expect([Object.hasOwn(run.envelope ?? {}, 'structured_output'), run.outputs.has('passed')]).toEqual([
    isPublished,
    isPublished,
  ]);
  if (!isPublished) expect(run.envelope?.['error']).toMatch(/^The payload meets its gate, but /u);
  if (unseen === null) {
    const coverage = { status: 'partial', why: expect.stringContaining('fetch-depth: 0') };
    expect(run.envelope).toMatchObject({ evidence: { context: 'missing', coverage } });
    return;
  }
  const shown = 40 - unseen.length;
  const files = { changed: 40, required: 40, shown, unseen, not_required: [] };
  const coverage = { status: 'measured', why: null, files };
  expect(run.envelope).toMatchObject({ evidence: { context: 'complete', coverage } });
  for (const text of [run.log, run.summary].slice(0, unseen.length === 0 ? 1 : 2)) {
    expect(text).toContain(`${shown} of 40 changed files.`);
    if (unseen[0] !== undefined) expect(text).toContain(unseen[0]);
  }
});

const quoteOf = (at: number) => `const new_file00${at} = 2;`;
const finding = (title: string, more: object) => ({
  ...{ severity: 'error', category: 'correctness', path: ALL[0], title, message: `About ${title}.` },
  ...more,
});
const review = (passed: boolean, findings: readonly object[]) => ({
  ...{ passed, complete: true, summary: 'No — “really”.', findings },
});
/** File, line and text of the alerts. */
const alertsOf = (run: ActionRun) => {
  const results: readonly Record<string, never>[] = JSON.parse(run.results['findings.sarif'] ?? '').runs[0]
    .results;
  return results.map((result) => {
    const { artifactLocation, region } = Object(result['locations'])[0].physicalLocation;
    return [artifactLocation.uri, region.startLine, Object(result['message']).text];
  });
};
const LINKS = ['src/file000.ts#L2', 'src/file001.ts#L2'];

it('findings go back once, the payload is taken as it is, and every report marks them', async () => {
  const payload = review(false, [
    finding('exact', { line: 8, quote: quoteOf(0) }),
    finding('moved', { line: 1, quote: quoteOf(1) }),
    finding('unproven', { line: 3 }),
    finding('invented', { line: 2, quote: 'const invented = thatIsNowhere();' }),
    (({ path: _, ...row }) => row)(finding('no file', {})),
  ]);
  // The arguments as the model wrote them: with its order, blanks and escapes.
  const submitted = submits(JSON.stringify(payload, null, 1).replace('“', '\\u201c'));
  const run = await runOn('pull_request', [submitted], { comment: 'always' });
  expect(endOf(run)).toBe('failure gate_not_met 1 gate_not_met');
  const { messages } = JSON.parse(run.requests.at(-1)?.raw ?? '');
  expect(messages.at(-1).content.match(/^- .*$/gmu)).toEqual(['- /findings/3/quote']);
  const { envelope, outputs } = run;
  expect(envelope?.['result']).toBe(JSON.stringify(payload));
  expect(JSON.parse(outputs.get('structured_output') ?? '')).toEqual(payload);
  expect(envelope).toMatchObject({ rejections: 1, repaired: null });
  const row = (at: number, line: number, was: number | null, grounding: string) => ({
    ...{ path: ALL[at], line, line_was: was, grounding },
  });
  expect(Object(envelope?.['evidence'])).toMatchObject({
    grounding: { exact: 1, moved: 1, unproven: 2 },
    findings: [
      row(0, 2, 8, 'exact'),
      row(1, 2, 1, 'moved'),
      row(0, 3, null, 'unproven'),
      row(0, 2, null, 'unproven'),
      { path: null, line: null, line_was: null, grounding: null },
    ],
  });
  for (const text of [run.summary, hub.comments()[0]?.body ?? '']) {
    const [shown = '', folded = ''] = text.split('<summary>2 findings not proven</summary>');
    for (const link of LINKS) expect(shown).toContain(`${link}) |`);
    expect(shown).toContain('About no file.');
    for (const title of ['unproven', 'invented']) expect(folded).toContain(`| ${title} |`);
    expect(folded.split('</details>')[0]).not.toContain('#L');
  }
  // GitHub refuses results without a line, so what is not proven stands on the first line of its file.
  expect(alertsOf(run)).toEqual([
    [ALL[0], 2, 'exact: About exact.'],
    [ALL[1], 2, 'moved: About moved.'],
    [ALL[0], 1, expect.stringMatching(/^Not proven\. unproven/u)],
    [ALL[0], 1, expect.stringMatching(/^Not proven\. invented/u)],
  ]);
});

it('a merge has the findings at the files of the repository, and unseen files as a weakness', async () => {
  const payload = review(true, [
    finding('exact', { severity: 'warning', path: 'file000.ts', line: 2, quote: quoteOf(0) }),
    finding('moved', { severity: 'warning', path: 'file000.ts', line: 1, quote: quoteOf(1) }),
    finding('from the root', { severity: 'warning', path: ALL[1], line: 1, quote: quoteOf(1) }),
  ]);
  const inputs = { 'working-directory': 'src', leg: 'api', ...off };
  const run = await runOn('pull_request', [half, submits(payload)], inputs);
  const merged = await runAction({
    entry: 'merge',
    files: { 'verdicts/0/result.json': JSON.stringify(run.envelope) },
    prepare: checkOut,
    inputs: { verdicts: 'verdicts', expect: 'api' },
    github: { hub, event: pullRequestEvent('Rename', commits) },
  });
  expect([run.envelope?.['structured_output'], merged.exitCode]).toEqual([payload, 0]);
  for (const each of [run, merged]) {
    const places = alertsOf(each).map(([file, line]) => `${file}:${line}`);
    expect(new Set(places)).toEqual(new Set([`${ALL[0]}:2`, `${ALL[1]}:2`]));
    for (const link of LINKS) expect(each.summary).toContain(link);
  }
  expect(run.summary).toMatch(/Weaker than it could be:\*\* [^\n]*20 of 40/u);
  expect(merged.summary).toContain('Runs of api: unseen files.');
});
