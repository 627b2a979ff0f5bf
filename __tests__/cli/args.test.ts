import { expect, it } from 'vitest';
import { describeProblems, parseCliArgs, type RunCommand } from '../../src/cli/args.ts';
import { parseConfig } from '../../src/config/parse-config.ts';
import { messageFor } from '../../src/errors.ts';

function parseRun(argv: readonly string[], environment: Record<string, string> = {}): RunCommand {
  const command = parseCliArgs(argv, environment);
  if (command.kind !== 'run') throw new Error(`not a run: ${command.kind}`);
  return command;
}

const inputsOf = (argv: readonly string[]) => Object.fromEntries(parseRun(argv).inputs);

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

it('a text that begins with a dash is the task or a value', () => {
  expect(inputsOf(['- a point'])).toEqual({ prompt: '- a point' });
  expect(inputsOf(['-p', '--x does not work'])).toEqual({ prompt: '--x does not work' });
  expect(inputsOf(['-p=- a point', '-m=my model'])).toEqual({ prompt: '- a point', model: 'my model' });
  expect(inputsOf(['-x=1 is wrong'])).toEqual({ prompt: '-x=1 is wrong' });
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

it('the key is taken from its variable', () => {
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
  [['x', '--api-key=s3cret'], /^"--api-key" is refused: every user.*Put the key into STRUCTURED_AGENT_API/u],
  [['x', '--leg=s3cret'], '--leg is an input of the GitHub Action only. Leave it out.'],
  [['x', '-i'], /^There is no flag "-i"/u],
])('%j is refused with a fix and without a value', (argv, says) => {
  const problems = parseRun(argv).problems.map((problem) => messageFor(problem, 'command-line'));
  expect(problems).toEqual([typeof says === 'string' ? says : expect.stringMatching(says)]);
  expect(problems.join()).not.toContain('s3cret');
});

it.each<[string, readonly (string | RegExp)[]]>([
  ['a -p b -m claude-x --tools= -f yaml', [/^--tools: .*empty/u, /^--prompt: .*twice/u, /^--output-format/u]],
  ['--modle m --quiet=yes -m', [/^There is no flag/u, /^--quiet: It takes/u, /^--model: It needs/u]],
  ['--foo 1 -p x -m gpt-5 --max-turns x', [/^There is no flag/u, /^--max-turns: "x" is not a whole/u]],
  ['x -m claude-x --max-session-turns x', [/^--max-session-turns: "x" is not a whole/u]],
])('%s has all its problems at once, but none that may follow from an unknown flag', (line, says) => {
  const environment = { STRUCTURED_AGENT_API_KEY: line.includes('foo') ? '' : 'k' };
  const command = parseRun(line.split(' '), environment);
  const { problems } = parseConfig(command.inputs, { environment, problems: command.problems });
  const described = describeProblems(command, problems).map((each) => messageFor(each, 'command-line'));
  expect(described).toEqual(says.map((each) => expect.stringMatching(each)));
});
