/** What a verdict rests on, through the committed bundle: on each trigger, in the envelope, outputs, reports and a merge. */
import { cpSync } from 'node:fs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { hasSandbox } from '../sandbox/world.ts';
import type { GitHubServer } from '../support/fakes/github/server.ts';
import type { Reply } from '../support/fakes/model/server.ts';
import { type ActionRun, calls, runAction, submits } from '../support/fakes/runner/action.ts';
import { makeFolder } from '../support/surroundings.ts';
import { filesWith, listedFiles } from '../support/worlds/change.ts';
import { commitChange, pullRequestEvent, servePullRequest } from '../support/worlds/pull-request.ts';

const LISTED = listedFiles(40);
const ALL = LISTED.map((file) => file.path);
const folder = makeFolder();
const commits = commitChange(folder, filesWith('old', 40), filesWith('new', 40));
let hub: GitHubServer;
const checkOut = async ({ workspace }: { readonly workspace: string }) =>
  cpSync(folder, workspace, { recursive: true });

beforeEach(async () => {
  const rows = LISTED.map(({ path: filename, patch }) => ({ filename, patch: patch ?? '' }));
  hub = await servePullRequest('Rename', rows, commits);
});
afterEach(() => hub.close());

const look = (which: string) =>
  calls('shell', { command: `awk '/^diff --git/ { at++ } at ${which} 20' /tmp/context/diff.patch` });
const [half, rest] = [look('<='), look('>')];
const green = submits({ passed: true, complete: true, summary: 'Fine.', findings: [] });
const toldToReadOn: readonly Reply[] = [half, green, rest, green];

const push = { ref: 'refs/heads/topic', ...commits, commits: [{}] };
const QUEUE = `refs/heads/gh-readonly-queue/main/pr-7-${'a'.repeat(40)}`;
const { before, after } = commits;
const group = { head_sha: after, head_ref: QUEUE, base_sha: before, base_ref: 'refs/heads/main' };
const TRIGGERS = {
  pull_request: pullRequestEvent('Rename', commits),
  push,
  'push of another history': { ...push, before: 'f'.repeat(40) },
  merge_group: { merge_group: group },
};

function runOn(trigger: keyof typeof TRIGGERS, script: readonly Reply[], inputs: object = {}) {
  return runAction({
    prepare: checkOut,
    script,
    inputs: { schema: 'code-review', 'github-token': 'test-token', 'min-coverage': 'auto', ...inputs },
    github: { hub, name: trigger.split(' ', 1).join(), event: TRIGGERS[trigger] },
    variables: trigger === 'merge_group' ? { GITHUB_REF: QUEUE } : {},
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
  const isPublished = Object.hasOwn(run.envelope ?? {}, 'structured_output');
  expect([endOf(run), run.outputs.get('run-coverage')]).toEqual([end, share]);
  expect([isPublished, run.outputs.has('passed')]).toEqual(Array(2).fill(end === ACCEPTED));
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
  expect(run.log).toContain(`${shown} of 40 changed files.`);
  if (unseen[0] !== undefined)
    expect(run.summary).toMatch(new RegExp(`Shown to the model: ${shown} of 40 .*${unseen[0]}`, 'u'));
});

it.runIf(hasSandbox)('findings go back once, and every report and a merge mark them', async () => {
  const [first, second] = ['const new_file000 = 2;', 'const new_file001 = 2;'];
  // As they are written in the judged folder, and from the root of the repository.
  const findings = [
    { title: 'exact', path: 'file000.ts', line: 8, quote: first },
    { title: 'moved', path: 'file000.ts', line: 1, quote: second },
    { title: 'from the root', path: ALL[1], line: 2, quote: second },
    { title: 'unproven', path: 'file000.ts', line: 3 },
    { title: 'invented', path: 'file000.ts', line: 2, quote: 'const invented = thatIsNowhere();' },
    { title: 'no file' },
  ].map((row) => ({ severity: 'error', category: 'correctness', message: `About ${row.title}.`, ...row }));
  const payload = { passed: false, complete: true, summary: 'No — “really”.', findings };
  // The arguments as the model wrote them: with its order, blanks and escapes.
  const submitted = submits(JSON.stringify(payload, null, 1).replace('“', '\\u201c'));
  const inputs = { comment: 'always', 'working-directory': 'src', leg: 'api', ...off };
  const run = await runOn('pull_request', [half, submitted], inputs);
  const { envelope } = run;
  expect(endOf(run)).toBe('failure gate_not_met 1 gate_not_met');
  const { messages } = JSON.parse(run.requests.at(-1)?.raw ?? '');
  expect(messages.at(-1).content).toContain(' in the change: "/findings/4/quote".');
  expect(run.outputs.get('structured_output')).toBe(JSON.stringify(payload));
  expect(envelope).toMatchObject({ result: JSON.stringify(payload), rejections: 1, repaired: null });
  const { grounding, findings: found } = Object(envelope?.['evidence']);
  expect(grounding).toEqual({ exact: 2, moved: 1, unproven: 2 });
  const keys = ['path', 'line', 'line_was', 'grounding'];
  expect(found.map((row: Record<string, unknown>) => keys.map((key) => row[key]))).toEqual([
    [ALL[0], 2, 8, 'exact'],
    [ALL[1], 2, 1, 'moved'],
    [ALL[1], 2, null, 'exact'],
    [ALL[0], 3, null, 'unproven'],
    [ALL[0], 2, null, 'unproven'],
    [null, null, null, null],
  ]);
  const merged = await runAction({
    entry: 'merge',
    files: { 'verdicts/0/result.json': JSON.stringify(envelope) },
    prepare: checkOut,
    inputs: { verdicts: 'verdicts', expect: 'api' },
    github: { hub, event: TRIGGERS.pull_request },
  });
  for (const text of [run.summary, hub.comments()[0]?.body ?? '', merged.summary]) {
    for (const link of ['src/file000.ts#L2', 'src/file001.ts#L2']) expect(text).toContain(link);
    expect(text).toContain('not proven');
    const unproven = text.match(/^\|.*(?:About unproven|About invented)\..*$/gmu) ?? [];
    expect(unproven.map((line) => line.includes('#L'))).toEqual([false, false]);
  }
  // GitHub refuses results without a line, so what is not proven is on the first line of its file. It comes last.
  for (const { results } of [run, merged]) {
    const lines = results['findings.sarif']?.match(/(?<="startLine": ?)\d+/gu);
    expect(lines).toEqual(['2', '2', '2', '1', '1']);
  }
  expect(run.summary).toMatch(/Weaker than it could be:\*\* [^\n]*20 of 40/u);
  expect(merged.summary).toContain('Runs of api: unseen files.');
});
