import { describe, expect, it } from 'vitest';
import { parseCliArgs } from '../../src/cli/args.ts';
import { inputsOf, parseRun, refusal, TERMINAL } from './lines.ts';

const schemaOf = (...argv: readonly string[]) => inputsOf(['-p', 'x', ...argv])['schema'];

describe('a schema', () => {
  const files = [
    'schema.json',
    './schema.json',
    'my schemas/one.json',
    '@schema.json',
    '@org/repo/schema.json@v1',
  ];
  it.each([...files, 'verdict', '{"$ref":"a/b.json"}', '{"required":["a=b"]}', '3'])(
    '%s is passed on unchanged by each of its flags',
    (typed) => {
      for (const flags of [
        ['--json-schema', typed],
        ['--schema', typed],
        [`--json-schema=${typed}`],
        ['-f', `json_schema=${typed}`],
        ['--output-format', `json_schema=${typed}`],
      ])
        expect(schemaOf(...flags)).toBe(typed);
    },
  );

  it.each([
    [
      ['--schema', '{}', '--json-schema', '{}'],
      /^It is given twice, as --schema and as --json-schema\. Keep/u,
    ],
    [
      ['--json-schema', '{}', '-f', 'json_schema={}'],
      /^It is given twice, as --json-schema and as -f json_schema\./u,
    ],
    [
      ['--schema', '{}', '--output-format=json_schema={}'],
      /^It is given twice, as --schema and as --output-format json_schema\./u,
    ],
    [['-f', 'json_schema={}', '-f', 'json_schema={}'], /^It is given twice\./u],
    [['-f', 'json_schema'], /^-f json_schema has no schema\. Write/u],
    [['-f', 'json_schema='], /^-f json_schema has no schema\. Write/u],
    [['-f', 'yaml'], /^There is no such format\. Write text, json, stream-json, object or json_schema=/u],
    [['-f', 'json', '-o', 'text'], /^It is given twice, as -f and as -o\./u],
  ])('refuses %j with a message that names the flags', (argv, sentence) => {
    expect(refusal(['-m', 'm', '-p', 'x', ...argv])).toMatch(sentence);
  });
});

describe('an invalid command line', () => {
  it.each([
    [['--nonsense', '-o', 'json'], 'json'],
    [['-f=object', '--nonsense'], 'object'],
    [['--output-format=STREAM-JSON', '-p', ''], 'stream-json'],
    [['-f', 'json_schema={', '-f', 'json', '--nonsense'], 'json'],
    [['--output-format'], 'text'],
    [['-o', 'yaml', '-p', 'x'], 'text'],
    [['--nonsense', '--', '-o', 'json'], 'text'],
    [['merge', '-o', 'json'], 'json'],
  ] as const)('%j is reported in the format %s', (argv, format) => {
    const { options, problems } = parseRun(argv);
    expect([options.outputFormat, problems.length]).toEqual([format, 1]);
  });

  it.each([
    [['--nonsense', '-m', 'm'], 'm'],
    [['--model=m', '--nonsense'], 'm'],
    [['--model= m ', '-1'], 'm'],
    [['-m', '--nonsense'], undefined],
    [['-m'], undefined],
    [['--nonsense', '--', '-m', 'm'], undefined],
  ] as const)('%j gives the model %s', (argv, model) => {
    const command = parseCliArgs(argv, TERMINAL);
    expect(command).toMatchObject({ kind: 'run', isUnderstood: false });
    expect(command.kind === 'run' && command.inputs.get('model')).toBe(model);
  });
});

const run = ['-m', 'm', '-p', 'x'];

describe('conflicting arguments', () => {
  it.each([
    [['--max-turns', '3', '--max-turns', '3'], /^It is given twice\. Keep/u],
    [
      ['--max-turns', '3', '--max-session-turns=4'],
      /^It is given twice, as --max-turns and as --max-session-turns\./u,
    ],
    [['--quiet', '--no-quiet'], /^It is switched both on and off/u],
    [['--force-output=false', '--force-output'], /^It is switched both on and off/u],
    [['--no-bare'], /^Every run is bare/u],
    [['--bare=false'], /^Every run is bare/u],
    [['--record', 'a', '--replay', 'b'], /^--replay is given too/u],
    [['--input-format', 'stream-json'], /^It is refused: a run asks once/u],
  ])('refuses %j and gives the reason', (argv, sentence) => {
    expect(refusal([...run, ...argv])).toMatch(sentence);
  });

  it.each([
    [['chek'], /There is no command "chek"\. Did you mean check\?/u],
    [['int'], /There is no command "int"\. Did you mean init\?/u],
    [['check'], /^check is a command, and comes first/u],
    [['check', 'the', 'tests'], /^check is a command, and comes first/u],
  ])('treats the words %j as a command, not as a task', (words, sentence) => {
    expect(refusal(['-m', 'm', ...words])).toMatch(sentence);
  });

  it('accepts a flag that is given twice with the same value', () => {
    expect(parseRun(['-p', 'x', '-q', '--quiet', '--bare', '--bare=true']).options.quiet).toBe(true);
  });
});
