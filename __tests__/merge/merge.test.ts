import { describe, expect, it } from 'vitest';
import { WEIGHT_UNIT } from '../../src/merge/config.ts';
import type { Vote } from '../../src/merge/legs.ts';
import { merge } from '../../src/merge/merge.ts';
import type { Merged } from '../../src/merge/types.ts';
import type { Subject } from '../../src/types.ts';
import { refusalOf } from '../support/surroundings.ts';
import {
  envelopes,
  findingPayload,
  legs,
  legVote,
  majorityOf,
  type Options,
  options,
  SUBJECT,
} from './votes.ts';

const of = (changes: Partial<Subject>) => ({ subject: { ...SUBJECT, run_attempt: 1, ...changes } });
const attempt = (run_attempt: number) => of({ run_attempt });
const outcomes = (merged: Merged) => merged.legs.map(({ leg, outcome }) => [leg, outcome]);

function refusal(casts: readonly Vote[], changes: Options = {}): string {
  const { input, message } = refusalOf(() => merge(casts, options(changes)));
  return `${input}: ${message}`;
}

describe('a merge', () => {
  it('passes when all legs pass, and sums their usage', () => {
    const merged = merge([legVote('web', null, 'pass'), legVote('api', null, 'pass')], options());
    expect(merged).toMatchObject({
      outcome: 'pass',
      tally: { pass: 2, fail: 0, abstain: 0, expected: 2 },
      turns: 4,
      rejections: 2,
      usage: { inputTokens: 200, outputTokens: 20, cachedInputTokens: 10, cacheWriteTokens: 2 },
      costUsd: 0.2,
      models: ['model-1'],
    });
    expect(outcomes(merged)).toEqual([
      ['api', 'pass'],
      ['web', 'pass'],
    ]);
  });

  it('separates findings in different files of the same name, and merges those in one file', () => {
    const finding = { severity: 'high', path: 'index.js', line: 1, rule: 'r', message: 'It leaks.' };
    const found = (leg: string, path: string | null) => {
      const evidence = { context: 'none', toolCalls: 1, findings: [{ path }] } as const;
      return legVote(leg, null, 'pass', { payload: findingPayload(finding), evidence });
    };
    const paths = (...casts: readonly Vote[]) =>
      merge(casts, options()).findings.map(({ path, legs: names }) => [path, names]);
    expect(paths(found('api', 'packages/api/index.js'), found('web', 'packages/web/index.js'))).toEqual([
      ['packages/api/index.js', ['api']],
      ['packages/web/index.js', ['web']],
    ]);
    expect(paths(found('api', 'lib/index.js'), found('web', 'lib/index.js'))).toEqual([
      ['lib/index.js', ['api', 'web']],
    ]);
    expect(paths(found('api', null), found('web', null))).toEqual([['index.js', ['api', 'web']]]);
  });

  it('counts a named leg without an envelope as abstaining', () => {
    const merged = merge([legVote('web', null, 'pass')], options());
    expect(merged.outcome).toBe('abstain');
    expect(merged.legs[0]).toMatchObject({
      leg: 'api',
      outcome: 'abstain',
      votes: [{ vote: null, conclusion: 'missing', reason: 'missing', costUsd: 0 }],
    });
  });

  it('counts missing envelopes of a number as unnamed legs, after the others', () => {
    const merged = merge([legVote('web', '1', 'pass'), legVote('web', '2', 'pass')], {
      ...options({ expect: envelopes(6), votes: majorityOf(2) }),
    });
    expect(outcomes(merged)).toEqual([
      ['web', 'pass'],
      [null, 'abstain'],
      [null, 'abstain'],
    ]);
    expect(merged.legs[1]?.votes.length).toBe(2);
    expect(merged.tally).toEqual({ pass: 1, fail: 0, abstain: 2, expected: 3 });
  });

  it('is decided without the missing legs when they cannot change it', () => {
    const casts = [legVote('api', null, 'fail')];
    expect(merge(casts, options()).outcome).toBe('fail');
    expect(merge(casts, options({ rule: { kind: 'any' } })).outcome).toBe('abstain');
    expect(merge([legVote('api', null, 'pass')], options({ rule: { kind: 'any' } })).outcome).toBe('pass');
    const two = [legVote('api', '1', 'pass'), legVote('api', '2', 'pass')];
    expect(merge(two, options({ expect: legs('api'), votes: majorityOf(3) })).outcome).toBe('pass');
  });

  it('names the missing votes of a leg after the votes of other legs', () => {
    const casts = [legVote('api', 'a', 'pass'), legVote('api', 'b', 'pass'), legVote('web', 'b', 'pass')];
    const merged = merge(casts, options({ votes: majorityOf(2) }));
    expect(merged.legs[1]?.votes.map(({ vote, conclusion }) => [vote, conclusion])).toEqual([
      ['b', 'success'],
      ['a', 'missing'],
    ]);
  });

  it('weighs legs by name, including missing ones', () => {
    const weights = new Map([
      ['api', 3 * WEIGHT_UNIT],
      ['web', WEIGHT_UNIT],
    ]);
    const rule = { kind: 'weighted', threshold: 2.5 * WEIGHT_UNIT } as const;
    const all = (casts: readonly Vote[]) => merge(casts, options({ weights, rule })).outcome;
    expect(all([legVote('api', null, 'pass')])).toBe('pass');
    expect(all([legVote('web', null, 'pass')])).toBe('abstain');
    expect(all([legVote('web', null, 'pass'), legVote('api', null, 'fail')])).toBe('fail');
    expect(all([legVote('api', null, 'fail')])).toBe('fail');
  });

  it('weighs votes by name, and knows which ones are missing', () => {
    const weights = new Map([['opus', 2 * WEIGHT_UNIT]]);
    const votes = { rule: { kind: 'weighted', threshold: 2 * WEIGHT_UNIT } as const, count: 3 };
    const all = (...casts: readonly Vote[]) =>
      merge(casts, options({ expect: legs('api'), weights, votes })).outcome;
    const [opus, haiku] = [legVote('api', 'opus', 'pass'), legVote('api', 'haiku', 'pass')];
    expect(all(opus, haiku)).toBe('pass');
    expect(all(opus)).toBe('abstain');
    expect(all(legVote('api', 'opus', 'fail'), haiku)).toBe('fail');
    expect(all(legVote('api', 'haiku', 'fail'), legVote('api', 'sonnet', 'fail'))).toBe('fail');
  });

  it('merges the findings of all votes', () => {
    const payload = findingPayload({ severity: 'high', file: 'a.ts', line: 1, rule: 'r', message: 'No.' });
    const merged = merge(
      [legVote('web', null, 'pass', { payload }), legVote('api', null, 'pass', { payload })],
      options(),
    );
    expect(merged.findings).toMatchObject([{ legs: ['api', 'web'], votes: 2 }]);
  });

  describe('marks a finding as outvoted', () => {
    const FINDING = { severity: 'high', file: 'a.ts', line: 1, rule: 'r', message: 'No.' } as const;
    const failing = { payload: { ...findingPayload(FINDING), passed: false } };
    const passing = { payload: findingPayload(FINDING) };
    const vote = (leg: string, outcomes: readonly ('pass' | 'fail' | 'abstain' | 'nit')[]) =>
      outcomes.map((outcome, at) => {
        if (outcome === 'nit') return legVote(leg, `${at}`, 'pass', passing);
        return legVote(leg, `${at}`, outcome, outcome === 'fail' ? failing : {});
      });
    const outvoted = (casts: readonly Vote[], changes: Options = {}) => {
      const { outcome, findings } = merge(casts, options({ votes: majorityOf(3), ...changes }));
      return [outcome, findings.map((finding) => finding.outvoted)];
    };
    const alone = { expect: legs('api') };
    const majority = { rule: { kind: 'majority' }, expect: legs('api', 'web', 'docs') } as const;

    it('when every run with it fails and its leg passes', () => {
      expect(outvoted(vote('api', ['fail', 'pass', 'pass']), alone)).toEqual(['pass', [true]]);
      expect(outvoted(vote('api', ['fail', 'fail', 'pass']), alone)).toEqual(['fail', [false]]);
      expect(outvoted(vote('api', ['fail', 'pass', 'abstain']), alone)).toEqual(['abstain', [false]]);
    });

    it('also when other legs make the merge fail or leave it undecided', () => {
      const casts = vote('api', ['fail', 'pass', 'pass']);
      const silent = ['0', '1', '2'].map((name) => legVote('web', name, 'fail'));
      expect(outvoted(casts)).toEqual(['abstain', [true]]);
      expect(outvoted([...casts, ...silent])).toEqual(['fail', [true]]);
      expect(outvoted([...casts, ...vote('web', ['fail', 'fail', 'pass'])])).toEqual(['fail', [false]]);
    });

    it('when its leg fails and the legs together pass', () => {
      const casts = [
        ...vote('api', ['fail', 'fail', 'fail']),
        ...vote('web', ['pass', 'pass', 'pass']),
        ...vote('docs', ['pass', 'pass', 'pass']),
      ];
      expect(outvoted(casts, majority)).toEqual(['pass', [true]]);
    });

    it('but not when a passing run has it too', () => {
      expect(outvoted(vote('api', ['fail', 'nit', 'pass']), alone)).toEqual(['pass', [false]]);
      expect(outvoted(vote('api', ['nit', 'fail', 'fail']), alone)).toEqual(['fail', [false]]);
      expect(outvoted(vote('api', ['nit', 'pass', 'pass']), alone)).toEqual(['pass', [false]]);
    });
  });

  it('has no cost when one cost is unknown', () => {
    const casts = [legVote('web', null, 'pass', { costUsd: null }), legVote('api', null, 'pass')];
    expect(merge(casts, options()).costUsd).toBe(null);
  });
});

describe('attempts', () => {
  it('replace earlier attempts, better or worse, including their usage', () => {
    const one = legVote('api', null, 'abstain', { ...attempt(1), file: 'one' });
    const two = legVote('api', null, 'pass', { ...attempt(2), file: 'two' });
    const web = legVote('web', null, 'pass');
    const better = merge([two, one, web], options());
    expect(better.outcome).toBe('pass');
    expect(better.turns).toBe(4);
    expect(better.legs[0]?.votes).toMatchObject([{ attempt: 2 }]);
    const worse = [
      legVote('api', null, 'pass', { ...attempt(1), file: 'one' }),
      legVote('api', null, 'fail', { ...attempt(3), file: 'three' }),
      web,
    ];
    expect(merge(worse, options()).outcome).toBe('fail');
  });

  it('in the same attempt are two runs: a second envelope of one vote is refused', () => {
    const clash = (number: number) => [
      legVote('api', null, 'fail', { ...attempt(number), file: 'x.json' }),
      legVote('api', null, 'abstain', { ...attempt(number), file: 'y.json' }),
    ];
    for (const [number, other] of [
      [1, 2],
      [3, 1],
    ] as const)
      expect(refusal([...clash(number), legVote('api', null, 'pass', attempt(other))])).toBe(
        'verdicts: "x.json" and "y.json" are both of leg "api", with no vote, in the same attempt. Give each run of a leg a vote of its own: vote: ${{ matrix.vote }}.',
      );
  });

  it('in the future are refused', () => {
    expect(refusal([legVote('api', null, 'pass', { ...attempt(4), file: 'x' })])).toContain(
      '"x" is of attempt 4, and this is attempt 3',
    );
  });
});

describe('an inconsistent folder', () => {
  it.each([
    ['repository', { repository: 'octo/other' }],
    ['workflow run', { run_id: '41' }],
    ['commit', { sha: 'b'.repeat(40) }],
  ])('with an envelope of another %s is refused, passing or not', (what, changes) => {
    for (const outcome of ['pass', 'fail', 'abstain'] as const) {
      const casts = [
        legVote('api', null, 'pass'),
        legVote('web', null, outcome, { ...of(changes), file: 'w.json' }),
      ];
      expect(refusal(casts)).toContain(`verdicts: "w.json" is of another ${what}: `);
      expect(refusal(casts)).toContain('Download the verdicts of this run alone');
    }
  });

  it('with an envelope from outside GitHub is refused', () => {
    expect(refusal([legVote('api', null, 'pass', { subject: null })])).toContain('made outside GitHub');
  });

  it('of another commit than this job is accepted with anyCommit, if all legs have the same commit', () => {
    const other = of({ sha: 'b'.repeat(40) });
    const both = [legVote('api', null, 'pass', other), legVote('web', null, 'pass', other)];
    expect(refusal(both)).toContain('another commit');
    expect(merge(both, options({ anyCommit: true })).outcome).toBe('pass');
    const mixed = [legVote('api', null, 'pass', other), legVote('web', null, 'pass')];
    expect(refusal(mixed, { anyCommit: true })).toContain('another commit');
  });

  it('with an unexpected leg is refused', () => {
    const casts = [legVote('api', null, 'pass'), legVote('docs', null, 'abstain', { file: 'd.json' })];
    expect(refusal(casts)).toBe(
      'expect: "d.json" is of leg "docs", which is not expected. Add it to expect, or give that step another leg.',
    );
  });

  it('with more legs or votes than expected is refused', () => {
    const casts = ['a', 'b', 'c'].map((leg) => legVote(leg, null, 'pass', { file: `${leg}.json` }));
    expect(refusal(casts, { expect: envelopes(2) })).toBe(
      'expect: There are 3 legs, "a" ("a.json"), "b" ("b.json"), "c" ("c.json"), and expect: 2 is a number of envelopes: 2 legs. Correct expect, or the download.',
    );
    const votes = ['1', '2', '3'].map((vote) => legVote('api', vote, 'pass', { file: `${vote}.json` }));
    expect(refusal(votes)).toBe(
      'votes: Leg "api" has 3 votes ("1.json", "2.json", "3.json"), more than expected. Say how they count: votes: majority of 3',
    );
    expect(refusal(votes, { votes: majorityOf(2) })).toContain('votes says 2: correct it, or the matrix.');
    expect(refusal(votes, { expect: envelopes(3) })).toContain('Say how they count: votes: majority of 3');
  });

  it.each([
    ['schema', { schema_sha256: 'other' }],
    ['gate', { gate_sha256: 'other' }],
    ['prompt', { prompt_sha256: 'other' }],
    ['version of structured-agent', { version: '0.2.0' }],
  ])('with votes of one leg that differ in their %s is refused', (what, changes) => {
    const policy = {
      schema_sha256: 's',
      gate_sha256: null,
      prompt_sha256: 'p',
      version: '0.1.0',
      ...changes,
    };
    const first = legVote('api', '1', 'pass', { file: 'one.json' });
    const casts = [first, legVote('api', '2', 'fail', { file: 'two.json', policy })];
    const own = { expect: legs('api'), votes: majorityOf(2) };
    expect(refusal(casts, own)).toContain(`"one.json" and "two.json" differ in ${what}.`);
    expect(merge([first, legVote('web', '2', 'pass', { policy })], options()).outcome).toBe('pass');
    const open = [first, legVote('api', '2', 'abstain', { policy })];
    expect(merge(open, options(own)).outcome).toBe('abstain');
  });

  it('with a weight for a leg and a vote of the same name is refused under two weighted rules', () => {
    const casts = [legVote('1', '1', 'pass'), legVote('2', '1', 'pass')];
    const rule = { kind: 'weighted', threshold: WEIGHT_UNIT } as const;
    const votes = { rule: { kind: 'weighted', threshold: 1.5 * WEIGHT_UNIT } as const, count: 3 };
    const weights = new Map([['1', 5 * WEIGHT_UNIT]]);
    expect(refusal(casts, { expect: legs('1', '2'), rule, votes, weights })).toMatch(
      /^weights: weights names "1", which is a leg and a vote/u,
    );
    const all = { kind: 'all' } as const;
    expect(merge(casts, options({ expect: legs('1', '2'), rule: all, votes, weights })).outcome).toBe('pass');
  });

  it('with votes under other names than the weights is refused', () => {
    const casts = [legVote('api', 'opus', 'pass'), legVote('api', 'haiku', 'pass')];
    const votes = { rule: { kind: 'weighted', threshold: 0.5 * WEIGHT_UNIT } as const, count: 2 };
    expect(
      refusal(casts, { expect: legs('api'), votes, weights: new Map([['opsu', 0.9 * WEIGHT_UNIT]]) }),
    ).toMatch(/^weights: weights names the vote "opsu", and leg "api" has the votes "haiku", "opus"\./u);
  });
});
