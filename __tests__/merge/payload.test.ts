import { describe, expect, it } from 'vitest';
import { buildPayload, mergedJson } from '../../src/merge/merge.ts';
import type { MergedLeg } from '../../src/merge/types.ts';
import { shellSafeJson } from '../../src/text/sanitize.ts';
import type { JsonObject } from '../../src/types.ts';
import { sampleLeg, sampleMerged, sampleVote } from './sample-merged.ts';

describe('the payload of a merge', () => {
  it('tells the verdict, what was counted, the findings and what it took', () => {
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

  it('leaves out what a finding does not say', () => {
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

  it('says of a finding that it was outvoted only where it was', () => {
    const findings = sampleMerged().findings.map((each, at) => ({ ...each, outvoted: at === 1 }));
    expect(buildPayload(sampleMerged({ findings }))['findings']).toEqual([
      expect.not.objectContaining({ outvoted: expect.anything() }),
      expect.objectContaining({ outvoted: true }),
    ]);
  });

  it('passes only where the legs together pass', () => {
    for (const outcome of ['fail', 'abstain'] as const)
      expect(buildPayload(sampleMerged({ outcome, legs: [sampleLeg('api', outcome)] }))['passed']).toBe(
        false,
      );
  });

  it('tells no cost where one is not known', () => {
    expect(buildPayload(sampleMerged({ costUsd: null }))['total']).toMatchObject({ cost_usd: null });
  });
});

describe('the payload of a large merge', () => {
  const LIMIT = 1_048_576;
  const CJK = '这个函数没有检查输入所以可能会出错';
  const text = (part: string, length: number) => part.repeat(length).slice(0, length);
  const bytes = (told: JsonObject) => Buffer.byteLength(shellSafeJson(told));
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
  const votesIn = (told: JsonObject) =>
    JSON.parse(JSON.stringify(told['legs'])).flatMap(
      ({ votes }: { readonly votes: readonly { readonly why: string | null; readonly model: string }[] }) =>
        votes,
    );
  const leftOut = (told: JsonObject) => Number(told['findings_left_out']);
  const shown = (told: JsonObject) => JSON.parse(JSON.stringify(told['findings']));

  it.each([
    ['of ASCII', 'plain text '],
    ['of Chinese', CJK],
    ['of what a shell acts on', "`<'&>'`"],
    ['of control characters', '\u0001'],
    ['of halves of pairs', '\ud800'],
  ])('has as many findings %s as fit into an output of a step, and counts the others', (_, part) => {
    const told = buildPayload(
      sampleMerged({ findings: findings(2_000, text(part, 700)), findingsLeftOut: 7 }),
    );
    expect(bytes(told)).toBeLessThanOrEqual(LIMIT);
    expect(bytes(told)).toBeGreaterThan(LIMIT - 6_000);
    expect(shown(told).length + leftOut(told)).toBe(2_007);
    expect(shown(told)).toEqual(
      shown(buildPayload(sampleMerged({ findings: findings(2_000, text(part, 700)) }))),
    );
  });

  it('has the gravest findings, and not later ones that are shorter', () => {
    const [first, last] = sampleMerged().findings;
    if (first === undefined || last === undefined) throw new Error('The sample has two findings.');
    const told = buildPayload(
      sampleMerged({ findings: [first, { ...first, message: text('x', LIMIT) }, last], findingsLeftOut: 1 }),
    );
    expect([shown(told).length, leftOut(told)]).toEqual([1, 3]);
  });

  it('keeps every text of the votes where findings have room beside them', () => {
    const why = text('It says so. ', 500);
    const told = buildPayload(
      sampleMerged({ legs: legsOf('leg', why).slice(0, 100), findings: findings(300, 'x') }),
    );
    expect(new Set(votesIn(told).map((vote: { why: string }) => vote.why))).toEqual(new Set([why]));
    expect(leftOut(told)).toBe(0);
  });

  it('names 256 legs in full, without their votes where those leave findings less than a quarter of it', () => {
    for (const [name, why] of [
      ['leg', 'It says so. '],
      [CJK, CJK],
      ["'", "'"],
    ] as const) {
      const legs = legsOf(name, text(why, 500), text(why, 500));
      const told = buildPayload(sampleMerged({ legs, findings: findings(2_000, text(why, 480)) }));
      expect(bytes(told)).toBeLessThanOrEqual(LIMIT);
      expect(told['legs']).toEqual(
        legs.map(({ leg }) => expect.objectContaining({ leg, passed: false, votes: [] })),
      );
      expect(shown(told).length).toBeGreaterThan(100);
    }
  });
});

describe('what a merge counted, as JSON', () => {
  const legOf = (leg: MergedLeg) =>
    mergedJson(sampleMerged({ legs: [leg], votes: 'majority of 3' }), (each) => each).legs[0];

  it('knows no cost of a leg where that of one vote is not known, and adds up the others exactly', () => {
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

  it('tells a leg in the words of its vote, and one of several in those of the rule unless all are missing', () => {
    const cutOff = sampleVote('abstain', { conclusion: 'inconclusive', reason: 'timeout' });
    const missing = sampleVote('abstain', { conclusion: 'missing', reason: 'missing' });
    const words = (...votes: Parameters<typeof sampleLeg>[2] & {}) =>
      legOf(sampleLeg('api', 'abstain', votes));
    expect(words(cutOff)).toMatchObject({ conclusion: 'inconclusive', reason: 'timeout', passed: null });
    expect(words(cutOff, missing)).toMatchObject({ conclusion: 'inconclusive', reason: 'undecided' });
    expect(words(missing, missing)).toMatchObject({ conclusion: 'missing', reason: 'missing' });
  });
});
