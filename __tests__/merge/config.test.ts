import { describe, expect, it } from 'vitest';
import { MERGE_INPUTS } from '../../src/merge/config.ts';
import { mergeConfigFrom } from '../support/fakes/runner/inputs.ts';
import { refusalOf } from '../support/surroundings.ts';

type Inputs = Readonly<Record<string, string>>;

const least = { verdicts: 'v', expect: 'api, web' };
const refusal = (inputs: Inputs) => refusalOf(() => mergeConfigFrom(inputs));

describe('the inputs of a merge', () => {
  it('are ten', () => {
    expect(MERGE_INPUTS.map(({ name }) => name).join(' ')).toBe(
      'verdicts expect votes gate signing-key summary comment comment-key commit-status github-token',
    );
  });

  it('have defaults except for the folder and the legs', () => {
    expect(mergeConfigFrom(least)).toMatchObject({
      verdicts: 'v',
      expect: ['api', 'web'],
      votes: null,
      gate: 'auto',
      signingKey: null,
      summary: true,
      commentKey: null,
      commitStatus: null,
      githubToken: null,
    });
  });

  it.each<[string, readonly string[]]>([
    ['api', ['api']],
    ['api,web', ['api', 'web']],
    ['api,\nweb\r\nthe  docs', ['api', 'web', 'the docs']],
    ['["api", "a, b", 3]', ['api', 'a, b', '3']],
    ['9', ['9']],
    ['__proto__', ['__proto__']],
  ])('expect %j are legs by name', (text, names) => {
    expect(mergeConfigFrom({ ...least, expect: text }).expect).toEqual(names);
  });

  it.each([
    ['all of 1', { rule: 'all', count: 1 }],
    ['Majority of 3', { rule: 'majority', count: 3 }],
    ['any of 100', { rule: 'any', count: 100 }],
  ])('votes can be %s', (text, votes) => {
    expect(mergeConfigFrom({ ...least, votes: text }).votes).toEqual(votes);
  });

  it.each<[Inputs, string, string]>([
    [
      { expect: 'api' },
      'verdicts',
      'verdicts is not given. Set it to the folder that actions/download-artifact',
    ],
    [
      { verdicts: 'v' },
      'expect',
      'expect is not given. Set it to the names of the legs, for example api, web.',
    ],
    [
      { ...least, expect: 'api,,web' },
      'expect',
      'expect is "api,,web". One of its names is empty. If an expr',
    ],
    [{ ...least, expect: 'api, web,' }, 'expect', 'One of its names is empty.'],
    [{ ...least, expect: '["api", ""]' }, 'expect', 'One of its names is empty.'],
    [{ ...least, expect: '["api"' }, 'expect', 'Name from 1 to 1000 legs: ["api", "web"], or: api, web'],
    [{ ...least, expect: '[]' }, 'expect', 'Name from 1 to 1000 legs'],
    [{ ...least, expect: '[["api"]]' }, 'expect', 'Name from 1 to 1000 legs'],
    [{ ...least, expect: 'api, web, api' }, 'expect', 'It names "api" twice.'],
    [{ ...least, expect: 'x'.repeat(201) }, 'expect', "A leg's name has at most 200 characters."],
    [
      { ...least, expect: Array.from({ length: 1001 }, (_, at) => at).join() },
      'expect',
      'Name from 1 to 1000',
    ],
    [
      { ...least, votes: '3' },
      'votes',
      'votes is "3". Write all of N, any of N or majority of N, with N from 1',
    ],
    [{ ...least, votes: 'majority' }, 'votes', 'for example: majority of 3'],
    [{ ...least, votes: 'weighted:2 of 3' }, 'votes', 'Write all of N, any of N or majority of N'],
    [{ ...least, votes: 'all of 0' }, 'votes', 'with N from 1 to 100'],
    [{ ...least, votes: 'all of 101' }, 'votes', 'with N from 1 to 100'],
    [{ ...least, 'signing-key': 'short' }, 'signing-key', 'openssl rand -hex 32'],
    [{ ...least, comment: 'yes' }, 'comment', 'comment is "yes". Use '],
    [{ ...least, rule: 'all' }, 'rule', 'There is no input "rule".'],
    [{ ...least, vote: 'majority of 3' }, 'vote', 'Did you mean votes or gate?'],
    [{ ...least, 'result-file': 'x.json' }, 'result-file', 'There is no input "result-file".'],
  ])('%j are refused', (inputs, input, message) => {
    const error = refusal(inputs);
    expect(error.input).toBe(input);
    expect(error.message).toContain(message);
  });

  it('are refused all at once', () => {
    expect(refusal({ expect: ',', votes: 'most', 'signing-key': 'short', comment: 'yes' }).message).toMatch(
      /^5 problems to fix: \(1\) verdicts is .* \(2\) expect is .* \(3\) votes is .* \(4\) signing-key .* \(5\) comment is/u,
    );
  });
});
