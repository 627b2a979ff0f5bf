import { describe, expect, it } from 'vitest';
import type { InputName } from '../../src/config/inputs.ts';
import { parseConfig } from '../../src/config/parse-config.ts';
import { InputError, messageFor } from '../../src/errors.ts';
import { verdictOf } from '../../src/run/endings.ts';
import type { Entry } from '../../src/text/naming.ts';

const ENTRIES: readonly Entry[] = ['action', 'command-line', 'library'];

/** The error message of a run with these inputs, for each entry. */
function sentences(inputs: Partial<Record<InputName, string>>): readonly string[] {
  return ENTRIES.map((entry) => {
    const given = Object.entries({ prompt: 'Judge.', model: 'gpt-5', ...inputs });
    const { problems } = parseConfig(new Map(given as [InputName, string][]), { environment: {}, entry });
    const limits = { turns: '', time: '', tokens: '', cost: '' };
    // Most of these inputs have no key, so that is the last problem.
    const error = problems[0];
    return verdictOf({ kind: 'failed', error }, { turns: 0, gate: null, limits, entry }).error ?? '';
  });
}

describe('messages for an entry', () => {
  it.each<[Partial<Record<InputName, string>>, readonly string[]]>([
    [
      { 'max-turns': 'ten' },
      ['max-turns: "ten" is not', '--max-turns: "ten" is not', 'maxTurns: "ten" is not'],
    ],
    [{ 'base-url': 'x' }, ['base-url: It is not', '--base-url: It is not', 'baseUrl: It is not']],
    [{}, ['api-key: No key', 'STRUCTURED_AGENT_API_KEY: No key', 'apiKey: No key']],
  ])('begin with the name of the input as the user writes it: %j', (inputs, beginnings) => {
    const found = sentences(inputs);
    for (const [at, beginning] of beginnings.entries())
      expect(found[at]?.startsWith(beginning), found[at]).toBe(true);
  });

  it('are the same everywhere if they name no input', () => {
    expect(ENTRIES.map((entry) => messageFor(new InputError(null, 'The disk is full.'), entry))).toEqual(
      ENTRIES.map(() => 'The disk is full.'),
    );
    expect(messageFor('thrown text', 'library')).toBe('thrown text');
  });
});
