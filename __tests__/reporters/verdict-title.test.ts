import { describe, expect, it } from 'vitest';
import { verdictTitle } from '../../src/reporters/verdict-title.ts';
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
