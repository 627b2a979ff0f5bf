import { expect, it } from 'vitest';
import type { InputName } from '../../src/config/inputs.ts';
import { parseConfig } from '../../src/config/parse-config.ts';
import { messageFor } from '../../src/errors.ts';
import { type Entry, listIssues, suggest, truncate } from '../../src/text/messages.ts';

// How `quote`, `joinWithOr` and `counted` write is in the messages of `config`, `cli` and `merge`.
it.each([
  ['abc', 3, 'abc'],
  ['abcd', 3, 'ab…'],
  ['ab', 1, '…'],
  ['ab', 0, '…'],
  ['a\u{1f600}bc', 3, 'a…'],
])('%j is truncated to %i characters as %j, without a split surrogate pair', (text, max, cut) => {
  expect(truncate(text, max)).toBe(cut);
});

it('issues are listed by path, keyword and missing property, without their messages', () => {
  const issues = [
    { path: '', keyword: 'required', missing: 'summary', message: 'SECRET' },
    { path: '/a/0', keyword: 'type' },
  ];
  expect(listIssues(issues)).toBe('the root (required: summary), /a/0 (type)');
});

it.each([
  ['pased', ['summary', 'passed', 'parsed', 'findings'], 3, ['passed', 'parsed']],
  ['zzzzzzzz', ['passed', 'summary'], 3, []],
  ['pass', ['past', 'paas', 'pase', 'mass'], 3, ['past', 'paas', 'pase']],
  ['pass', ['past', 'paas'], 1, ['past']],
  ['dox', ['docs'], 3, ['docs']],
  ['a', ['b'], 3, []],
  ['--foo', ['--tools', '-o', '-f'], 3, []],
  ['--max_turns', ['--max-turns', '--base-url', '--max-session-turns'], 3, ['--max-turns']],
])('for %s of %j at most %i words are suggested, the closest first', (word, words, max, suggested) => {
  expect(suggest(word, words, max)).toEqual(suggested);
});

const ENTRIES: readonly Entry[] = ['action', 'command-line', 'library'];

it.each<[Partial<Record<InputName, string>>, readonly string[]]>([
  [{ 'max-turns': 'ten' }, ['max-turns: "ten" is', '--max-turns: "ten" is', 'maxTurns: "ten" is']],
  [{ 'base-url': 'x' }, ['base-url: It is not', '--base-url: It is not', 'baseUrl: It is not']],
  [{}, ['api-key: No key', 'STRUCTURED_AGENT_API_KEY: No key', 'apiKey: No key']],
])('messages begin with the name of the input as the user writes it: %j', (inputs, beginnings) => {
  const given = Object.entries({ prompt: 'Judge.', model: 'gpt-5', ...inputs });
  const found = ENTRIES.map((entry) => {
    const { problems } = parseConfig(new Map(given as [InputName, string][]), { environment: {} });
    return messageFor(problems[0], entry);
  });
  expect(found).toEqual(beginnings.map((beginning) => expect.stringMatching(`^${beginning}`)));
});
