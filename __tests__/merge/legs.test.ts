import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InputError } from '../../src/errors.ts';
import { byName, groupLegs } from '../../src/merge/legs.ts';
import { refusalOf } from '../support/surroundings.ts';
import { legVote, SUBJECT } from './votes.ts';

const two = {
  expect: { kind: 'legs', names: ['api', 'web'] },
  votes: { rule: { kind: 'all' }, count: 3 },
  subject: SUBJECT,
  anyCommit: false,
} as const;

describe('byName', () => {
  it('sorts numbers in names by their value', () => {
    const sorted = ['leg-10', 'b', 'leg-2', 'a', 'leg-1'].toSorted(byName);
    expect(sorted).toEqual(['a', 'b', 'leg-1', 'leg-2', 'leg-10']);
  });

  it('is a total order, also for names that look alike', () => {
    const name = fc.oneof(
      fc.constantFrom('1', '01', '٠١', 'é', 'e\u0301', 'A', 'a', '', '\u200b'),
      fc.string(),
    );
    fc.assert(
      fc.property(name, name, name, (one, other, third) => {
        expect(Math.sign(byName(one, other))).toBe(-Math.sign(byName(other, one)) + 0);
        expect(byName(one, other) === 0).toBe(one === other);
        if (byName(one, other) < 0 && byName(other, third) < 0) expect(byName(one, third)).toBeLessThan(0);
      }),
    );
  });
});

describe('groupLegs', () => {
  it('groups votes by leg name, each with its last attempt', () => {
    const at = (run_attempt: number) => ({
      subject: { ...SUBJECT, run_attempt },
      file: `${run_attempt}.json`,
    });
    const casts = [
      legVote('web', '10', 'pass'),
      legVote('web', '2', 'fail', at(2)),
      legVote('api', null, 'pass'),
      legVote('web', '2', 'pass', at(1)),
    ];
    const shown = groupLegs(casts, two).flatMap(({ name, votes }) =>
      votes.map(({ vote, outcome }) => `${name} ${vote} ${outcome}`),
    );
    expect(shown).toEqual(['api null pass', 'web 2 fail', 'web 10 pass']);
  });

  it('accepts names such as __proto__', () => {
    const names = ['__proto__', 'constructor', 'toString'];
    const casts = names.map((leg) => legVote(leg, null, 'pass'));
    const expected = { ...two, expect: { kind: 'legs', names } } as const;
    const grouped = groupLegs(casts, expected).map(({ name }) => name);
    expect(grouped.toSorted()).toEqual(names.toSorted());
    expect(() => groupLegs(casts.slice(0, 1), two)).toThrow(InputError);
  });

  it('compares votes with the first one when the merge has no subject', () => {
    const off = ['api', 'web'].map((leg) => legVote(leg, null, 'pass', { subject: null }));
    expect(groupLegs(off, { ...two, subject: null }).length).toBe(2);
    const mixed = [legVote('api', null, 'pass'), ...off.slice(1)];
    expect(() => groupLegs(mixed, { ...two, subject: null })).toThrow(InputError);
  });

  it('refuses votes with the same message in any order', () => {
    const all = ['a', 'b', 'c', 'd'].map((leg) => legVote(leg, null, 'pass'));
    const message = (casts: typeof all) => refusalOf(() => groupLegs(casts, two)).message;
    fc.assert(
      fc.property(fc.shuffledSubarray(all, { minLength: 4 }), (casts) => {
        expect(message(casts)).toBe(message(all));
      }),
    );
  });

  it('limits the number of files and the length of names in a message', () => {
    const casts = Array.from({ length: 40 }, (_, at) =>
      legVote(`leg-${at}`, null, 'pass', { file: `${'f'.repeat(3_000)}-${at}` }),
    );
    const expected = { ...two, expect: { kind: 'envelopes', count: 3 } } as const;
    expect(refusalOf(() => groupLegs(casts, expected)).message.length).toBeLessThan(2_500);
  });

  it('suggests a fix for an unexpected leg: a misspelled name, missing commas', () => {
    const message = (leg: string, names: readonly string[]) =>
      refusalOf(() => groupLegs([legVote(leg, null, 'pass')], { ...two, expect: { kind: 'legs', names } }))
        .message;
    expect(message('biling', ['api', 'billing'])).toContain('Did you mean "billing"?');
    expect(message('api', ['api web docs'])).toContain('put commas between the legs');
    expect(message('api', ['web'])).toContain('Add it to expect, or give that step another leg.');
  });

  it('shows a leg name in full, so that a secret in it is masked', () => {
    const leg = `${'x'.repeat(90)}sk-${'s'.repeat(40)}`;
    expect(() => groupLegs([legVote(leg, null, 'pass')], two)).toThrow(leg);
  });
});
