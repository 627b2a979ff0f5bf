import { describe, expect, it } from 'vitest';
import { verdictTitle } from '../../src/reporters/verdict-text.ts';
import { sampleFailedMerge, sampleLeg, sampleMerged, sampleMergedReport } from '../merge/sample-merged.ts';
import { sampleReport, sampleReusedReport, unpublished } from './sample-report.ts';

describe('verdictTitle', () => {
  it('tells a payload that no gate judged from a success', () => {
    expect(verdictTitle(sampleReport())).toBe('✅ Success: the gate is met');
    expect(verdictTitle(sampleReport({ gate: { status: 'none', issues: [] } }))).toBe(
      '☑️ Accepted: no gate was asked for',
    );
  });

  it('says of a replay that no model judged', () => {
    expect(verdictTitle(sampleReport({ replayed: true }))).toBe(
      '🔁 Replay, judged by no model. Success: the gate is met',
    );
    const mismatch = unpublished('x', { reason: 'replay_mismatch' });
    expect(verdictTitle(sampleReport({ ...mismatch, replayed: true }))).toBe(
      '🔁 Replay, judged by no model. Inconclusive: the recording does not fit',
    );
  });

  it.each([
    ['plain_text', 'the model gave no verdict'],
    ['provider_auth', "the model's API refused the key"],
    ['sandbox', 'no working sandbox'],
    ['config', 'the configuration is wrong'],
    ['max_turns', 'out of turns'],
    ['timeout', 'out of time'],
    ['cancelled', 'cancelled'],
  ] as const)('says why a run that ended with %s is inconclusive', (reason, why) => {
    expect(verdictTitle(sampleReport(unpublished('x', { reason })))).toBe(`⚠️ Inconclusive: ${why}`);
  });
});

describe('the title of a merge', () => {
  it.each([
    ['pass', '✅ Success: 2 of 2 legs pass'],
    ['fail', '❌ Failure: 1 of 2 legs passes, 1 fails'],
    ['abstain', '⚠️ Undecided: 1 of 2 legs passes, 1 is missing'],
  ] as const)('is how the legs stand: %s', (outcome, title) => {
    const legs = [sampleLeg('api', outcome), sampleLeg('web', 'pass')];
    expect(verdictTitle(sampleMergedReport(sampleMerged({ legs })))).toBe(title);
  });

  it('is what ended it where that was something else', () => {
    const cancelled = sampleMergedReport(sampleMerged(), unpublished('x', { reason: 'cancelled' }));
    expect([sampleFailedMerge('x', { reason: 'config' }), cancelled].map(verdictTitle)).toEqual([
      '⚠️ Inconclusive: nothing was merged',
      '⚠️ Inconclusive: cancelled',
    ]);
  });
});

describe('the title of a reused verdict', () => {
  it('says that it is one', () => {
    expect(verdictTitle(sampleReusedReport())).toBe('✅ Success (reused): the gate is met');
    expect(verdictTitle(sampleReusedReport({ gate: { status: 'none', issues: [] } }))).toBe(
      '☑️ Accepted (reused): no gate was asked for',
    );
    expect(verdictTitle(sampleReusedReport(unpublished('x')))).toBe(
      '⚠️ Inconclusive: the model gave no verdict',
    );
  });
});
