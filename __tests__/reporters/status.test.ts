import { expect, it } from 'vitest';
import type { Report, StatusText } from '../../src/reporters/report-types.ts';
import { createCommitStatus } from '../../src/reporters/status.ts';
import { sampleFailedMerge, sampleMerged, sampleMergedReport } from '../merge/sample-merged.ts';
import { sampleEvents } from './sample-events.ts';
import { notMet, sampleReport, unpublished, VIEW } from './sample-report.ts';

const { signal } = new AbortController();

/** Returns the status that is set at the end, with the commit that was judged. */
async function statusOf(report: Report) {
  const statuses: (StatusText & { judged: string | null })[] = [];
  const set = async (status: StatusText, judged: string | null) => statuses.push({ ...status, judged }) > 0;
  await createCommitStatus(set, VIEW).report?.(report, signal);
  expect(statuses).toHaveLength(1);
  return statuses[0];
}

const merged = sampleMergedReport();
const ofLegs = (api: 'f' | '-', checked_out: string | null) => {
  const report = sampleMergedReport(sampleMerged({ api, web: 'p' }));
  return { ...report, subject: report.subject && { ...report.subject, checked_out } };
};
const replay = '(a replay, judged by no model)';
const other = 'c'.repeat(40);
const skipped = sampleReport(unpublished('No key.', 'missing_key'));
const failure = { verdict: notMet, payload: { passed: false } };
it.each<[string, Report, StatusText['state'], string, object]>([
  ['a success', sampleReport(), 'success', 'Passed · 1 warning.', {}],
  ['an unmet gate', sampleReport(failure), 'failure', 'Not passed.', {}],
  ['no verdict', sampleReport(unpublished('Out of `turns`.')), 'error', 'Out of `turns`.', {}],
  ['a skipped run', skipped, 'error', 'No key.', { ifPresent: true }],
  ['a replay', sampleReport({ replayed: true }), 'error', `Passed ${replay} · 1 warning.`, {}],
  ['a replay that fails', sampleReport({ ...failure, replayed: true }), 'failure', replay, {}],
  ['a merge', merged, 'success', 'Passed · 9 of 9 legs passed', {}],
  ['a merge of another checkout', ofLegs('f', other), 'failure', '1 failed', { judged: other }],
  ['a merge of several checkouts', ofLegs('-', null), 'error', '1 missing', {}],
  ['a merge that fails', sampleFailedMerge('No file is there.'), 'error', 'No file is there.', {}],
  ['a long sentence', sampleReport(unpublished('x🐙'.repeat(200))), 'error', 'x�x�', {}],
])('the commit status of %s', async (_, report, state, description, more) => {
  const status = await statusOf(report);
  const said = expect.stringContaining(description);
  expect(status).toEqual({ state, description: said, judged: null, ...more });
  expect(status?.description.length).toBeLessThanOrEqual(140);
});

it('the commit status is reset to pending when the agent starts, before the verdict is set', async () => {
  const states: string[] = [];
  const reporter = createCommitStatus(async ({ state }) => {
    // The first request is the slower one.
    for (let turns = 0; state === 'pending' && turns < 20; turns++) await Promise.resolve();
    return states.push(state) > 0;
  }, VIEW);
  for (const event of sampleEvents) reporter.event?.(event);
  await reporter.report?.(sampleReport(), signal);
  expect(states).toEqual(['pending', 'success']);
});

it.each([
  ['before the agent starts', [], 'error'],
  ['while it is at work', sampleEvents, 'pending'],
] as const)(
  'the commit status is set once, and not to success, after a signal %s',
  async (_, events, expected) => {
    const states: string[] = [];
    const reporter = createCommitStatus(async ({ state }) => states.push(state) > 0, VIEW);
    for (const event of events) reporter.event?.(event);
    await reporter.report?.(sampleReport(unpublished('Cancelled.')), AbortSignal.abort());
    expect(states).toEqual([expected]);
  },
);

it('the commit status fails once, at the end, if GitHub refuses it or there is no commit', async () => {
  const refused = createCommitStatus(() => Promise.reject(new Error('403')), VIEW);
  for (const event of sampleEvents) refused.event?.(event);
  await expect(refused.report?.(sampleReport(), signal)).rejects.toThrow('403');
  const nowhere = createCommitStatus(async () => false, VIEW);
  await expect(nowhere.report?.(sampleReport(), signal)).rejects.toThrow('about no commit');
});
