import { describe, expect, it } from 'vitest';
import { buildPayload, mergedJson } from '../../src/merge/merge.ts';
import type { MergedLeg } from '../../src/merge/types.ts';
import { shellSafeJson } from '../../src/text/sanitize.ts';
import type { JsonObject } from '../../src/types.ts';
import { sampleLeg, sampleMerged, sampleVote } from './sample-merged.ts';

describe('buildPayload', () => {
  it('contains the verdict, the counts, the findings and the usage', () => {
    const merged = sampleMerged({ findingsLeftOut: 4 });
    expect(buildPayload(merged)).toMatchObject({
      passed: true,
      summary: merged.summary,
      rule: 'all',
      votes: null,
      tally: { pass: 9, fail: 0, abstain: 0, expected: 9 },
      findings_left_out: 4,
      total: { turns: 18, input_tokens: 27_000, output_tokens: 1_890 },
    });
  });

  it('omits absent fields of a finding', () => {
    expect(buildPayload(sampleMerged())['findings']).toEqual([
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

  it('marks a finding as outvoted only when it was', () => {
    const findings = sampleMerged().findings.map((each, at) => ({ ...each, outvoted: at === 1 }));
    expect(buildPayload(sampleMerged({ findings }))['findings']).toEqual([
      expect.not.objectContaining({ outvoted: expect.anything() }),
      expect.objectContaining({ outvoted: true }),
    ]);
  });

  it('passes only when the legs together pass', () => {
    for (const outcome of ['fail', 'abstain'] as const)
      expect(buildPayload(sampleMerged({ outcome, legs: [sampleLeg('api', outcome)] }))['passed']).toBe(
        false,
      );
  });

  it('has no cost when one cost is unknown', () => {
    expect(buildPayload(sampleMerged({ costUsd: null }))['total']).toMatchObject({ cost_usd: null });
  });
});

describe('a large payload', () => {
  const LIMIT = 1_048_576;
  const CJK = '这个函数没有检查输入所以可能会出错';
  const text = (part: string, length: number) => part.repeat(length).slice(0, length);
  const bytes = (payload: JsonObject) => Buffer.byteLength(shellSafeJson(payload));
  const findings = (count: number, message: string) =>
    sampleMerged().findings.flatMap((first) =>
      Array.from({ length: count / 2 }, (_, line) => ({ ...first, line, message })),
    );
  const legsOf = (name: string, why: string | null, model = 'model-1') =>
    Array.from({ length: 256 }, (_, leg) => {
      const votes = ['1', '2', '3'].map((vote) =>
        sampleVote('fail', { vote: text(`${vote}${name}`, 200), why, model }),
      );
      return sampleLeg(text(`${leg}${name}`, 200), 'fail', votes);
    });
  const votesIn = (payload: JsonObject) =>
    JSON.parse(JSON.stringify(payload['legs'])).flatMap(
      ({ votes }: { readonly votes: readonly { readonly why: string | null; readonly model: string }[] }) =>
        votes,
    );
  const leftOut = (payload: JsonObject) => Number(payload['findings_left_out']);
  const shown = (payload: JsonObject) => JSON.parse(JSON.stringify(payload['findings']));

  it.each([
    ['in ASCII', 'plain text '],
    ['in Chinese', CJK],
    ['with shell characters', "`<'&>'`"],
    ['with control characters', '\u0001'],
    ['with unpaired surrogates', '\ud800'],
  ])('%s has as many findings as fit into a step output, and counts the others', (_, part) => {
    const payload = buildPayload(
      sampleMerged({ findings: findings(2_000, text(part, 700)), findingsLeftOut: 7 }),
    );
    expect(bytes(payload)).toBeLessThanOrEqual(LIMIT);
    expect(bytes(payload)).toBeGreaterThan(LIMIT - 6_000);
    expect(shown(payload).length + leftOut(payload)).toBe(2_007);
    expect(shown(payload)).toEqual(
      shown(buildPayload(sampleMerged({ findings: findings(2_000, text(part, 700)) }))),
    );
  });

  it('keeps the most severe findings, not later ones that are shorter', () => {
    const [first, last] = sampleMerged().findings;
    if (first === undefined || last === undefined) throw new Error('The sample has two findings.');
    const payload = buildPayload(
      sampleMerged({ findings: [first, { ...first, message: text('x', LIMIT) }, last], findingsLeftOut: 1 }),
    );
    expect([shown(payload).length, leftOut(payload)]).toEqual([1, 3]);
  });

  it('keeps every text of the votes when the findings have enough space', () => {
    const why = text('It says so. ', 500);
    const payload = buildPayload(
      sampleMerged({ legs: legsOf('leg', why).slice(0, 100), findings: findings(300, 'x') }),
    );
    expect(new Set(votesIn(payload).map((vote: { why: string }) => vote.why))).toEqual(new Set([why]));
    expect(leftOut(payload)).toBe(0);
  });

  it('keeps the names of 256 legs, without their votes when findings would get less than a quarter', () => {
    for (const [name, why] of [
      ['leg', 'It says so. '],
      [CJK, CJK],
      ["'", "'"],
    ] as const) {
      const legs = legsOf(name, text(why, 500), text(why, 500));
      const payload = buildPayload(sampleMerged({ legs, findings: findings(2_000, text(why, 480)) }));
      expect(bytes(payload)).toBeLessThanOrEqual(LIMIT);
      expect(payload['legs']).toEqual(
        legs.map(({ leg }) => expect.objectContaining({ leg, passed: false, votes: [] })),
      );
      expect(shown(payload).length).toBeGreaterThan(100);
    }
  });
});

describe('mergedJson', () => {
  const legOf = (leg: MergedLeg) =>
    mergedJson(sampleMerged({ legs: [leg], votes: 'majority of 3' }), (each) => each).legs[0];

  it('has no cost for a leg when one vote has none, and otherwise an exact sum', () => {
    const costs = (...all: readonly (number | null)[]) =>
      legOf(
        sampleLeg(
          'api',
          'pass',
          all.map((costUsd) => sampleVote('pass', { costUsd })),
        ),
      );
    expect(costs(0.1, null, 0.2)).toMatchObject({ total_cost_usd: null });
    expect(costs(0.1, 0.2)).toMatchObject({ total_cost_usd: 0.3 });
  });

  it('describes a leg by its only vote, or by the rule unless all votes are missing', () => {
    const cutOff = sampleVote('abstain', { conclusion: 'inconclusive', reason: 'timeout' });
    const missing = sampleVote('abstain', { conclusion: 'missing', reason: 'missing' });
    const words = (...votes: Parameters<typeof sampleLeg>[2] & {}) =>
      legOf(sampleLeg('api', 'abstain', votes));
    expect(words(cutOff)).toMatchObject({ conclusion: 'inconclusive', reason: 'timeout', passed: null });
    expect(words(cutOff, missing)).toMatchObject({ conclusion: 'inconclusive', reason: 'undecided' });
    expect(words(missing, missing)).toMatchObject({ conclusion: 'missing', reason: 'missing' });
  });
});
