import { readFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CliOptions, parseCliArgs } from '../../src/cli/args.ts';
import { FLAGS } from '../../src/cli/flags.ts';
import { argumentsOf, inputsOf, PIPED, parseRun, refusal, refusals, TERMINAL } from './lines.ts';

const PLAIN: CliOptions = {
  outputFormat: 'text',
  quiet: false,
  record: null,
  results: null,
  stdin: 'unused',
};

/** Parses a shell command line, with a model added. */
function meaning(line: string, world = TERMINAL) {
  const { inputs, options } = parseRun(argumentsOf(line), world);
  const { model, ...rest } = Object.fromEntries(inputs);
  return { inputs: rest, options };
}

describe('command lines from the documentation of other tools', () => {
  it.each([
    ['--output-format text', 'text'],
    ['--output-format json', 'json'],
    ['--output-format=stream-json', 'stream-json'],
    ['-o object', 'object'],
    ['-f text', 'text'],
    ['-f json -q', 'json'],
  ])('%s selects the output format', (flags, outputFormat) => {
    const { options } = meaning(`structured-agent ${flags} -p look`);
    expect(options.outputFormat).toBe(outputFormat);
  });

  it('the schema flag shown in the documentation can be combined with a format', () => {
    const page = readFileSync(path.join(import.meta.dirname, '..', '..', 'docs', 'command-line.md'), 'utf8');
    const flags = /`(-f json_schema=\S+ [^`]*)`/u.exec(page)?.[1] ?? 'not in the page';
    const { inputs, options } = meaning(`structured-agent -p look ${flags}`);
    expect(inputs).toEqual({ prompt: 'look', schema: 'verdict.json' });
    expect(options.outputFormat).toBe('object');
  });

  it.each([
    ['--core-tools read_file', { tools: 'read_file' }],
    ['--core-tools read_file,run_shell_command', { tools: 'read_file,run_shell_command' }],
    ['--core-tools=read_file --core-tools edit', { tools: 'read_file\nedit' }],
    ['--exclude-tools structured_output', { 'exclude-tools': 'structured_output' }],
    ['--exclude-tools ShellTool', { 'exclude-tools': 'ShellTool' }],
    ['--max-session-turns 5', { 'max-turns': '5' }],
    ['--max-session-turns -1', { 'max-turns': '-1' }],
    ['--max-session-turns=-1', { 'max-turns': '-1' }],
    ['--input-format text', {}],
  ])('%s sets inputs', (flags, inputs) => {
    expect(meaning(`structured-agent -p look ${flags}`).inputs).toEqual({ prompt: 'look', ...inputs });
  });
});

describe('stdin', () => {
  it('is the task when there is no other, and is added to one from a flag or file', () => {
    expect(parseRun([], PIPED).options.stdin).toBe('prompt');
    expect(parseRun(['-p', 'x'], PIPED).options.stdin).toBe('beside');
    expect(parseRun(['what is wrong here?'], PIPED).options.stdin).toBe('beside');
    expect(parseRun(['--prompt-file', 'x'], PIPED).options.stdin).toBe('beside');
    expect(parseRun(['-p', 'x'], TERMINAL).options.stdin).toBe('unused');
  });

  it('is not a task on a terminal', () => {
    expect(refusal(['--model', 'm'])).toMatch(/^No task is given\. Write -p/u);
    expect(refusal(['-q'])).toMatch(/^No task is given\. Write -p/u);
  });
});

describe('the task', () => {
  it('is every word that belongs to no flag, and everything after --', () => {
    const mixed = inputsOf(['fix', '--quiet', 'the', '--tools', 'edit', 'tests']);
    expect(mixed).toEqual({ prompt: 'fix the tests', tools: 'edit' });
    expect(inputsOf(['--', '--help', 'and', '-x'])).toEqual({ prompt: '--help and -x' });
    expect(inputsOf(['- a point of a list'])).toEqual({ prompt: '- a point of a list' });
    expect(inputsOf(['help me with the tests'])).toEqual({ prompt: 'help me with the tests' });
    expect(inputsOf(['help', 'me'])).toEqual({ prompt: 'help me' });
    expect(inputsOf(['help', 'check', 'this'])).toEqual({ prompt: 'help check this' });
  });

  it.each([
    [['-p', ''], /^It is given an empty value/u],
    [['--prompt='], /^It is given an empty value/u],
    [['-p', ' \t'], /^It is given an empty value/u],
    [[''], /^The task is empty/u],
    [[' '], /^The task is empty/u],
    [['-p', 'a', '-p', 'b'], /^It is given twice\. Keep/u],
    [['-p', 'a', '--prompt', 'b'], /^It is given twice, as -p and as --prompt\./u],
    [['-p', 'a', 'b'], /^The task is given twice: by -p and by words that belong to no flag.*quoted/u],
    [['-p', 'a', '--tools', 'edit', 'shell'], /^The task is given twice.*a list takes one value a flag/u],
    [['-p', 'a', '--prompt-file', 'b'], /^The task is given twice: by -p and by --prompt-file/u],
    [['b', '--prompt-file', 'b'], /^The task is given twice: by --prompt-file and by words/u],
  ])('refuses %j', (argv, sentence) => {
    expect(refusal(['-m', 'm', ...argv])).toMatch(sentence);
    expect(refusal(['-m', 'm', ...argv], PIPED)).toMatch(sentence);
  });
});

describe('commands', () => {
  it.each(['check', 'init', 'report'] as const)('%s parses its own arguments', (kind) => {
    const rest = ['--help', '-p', '--', '--unknown'];
    expect(parseCliArgs([kind, ...rest], TERMINAL)).toEqual({ kind, rest });
    expect(parseCliArgs(['help', kind], TERMINAL)).toEqual({ kind, rest: ['--help'] });
  });

  it('refuses an unknown command after help, without calling the model', () => {
    expect(refusal(['help', 'chek'])).toBe(
      'There is no command "chek". Did you mean structured-agent help check?',
    );
    expect(refusal(['help', 'foo'])).toBe(
      'There is no command "foo". The commands are check, init and report; structured-agent --help lists every flag.',
    );
    expect(inputsOf(['help', 'chek', 'this'])).toEqual({ prompt: 'help chek this' });
  });

  const lines = ['merge', 'merge ./envelopes', 'merge --rule all', 'merge -m m', 'help merge', '-m m merge'];
  it.each(lines)('%s is refused with a message that names the merge action', (line) => {
    for (const world of [TERMINAL, PIPED])
      expect(refusal(line.split(' '), world)).toMatch(
        /^There is no command "merge": merging verdicts exists only as a GitHub Action, in the folder merge\/ of this one/u,
      );
  });

  it('a single unknown word is reported as an unknown command, not as a task without a model', () => {
    for (const world of [TERMINAL, PIPED])
      expect(refusal(['deploy'], world)).toBe(
        'There is no command "deploy". The commands are check, init and report. A task of one word is written after -p.',
      );
    expect(inputsOf(['deploy'])).toEqual({ prompt: 'deploy' });
    expect(inputsOf(['merge', 'the', 'two', 'reports'])).toEqual({ prompt: 'merge the two reports' });
  });

  it('shows the usage when there are no arguments', () => {
    for (const world of [TERMINAL, PIPED]) {
      const command = parseCliArgs([], world);
      expect(command).toMatchObject({ kind: 'usage' });
      expect('text' in command && command.text).toMatch(
        /^Usage: structured-agent \[FLAGS\] TASK\n[\s\S]*\n {2}init [\s\S]*--model[\s\S]*structured-agent --help/u,
      );
    }
  });

  it('shows help and version even when other arguments are invalid', () => {
    for (const argv of [['help'], ['--help'], ['-h'], ['--nonsense', '--help'], ['-p', '--help']])
      expect(parseCliArgs(argv, TERMINAL)).toMatchObject({ kind: 'help' });
    for (const argv of [['--version'], ['-v'], ['--nonsense', '-v']])
      expect(parseCliArgs(argv, TERMINAL)).toEqual({ kind: 'version' });
  });
});

describe('an arbitrary command line', () => {
  const options = FLAGS.filter(
    ({ name, kind }) =>
      kind === 'text' && !['prompt', 'prompt-file', 'schema', 'json-schema', 'input-format'].includes(name),
  ).filter(({ name }) => name !== 'model' && name !== 'record');

  it('means the same in every order of its flags', () => {
    const line =
      '-p task|--json-schema={"a":1}|-o json|--quiet|--no-force-output|--tools edit,shell|--max-session-turns -1|--headers X-A:1|--bare|--record r.jsonl';
    const groups = line.split('|').map((group) => group.split(' '));
    const wanted = parseRun(groups.flat());
    fc.assert(
      fc.property(fc.shuffledSubarray(groups, { minLength: groups.length }), (order) => {
        const { inputs, options } = parseRun(order.flat());
        expect(new Map(inputs)).toEqual(new Map(wanted.inputs));
        expect(options).toEqual(wanted.options);
      }),
    );
  });

  it('keeps every value that follows an equals sign, whatever it looks like', () => {
    const value = fc
      .oneof(
        fc.string({ unit: 'grapheme' }),
        fc.string().map((text) => `--${text}`),
        fc.constantFrom('--help', '-v', '--', '--model=x', '-p', '=', '--no-quiet'),
      )
      .filter((text) => text.trim() !== '');
    fc.assert(
      fc.property(fc.constantFrom(...options), value, (flag, text) => {
        const { inputs, options } = parseRun([`--${flag.name}=${text}`, '-p', 'x']);
        const own = { record: options.record, results: options.results };
        const found =
          flag.input === null ? new Map(Object.entries(own)).get(flag.name) : inputs.get(flag.input);
        expect(found).toBe(text.trim());
      }),
    );
  });

  it('gives a command or an InputError, whatever is typed', () => {
    const piece = fc.oneof(
      fc.string(),
      fc.constantFrom(...FLAGS.map(({ name }) => `--${name}`), '-p', '-o', '--', '-', '--no-bare', 'true'),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), fc.boolean(), (argv, stdinIsTerminal) => {
        for (const sentence of refusals(argv, { stdinIsTerminal, environment: {} }))
          expect(sentence).not.toBe('');
      }),
    );
  });
});

it('refuses a run without a model, but not a replay', () => {
  expect(refusal(['-p', 'x'])).toBe('No model is given. Name one, for example claude-sonnet-5-5.');
  expect(parseCliArgs(['-p', 'x', '--replay', 'r.jsonl'], TERMINAL)).toMatchObject({ kind: 'run' });
});

it('reports all problems of a command line at once', () => {
  expect(refusals(['--record', 'a', '--replay', 'b', '--tools=edit', '-f', 'yaml', '--no-bare'])).toEqual([
    expect.stringMatching(/^Every run is bare/u),
    expect.stringMatching(/^--replay is given too/u),
    expect.stringMatching(/^No task is given/u),
    expect.stringMatching(/^There is no such format/u),
  ]);
  // An unknown word may be the value that is missing elsewhere.
  expect(refusals(['--modle', 'm', '--quiet=yes', '-p'])).toEqual([
    expect.stringMatching(/^There is no flag "--modle"/u),
    expect.stringMatching(/^It is on or off/u),
    expect.stringMatching(/^It needs a value/u),
  ]);
});

it('keeps the options of the command line as typed', () => {
  const { options } = parseRun(['-p', 'x', '--record', 'r.jsonl', '--results=out', '-q']);
  expect(options).toEqual({ ...PLAIN, quiet: true, record: 'r.jsonl', results: 'out' });
});
