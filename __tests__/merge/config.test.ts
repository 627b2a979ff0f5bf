import { describe, expect, it } from 'vitest';
import { InputError } from '../../src/errors.ts';
import { mergeConfigFrom } from '../support/fakes/runner/inputs.ts';

type Inputs = Readonly<Record<string, string>>;

const least = { verdicts: 'verdicts', expect: 'api, web' };

const parse = mergeConfigFrom;

function refusal(inputs: Inputs) {
  try {
    parse(inputs);
  } catch (error) {
    if (error instanceof InputError) return { input: error.input, message: error.message };
    throw error;
  }
  throw new Error('accepted');
}

describe('the configuration of a merge', () => {
  it('has a default for everything but the folder and the legs', () => {
    expect(parse(least)).toEqual({
      verdicts: 'verdicts',
      expect: { kind: 'legs', names: ['api', 'web'] },
      votes: null,
      rule: { kind: 'all' },
      ruleText: 'all',
      votesText: null,
      weights: new Map(),
      gate: 'auto',
      signingKey: null,
      summary: true,
      comment: 'never',
      commentKey: null,
      annotations: 'findings',
      sarifFile: null,
      commitStatus: null,
      githubToken: null,
      resultFile: null,
      logLevel: 'summary',
    });
  });

  it('is told in full where the runner debugs', () => {
    expect(parse(least, { RUNNER_DEBUG: '1' }).logLevel).toBe('full');
  });

  it('takes weighted rules of legs and of votes together', () => {
    const config = parse({
      ...least,
      rule: 'Weighted:1.5',
      votes: 'weighted:2 of 3',
      weights: 'api: 2\n\nopus: 3\n',
    });
    expect(config).toMatchObject({
      rule: { kind: 'weighted', threshold: 1_500_000 },
      ruleText: 'weighted:1.5',
      votes: { rule: { kind: 'weighted', threshold: 2_000_000 }, count: 3 },
      votesText: 'weighted:2 of 3',
    });
    expect([...config.weights]).toEqual([
      ['api', 2_000_000],
      ['opus', 3_000_000],
    ]);
  });

  it.each([
    [
      { expect: 'api' },
      'verdicts',
      'verdicts is not given. Set it to the folder that actions/download-artifact wrote',
    ],
    [
      { verdicts: 'v' },
      'expect',
      'expect is not given. Set it to the names of the legs, or how many envelopes',
    ],
    [
      { ...least, expect: '10', votes: 'majority of 3' },
      'expect',
      'expect is 10 envelopes, and votes has 3 for each leg: that makes no whole number of legs.',
    ],
    [
      { ...least, weights: 'api: 2' },
      'weights',
      'weights is given, and neither rule nor votes is weighted:T. Use a weighted rule, or remove weights.',
    ],
    [
      { ...least, expect: '3', rule: 'weighted:1' },
      'expect',
      'expect is a number, and a weighted rule has to know which legs are missing. Give the names of the legs.',
    ],
    [
      { ...least, rule: 'weighted:1', weights: 'apo: 2' },
      'weights',
      'weights names "apo", which is no leg in expect. Did you mean "api"?',
    ],
    [
      { ...least, votes: 'weighted:1 of 2', weights: 'a: 1\nb: 1\nc: 1' },
      'weights',
      'weights names 3 votes ("a", "b", "c"), and a leg has 2. Remove those that no leg has.',
    ],
    [
      { ...least, rule: 'weighted:2' },
      'rule',
      'rule needs weights of more than 2, and all of them together are 2: it could never pass. Lower the threshold.',
    ],
    [
      { ...least, rule: 'weighted:0.3', weights: 'api: 0.1\nweb: 0.2' },
      'rule',
      'rule needs weights of more than 0.3, and all of them together are 0.3',
    ],
    [
      { ...least, votes: 'weighted:4 of 3', weights: 'opus: 2' },
      'votes',
      'votes needs weights of more than 4, and all of them together are 4',
    ],
    [{ ...least, rule: 'some' }, 'rule', 'Use all, any, majority or weighted:T.'],
    [{ ...least, 'signing-key': 'short' }, 'signing-key', 'openssl rand -hex 32'],
    [{ ...least, comment: 'yes' }, 'comment', 'Use never, always or on-failure.'],
    [{ ...least, prompt: 'Judge.' }, 'prompt', 'There is no input "prompt".'],
    [{ ...least, vote: 'majority of 3' }, 'vote', 'Did you mean votes or gate?'],
  ])('%j is refused', (inputs, input, message) => {
    const refused = refusal(inputs);
    expect(refused.input).toBe(input);
    expect(refused.message).toContain(message);
  });

  it('names all that is wrong at once, and nothing that may follow from it', () => {
    const wrong = { expect: '0', rule: 'most', weights: 'api', 'signing-key': 'short', comment: 'yes' };
    expect(refusal(wrong).message).toMatch(
      /^6 problems to fix: \(1\) verdicts is not given.* \(2\) expect is "0".* \(3\) rule is "most".* \(4\) weights has .* \(5\) signing-key has .* \(6\) comment is "yes"/u,
    );
    // Weights that no rule reads are a problem of their own, once the rule is right.
    expect(refusal({ ...least, rule: 'most', weights: 'api: 2' }).input).toBe('rule');
  });

  it('refuses more legs and votes than a merge reads envelopes, by name too', () => {
    const legs = (count: number) => Array.from({ length: count }, (_, at) => `leg ${at}`).join();
    expect(refusal({ ...least, expect: legs(101), votes: 'all of 199' })).toEqual({
      input: 'expect',
      message:
        'expect names 101 legs, and votes has 199 for each: that makes 20099 envelopes, and a merge reads at most 20000. Name fewer legs, or lower votes; merge more of them in several merges.',
    });
    expect(parse({ ...least, expect: legs(100), votes: 'all of 200' }).votes?.count).toBe(200);
  });
});
