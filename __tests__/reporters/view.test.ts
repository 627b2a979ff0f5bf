import { describe, expect, it } from 'vitest';
import type { Report } from '../../src/reporters/report-types.ts';
import {
  coverageSentence,
  duration,
  groundingSentence,
  policyChangeSentence,
} from '../../src/reporters/sentences.ts';
import { viewOf } from '../../src/reporters/view.ts';
import { ENDINGS } from '../../src/text/exit-codes.ts';
import type { ContextStatus, Coverage, Reason } from '../../src/types.ts';
import { sampleFailedMerge, sampleMergedReport } from '../merge/sample-merged.ts';
import {
  notMet,
  sampleCoverage,
  sampleReport,
  unknownCoverage,
  unpublished,
  unseenCoverage,
  VIEW,
} from './sample-report.ts';

const view = (changes: Partial<Report> = {}) => viewOf(sampleReport(changes), VIEW);
it('answers the question for each reason, for a replay and for a merge', async () => {
  const ended = (Object.keys(ENDINGS) as Reason[]).map((reason) => {
    const verdict = { ...sampleReport().verdict, conclusion: ENDINGS[reason][0], reason };
    return sampleReport({ payload: null, verdict });
  });
  const others = [
    sampleReport(),
    sampleReport({ payload: { findings: [] } }),
    sampleReport({ gate: { status: 'none', issues: [] } }),
    sampleReport({ replayed: true }),
    sampleMergedReport(),
    { ...sampleMergedReport(), ...unpublished('x', { reason: 'cancelled' }) },
    sampleFailedMerge('x', { reason: 'config' }),
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
  const { reason, help } = view(unpublished('Out of `turns`.', { reason: 'max_turns' }));
  expect([reason, help]).toEqual(['Out of `turns`.', `${VIEW.help}#max_turns`]);
  expect(view()).toMatchObject({ reason: null, help: null });
});

it('says in a table only what the headline and the summary do not', () => {
  expect(view({ payload: { passed: true, summary: 'Fine.', findings: [], score: 3 } }).tables).toEqual({
    score: 3,
  });
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
  const partial = sampleCoverage({ status: 'partial', why: 'Too much. ', files: { shown: 1 } });
  const all = [...files.map((each) => sampleCoverage({ files: each })), partial];
  await expect(`${all.map(coverageSentence).join('\n')}\n`).toMatchFileSnapshot('../golden/coverage.txt');
  const nothing = sampleCoverage({ files: { changed: 0, required: 0, shown: 0 } });
  for (const coverage of [null, unknownCoverage, nothing]) expect(coverageSentence(coverage)).toBeNull();
});

it.each([
  [0, 0, 0, 0, null],
  [2, 1, 2, 5, '5 findings: 3 proven, 2 not proven.'],
  [1, 0, 0, 3, '3 findings: 1 proven, 2 about no file.'],
  [0, 0, 0, 1, '1 finding: 1 about no file.'],
])(
  'says that %i, %i and %i of %i findings are proven, moved and not proven',
  (exact, moved, unproven, count, said) => {
    const findings = Array.from({ length: count }, () => ({ path: 'a.ts' }));
    const evidence = { context: 'complete', toolCalls: 1, findings } as const;
    expect(groundingSentence({ ...evidence, grounding: { exact, moved, unproven } })).toBe(said);
    expect(groundingSentence({ ...evidence, grounding: null })).toBeNull();
  },
);

describe('the warnings', () => {
  const of = (context: ContextStatus, toolCalls: number) => ({ context, toolCalls, findings: [] });

  it('say what was not shown, and which policy the change modifies', async () => {
    const contexts = [of('missing', 1), of('truncated', 1), of('none', 0)];
    const warnings = [
      ...contexts.flatMap((evidence) => view({ evidence }).warnings),
      ...view({ subject: null, evidence: of('missing', 1) }).warnings,
    ];
    const gate = { what: 'gate', path: 'g.json' } as const;
    const policy = [true, false].map((applied) => policyChangeSentence({ ...gate, applied }));
    const workflow = policyChangeSentence({ what: 'workflow', path: 'ci.yml', applied: true });
    const text = [...warnings, ...policy, workflow].join('\n');
    await expect(`${text}\n`).toMatchFileSnapshot('../golden/warnings.txt');
  });

  it.each([
    [sampleCoverage(), 0],
    [unseenCoverage, 1],
    [sampleCoverage({ status: 'partial', why: 'Too much.' }), 1],
    [unknownCoverage, 0],
    [{ ...unseenCoverage, status: 'unknown' }, 0],
  ] as const)('name the coverage only if it is not complete: %#', (coverage, count) => {
    const evidence = { ...of('complete', 1), coverage };
    expect(view({ evidence }).warnings).toHaveLength(count);
    const isKnown = coverageSentence(coverage) !== null;
    expect(view({ evidence }).notes).toHaveLength(isKnown && count === 0 ? 1 : 0);
    expect(view({ ...unpublished('No.'), evidence }).warnings).toEqual([]);
  });

  it('are about tool calls only with a payload', () => {
    expect(view({ ...unpublished('No.'), evidence: of('none', 0) }).warnings).toEqual([]);
    expect(view({ evidence: null }).warnings).toEqual([]);
  });
});
