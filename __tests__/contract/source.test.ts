import { normalize } from 'node:path';
import { expect, it } from 'vitest';
import type { GateRequest } from '../../src/contract/gate.ts';
import { presets } from '../../src/contract/presets.ts';
import { type Files, parseGateArgument, parseSchemaArgument, pathHere } from '../../src/contract/source.ts';
import type { JsonObject } from '../../src/types.ts';

const TEXTS: Readonly<Record<string, string>> = {
  'ok.json': '{"type":"object"}',
  'secret.json': 'AWS_SECRET_ACCESS_KEY: hunter2\n',
  'twice.json': '{"hunter2":1,"hunter2":2}',
  'trailing-comma.json': '{\n  "hunter2": 1,\n}',
  'comment.json': '{// hunter2\n}',
  'cut.json': '{"a": 123',
  'sub/ok': '{"type":"object"}',
  'bound.json': '{"maximum":\n9223372036854775807}',
  'const.json': '{"properties":{"n":{"const":9007199254740993}}}',
};
const files: Files = {
  readFile: async (path) => {
    const text = TEXTS[normalize(path)];
    return text === undefined ? { ok: false, problem: `there is no ${path}.` } : { ok: true, text };
  },
  readElsewhere: async ({ owner, repo, path, ref }) =>
    ref === 'v1'
      ? { ok: true, text: `{"type":"object","title":"${owner} ${repo} ${path}"}` }
      : { ok: false, problem: `there is no ${ref}.` },
};
const schemaOf = (raw: string | undefined) => parseSchemaArgument(raw, files);
const verdict = presets.get('verdict') ?? null;
const AUTO = { kind: 'property', name: 'passed' } as const;
const gateOf = (raw: string | undefined) => parseGateArgument(raw, AUTO, files);
const refusal = async (given: Promise<unknown>) => {
  const error: unknown = await given.catch((thrown) => thrown);
  expect(error).toMatchObject({ name: 'ContractError', stage: 'source' });
  return error instanceof Error ? error.message : '';
};

/** Compares each value and its message with the golden file. No message contains a file's content. */
async function expectRefusals(
  of: 'schema' | 'gate',
  given: readonly string[],
  parse: (raw: string) => Promise<unknown>,
): Promise<void> {
  const entries = given.map(async (raw) => `${JSON.stringify(raw)}\n  ${await refusal(parse(raw))}\n`);
  const text = (await Promise.all(entries)).join('\n');
  expect(text).not.toContain('hunter2');
  await expect(text).toMatchFileSnapshot(`../golden/schemas/refused-as-${of}.txt`);
}

/** Numbers that JavaScript cannot represent, where they decide validity. */
const INEXACT = [
  '{"const":9007199254740993}',
  '{"properties":{"n":{"enum":[1,9007199254740993]}}}',
  '{"items":[{"const":{"a":[79.99999999999999999]}}]}',
  '{"$defs":{"x":{"anyOf":[{},{"const":1e-400}]}}}',
  '{"additionalProperties":{"not":{"enum":[1e-400]}}}',
  // A $ref may lead there.
  '{"default":{"const":9007199254740993}}',
  ...['{"maximum":1e999}', '{"default":-1e999}', '[1e999]', '@const.json'],
];

/** Files that are missing, or not JSON. */
const BROKEN_FILES = [
  ...['@nope.json', '@.', '/nope.json', '@../nope.json'],
  ...['@org/judges/x.json', 'org/judges/x.json@v1', '@./org/judges/x.json@v1', '@.github/judges/x.json'],
  ...['@judges/x.json', 'judges/x.json', '@org/judges/x.json@refs/heads/main'],
  ...['trailing-comma.json', 'comment.json', 'cut.json', '@secret.json', '@twice.json'],
];

it('A4 A5 A7 A8 A10 an invalid schema is refused with a fix, and nothing of a file is quoted', async () => {
  const texts = [' \n', '@', '{not json}', 'type: object', '{"a":1,"a":2}'];
  const names = ['verdit', 'constructor', '__proto__', 'verdict2'];
  await expectRefusals('schema', [...texts, ...names, ...BROKEN_FILES, ...INEXACT], schemaOf);
  const deep = `${'{"not":'.repeat(20_000)}true${'}'.repeat(20_000)}`;
  expect(await refusal(schemaOf(deep))).toContain('deeper than 500 levels');
});

it.each([undefined, '', 'verdict', ' verdict\n'])('A1 %j is the verdict preset', async (raw) => {
  expect(await schemaOf(raw)).toEqual({ schema: verdict?.schema, preset: verdict });
});

it.each([
  '{"type":"object","title":"@x"}',
  // What the contract is to judge.
  ...['[]', '"text"', 'true', '3', 'null'],
  // No payload must equal these inexact numbers: they are read as JavaScript reads them.
  '{"maximum":9223372036854775807}',
  '{"properties":{"a":{"multipleOf":0.10000000000000000001,"default":9007199254740993}}}',
])('A2 A6 inline JSON is parsed, without blanks around it: %s', async (text) => {
  expect(await schemaOf(`\uFEFF ${text}\n`)).toEqual({ schema: JSON.parse(text), preset: null });
});

it.each<[JsonObject, readonly string[]]>([
  [{ type: 'object' }, ['ok.json', './ok.json', 'sub/../ok.json', 'sub/ok', ' @ok.json ', '@./ok.json']],
  [{ type: 'object', title: 'org judges schemas/x.json' }, ['@org/judges/schemas/x.json@v1']],
])('%j is read, as schema and as gate, from the files %j', async (schema, paths) => {
  for (const path of paths) {
    expect(await schemaOf(path)).toEqual({ schema, preset: null });
    expect(await gateOf(path)).toEqual({ kind: 'schema', schema });
  }
});

it.each<[string, string | null]>([
  ['@a/b.json', 'a/b.json'],
  ['@./org/judges/x.json@v1', './org/judges/x.json@v1'],
  [' ./a.json ', './a.json'],
  ...['a.json', 'A.JSON', 'a/b', 'org/judges/x.json@v1'].map((path): [string, string] => [path, path]),
  ...['@org/judges/x.json@v1', 'verdict', '{}', '@', 'passed', '{"$ref":"a/b.json"}', '{not json}/x.json']
    .concat('["a/b"]', '"a/b"', 'all\na/b.json', 'true')
    .map((text): [string, null] => [text, null]),
])('%s is the local path %s', (given, path) => {
  expect(pathHere(given)).toBe(path);
});

it('an invalid gate is refused with a fix, and nothing of a file is quoted', async () => {
  const numbers = ['{"minProperties":1e-400}', '{"maximum":1e999}', '{"minimum":79.99999999999999999}'];
  const given = [' ', '{"a"', ...BROKEN_FILES, ...numbers, '@bound.json', '@const.json'];
  await expectRefusals('gate', given, gateOf);
});

it.each<[string | undefined, GateRequest]>([
  ...[undefined, '', 'auto'].map((raw): [string | undefined, GateRequest] => [raw, AUTO]),
  [' off ', { kind: 'none' }],
  ['all good', { kind: 'property', name: 'all good' }],
  ['{"minProperties":1}', { kind: 'schema', schema: { minProperties: 1 } }],
  ['true', { kind: 'schema', schema: true }],
])('%j is the gate %j', async (raw, gate) => {
  expect(await gateOf(raw)).toEqual(gate);
});
