/** Findings that are looked up, through the committed bundle: in the envelope, outputs, reports, annotations and SARIF. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import type { GitHubServer } from '../support/fakes/github/server.ts';
import type { Reply } from '../support/fakes/model/server.ts';
import { type ActionRun, calls, runAction, submits } from '../support/fakes/runner/action.ts';
import { commitChange, pullRequestEvent, servePullRequest } from '../support/worlds/pull-request.ts';

const FIRST = 'const timeout = computeTimeout(42);';
const MOVED = 'const settings = readConfiguration("b");';
const BEFORE = { 'src/a.ts': 'export const a = 1;\n', 'src/b.ts': 'export const b = 1;\n' };
const AFTER = {
  'src/a.ts': `export const a = 1;\n${FIRST}\n`,
  'src/b.ts': `export const b = 1;\n${MOVED}\n`,
};

const kept = mkdtempSync(path.join(os.tmpdir(), 'grounding-e2e-'));
let commits: ReturnType<typeof commitChange>;
let hub: GitHubServer;
beforeAll(() => {
  commits = commitChange(kept, BEFORE, AFTER);
});
afterAll(() => rmSync(kept, { recursive: true }));
beforeEach(async () => {
  const files = Object.entries(AFTER).map(([filename, text]) => {
    const [first, second] = text.split('\n');
    const patch = `@@ -1 +1,2 @@\n ${first}\n+${second}`;
    return { filename, status: 'modified' as const, additions: 1, deletions: 0, patch };
  });
  hub = await servePullRequest('Add', files, commits);
});
afterEach(() => hub.close());

const finding = (title: string, more: object) => ({
  ...{ severity: 'error', category: 'correctness', path: 'src/a.ts', title, message: `About ${title}.` },
  ...more,
});
const EXACT = finding('exact', { line: 8, quote: FIRST });
const INVENTED = finding('invented', { line: 2, quote: 'const invented = thatIsNowhere();' });
const FINDINGS = [
  EXACT,
  finding('moved', { line: 1, quote: MOVED }),
  finding('unproven', { line: 3 }),
  INVENTED,
  (({ path: _, ...row }) => row)(finding('no file', {})),
];
const red = (findings: readonly object[]) => ({
  ...{ passed: false, complete: true, summary: 'No — “really”.', findings },
});
const read = calls('shell', { command: 'cat "/tmp/context/diff.patch"' });

function review(script: readonly Reply[], inputs: Readonly<Record<string, string>> = {}) {
  return runAction({
    prepare: async ({ workspace }) => cpSync(kept, workspace, { recursive: true }),
    script,
    inputs: { schema: 'code-review', 'github-token': 'test-token', comment: 'always', ...inputs },
    github: { hub, event: pullRequestEvent('Add', commits) },
  });
}
const endOf = ({ exitCode, outputs }: ActionRun) =>
  [outputs.get('run-conclusion'), outputs.get('run-reason'), exitCode].join(' ');
/** The texts of rejections for findings, as the model got them. */
const sentBack = ({ requests }: ActionRun) =>
  requests.flatMap(({ raw }) => {
    const { messages }: { messages: readonly { role: string; content: string }[] } = JSON.parse(raw);
    const last = messages.at(-1);
    return last?.role === 'tool' && last.content.startsWith('Not taken yet: these findings')
      ? [last.content]
      : [];
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

it('findings go back once, the payload is taken as it is, and every report marks them', async () => {
  // The arguments as the model wrote them: with its order, blanks and escapes.
  const run = await review([read, submits(JSON.stringify(red(FINDINGS), null, 1).replace('“', '\\u201c'))]);
  expect(endOf(run)).toBe('failure gate_not_met 1');
  expect(sentBack(run).map((text) => text.match(/^- .*$/gmu))).toEqual([['- /findings/3/quote']]);
  const { envelope, outputs } = run;
  expect(envelope?.['result']).toBe(JSON.stringify(red(FINDINGS)));
  expect(JSON.parse(outputs.get('structured_output') ?? '')).toEqual(red(FINDINGS));
  expect(envelope).toMatchObject({ rejections: 1, repaired: null });
  const row = (file: string | null, line: number | null, was: number | null, grounding: string | null) => ({
    ...{ path: file, line, line_was: was, grounding },
  });
  expect(Object(envelope?.['evidence'])).toMatchObject({
    grounding: { exact: 1, moved: 1, unproven: 2 },
    findings: [
      row('src/a.ts', 2, 8, 'exact'),
      row('src/b.ts', 2, 1, 'moved'),
      row('src/a.ts', 3, null, 'unproven'),
      row('src/a.ts', 2, null, 'unproven'),
      row(null, null, null, null),
    ],
  });
  for (const text of [run.summary, hub.comments()[0]?.body ?? '']) {
    const [shown = '', folded = ''] = text.split('<summary>2 findings not proven</summary>');
    for (const link of ['src/a.ts#L2', 'src/b.ts#L2']) expect(shown).toContain(`${link}) |`);
    expect(shown).toContain('About no file.');
    for (const title of ['unproven', 'invented']) expect(folded).toContain(`| ${title} |`);
    expect(folded.split('</details>')[0]).not.toContain('#L');
  }
  // GitHub refuses results without a line, so what is not proven stands on the first line of its file.
  expect(alertsOf(run)).toEqual([
    ['src/a.ts', 2, 'exact: About exact.'],
    ['src/b.ts', 2, 'moved: About moved.'],
    ['src/a.ts', 1, expect.stringMatching(/^Not proven\. unproven/u)],
    ['src/a.ts', 1, expect.stringMatching(/^Not proven\. invented/u)],
  ]);
});

it('findings of a working directory stand at the files of the repository, and in a merge, too', async () => {
  const payload = red([
    { ...finding('exact', { line: 2, quote: FIRST }), path: 'a.ts' },
    { ...finding('moved', { line: 1, quote: MOVED }), path: 'a.ts' },
    { ...finding('from the root', { line: 1, quote: MOVED }), path: 'src/b.ts' },
  ]);
  const run = await review([submits(payload)], { 'working-directory': 'src', leg: 'api' });
  const merged = await runAction({
    entry: 'merge',
    files: { 'verdicts/0/result.json': JSON.stringify(run.envelope) },
    prepare: async ({ workspace }) => cpSync(kept, workspace, { recursive: true }),
    inputs: { verdicts: 'verdicts', expect: 'api' },
    github: { hub, event: pullRequestEvent('Add', commits) },
  });
  expect([run.envelope?.['structured_output'], merged.exitCode]).toEqual([payload, 1]);
  for (const each of [run, merged]) {
    const places = alertsOf(each).map(([file, line]) => `${file}:${line}`);
    expect(new Set(places)).toEqual(new Set(['src/a.ts:2', 'src/b.ts:2']));
    for (const link of ['src/a.ts#L2', 'src/b.ts#L2']) expect(each.summary).toContain(link);
  }
});
