import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/parse-config.ts';
import { InputError } from '../../src/errors.ts';
import { inputsOf, parseRun, refusal } from './lines.ts';

const world = (environment: Record<string, string>) => ({ stdinIsTerminal: true, environment });

describe('secrets', () => {
  it.each([['--api-key'], ['--api-key=k'], ['--openai-api-key=k']])(
    '%s is refused, and the message names the variables',
    (flag) => {
      expect(refusal(['-p', 'x', flag, 'k'])).toMatch(
        /is refused: every user of this machine can read a command line.*ANTHROPIC_API_KEY.*STRUCTURED_AGENT_API_KEY/u,
      );
    },
  );

  it.each(['Authorization', 'X-Api-Key', 'api-key', 'Cookie', 'CF-Access-Client-Secret', 'x-goog-auth-user'])(
    'refuses the header %s on the command line without showing its value',
    (name) => {
      const sentence = refusal(['-m', 'm', '-p', 'x', '--headers', `X-Team: blue\n${name}: s3cr3t`]);
      expect(sentence).toContain(`The header ${name.toLowerCase()} looks like a secret`);
      expect(sentence).toContain('STRUCTURED_AGENT_HEADERS');
      expect(sentence).not.toContain('s3cr3t');
    },
  );

  it('are read from two variables, and headers of the flag and the variable are combined', () => {
    const variables = (key: string, headers: string) =>
      world({ STRUCTURED_AGENT_API_KEY: key, STRUCTURED_AGENT_HEADERS: headers });
    const argv = ['-p', 'x', '--headers', 'X-Team: blue', '--headers=X-C: c'];
    const headers = 'X-Team: blue\nX-C: c\nX-Secret: s\nX-B: b';
    const given = inputsOf(argv, variables(' k3y ', 'X-Secret: s\nX-B: b\n'));
    expect(given).toEqual({ prompt: 'x', 'api-key': 'k3y', headers });
    expect(inputsOf(['-p', 'x'], variables(' ', ''))).toEqual({ prompt: 'x' });
  });

  it('the configuration names the variable that holds the key, never the input or a workflow', () => {
    const { inputs } = parseRun(
      ['-p', 'x', '--provider', 'openai'],
      world({ STRUCTURED_AGENT_API_KEY: 'k' }),
    );
    expect(parseConfig(inputs, { environment: {}, entry: 'command-line' }).config.model).toMatchObject({
      apiKey: 'k',
      keySource: 'api-key',
    });
    const bare = parseRun(['-p', 'x', '--provider', 'openai']).inputs;
    expect(parseConfig(bare, { environment: {}, entry: 'command-line' }).problems).toEqual([
      new InputError('api-key', 'No key for the provider openai. Set this variable, or OPENAI_API_KEY.'),
    ]);
  });
});
