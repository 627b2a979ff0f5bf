import { describe, expect, it } from 'vitest';
import type { Merged } from '../../src/merge/types.ts';
import { verdictTitle } from '../../src/reporters/verdict-title.ts';
import { sampleLeg, sampleMerged, sampleMergedReport } from './sample-merged.ts';
import { sampleReport, unpublished } from './sample-report.ts';

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
  ] as const)('is how the legs stand: %s', (ballot, title) => {
    const legs = [sampleLeg('api', ballot), sampleLeg('web', 'pass')];
    expect(verdictTitle(sampleMergedReport(sampleMerged({ legs })))).toBe(title);
  });

  it('is what ended it where that was something else', () => {
    const ended = (reason: 'config' | 'cancelled', merged: Merged | null) =>
      verdictTitle(sampleReport({ ...unpublished('x', { reason }), merged }));
    expect([ended('config', null), ended('cancelled', sampleMerged())]).toEqual([
      '⚠️ Inconclusive: nothing was merged',
      '⚠️ Inconclusive: cancelled',
    ]);
  });
});

describe('the title of a reused verdict', () => {
  it('says that it is one', () => {
    const reuse = { key: 'a', tree: 'b', from: { run_id: '41', run_attempt: 1, session_id: 's' } };
    expect(verdictTitle(sampleReport({ reuse }))).toBe('✅ Success (reused): the gate is met');
    expect(verdictTitle(sampleReport({ reuse, gate: { status: 'none', issues: [] } }))).toBe(
      '☑️ Accepted (reused): no gate was asked for',
    );
    expect(verdictTitle(sampleReport({ reuse: { ...reuse, from: null } }))).toBe(
      '✅ Success: the gate is met',
    );
  });
});
