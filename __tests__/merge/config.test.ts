import { describe, expect, it } from 'vitest';
import { messageOf } from '../../src/errors.ts';
import { mergeConfigFrom } from '../support/fakes/runner/inputs.ts';
import { refusalOf } from '../support/surroundings.ts';

type Inputs = Readonly<Record<string, string>>;

const least = { verdicts: 'v', expect: 'api, web' };

describe('the inputs of a merge', () => {
  it('have defaults except for the folder and the legs', () => {
    expect(mergeConfigFrom(least)).toMatchObject({
      ...{ verdicts: 'v', expect: ['api', 'web'], votes: null, gate: 'auto', signingKey: null },
      ...{ summary: true, commentKey: null, commitStatus: null, githubToken: null },
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
    [{ expect: 'api' }, 'verdicts', 'It is not given. Set it to the folder that actions/download-artifact'],
    [{ verdicts: 'v' }, 'expect', 'It is not given. Set it to the names of the legs, for example api, web.'],
    [{ ...least, expect: 'api,,web' }, 'expect', '"api,,web" is not valid. One of its names is empty. If'],
    [{ ...least, expect: '["api"' }, 'expect', 'Name from 1 to 1000 legs: ["api", "web"], or: api, web'],
    [{ ...least, expect: '[]' }, 'expect', 'Name from 1 to 1000 legs'],
    [{ ...least, expect: '[["api"]]' }, 'expect', 'Name from 1 to 1000 legs'],
    [{ ...least, expect: 'api, web, api' }, 'expect', 'It names "api" twice.'],
    [{ ...least, expect: 'x'.repeat(201) }, 'expect', "A leg's name has at most 200 characters."],
    [{ ...least, expect: [...Array(1001).keys()].join() }, 'expect', 'Name from 1 to 1000'],
    [{ ...least, votes: '3' }, 'votes', '"3" is not valid. Write all of N, any of N or majority of N, with'],
    [{ ...least, votes: 'all of 0' }, 'votes', 'with N from 1 to 100'],
    [{ ...least, votes: 'all of 101' }, 'votes', 'with N from 1 to 100'],
    [{ ...least, 'signing-key': 'short' }, 'signing-key', 'openssl rand -hex 32'],
    [{ ...least, comment: 'yes' }, 'comment', '"yes" is not valid. Use off, always or on-failure.'],
    [{ ...least, rule: 'all' }, 'rule', 'There is no such input.'],
    [{ ...least, vote: 'majority of 3' }, 'vote', 'Did you mean votes or gate?'],
    [{ ...least, 'result-file': 'x.json' }, 'result-file', 'There is no such input.'],
  ])('%j are refused', (inputs, input, message) => {
    const error = refusalOf(() => mergeConfigFrom(inputs));
    expect(error).toMatchObject({ input, message: expect.stringContaining(message) });
  });

  it('are refused all at once', () => {
    const wrong = { expect: ',', votes: 'most', 'signing-key': 'short', comment: 'yes' };
    expect(messageOf(refusalOf(() => mergeConfigFrom(wrong)))).toMatch(
      /^5 problems to fix: \(1\) verdicts: .* \(2\) expect: .* \(3\) votes: .* \(4\) signing-key: .* \(5\) comment: /u,
    );
  });
});
