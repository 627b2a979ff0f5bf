import { describe, expect, it } from 'vitest';
import { payloadOf } from '../../src/merge/merge.ts';
import { mergedJson } from '../../src/merge/merged-json.ts';
import { shellSafeJson } from '../../src/reporters/inert-json.ts';
import { createSecrets } from '../../src/text/secrets.ts';
import type { JsonObject } from '../../src/types.ts';
import { sampleLeg, sampleMerged, sampleVote } from './sample-merged.ts';

const payload = (merged = sampleMerged(), secrets = createSecrets()) =>
  payloadOf(
    merged,
    mergedJson(merged, (text) => text),
    secrets,
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
    const told = payload(sampleMerged({ findings: findings(2_000, text(part, 700)), findingsLeftOut: 7 }));
    expect(bytes(told)).toBeLessThanOrEqual(LIMIT);
    expect(bytes(told)).toBeGreaterThan(LIMIT - 6_000);
    expect(shown(told).length + leftOut(told)).toBe(2_007);
    expect(shown(told)).toEqual(shown(payload(sampleMerged({ findings: findings(2_000, text(part, 700)) }))));
  });

  it('has the gravest findings, and not later ones that are shorter', () => {
    const [first, last] = sampleMerged().findings;
    if (first === undefined || last === undefined) throw new Error('The sample has two findings.');
    const told = payload(
      sampleMerged({ findings: [first, { ...first, message: text('x', LIMIT) }, last], findingsLeftOut: 1 }),
    );
    expect([shown(told).length, leftOut(told)]).toEqual([1, 3]);
  });

  it('keeps every text of the votes where findings have room beside them', () => {
    const why = text('It says so. ', 500);
    const told = payload(
      sampleMerged({ legs: legsOf('leg', why).slice(0, 100), findings: findings(300, 'x') }),
    );
    expect(new Set(votesIn(told).map((vote: { why: string }) => vote.why))).toEqual(new Set([why]));
    expect(leftOut(told)).toBe(0);
  });

  it('shortens why each vote fails where that leaves findings less than a quarter of it', () => {
    const why = text('It says so. ', 500);
    const legs = legsOf('leg', why);
    const told = payload(sampleMerged({ legs, findings: findings(2_000, text('x', 480)) }));
    expect(bytes(told)).toBeLessThanOrEqual(LIMIT);
    expect(votesIn(told)).toHaveLength(768);
    for (const vote of votesIn(told)) expect(vote.why).toMatch(/^It says so\..{60,189}…$/);
    expect(shown(told).length).toBeGreaterThan(350);
    const alone = payload(sampleMerged({ legs, findings: [] }));
    expect(votesIn(alone)[0]).toMatchObject({ why });
  });

  it('has every vote of 256 legs with three whose names have 200 Chinese characters, without why', () => {
    const why = text(CJK, 500);
    const told = payload(sampleMerged({ legs: legsOf(CJK, why), findings: findings(2_000, CJK) }));
    expect(bytes(told)).toBeLessThanOrEqual(LIMIT);
    expect(votesIn(told)).toHaveLength(768);
    expect(votesIn(told)[0]).toMatchObject({ why: null, passed: false, vote: text(`1${CJK}`, 200) });
    expect(shown(told).length).toBeGreaterThan(0);
  });

  it('names 256 legs in full even where nothing else of their votes fits', () => {
    const legs = legsOf("'", text("'", 500), text("'", 500));
    const told = payload(sampleMerged({ legs, findings: findings(2_000, text("'", 480)) }));
    expect(bytes(told)).toBeLessThanOrEqual(LIMIT);
    expect(votesIn(told)).toEqual([]);
    expect(told['legs']).toEqual(
      legs.map(({ leg }) => expect.objectContaining({ leg, passed: false, votes: [] })),
    );
    expect(shown(told).length).toBeGreaterThan(100);
  });

  it('leaves no half of a secret where it shortens', () => {
    const secrets = createSecrets();
    const secret = 'correct horse battery staple';
    secrets.add(secret);
    for (let before = 150; before < 230; before += 7) {
      const why = `${text('x ', before)}${secret} ${text('so ', 500 - before)}`;
      const told = payload(
        sampleMerged({ legs: legsOf('leg', why), findings: findings(2_000, 'x') }),
        secrets,
      );
      expect(votesIn(told)[0].why.length).toBeLessThan(why.length);
      expect(JSON.stringify(told).replaceAll(secret, '')).not.toContain('correct');
    }
  });
});
