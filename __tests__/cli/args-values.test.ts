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
      /^A run has one schema, and --schema and --json-schema are both given\. Keep/u,
    ],
    [['--json-schema', '{}', '-f', 'json_schema={}'], /--json-schema and -f json_schema are both given/u],
    [
      ['--schema', '{}', '--output-format=json_schema={}'],
      /--schema and --output-format json_schema are both given/u,
    ],
    [['-f', 'json_schema={}', '-f', 'json_schema={}'], /-f json_schema is given twice/u],
    [['-f', 'json_schema'], /^-f json_schema has no schema\. Write/u],
    [['-f', 'json_schema='], /^-f json_schema has no schema\. Write/u],
    [['-f', 'yaml'], /^-f knows no such format\. Write text, json, stream-json, object or json_schema=/u],
    [['-f', 'json', '-o', 'text'], /^A run has one format, and -f and -o are both given\./u],
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
    [['--max-turns', '3', '--max-turns', '3'], /^--max-turns is given twice/u],
    [
      ['--max-turns', '3', '--max-session-turns=4'],
      /^--max-turns and --max-session-turns are both given, and mean the same/u,
    ],
    [['--quiet', '--no-quiet'], /^--quiet is switched both on and off/u],
    [['--force-output=false', '--force-output'], /^--force-output is switched both on and off/u],
    [['--no-bare'], /^Every run is bare/u],
    [['--bare=false'], /^Every run is bare/u],
    [['--record', 'a', '--replay', 'b'], /^--record and --replay are both given/u],
    [['--input-format', 'stream-json'], /^--input-format is refused: a run asks once/u],
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
