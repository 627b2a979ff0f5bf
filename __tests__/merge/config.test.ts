import { describe, expect, it } from 'vitest';
import { mergeConfigFrom } from '../support/fakes/runner/inputs.ts';
import { refusalOf } from '../support/surroundings.ts';

type Inputs = Readonly<Record<string, string>>;

const least = { verdicts: 'verdicts', expect: 'api, web' };

const parse = mergeConfigFrom;

const refusal = (inputs: Inputs) => refusalOf(() => parse(inputs));

describe('parseMergeConfig', () => {
  it('has a default for everything except the folder and the legs', () => {
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

  it('logs in full when the runner is in debug mode', () => {
    expect(parse(least, { RUNNER_DEBUG: '1' }).logLevel).toBe('full');
  });

  it('accepts weighted rules for legs and votes together', () => {
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

  it.each<[Inputs, string]>([
    [{ expect: 'api' }, 'verdicts is not given. Set it to the folder that actions/download-artifact wrote'],
    [{ verdicts: 'v' }, 'expect is not given. Set it to the names of the legs, or how many envelopes'],
    [
      { ...least, expect: '10', votes: 'majority of 3' },
      'expect is 10 envelopes, and votes has 3 for each leg: that makes no whole number of legs.',
    ],
    [
      { ...least, weights: 'api: 2' },
      'weights is given, and neither rule nor votes is weighted:T. Use a weighted rule, or remove weights.',
    ],
    [
      { ...least, expect: '3', rule: 'weighted:1' },
      'expect is a number, and a weighted rule has to know which legs are missing. Give the names of the legs.',
    ],
    [
      { ...least, rule: 'weighted:1', weights: 'apo: 2' },
      'weights names "apo", which is no leg in expect. Did you mean "api"?',
    ],
    [
      { ...least, votes: 'weighted:1 of 2', weights: 'a: 1\nb: 1\nc: 1' },
      'weights names 3 votes ("a", "b", "c"), and a leg has 2. Remove those that no leg has.',
    ],
    [
      { ...least, rule: 'weighted:2' },
      'rule needs weights of more than 2, and all of them together are 2: it could never pass. Lower the threshold.',
    ],
    [
      { ...least, rule: 'weighted:0.3', weights: 'api: 0.1\nweb: 0.2' },
      'rule needs weights of more than 0.3, and all of them together are 0.3',
    ],
    [
      { ...least, votes: 'weighted:4 of 3', weights: 'opus: 2' },
      'votes needs weights of more than 4, and all of them together are 4',
    ],
    [{ ...least, rule: 'some' }, 'rule is "some". Use all, any, majority or weighted:T.'],
    [{ ...least, 'signing-key': 'short' }, 'openssl rand -hex 32'],
    [{ ...least, comment: 'yes' }, 'comment is "yes". Use never, always or on-failure.'],
    [{ ...least, prompt: 'Judge.' }, 'There is no input "prompt".'],
    [{ ...least, vote: 'majority of 3' }, 'Did you mean votes or gate?'],
  ])('refuses %j', (inputs, message) => {
    expect(refusal(inputs).message).toContain(message);
  });

  it('reports all problems at once, without consequential ones', () => {
    const wrong = { expect: '0', rule: 'most', weights: 'api', 'signing-key': 'short', comment: 'yes' };
    expect(refusal(wrong).message).toMatch(
      /^6 problems to fix: \(1\) verdicts is not given.* \(2\) expect is "0".* \(3\) rule is "most".* \(4\) weights has .* \(5\) signing-key has .* \(6\) comment is "yes"/u,
    );
    // Unused weights are a separate problem, reported once the rule is valid.
    expect(refusal({ ...least, rule: 'most', weights: 'api: 2' }).input).toBe('rule');
  });

  it('refuses more legs and votes than the limit for envelopes, also with named legs', () => {
    const legs = (count: number) => Array.from({ length: count }, (_, at) => `leg ${at}`).join();
    expect(refusal({ ...least, expect: legs(101), votes: 'all of 199' })).toMatchObject({
      input: 'expect',
      message:
        'expect names 101 legs, and votes has 199 for each: that makes 20099 envelopes, and a merge reads at most 20000. Name fewer legs, or lower votes; merge more of them in several merges.',
    });
    expect(parse({ ...least, expect: legs(100), votes: 'all of 200' }).votes?.count).toBe(200);
  });
});
