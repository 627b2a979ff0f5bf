import { describe, expect, it } from 'vitest';
import type { InputName } from '../../src/config/inputs.ts';
import { parseConfig } from '../../src/config/parse-config.ts';
import { InputError, messageFor } from '../../src/errors.ts';
import { providerError } from '../../src/providers/errors.ts';
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

  it('say where to set a missing key', () => {
    expect(sentences({})).toEqual([
      'No key for provider openai. Set api-key to a secret, for example api-key: ${{ secrets.OPENAI_API_KEY }}, or set the variable OPENAI_API_KEY. A pull request from a fork gets no secrets.',
      'No key for provider openai. Set the variable OPENAI_API_KEY, or STRUCTURED_AGENT_API_KEY for any provider.',
      'No key for provider openai. Pass apiKey, or set the variable OPENAI_API_KEY.',
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

  it('name inputs in errors of the model API', () => {
    const failure = { status: 401, type: null, code: null, param: null, message: '', requestId: null };
    const context = {
      ...{ model: 'm', keySource: 'k', hasKey: false, host: 'h' },
      ...{ hasDefaultHost: false, forced: false, chatHint: false },
    };
    const error = providerError({ ...failure, cause: null }, context);
    expect(ENTRIES.map((entry) => messageFor(error, entry).split('given. ')[1])).toEqual([
      'Set api-key.',
      'Set the variable STRUCTURED_AGENT_API_KEY.',
      'Pass apiKey.',
    ]);
    expect(error.failure).toBe('auth');
  });

  it('name inputs in the limits of a run', () => {
    const limits = { turns: '3 turns', time: '', tokens: '', cost: '' };
    const ending = { kind: 'exhausted', limit: 'turns', lastIssues: [] } as const;
    const ended = ENTRIES.map((entry) => verdictOf(ending, { turns: 3, gate: null, limits, entry }).error);
    const names = ['max-turns', '--max-turns', 'maxTurns'];
    expect(ended).toEqual(names.map((name) => expect.stringContaining(`or ${name} is`)));
  });

  it('are the same everywhere when they name no input, and default to those of the action', () => {
    expect(ENTRIES.map((entry) => messageFor(new InputError(null, 'The disk is full.'), entry))).toEqual(
      ENTRIES.map(() => 'The disk is full.'),
    );
    expect(new InputError('model', ({ name }) => `${name('model')} is gone.`).message).toBe('model is gone.');
    expect(messageFor('thrown text', 'library')).toBe('thrown text');
  });
});
