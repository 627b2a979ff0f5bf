import { expect, it } from 'vitest';
import type { Report } from '../../src/reporters/report-types.ts';
import { coverageSentence, duration, groundingSentence } from '../../src/reporters/sentences.ts';
import { viewOf } from '../../src/reporters/view.ts';
import { ENDINGS } from '../../src/text/exit-codes.ts';
import type { ContextStatus, Coverage, Reason } from '../../src/types.ts';
import { sampleFailedMerge, sampleMergedReport } from '../merge/sample-merged.ts';
import { notMet, sampleCoverage, sampleReport, sampleVerdict, unpublished, VIEW } from './sample-report.ts';

const view = (changes: Partial<Report> = {}) => viewOf(sampleReport(changes), VIEW);
it('answers the question for each reason, for a replay and for a merge', async () => {
  const ended = (Object.keys(ENDINGS) as Reason[]).map((reason) => {
    return sampleReport({ payload: null, verdict: sampleVerdict(reason, null) });
  });
  const others = [
    sampleReport(),
    sampleReport({ payload: { findings: [] } }),
    sampleReport({ gate: { status: 'none', issues: [] } }),
    sampleReport({ replayed: true }),
    sampleMergedReport(),
    { ...sampleMergedReport(), ...unpublished('x', 'cancelled') },
    sampleFailedMerge('x', 'config'),
  ];
  const lines = [...ended, ...others].map((report) => {
    const { mark, outcome } = viewOf(report, VIEW);
    return `${report.verdict.reason}: ${mark} ${outcome}\n`;
  });
  await expect(lines.join('')).toMatchFileSnapshot('../golden/outcomes.txt');
});

it('gives as reason the sentence of the verdict, unless the payload says itself that it did not pass', () => {
  const issue = (path: string) => ({ path, keyword: 'const', message: 'no' });
  const failed = (payload: Report['payload'], ...paths: readonly string[]) =>
    view({ verdict: notMet, payload, gate: { status: 'not_met', issues: paths.map(issue) } }).reason;
  expect(failed({ passed: false }, '/passed')).toBeNull();
  expect(failed({ passed: false }, '/passed', '/a')).toBe(notMet.error);
  expect(failed({}, '/passed')).toBe(notMet.error);
  const { reason, help } = view(unpublished('Out of `turns`.', 'max_turns'));
  expect([reason, help]).toEqual(['Out of `turns`.', `${VIEW.help}#max_turns`]);
  expect(view()).toMatchObject({ reason: null, help: null });
});

it('says in a table only what the headline and the summary do not', () => {
  const { tables } = view({ payload: { passed: true, summary: 'Fine.', findings: [], score: 3 } });
  expect(tables).toEqual({ score: 3 });
});

it('formats durations with their unit', () => {
  const durations = [-1, 12.4, 99, 100, 1234, 9949, 9950, 59_400, 59_600, 185_000].map(duration);
  expect(durations.join(', ')).toBe(
    '0 ms, 12 ms, 99 ms, 0.1 s, 1.2 s, 9.9 s, 10 s, 59 s, 1 min 00 s, 3 min 05 s',
  );
});

it('says how much of the change was shown, and which files were not', async () => {
  const files: readonly Partial<Coverage['files']>[] = [
    {},
    { shown: 42, unseen: ['a'] },
    { changed: 2, required: 1, shown: 1, notRequired: [{ path: 'x', why: 'binary' }] },
    { changed: 3, required: 0, shown: 0, notRequired: [{ path: 'x', why: 'lock_file' }] },
    { shown: 35, unseen: ['p', ...'abcdefg'] },
  ];
  const partial = { ...sampleCoverage({ shown: 1 }), status: 'partial', why: 'Too much. ' } as const;
  const all = [...files.map(sampleCoverage), partial];
  await expect(`${all.map(coverageSentence).join('\n')}\n`).toMatchFileSnapshot('../golden/coverage.txt');
  const nothing = sampleCoverage({ changed: 0, required: 0, shown: 0 });
  const unknown = { ...sampleCoverage(), status: 'unknown' } as const;
  for (const coverage of [null, unknown, nothing]) expect(coverageSentence(coverage)).toBeNull();
});

it.each([
  [0, 0, 0, 0, null],
  [2, 1, 2, 5, '5 findings: 3 proven, 2 not proven.'],
  [1, 0, 0, 3, '3 findings: 1 proven, 2 about no file.'],
  [0, 0, 0, 1, '1 finding: 1 about no file.'],
])('says of %i exact, %i moved, %i unproven of %i findings: %j', (exact, moved, unproven, count, said) => {
  const evidence = { context: 'complete', toolCalls: 1, findings: Array(count).fill({}) } as const;
  expect(groundingSentence({ ...evidence, grounding: { exact, moved, unproven } })).toBe(said);
  expect(groundingSentence({ ...evidence, grounding: null })).toBeNull();
});

const of = (context: ContextStatus, toolCalls: number) => ({ context, toolCalls, findings: [] });

it('the warnings say what was not shown, and which policy the change modifies', async () => {
  const runs: Partial<Report>[] = [
    ...[of('missing', 1), of('truncated', 1), of('none', 0)].map((evidence) => ({ evidence })),
    { subject: null, evidence: of('missing', 1) },
    // The others are in `golden/summary/`.
    { policyChanges: [{ what: 'gate', path: 'g.json', applied: false }] },
  ];
  const warnings = runs.flatMap((changes) => view(changes).warnings);
  await expect(`${warnings.join('\n')}\n`).toMatchFileSnapshot('../golden/warnings.txt');
});

it.each([
  [sampleCoverage(), 0],
  [sampleCoverage({ shown: 42 }), 1],
  [{ ...sampleCoverage(), status: 'partial', why: 'Too much.' }, 1],
  [{ ...sampleCoverage({ shown: 42 }), status: 'unknown' }, 0],
] as const)('the warnings name the coverage only if it is not complete: %#', (coverage, count) => {
  const evidence = { ...of('complete', 1), coverage };
  expect(view({ evidence }).warnings).toHaveLength(count);
  const isKnown = coverageSentence(coverage) !== null;
  expect(view({ evidence }).notes).toHaveLength(isKnown && count === 0 ? 1 : 0);
  for (const each of [evidence, of('none', 0)])
    expect(view({ ...unpublished('No.'), evidence: each }).warnings).toEqual([]);
});
