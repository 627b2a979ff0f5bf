import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readTrustedFile } from '../../src/config/workspace-file.ts';
import type { GateRequest } from '../../src/contract/gate.ts';
import { presets } from '../../src/contract/presets.ts';
import { type Files, parseGateArgument, parseSchemaArgument, pathHere } from '../../src/contract/source.ts';
import { READ } from '../../src/text/limits.ts';
import type { Json } from '../../src/types.ts';

let outer: string;
let root: string;
const read = (path: string) => readTrustedFile(path, { root, outside: 'refused', maxBytes: READ.policy });
const files: Files = {
  readFile: read,
  readElsewhere: async ({ owner, repo, path, ref }) =>
    ref === 'v1'
      ? { ok: true, text: `{"type":"object","title":"${owner} ${repo} ${path}"}` }
      : { ok: false, problem: `there is no ${ref}` },
};
const object = { schema: { type: 'object' }, preset: null };
const schemaOf = (raw: string | undefined) => parseSchemaArgument(raw, files);
const verdict = presets.get('verdict') ?? null;
const AUTO = { kind: 'property', name: 'passed' } as const;
const gateOf = (raw: string | undefined, auto: GateRequest = AUTO) => parseGateArgument(raw, auto, files);
const refusal = async (given: Promise<unknown>) => {
  const error: unknown = await given.then(
    (value) => ({ accepted: value }),
    (thrown) => thrown,
  );
  expect(error).toMatchObject({ name: 'ContractError', stage: 'source' });
  return error instanceof Error ? error.message : '';
};

beforeAll(() => {
  outer = realpathSync(mkdtempSync(join(tmpdir(), 'source-')));
  root = join(outer, 'workspace');
  mkdirSync(root);
  writeFileSync(join(root, 'ok.json'), '\uFEFF{"type":"object"}\n');
  writeFileSync(join(root, 'secret.json'), 'AWS_SECRET_ACCESS_KEY: hunter2\n');
  writeFileSync(join(root, 'twice.json'), '{"hunter2":1,"hunter2":2}');
  writeFileSync(join(root, 'trailing-comma.json'), '{\n  "hunter2": 1,\n}');
  writeFileSync(join(root, 'comment.json'), '{// hunter2\n}');
  writeFileSync(join(root, 'cut.json'), '{"a": 123');
  mkdirSync(join(root, 'sub', 'a'), { recursive: true });
  writeFileSync(join(root, 'sub', 'ok'), '{"type":"object"}');
  writeFileSync(join(root, 'sub', 'a', 'b.json'), '{"type":"object"}');
  symlinkSync('/etc/hostname', join(root, 'link.json'));
  writeFileSync(join(root, '..', 'up.json'), '{"type":"object"}');
  writeFileSync(join(root, 'a@b.json'), '{"type":"object"}');
  writeFileSync(join(root, 'bound.json'), '{"maximum":\n9223372036854775807}');
  writeFileSync(join(root, 'const.json'), '{"properties":{"n":{"const":9007199254740993}}}');
});
afterAll(() => rmSync(outer, { recursive: true, force: true }));

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

/** Files that are missing, elsewhere, or not JSON. */
const BROKEN_FILES = [
  ...['@nope.json', '@.', '@/etc/hostname', '/etc/hostname', '@../up.json', '../up.json', '@./link.json'],
  ...['@org/judges/x.json', 'org/judges/x.json@v1', '@./org/judges/x.json@v1', '@.github/judges/x.json'],
  ...['@judges/x.json', 'judges/x.json', '@org/judges/x.json@refs/heads/main'],
  ...['trailing-comma.json', 'comment.json', 'cut.json', '@secret.json', '@twice.json'],
];

describe('parseSchemaArgument', () => {
  it('A4 A5 A7 A8 A10 refuses an invalid schema with a fix, and quotes nothing of a file', async () => {
    const texts = [' \n', '@', '{not json}', 'type: object', '{"a":1,"a":2}'];
    const names = ['verdit', 'constructor', '__proto__', 'verdict2'];
    await expectRefusals('schema', [...texts, ...names, ...BROKEN_FILES, ...INEXACT], schemaOf);
    expect(await refusal(schemaOf(`${'{"not":'.repeat(20_000)}true${'}'.repeat(20_000)}`))).toContain(
      'deeper than 500 levels',
    );
  });

  it.each([undefined, '', 'verdict', ' verdict\n'])('A1 %j is the verdict preset', async (raw) => {
    expect(await schemaOf(raw)).toEqual({ schema: verdict?.schema, preset: verdict });
  });

  it.each<[string, string, Json]>([
    ['A2 an inline object', '\uFEFF {"type":"object","title":"@x"}\n', { type: 'object', title: '@x' }],
    ['A3 A12 a file with a BOM', ' @ok.json ', { type: 'object' }],
    // The contract refuses them.
    ...['[]', '"text"', 'true', '3', 'null'].map((raw): [string, string, Json] => [
      `A6 ${raw}`,
      raw,
      JSON.parse(raw),
    ]),
  ])('%s is parsed, without blanks around it', async (_, raw, schema) => {
    expect(await schemaOf(raw)).toEqual({ schema, preset: null });
  });

  it.each(['ok.json', './ok.json', 'sub/../ok.json', 'sub/ok', '@ok.json', '@./ok.json'])(
    'reads the file %s with and without @, as schema and as gate',
    async (given) => {
      expect(await schemaOf(given)).toEqual(object);
      expect(await gateOf(given)).toEqual({ kind: 'schema', schema: { type: 'object' } });
    },
  );

  it('reads a file of another repository at its ref', async () => {
    const { schema, preset } = await schemaOf('@org/judges/schemas/x.json@v1');
    expect([schema, preset]).toEqual([{ type: 'object', title: 'org judges schemas/x.json' }, null]);
    expect(await gateOf('@org/judges/x.json@v1')).toMatchObject({ kind: 'schema' });
  });

  it.each([
    ['@a/b.json', 'a/b.json'],
    ['@./org/judges/x.json@v1', './org/judges/x.json@v1'],
    [' ./a.json ', './a.json'],
    ...['a.json', 'A.JSON', 'a/b', 'org/judges/x.json@v1'].map((path) => [path, path]),
  ])('%s is the local path %s', (given, path) => {
    expect(pathHere(given)).toBe(path);
  });

  it.each([
    ...['@org/judges/x.json@v1', 'verdict', '{}', '@', 'code-review', 'passed', '{"$ref":"a/b.json"}'],
    ...['{not json}/x.json', '["a/b"]', '"a/b"', 'all\na/b.json', 'true'],
  ])('%s is not a local path', (given) => {
    expect(pathHere(given)).toBeNull();
  });
});

it.each([
  '{"maximum":9223372036854775807}',
  '{"properties":{"a":{"multipleOf":0.10000000000000000001,"default":9007199254740993}}}',
])('an inexact number that no payload must equal is read as JavaScript reads it: %s', async (schema) => {
  expect(await schemaOf(schema)).toEqual({ schema: JSON.parse(schema), preset: null });
});

describe('parseGateArgument', () => {
  it('refuses an invalid gate with a fix, and quotes nothing of a file', async () => {
    const numbers = ['{"minProperties":1e-400}', '{"maximum":1e999}', '{"minimum":79.99999999999999999}'];
    const given = [' ', '{"a"', ...BROKEN_FILES, ...numbers, '@bound.json', '@const.json'];
    await expectRefusals('gate', given, (raw) => gateOf(raw));
  });

  const ofFile = { kind: 'schema', schema: { type: 'object' } } as const;
  it.each<[string | undefined, GateRequest]>([
    ...[undefined, '', 'auto'].map((raw): [string | undefined, GateRequest] => [raw, AUTO]),
    [' off ', { kind: 'none' }],
    ['all good', { kind: 'property', name: 'all good' }],
    ['{"minProperties":1}', { kind: 'schema', schema: { minProperties: 1 } }],
    ['@ok.json', ofFile],
    ['true', { kind: 'schema', schema: true }],
  ])('%j is the gate %j', async (raw, gate) => {
    expect(await gateOf(raw)).toEqual(gate);
  });
});
