import { expect, it } from 'vitest';
import type { InputName } from '../../src/config/inputs.ts';
import { parseConfig } from '../../src/config/parse-config.ts';
import { InputError, messageFor } from '../../src/errors.ts';
import type { Entry } from '../../src/text/messages.ts';

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

it('messages are the same everywhere if they name no input', () => {
  for (const entry of ENTRIES)
    expect(messageFor(new InputError(null, 'The disk is full.'), entry)).toBe('The disk is full.');
  expect(messageFor('thrown text', 'library')).toBe('thrown text');
});
