import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Report } from '../../src/reporters/report-types.ts';
import { coverageSentence, policyChangeSentence } from '../../src/reporters/sentences.ts';
import { viewOf } from '../../src/reporters/view.ts';
import type { Conclusion, ContextStatus, Coverage, Subject } from '../../src/types.ts';
import { sampleFailedMerge, sampleMerged, sampleMergedReport } from '../merge/sample-merged.ts';
import { partialCoverage, sampleCoverage, unknownCoverage, unseenCoverage } from './sample-coverage.ts';
import { notMet, sampleReport, unpublished, VIEW } from './sample-report.ts';

const view = (changes: Partial<Report> = {}) => viewOf(sampleReport(changes), VIEW);
const schema = JSON.parse(
  readFileSync(new URL('../../schemas/envelope.schema.json', import.meta.url), 'utf8'),
);
const reasons: readonly Report['verdict']['reason'][] = schema.properties.reason.enum;
const CONCLUSIONS: Partial<Record<string, Conclusion>> = {
  accepted: 'success',
  gate_not_met: 'failure',
  missing_key: 'skipped',
};

it('answers the question for each reason, for a replay and for a merge', async () => {
  const ended = reasons.map((reason) => {
    const conclusion = CONCLUSIONS[reason] ?? 'inconclusive';
    return sampleReport({ payload: null, verdict: { ...sampleReport().verdict, conclusion, reason } });
  });
  const others = [
    sampleReport(),
    sampleReport({ gate: { status: 'none', issues: [] } }),
    sampleReport({ replayed: true }),
    sampleMergedReport(sampleMerged()),
    sampleMergedReport(sampleMerged(), unpublished('x', { reason: 'cancelled' })),
    sampleFailedMerge('x', { reason: 'config' }),
  ];
  const lines = [...ended, ...others].map((report) => {
    const { mark, outcome } = viewOf(report, VIEW);
    return `${report.verdict.reason}: ${mark} ${outcome}\n`;
  });
  await expect(lines.join('')).toMatchFileSnapshot('../golden/outcomes.txt');
});

describe('the reasons', () => {
  const issue = (path: string, message: string) => ({ path, keyword: 'const', message });
  const gate = { status: 'not_met', issues: [issue('/a', '`/a` must be 1, is 2')] } as const;

  it('are what the gate wants, or the sentence of the verdict with its page', () => {
    const failed = view({ verdict: notMet, gate });
    expect(failed.reasons).toEqual(['The gate is not met: `/a` must be 1, is 2.']);
    const { reasons: why, help } = view(unpublished('Out of `turns`.', { reason: 'max_turns' }));
    expect([why, help]).toEqual([['Out of `turns`.'], `${VIEW.help}#max_turns`]);
    expect(view()).toMatchObject({ reasons: [], help: null });
  });

  it('are none if the payload says itself that it did not pass', () => {
    const issues = [issue('/passed', '`/passed` must be true, is false')];
    const gate = { status: 'not_met', issues } as const;
    expect(view({ verdict: notMet, gate, payload: { passed: false } }).reasons).toEqual([]);
    expect(view({ verdict: notMet, gate, payload: {} }).reasons).toHaveLength(1);
  });
});

it('counts the findings, and repeats neither the headline nor quotes in the tables', () => {
  const findings = [
    { severity: 'error', message: 'a', quote: 'x' },
    { severity: 'warning', message: 'b' },
    { severity: 'warning', message: 'c' },
  ];
  const { outcome, summary, tables } = view({
    payload: { passed: true, summary: 'Good.', score: 1, findings },
  });
  expect([outcome, summary]).toEqual(['passed · 1 error, 2 warnings', 'Good.']);
  expect(tables).toEqual({ score: 1, findings: findings.map(({ quote: _, ...row }) => row) });
});

it("names the price list's name of the model, and what the agent changed", () => {
  const { costs } = view({ costUsd: 1.5, pricedAs: 'claude-sonnet-5', changedFiles: 2, rejections: 1 });
  expect(costs).toEqual([
    'claude-sonnet-5-5',
    '2 turns',
    '1 call rejected',
    '3,210 tokens (3,000 in, 210 out)',
    '$1.50 (priced as claude-sonnet-5)',
    '4.3 s',
    "2 files changed in the agent's scratch layer",
  ]);
});

it('says how much of the change was shown, and which files were not', async () => {
  const seven = 'abcdefg'.split('');
  const files: readonly Partial<Coverage['files']>[] = [
    {},
    { shown: 42, unseen: ['a'] },
    { changed: 1, required: 1, shown: 0, unseen: ['a'] },
    { changed: 2, required: 1, shown: 1, notRequired: [{ path: 'x', why: 'binary' }] },
    { changed: 3, required: 0, shown: 0, notRequired: [{ path: 'x', why: 'lock_file' }] },
    { shown: 35, unseen: ['p', ...seven] },
  ];
  const partial = sampleCoverage({ status: 'partial', why: 'Too much. ', files: { shown: 1 } });
  const all = [...files.map((each) => sampleCoverage({ files: each })), partial];
  await expect(`${all.map(coverageSentence).join('\n')}\n`).toMatchFileSnapshot('../golden/coverage.txt');
  const nothing = sampleCoverage({ files: { changed: 0, required: 0, shown: 0 } });
  for (const coverage of [null, unknownCoverage, nothing]) expect(coverageSentence(coverage)).toBeNull();
});

describe('the warnings', () => {
  const subject = sampleReport().subject as Subject;
  const of = (context: ContextStatus, toolCalls: number) => ({ context, toolCalls, findings: [] });

  it('say what was not shown of which change, and which policy it modifies', async () => {
    const subjects = ['pull_request', 'merge_group', 'push'].map((event) => ({ ...subject, event }));
    const evidence = [...subjects, null].flatMap((subject) =>
      (['missing', 'truncated'] as const).flatMap(
        (context) => view({ subject, evidence: of(context, 1) }).warnings,
      ),
    );
    const policy = [true, false].flatMap((applied) =>
      [true, false].flatMap((unlisted) =>
        policyChangeSentence({ what: 'gate', path: 'g.json', applied, unlisted }),
      ),
    );
    const workflow = policyChangeSentence({
      what: 'workflow',
      path: '.github/workflows/ci.yml',
      applied: true,
    });
    const text = [...evidence, ...view({ evidence: of('none', 0) }).warnings, ...policy, workflow].join('\n');
    await expect(`${text}\n`).toMatchFileSnapshot('../golden/warnings.txt');
  });

  it.each([
    [sampleCoverage(), 0],
    [unseenCoverage, 1],
    [partialCoverage, 1],
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
