import { describe, expect, it } from 'vitest';
import { parseCliArgs, type RunCommand } from '../../src/cli/args.ts';
import { messageFor } from '../../src/errors.ts';

function parseRun(argv: readonly string[], environment: Record<string, string> = {}): RunCommand {
  const command = parseCliArgs(argv, environment);
  if (command.kind !== 'run') throw new Error(`not a run: ${command.kind}`);
  return command;
}

const inputsOf = (argv: readonly string[]) => Object.fromEntries(parseRun(argv).inputs);
const problemsOf = (argv: readonly string[]) =>
  parseRun(argv).problems.map((problem) => messageFor(problem, 'command-line'));

describe('a command line', () => {
  it.each<[string, Record<string, string>]>([
    ['--prompt=look --model a', { prompt: 'look', model: 'a' }],
    ['fix --quiet the --tools edit tests', { prompt: 'fix the tests', tools: 'edit' }],
    ['-- --help and -x', { prompt: '--help and -x' }],
    ['help me', { prompt: 'help me' }],
    ['-p x --json-schema ./s.json', { prompt: 'x', schema: './s.json' }],
    ['-p x --schema={"a":"b=c"}', { prompt: 'x', schema: '{"a":"b=c"}' }],
    ['-p x -f json_schema={"a":"b=c"} -q', { prompt: 'x', schema: '{"a":"b=c"}' }],
    ['-p x --core-tools=read_file --core-tools edit', { prompt: 'x', tools: 'read_file\nedit' }],
    ['-p x --max-session-turns -1', { prompt: 'x', 'max-turns': '-1' }],
    ['-p x --force-output false --bare --bare', { prompt: 'x', 'force-output': 'false' }],
    ['-p x --headers A:1 --headers=B:2', { prompt: 'x', headers: 'A:1\nB:2' }],
  ])('%s sets inputs', (line, inputs) => {
    expect(inputsOf(line.split(' '))).toEqual(inputs);
  });

  it('takes a text that begins with a dash for the task or a value', () => {
    expect(inputsOf(['- a point'])).toEqual({ prompt: '- a point' });
    expect(inputsOf(['-p', '--x does not work'])).toEqual({ prompt: '--x does not work' });
  });

  it.each([
    ['', 'text'],
    ['--output-format=STREAM-JSON', 'stream-json'],
    ['-o json --nonsense', 'json'],
    ['-f object -f json_schema={}', 'object'],
    ['-f yaml', 'text'],
    ['-- -o json', 'text'],
  ])('%s prints %s', (line, outputFormat) => {
    const run = parseRun(`x --record r --results=out ${line}`.trim().split(' '));
    expect(run).toMatchObject({ outputFormat, quiet: false, record: 'r', results: 'out' });
    expect(parseRun(['x', '-q'])).toMatchObject({ quiet: true, record: null, results: null });
  });

  it('takes the key from its variable', () => {
    expect(parseRun(['x'], { STRUCTURED_AGENT_API_KEY: ' k3y ' }).inputs.get('api-key')).toBe('k3y');
    expect(parseRun(['x'], { STRUCTURED_AGENT_API_KEY: ' ' }).inputs.has('api-key')).toBe(false);
  });

  it.each([
    [[], { kind: 'usage' }],
    [['help'], { kind: 'help' }],
    [['-p', '--help'], { kind: 'help' }],
    [['--nonsense', '-h'], { kind: 'help' }],
    [['--nonsense', '-v'], { kind: 'version' }],
    [['check', '--help', '-p'], { kind: 'check', rest: ['--help', '-p'] }],
    [['report', 'x'], { kind: 'report', rest: ['x'] }],
  ])('%j is no run but %j', (argv, command) => {
    expect(parseCliArgs(argv, {})).toEqual(command);
  });

  it.each<readonly [readonly string[], string | RegExp]>([
    [['-p', ''], /^--prompt: It is given an empty value/u],
    [['x', '--json-schema', ''], /^--schema: It is given an empty value.*leave --json-schema out/u],
    [['x', '-f', 'json_schema='], /^--schema: It is given an empty value.*leave -f json_schema out/u],
    [['x', '-o', ''], /^--output-format: It is given an empty value/u],
    [['-p', 'a', 'b'], /^--prompt: It is given twice, as -p and as words that belong to no flag\./u],
    [['x', '--schema=a', '--json-schema', 'b'], /twice, as --schema and as --json-schema/u],
    [['x', '-f', 'json', '-o', 'text'], /^--output-format: It is given twice, as -f and as -o/u],
    [['x', '-f', 'yaml'], '--output-format: "yaml" is not a format. Use text, json, stream-json or object.'],
    [['x', '--model'], '--model: It needs a value. Write --model=MODEL.'],
    [['-p', 'a', '-p', 'a'], '--prompt: It is given twice. Keep one of them.'],
    [['x', '--model', '--bare'], '--model: It needs a value. Write --model=MODEL.'],
    [['-p', '--'], '--prompt: It needs a value. Write -p=PROMPT.'],
    [['x', '--quiet=yes'], '--quiet: It takes no value. Write --quiet.'],
    [['x', '--shema', 'x'], /^There is no flag "--shema"\. Did you mean --schema/u],
    [['x', '--jsonSchema', 'x'], /Did you mean --json-schema/u],
    [['x', '-mgpt', 'x'], /^There is no flag "-mgpt"/u],
    [['-'], /^There is no flag "-"/u],
    [['--model x', 'y'], /^There is no flag "--model x"\. Did you mean --model/u],
    [
      ['x', '--api-key=s3cret'],
      /^"--api-key" is refused: every user.*Put the key into STRUCTURED_AGENT_API_KEY/u,
    ],
    [['x', '--leg=s3cret'], '--leg is an input of the GitHub Action only. Leave it out.'],
    ...['-i', '--prompt-interactive=x', '--input-format=text', '--acp', '--experimental-acp'].map(
      (flag) => [['x', flag], /^There is no flag "-/u] as const,
    ),
  ])('%j is refused with a fix and without a value', (argv, says) => {
    const [problem = '', ...others] = problemsOf(argv);
    expect(problem).toEqual(typeof says === 'string' ? says : expect.stringMatching(says));
    expect([others, problem.includes('s3cret')]).toEqual([[], false]);
  });

  it('reports all problems at once, but nothing that may follow from an unknown flag', () => {
    expect(problemsOf(['a', '-p', 'b', '--tools=', '-f', 'yaml']).length).toBe(3);
    const command = parseRun(['--modle', 'm', '--quiet=yes', '-m']);
    expect([command.isUnderstood, command.problems.length]).toEqual([false, 3]);
    expect(parseRun(['--nonsense', '-m', 'm']).inputs.get('model')).toBe('m');
  });
});
