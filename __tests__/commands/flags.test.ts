import { describe, expect, it } from 'vitest';
import { FLAGS } from '../../src/cli/flags.ts';
import { parseFlags } from '../../src/commands/flags.ts';
import { INPUTS } from '../../src/config/inputs.ts';
import { InputError } from '../../src/errors.ts';
import { refusal } from '../cli/lines.ts';

const scan = (...argv: readonly string[]) => {
  const { flags, words, problems } = parseFlags(argv, FLAGS, (as) => new InputError(null, as));
  expect(problems).toEqual([]);
  return { flags: flags.map(({ flag, as, value }) => [flag.name, as, value]), words };
};

describe('parseFlags', () => {
  it('reads a flag value after a space or an equals sign, also for short flags', () => {
    expect(scan('--model', 'a', '--gate=b=c', '-p', 'd', '-o=json')).toEqual({
      flags: [
        ['model', '--model', 'a'],
        ['gate', '--gate', 'b=c'],
        ['prompt', '-p', 'd'],
        ['output-format', '-o', 'json'],
      ],
      words: [],
    });
  });

  it('accepts a value that begins with a dash when it cannot be a flag', () => {
    expect(scan('--max-turns', '-1', '-p', '- a point', '--json-schema', '--x does not work').flags).toEqual([
      ['max-turns', '--max-turns', '-1'],
      ['prompt', '-p', '- a point'],
      ['json-schema', '--json-schema', '--x does not work'],
    ]);
  });

  it('accepts booleans with and without a value, and --no- for off', () => {
    const value = (...argv: readonly string[]) => scan(...argv);
    for (const argv of [['--quiet'], ['--quiet=true'], ['--quiet', 'true'], ['-q']])
      expect(value(...argv)).toMatchObject({ flags: [['quiet', expect.any(String), 'true']], words: [] });
    for (const argv of [['--no-quiet'], ['--quiet=false'], ['--quiet', 'false']])
      expect(value(...argv)).toMatchObject({ flags: [['quiet', expect.any(String), 'false']], words: [] });
    expect(value('--quiet', 'word').words).toEqual(['word']);
  });

  it.each([
    [['--model'], /^It needs a value, and none follows\. Write --model NAME\.$/u],
    [['--json-schema'], /^It needs a value, and none follows\. Write --json-schema SCHEMA\.$/u],
    [['--json-schema', ''], /^It is given an empty value/u],
    [['--json-schema='], /^It is given an empty value/u],
    [['--model', '--bare'], /^It needs a value, and what follows looks like a flag.*--model=VALUE\.$/u],
    [['-p', '--'], /^It needs a value/u],
    [['--quiet=yes'], /^It is on or off/u],
    [['--no-quiet=true'], /^It takes no value/u],
    [['--no-model'], /^There is no flag "--no-model"\. Did you mean/u],
    [['--shema', 'x'], /^There is no flag "--shema"\. Did you mean --schema/u],
    [['--jsonSchema', 'x'], /Did you mean --json-schema/u],
    [['--json_schema', 'x'], /Did you mean --json-schema/u],
    [['-model', 'x'], /^There is no flag "-model"\. Did you mean --model/u],
    [['-mgpt', 'x'], /^There is no flag "-mgpt"/u],
    [['-qp', 'x'], /^There is no flag "-qp"/u],
    [['-1'], /^There is no flag "-1"/u],
    [['-'], /^A lone - is no flag: stdin is read by itself/u],
    [['--model x', '-p', 'y'], /^There is no flag "--model x"\. Did you mean --model.*two arguments/u],
    [['--prompt-interactive', 'x'], /^--prompt-interactive is refused: a run asks once/u],
    [['-i', 'x'], /^-i is refused: a run asks once/u],
    [['--acp'], /^--acp is refused: that protocol/u],
    [['--experimental-acp'], /^--experimental-acp is refused: that protocol/u],
    [['--yolo'], /^--yolo is refused: no permission is asked for before a tool runs/u],
    [['--resume', 'id'], /^--resume is refused: every run is a new one/u],
    [['--max-wall-time', '5m'], /^--max-wall-time is refused: the limit of time is --timeout-minutes/u],
  ])('refuses %j with a fix', (argv, sentence) => {
    expect(refusal(argv)).toMatch(sentence);
  });

  it.each(INPUTS.filter(({ where }) => where === 'github').map(({ name }) => name))(
    'describes --%s as an input of the action',
    (name) => {
      for (const argv of [[`--${name}`, 'x'], [`--${name}=x`], [`--${name}`]])
        expect(refusal(['-p', 'x', ...argv])).toBe(
          `--${name} is no flag: ${name} is an input of the GitHub Action only, where there is a workflow to tell. Leave it out here.`,
        );
    },
  );

  it('never shows a value in an error', () => {
    const secret = 's3cr3t-value';
    for (const argv of [
      [`--apikey=${secret}`],
      ['--apikey', secret],
      [`--api-key=${secret}`],
      ['--api-key', secret],
      [`--model=a`, `--model=${secret}`],
      ['-p', secret, secret],
      [`--quiet=${secret}`],
      [`-o=${secret}`],
      [`--json-schema=${secret}/x.json`, `--schema=${secret}`],
      [`--comment=${secret}`],
    ])
      expect(refusal(['-m', 'm', ...argv])).not.toContain(secret);
  });

  it('shows an unknown flag in one short line', () => {
    const sentence = refusal([`--${'x'.repeat(500)}\u001b[31m\n::error::`]);
    expect(sentence.length).toBeLessThan(300);
    expect(sentence).not.toMatch(/[\u001b\n]/u);
    expect(refusal(['--a\u001b[31m\n::error::x'])).not.toMatch(/[\u001b\n]/u);
  });
});
