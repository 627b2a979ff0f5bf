import { describe, expect, it } from 'vitest';
import type { InputName } from '../../src/config/inputs.ts';
import { parseConfig } from '../../src/config/parse-config.ts';
import { InputError, messageFor } from '../../src/errors.ts';
import { verdictOf } from '../../src/run/endings.ts';
import { type Entry, namingFor } from '../../src/text/naming.ts';

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
  it("name an input as in the user's entry", () => {
    const words = ENTRIES.map((entry) => {
      const { name, noun, give, setting } = namingFor(entry);
      return [name('base-url'), noun('base-url'), give('base-url'), setting('stream', 'on')];
    });
    expect(words).toEqual([
      ['base-url', 'the input base-url', 'Set base-url', 'stream: on'],
      ['--base-url', 'the flag --base-url', 'Add --base-url', '--stream on'],
      ['baseUrl', 'the option baseUrl', 'Pass baseUrl', "stream: 'on'"],
    ]);
  });

  it('name the variable of the key on the command line, which has no flag', () => {
    const { name, noun, give } = namingFor('command-line');
    expect([name('api-key'), noun('api-key'), give('api-key')]).toEqual([
      'STRUCTURED_AGENT_API_KEY',
      'the variable STRUCTURED_AGENT_API_KEY',
      'Set the variable STRUCTURED_AGENT_API_KEY',
    ]);
  });

  it.each<[Partial<Record<InputName, string>>, readonly string[]]>([
    [{ 'max-turns': 'ten' }, ['max-turns is "ten"', '--max-turns is "ten"', 'maxTurns is "ten"']],
    [{ 'pass-env': 'A=1' }, ['pass-env names "A=1"', '--pass-env names "A=1"', 'passEnv names "A=1"']],
    [{ 'base-url': 'x' }, ['base-url is not a URL', '--base-url is not a URL', 'baseUrl is not a URL']],
    [{ headers: 'x' }, ['Line 1 of headers has', 'Line 1 of --headers has', 'Line 1 of headers has']],
  ])('report that %j is invalid', (inputs, beginnings) => {
    const found = sentences(inputs);
    for (const [at, beginning] of beginnings.entries())
      expect(found[at]?.startsWith(beginning), found[at]).toBe(true);
  });

  it('are the same everywhere when they name no input, and default to those of the action', () => {
    expect(ENTRIES.map((entry) => messageFor(new InputError(null, 'The disk is full.'), entry))).toEqual(
      ENTRIES.map(() => 'The disk is full.'),
    );
    expect(new InputError('model', ({ name }) => `${name('model')} is gone.`).message).toBe('model is gone.');
    expect(messageFor('thrown text', 'library')).toBe('thrown text');
  });
});
