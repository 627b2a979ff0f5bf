import { describe, expect, it } from 'vitest';
import { payloadOf } from '../../src/merge/merge.ts';
import { mergedJson } from '../../src/reporters/merged-json.ts';
import { sampleLeg, sampleMerged } from '../reporters/sample-merged.ts';

const payload = (merged = sampleMerged()) =>
  payloadOf(
    merged,
    mergedJson(merged, (text) => text),
  );

describe('the payload of a merge', () => {
  it('tells the verdict, what was counted, the findings and what it took', () => {
    const merged = sampleMerged({ findingsLeftOut: 4 });
    expect(payload(merged)).toMatchObject({
      passed: true,
      summary: merged.summary,
      rule: 'all',
      votes: null,
      tally: { pass: 9, fail: 0, abstain: 0, expected: 9 },
      findings_left_out: 4,
      total: { turns: 18, input_tokens: 27_000, output_tokens: 1_890 },
    });
  });

  it('leaves out what a finding does not say', () => {
    expect(payload()['findings']).toEqual([
      {
        severity: 'error',
        path: 'src/billing/invoice.ts',
        line: 118,
        rule: 'rounding',
        title: 'The total is rounded too early',
        message: 'Round once, after `applyTax()`.',
        legs: ['api', 'billing'],
        votes: 4,
      },
      { severity: 'note', message: 'The changelog says nothing of it.', legs: ['docs'], votes: 1 },
    ]);
  });

  it('says of a finding that it was outvoted only where it was', () => {
    const findings = sampleMerged().findings.map((each, at) => ({ ...each, outvoted: at === 1 }));
    expect(payload(sampleMerged({ findings }))['findings']).toEqual([
      expect.not.objectContaining({ outvoted: expect.anything() }),
      expect.objectContaining({ outvoted: true }),
    ]);
  });

  it('passes only where the legs together pass', () => {
    for (const ballot of ['fail', 'abstain'] as const)
      expect(payload(sampleMerged({ ballot, legs: [sampleLeg('api', ballot)] }))['passed']).toBe(false);
  });

  it('tells no cost where one is not known', () => {
    expect(payload(sampleMerged({ costUsd: null }))['total']).toMatchObject({ cost_usd: null });
  });
});
