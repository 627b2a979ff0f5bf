import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildPayload, decide, merge } from '../../src/merge/count-votes.ts';
import type { LegsOptions } from '../../src/merge/legs.ts';
import type { Vote } from '../../src/merge/read-vote.ts';
import { describeMerge } from '../../src/merge/report.ts';
import type { Merged, VoteOutcome } from '../../src/merge/types.ts';
import type { FindingEvidence } from '../../src/reporters/report-types.ts';
import type { JsonObject, Subject } from '../../src/types.ts';
import { sampleReport } from '../reporters/sample-report.ts';
import { knowSecrets, refusalOf } from '../support/surroundings.ts';
import {
  type ENDINGS,
  findingPayload,
  legVote,
  majorityOf,
  options,
  type Said,
  SUBJECT,
} from './sample-merged.ts';

const of = (changes: Partial<Subject>) => ({ subject: { ...SUBJECT, run_attempt: 1, ...changes } });
const attempt = (run_attempt: number) => of({ run_attempt });

function refusal(casts: readonly Vote[], changes: Partial<LegsOptions> = {}): string {
  const { input, message } = refusalOf(() => merge(casts, options(changes)));
  return `${input}: ${message}`;
}

it.each([
  ['✅', '✅ ✅ ✅'],
  ['❌', '❌ ❌ ❌'],
  ['✅❌', '❌ ✅ ❌'],
  ['✅⬜', '⬜ ✅ ⬜'],
  ['❌⬜', '❌ ⬜ ❌'],
  ['✅✅❌', '❌ ✅ ✅'],
  ['✅✅⬜', '⬜ ✅ ✅'],
  ['✅❌❌', '❌ ✅ ❌'],
  ['✅❌⬜', '❌ ✅ ⬜'],
  ['✅⬜⬜', '⬜ ✅ ⬜'],
  ['❌❌⬜', '❌ ⬜ ❌'],
  ['✅✅❌❌', '❌ ✅ ❌'],
  ['✅✅❌⬜', '❌ ✅ ⬜'],
])('%s is %s under all, any and majority', (votes, expected) => {
  const outcomeOf = (mark: string) => (mark === '✅' ? 'pass' : mark === '❌' ? 'fail' : 'abstain');
  const read = (marks: string) => [...marks].map(outcomeOf);
  const decided = (['all', 'any', 'majority'] as const).map((rule) => decide(rule, read(votes)));
  expect(decided).toEqual(read(expected.replaceAll(' ', '')));
});

describe('a vote', () => {
  const met = { gate: { status: 'met', issues: [] } } as const;
  const notMet = { gate: { status: 'not_met', issues: [] } } as const;
  const no = { payload: { passed: false, summary: ' No. ' } };
  const ends = { conclusion: 'inconclusive', reason: 'timeout', payload: null, gate: null } as const;

  const unmet = 'Its own gate is not met. It says: Fine.';
  const cutOff = 'It was cut off after its payload was accepted.';
  it.each<[string, Said, VoteOutcome, string | null]>([
    ['says passed', {}, 'pass', null],
    ['meets its own gate', { payload: { score: 1 }, ...met }, 'pass', null],
    ['meets its own gate and says not passed', { ...no, ...met }, 'pass', null],
    ['says not passed', no, 'fail', '`passed` is false. It says: No.'],
    ['does not meet its own gate', { conclusion: 'failure', ...notMet }, 'fail', unmet],
    ['claims success with an unmet gate', notMet, 'fail', unmet],
    ['has no verdict', { ...ends, error: 'Out of time.' }, 'abstain', 'Out of time.'],
    ['was skipped', { ...ends, conclusion: 'skipped', error: 'No key.' }, 'abstain', 'No key.'],
    ['was cut off after its payload', { conclusion: 'inconclusive' }, 'abstain', cutOff],
    ['claims success without a payload', { payload: null, gate: null }, 'abstain', cutOff],
    ['is a replay', { replayed: true }, 'abstain', 'A recording answered: no model judged it.'],
  ])('that %s', (_, changes, outcome, why) => {
    expect(legVote('api', null, 'pass', changes)).toMatchObject({ outcome, why });
  });

  const long = 'x'.repeat(201);
  const inherited = JSON.parse('{"__proto__":{"passed":true}}');
  it.each<[string, Said, string]>([
    ['without a leg', { leg: null, file: 'x.json' }, '"x.json" does not say which leg it is of. Give the'],
    ['of a merge', { merged: {} }, 'is the envelope of a merge and not of a leg'],
    ['with a long leg', { leg: long }, 'names a leg or a vote with more than 200 characters'],
    ['with a long name', { vote: long }, 'names a leg or a vote with more than 200 characters'],
    ['without a gate and `passed`', { payload: { score: 7 } }, 'nothing says whether the payload of leg'],
    ['with passed as a text', { payload: { passed: 'true' } }, 'it has no boolean "passed"'],
    ['with passed in its prototype', { payload: inherited }, 'no boolean "passed"'],
  ])('%s is refused', (_, changes, message) => {
    expect(refusalOf(() => legVote('api', null, 'pass', changes)).message).toContain(message);
  });

  it('is masked, and cut to the length that is shown', () => {
    const long = 'word '.repeat(10_000);
    const findings = [{ severity: 'low', title: long, message: long, rule: long }];
    const payload = { passed: false, summary: long, findings };
    const vote = legVote('api', null, 'pass', { payload, model: long });
    const [finding] = vote.findings;
    expect([vote.why?.length, vote.model.length, finding?.message.length]).toEqual([500, 200, 1000]);
    expect([finding?.title?.length, finding?.rule?.length]).toEqual([300, 300]);
    const secret = 'correct-horse-battery';
    const error = `${'x'.repeat(490)} ${secret}`;
    const { model, why } = legVote('api', null, 'abstain', { model: secret, error }, knowSecrets(secret));
    expect([model, why]).toEqual(['***', `${'x'.repeat(490)} ***`]);
  });
});

describe('a merge', () => {
  it('counts missing legs and votes, and sums what the others used', () => {
    const two = legVote('web', '2', 'pass', { model: 'model-2' });
    const casts = [two, legVote('web', '1', 'fail'), legVote('api', '1', 'pass')];
    const merged = merge(casts, options({ expect: ['web', 'api', 'docs'], votes: majorityOf(2) }));
    expect(merged).toMatchObject({ outcome: 'fail', votes: 'majority of 2' });
    expect(describeMerge(sampleReport(), merged)).toMatchObject({
      turnCount: 6,
      usage: { inputTokens: 9000, outputTokens: 630 },
      costUsd: 0.06,
      model: 'claude-sonnet-5-5, model-2',
    });
    const named = merged.legs.map(({ leg, votes }) => [
      leg,
      ...votes.map(({ vote, reason }) => vote ?? reason),
    ]);
    expect(named.join('; ')).toBe('api,1,missing; docs,missing,missing; web,1,2');
    const unpriced = [legVote('web', null, 'pass', { total_cost_usd: null }), legVote('api', null, 'pass')];
    expect(describeMerge(sampleReport(), merge(unpriced, options())).costUsd).toBe(null);
  });

  const [first, second] = [{ file: 'x.json' }, { file: 'y.json' }];
  const passed = legVote('api', '1', 'pass', first);
  const failed = legVote('api', '1', 'fail', second);
  const again = legVote('api', '1', 'pass', { ...attempt(2), file: 'z.json' });
  const later = legVote('api', null, 'pass', { ...attempt(4), file: 'x' });
  const elsewhere = legVote('web', null, 'pass', { subject: null });
  const docs = legVote('docs', null, 'abstain', first);
  const another = legVote('api', null, 'pass', of({ sha: 'b'.repeat(40) }));
  const same = legVote('web', null, 'pass');
  const foreign = (outcome: keyof typeof ENDINGS, changes: Partial<Subject>) => [
    legVote('web', null, outcome, { ...of(changes), ...first }),
  ];
  const three = ['1', '2', '3'].map((vote) => legVote('api', vote, 'pass', { file: vote }));
  const two =
    '"x.json" and "y.json" are both of leg "api", with vote "1", in the same attempt. Give each run';
  it.each<[string, readonly Vote[], Partial<LegsOptions>, string]>([
    ['another repository', foreign('fail', { repository: 'a/b' }), {}, '"x.json" is of another repository: '],
    ['another workflow run', foreign('pass', { run_id: '41' }), {}, '"x.json" is of another workflow run: '],
    ['another commit', foreign('abstain', { sha: 'b'.repeat(40) }), {}, '"x.json" is of another commit: '],
    ['two commits', [another, same], { anyCommit: true }, ' is of another commit: '],
    ['two envelopes of one vote', [passed, failed], {}, `verdicts: ${two}`],
    ['two envelopes of a vote that was replaced', [passed, failed, again], {}, two],
    ['an attempt to come', [later], {}, '"x" is of attempt 4, and this'],
    ['one made outside GitHub', [elsewhere], {}, 'of another repository: none instead of "octo/demo"'],
    ['one made on GitHub elsewhere', [passed, elsewhere], { subject: null }, 'is of another repository'],
    ['an unexpected leg', [docs], { expect: ['api'] }, 'expect: "x.json": leg "docs" is not expected.'],
    ['a leg with a typo', [docs], { expect: ['api', 'dox'] }, 'another leg. Did you mean "dox"?'],
    ['votes without a rule', three, {}, 'votes: Leg "api" has 3 votes ("1", "2", "3"), more than expected.'],
    ['too many votes', three, { votes: majorityOf(2) }, 'votes says 2: correct it, or the matrix.'],
  ])('refuses %s', (_, casts, changes, message) => {
    expect(refusal(casts, changes)).toContain(message);
    expect(refusal(casts.toReversed(), changes)).toBe(refusal(casts, changes));
  });

  it.each([
    ['schema', { schema_sha256: 'other' }],
    ['gate', { gate_sha256: 'other' }],
    ['prompt', { prompt_sha256: 'other' }],
    ['version of structured-agent', { version: '0.2.0' }],
  ])('refuses votes of one leg that differ in their %s', (what, changes) => {
    const one = legVote('api', '1', 'pass', first);
    const judge = { schema_sha256: 's', gate_sha256: null, prompt_sha256: 'p', version: '0.1.0', ...changes };
    const own = { expect: ['api'], votes: majorityOf(2) };
    const two = legVote('api', '2', 'fail', { ...second, judge });
    expect(refusal([one, two], own)).toContain(`"x.json" and "y.json" differ in ${what}.`);
    expect(merge([one, legVote('web', '2', 'pass', { judge })], options()).outcome).toBe('pass');
    expect(merge([one, legVote('api', '2', 'abstain', { judge })], options(own)).outcome).toBe('abstain');
  });
});

describe('the findings of a merge', () => {
  const row = (changes: JsonObject = {}): JsonObject => ({
    ...{ severity: 'high', file: 'src/a.ts', line: 10, rule: 'sql-injection' },
    ...{ message: 'The query is built of text.', ...changes },
  });
  const found = (leg: string, ...rows: readonly JsonObject[]) =>
    legVote(leg, null, 'pass', { payload: findingPayload(...rows) });
  const merged = (...casts: readonly Vote[]) =>
    merge(casts, options({ expect: casts.map(({ leg }) => leg) })).findings;
  const counts = (...rows: readonly JsonObject[]) =>
    merged(...rows.map((each, at) => found(`${at}`, each))).map(({ votes }) => votes);

  it('are one if file and rule are the same and the lines near, in the words of the most severe', () => {
    const web = found('web', row({ line: 12, severity: 'low', message: 'Perhaps.' }));
    const api = found('api', row({ line: 10, end_line: 11, title: 'Injection' }));
    const whole = {
      ...{ severity: 'error', path: 'src/a.ts', line: 10, endLine: 11, rule: 'sql-injection' },
      ...{ title: 'Injection', message: 'The query is built of text.', legs: ['api', 'cli', 'web'] },
      ...{ votes: 3, outvoted: false, doubted: false },
    };
    expect(merged(web, api, found('cli', row({ line: 13, severity: 'medium' })))).toEqual([whole]);
  });

  const kind = (title: string) => ({ ...row({ category: 'bug', title }), rule: null });
  const bare = (message: string, title: string | null = null) => row({ rule: null, message, title });
  it.each<[string, readonly JsonObject[], readonly number[]]>([
    ['three lines apart', [row(), row({ line: 13 })], [2]],
    ['four lines apart', [row(), row({ line: 14 })], [1, 1]],
    ['in a chain', [row(), row({ line: 13 }), row({ line: 16 })], [2, 1]],
    ['both without a line', [row({ line: null }), row({ line: null })], [2]],
    ['one without a line', [row({ line: null }), row({ line: 1 })], [1, 1]],
    ['in a path written with ./', [row(), row({ file: './src//a.ts' })], [2]],
    ['in a path of Windows', [row(), row({ file: 'src\\a.ts' })], [2]],
    ['in a path with its line', [row(), row({ file: 'src/a.ts:10' })], [2]],
    ['in other files', [row(), row({ file: 'src/b.ts' }), row({ file: '/src/a.ts' })], [1, 1, 1]],
    ['with a rule written otherwise', [row(), row({ rule: 'SQL_Injection' })], [2]],
    ['with other rules', [row(), row({ rule: 'xss' })], [1, 1]],
    ['with one title', [bare('One.', 'A hole'), bare('Two.', 'a  hole')], [2]],
    ['with one message', [bare('Same words.'), bare('same  words.')], [2]],
    ['with other messages', [bare('Same words.'), bare('Other words.')], [1, 1]],
    ['of one category with other titles', [kind('Off by one'), kind('A race')], [1, 1]],
    ['of one category with one title', [kind('Off by one'), kind('off by one')], [2]],
  ])('%s are counted %#', (_, rows, expected) => {
    expect(counts(...rows)).toEqual(expected);
  });

  it('of one run stay separate, and others join the nearest', () => {
    expect(merged(found('a', row(), row({ line: 11 }))).map(({ votes }) => votes)).toEqual([1, 1]);
    const near = merged(found('a', row(), row({ line: 12 })), found('b', row({ line: 12 })));
    expect(near.map(({ line, votes }) => `${line}: ${votes}`)).toEqual(['12: 2', '10: 1']);
  });

  it('stand at the places that their runs proved or resolved, and are doubted if none could prove them', () => {
    const payload = findingPayload(row({ file: 'a.ts' }));
    const cast = (leg: string, finding: FindingEvidence) => {
      const grounding = { exact: 1, moved: 0, unproven: 1 };
      const evidence = { context: 'none', toolCalls: 1, grounding, findings: [finding] } as const;
      return legVote(leg, null, 'pass', { payload, evidence });
    };
    const paths = (...casts: readonly Vote[]) =>
      merged(...casts).map(({ path, legs }) => `${path} of ${legs}`);
    const resolved = cast('a', { path: 'api/a.ts' });
    expect(paths(resolved, cast('b', { path: 'web/a.ts' }))).toEqual(['api/a.ts of a', 'web/a.ts of b']);
    expect(paths(resolved, cast('b', { path: null }))).toEqual(['a.ts of b', 'api/a.ts of a']);
    const place = { path: 'api/a.ts', line: 7, lineWas: null };
    const unproven = cast('b', { ...place, grounding: 'unproven' });
    expect(merged(cast('a', { ...place, grounding: 'exact' }), unproven)).toMatchObject([
      { path: 'api/a.ts', line: 7, doubted: false },
      { path: 'api/a.ts', line: null, doubted: true },
    ]);
    const published = buildPayload(merge([unproven], options({ expect: ['b'] })));
    expect(published['findings']).toMatchObject([{ line: null, doubted: true }]);
  });

  it('are outvoted if each run that has them fails and its leg passes', () => {
    const cast = (outcomes: string) =>
      [...outcomes].map((mark, at) => {
        const payload = { ...findingPayload(...(mark === 'p' ? [] : [row()])), passed: mark !== 'f' };
        return legVote('api', `${at}`, mark === 'a' ? 'abstain' : 'pass', mark === 'a' ? {} : { payload });
      });
    const outvoted = (outcomes: string) =>
      merge(cast(outcomes), options({ expect: ['api', 'web'], votes: majorityOf(3) })).findings[0]?.outvoted;
    // f: fails with the finding, n: passes with it, p: passes without it, a: abstains.
    expect(['fpp', 'ffp', 'fpa', 'fnp', 'npp'].map(outvoted)).toEqual([true, false, false, false, false]);
  });

  it('are the 200 most severe, of each run and of all, and the others are counted', () => {
    const low = Array.from({ length: 249 }, (_, at) => row({ severity: 'low', line: at * 9 }));
    const api = found('api', ...low, row({ line: 249 * 9 }));
    const { findings, findingsLeftOut } = merge([api, found('web', row({ line: 9_999 }))], options());
    expect([findings.length, findings[0]?.line, findingsLeftOut]).toEqual([200, 249 * 9, 51]);
  });
});

const NAMES = ['leg-1', 'leg-2', 'leg-10', 'ünï', 'a b'];
const anyRow = fc.record({
  line: fc.constantFrom<number | null>(null, 1, 2, 4, 5, 8),
  severity: fc.constantFrom('high', 'low', 'medium'),
  rule: fc.constantFrom('one', 'two', ''),
  message: fc.constantFrom('x', 'y', 'X'),
  file: fc.constantFrom('a.ts', './a.ts', 'b.ts'),
});
type Cast = typeof cast extends fc.Arbitrary<infer T> ? T : never;
const cast = fc.record({
  leg: fc.constantFrom(...NAMES),
  vote: fc.constantFrom('1', '2', '3'),
  attempt: fc.integer({ min: 1, max: 3 }),
  outcome: fc.constantFrom<keyof typeof ENDINGS>('pass', 'fail', 'abstain'),
  total_cost_usd: fc.double({ min: 0, max: 50, noNaN: true }),
  rows: fc.array(anyRow, { maxLength: 4 }),
});
const nameOf = ({ leg, vote, attempt }: Cast) => `${leg} ${vote} ${attempt}`;
const casts = fc.uniqueArray(cast, { selector: nameOf, maxLength: 20 });
const there = casts.map((all) =>
  all.map(({ leg, vote, attempt, outcome, total_cost_usd, rows }, at) => {
    const payload = { ...findingPayload(...rows), passed: outcome === 'pass' };
    const subject = { ...SUBJECT, run_attempt: attempt };
    const said = { subject, file: `${at}.json`, total_cost_usd };
    return legVote(leg, vote, outcome, outcome === 'abstain' ? said : { ...said, payload });
  }),
);
const shuffled = there.chain((all) =>
  fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
);
const rules = fc.constantFrom('all', 'any', 'majority');

describe('a merge of any envelopes', () => {
  type Count = (votes: readonly Vote[], names?: readonly string[]) => Merged;
  /** Expects something of all votes, and of the same ones in another order, whatever rule counts them. */
  const law = (title: string, holds: (count: Count, all: readonly Vote[], other: readonly Vote[]) => void) =>
    it(title, () => {
      const property = fc.property(shuffled, rules, ([all, other], rule) => {
        const votes = { rule, count: 3 } as const;
        holds((cast, expected = NAMES) => merge(cast, options({ votes, expect: expected })), all, other);
      });
      fc.assert(property);
    });

  law('has the same result in any order', (count, all, other) => {
    const merged = count(all);
    expect(count(other)).toEqual(merged);
    expect(buildPayload(merged)).toEqual(buildPayload(count(other)));
  });

  law('counts every leg, passes only if all pass, and fails only if one is certain to fail', (count, all) => {
    const { legs, outcome } = count(all);
    expect(legs.map(({ votes }) => votes.length)).toEqual([3, 3, 3, 3, 3]);
    const outcomes = legs.map((leg) => leg.outcome);
    expect(outcome === 'pass').toBe(outcomes.every((each) => each === 'pass'));
    expect(outcome === 'fail').toBe(outcomes.includes('fail'));
  });

  law('is not improved by one more failing vote or leg', (count, all) => {
    const rank = ({ outcome }: Merged) => ['fail', 'abstain', 'pass'].indexOf(outcome);
    const bad = ['1', '2', '3'].map((vote) => legVote('bad', vote, 'fail', { file: `bad-${vote}` }));
    expect(rank(count([...all, ...bad], [...NAMES, 'bad']))).toBeLessThanOrEqual(rank(count(all)));
    const turned = all.map((vote, at): Vote => (at === 0 ? { ...vote, outcome: 'fail' } : vote));
    expect(rank(count(turned))).toBeLessThanOrEqual(rank(count(all)));
  });

  law('counts every finding, and each run once for it', (count, all) => {
    const { findings, legs } = count(all);
    const ofVote = Map.groupBy(all, ({ leg, vote }) => `${leg} ${vote}`).values();
    const last = [...ofVote].map((casts) => casts.toSorted((a, b) => (b.attempt ?? 0) - (a.attempt ?? 0))[0]);
    const rows = last.flatMap((vote) => vote?.findings ?? []);
    expect(findings.reduce((sum, { votes }) => sum + votes, 0)).toBe(rows.length);
    for (const { votes } of findings) expect(votes).toBeLessThanOrEqual(legs.length * 3);
  });
});
