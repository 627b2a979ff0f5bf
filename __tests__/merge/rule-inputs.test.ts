import { describe, expect, it } from 'vitest';
import { parseExpectation, parseRule, parseVotes, parseWeights } from '../../src/merge/config.ts';
import { refusalOf } from '../support/surroundings.ts';

const refusal = (parse: () => unknown): string => refusalOf(parse).message;

describe('parseRule', () => {
  it.each([
    ['all', { kind: 'all' }],
    [' Any ', { kind: 'any' }],
    ['MAJORITY', { kind: 'majority' }],
    ['weighted:2', { kind: 'weighted', threshold: 2_000_000 }],
    ['weighted : 0.3', { kind: 'weighted', threshold: 300_000 }],
    ['weighted:0', { kind: 'weighted', threshold: 0 }],
  ])('accepts %s', (text, rule) => {
    expect(parseRule('rule', text)).toEqual(rule);
  });

  it.each([
    ['most', 'rule is "most". Use all, any, majority or weighted:T.'],
    ['majorty', 'rule is "majorty". Use all, any, majority or weighted:T. Did you mean majority?'],
    [
      'majority of 3',
      'rule is "majority of 3". Use all, any, majority or weighted:T. The input votes says how many votes a leg has.',
    ],
    [
      'weighted',
      'rule is "weighted". A weighted rule says how much is needed, as in weighted:1.5; the weights of those that pass must add up to more than that.',
    ],
  ])('refuses %s', (text, message) => {
    expect(refusal(() => parseRule('rule', text))).toBe(message);
  });

  it.each(['-1', '1e3', '.5', '0.1234567', 'NaN', '9999999'])(
    'refuses the threshold weighted:%s',
    (threshold) => {
      expect(refusal(() => parseRule('rule', `weighted:${threshold}`))).toContain('as in weighted:1.5');
    },
  );
});

describe('parseVotes', () => {
  it.each([
    ['majority of 3', { rule: { kind: 'majority' }, count: 3 }],
    ['All  OF 1', { rule: { kind: 'all' }, count: 1 }],
    ['weighted:1.5 of 3', { rule: { kind: 'weighted', threshold: 1_500_000 }, count: 3 }],
  ])('accepts %s', (text, votes) => {
    expect(parseVotes(text)).toEqual(votes);
  });

  it.each([
    [
      'majority',
      'votes is "majority", which does not say how many votes a leg has, so that a missing one would not be missed. Write for example: majority of 3',
    ],
    ['weighted:2', 'Write for example: weighted:2 of 3'],
    ['3', 'votes is "3", without a rule. Write for example: majority of 3'],
    ['2 of 3', 'For 2 of them at least write weighted:1 of 3, or name a rule: majority of 3'],
    ['majority of 0', 'votes is "majority of 0". A leg has from 1 to 1000 votes.'],
    ['all of 1001', 'A leg has from 1 to 1000 votes.'],
    ['majority of three', 'Use all, any, majority or weighted:T.'],
    ['most of 3', 'votes is "most". Use all, any, majority or weighted:T.'],
  ])('refuses %s', (text, message) => {
    expect(refusal(() => parseVotes(text))).toContain(message);
  });
});

describe('parseExpectation', () => {
  it.each([
    ['9', { kind: 'envelopes', count: 9 }],
    ['007', { kind: 'envelopes', count: 7 }],
    ['20000', { kind: 'envelopes', count: 20_000 }],
    ['["2000000"]', { kind: 'legs', names: ['2000000'] }],
    ['api', { kind: 'legs', names: ['api'] }],
    ['api, web,\n  cli tool \r\n', { kind: 'legs', names: ['api', 'web', 'cli tool'] }],
    ['\napi,\n\n  \nweb', { kind: 'legs', names: ['api', 'web'] }],
    ['["api","web, too", " a  b "]', { kind: 'legs', names: ['api', 'web, too', 'a b'] }],
    ['[18, 20]', { kind: 'legs', names: ['18', '20'] }],
    ['["3"]', { kind: 'legs', names: ['3'] }],
  ])('accepts %j', (text, expected) => {
    expect(parseExpectation(text)).toEqual(expected);
  });

  it.each([
    ['0', 'expect is "0". Use a number of envelopes from 1, or the names of the legs.'],
    [
      '20001',
      'expect is "20001". A merge reads at most 20000 envelopes. Give how many the legs write in all, or the names of the legs; merge more of them in several merges.',
    ],
    ['2000000', 'A merge reads at most 20000 envelopes.'],
    ['99999999999999999999', 'A merge reads at most 20000 envelopes.'],
    [' \n ', 'Name from 1 to 10000 legs, or give a number of envelopes.'],
    [', ,', 'One of its commas has no name beside it'],
    ['api,', 'One of its commas has no name beside it'],
    [',api', 'One of its commas has no name beside it'],
    ['api,,web', 'One of its commas has no name beside it'],
    ['api\n, web', 'One of its commas has no name beside it'],
    ['api, web\ncli,\n', 'One of its commas has no name beside it'],
    ['[]', 'Name from 1 to 10000 legs'],
    ['[api, web]', 'It begins like a JSON array and is none. Write ["api", "web"], or: api, web'],
    ['["api", null]', 'Every entry of the array must be the name of a leg.'],
    ['["api", [1]]', 'Every entry of the array must be the name of a leg.'],
    ['["api", " "]', 'Every entry of the array must be the name of a leg.'],
    ['api, web, api', 'expect names "api" twice. Name each leg once.'],
    ['["a  b", "a b"]', 'expect names "a b" twice.'],
    ['x'.repeat(201), "A leg's name has at most 200 characters."],
  ])('refuses %j', (text, message) => {
    expect(refusal(() => parseExpectation(text))).toContain(message);
  });
});

describe('parseWeights', () => {
  it('parses millionths, one per line, also for names with spaces and colons', () => {
    expect([...parseWeights(['api: 2', 'web  app = 0.5', 'a:b:0.000001', 'none: 0'])]).toEqual([
      ['api', 2_000_000],
      ['web app', 500_000],
      ['a:b', 1],
      ['none', 0],
    ]);
  });

  it.each(['api', 'api:', ': 2', 'api: -1', 'api: two', 'api: 1e2', 'api: 100001', 'api: 0.0000001'])(
    'refuses %s',
    (text) => {
      expect(refusal(() => parseWeights([text]))).toContain(
        'Write NAME: NUMBER, with a number from 0 to 100000 of at most six decimals.',
      );
    },
  );

  it('refuses a name that is given twice', () => {
    expect(refusal(() => parseWeights(['a b: 1', 'a  b: 2']))).toBe(
      'weights names "a b" twice. Keep one line.',
    );
  });
});
