import { Ajv } from 'ajv';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createContract } from '../../src/contract/contract.ts';
import type { ArgumentStatus, Json, JsonObject } from '../../src/types.ts';

const complete = (rawArguments: string) => ({ rawArguments, status: 'complete' }) as const;
const accepted = (payload: JsonObject) => ({ ok: true, payload, repaired: null });
const passed: JsonObject = {
  type: 'object',
  title: 'Review',
  properties: {
    passed: { type: 'boolean' },
    summary: { type: 'string' },
    list: { type: 'array' },
    more: { type: 'object' },
  },
  required: ['passed', 'summary'],
  additionalProperties: false,
};
const checking = async (schema: JsonObject, rawArguments: string, status: ArgumentStatus = 'complete') => {
  const check = await (await createContract(schema)).accept({ rawArguments, status });
  return check.ok ? check : { ok: check.ok, issues: check.issues };
};

it('a contract has the output names and warnings of the schema, and the schema itself: A2', async () => {
  const schema = { ...passed, properties: { 'a.b': {}, ok: { format: 'odd' } }, required: [] };
  const before = structuredClone(schema);
  const contract = await createContract(schema);
  const format = expect.stringContaining('The format "odd" in the schema is not known');
  const name =
    'The property "a.b" gets no step output of its own: the name of an output is a letter or underscore, then letters, digits, underscores and hyphens. Read it from structured_output.';
  expect(contract).toMatchObject({ outputNames: ['ok'], warnings: [format, name] });
  expect(contract.schema).toBe(schema);
  expect(schema).toEqual(before);
});

it('a contract has at most 20 warnings', async () => {
  const properties = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`a.${i}`, {}]));
  expect((await createContract({ properties })).warnings).toHaveLength(20);
});

it('S6 missing and empty arguments are an empty object', async () => {
  expect(await checking({}, '')).toEqual(accepted({}));
  expect(await checking({}, '{}')).toEqual(accepted({}));
  expect((await checking(passed, '')).ok).toBe(false);
});

const wrappers = ['output', 'arguments', 'input', '$PARAMETER_NAME', 'Review'];
it.each(wrappers)('S7 an object in %s is unwrapped, unless the outer one is valid', async (key) => {
  const payload = { passed: true, summary: 's' };
  const raw = JSON.stringify({ [key]: payload });
  const repaired = { kind: 'unwrapped', key };
  expect(await checking(passed, raw)).toEqual({ ok: true, payload, repaired });
  expect(await checking({ title: 'Review' }, raw)).toEqual(accepted({ [key]: payload }));
});

const valid = '{"passed":true,"summary":"s"}';
const items = {
  type: 'array',
  items: { type: 'object', required: ['a'], properties: { 'a/b': { type: ['array', 'null'] } } },
};
const STRINGS = '{"passed":true,"summary":"{}","list":" [1]","more":"{\\"__proto__\\":{}}"}';
const PARSED = '{"passed":true,"summary":"{}","list":[1],"more":{"__proto__":{}}}';
const NESTED = '{"x":["{\\"a\\":2}",{"a":3,"a/b":"[4]"}]}';
const NESTED_PARSED = '{"x":[{"a":2},{"a":3,"a/b":[4]}]}';
it.each<[string, JsonObject, string, string, readonly string[]]>([
  ['all strings where objects and arrays are required', passed, STRINGS, PARSED, ['/list', '/more']],
  ['the whole of the arguments', passed, JSON.stringify(valid), valid, ['']],
  ['nested strings', { properties: { x: items } }, NESTED, NESTED_PARSED, ['/x/0', '/x/1/a~1b']],
])('S7 the contract parses %s', async (_, schema, raw, payload, paths) => {
  const check = await checking(schema, raw);
  expect(check).toMatchObject({ ok: true, repaired: { kind: 'parsed', paths } });
  expect(JSON.stringify(check.ok && check.payload)).toBe(payload);
});

it.each([
  ['an unknown wrapper', `{"result":${valid}}`],
  ['a second key beside the wrapper', `{"output":${valid},"x":1}`],
  ['an invalid inner object', '{"output":{"passed":true}}'],
  ['two nested wrappers', `{"output":{"input":${valid}}}`],
  ['a wrapper around a string', `{"output":${JSON.stringify(valid)}}`],
  ['a string that contains a wrapper', JSON.stringify(`{"output":${valid}}`)],
  ['an object in an array', `[${valid}]`],
  ['a string inside a string', JSON.stringify(JSON.stringify(valid))],
  ['a string with a duplicate key', JSON.stringify('{"passed":false,"summary":"s","passed":true}')],
  ['a string inside the whole', JSON.stringify('{"passed":true,"summary":"s","list":"[]"}')],
  ['a string with an inexact number', '{"passed":true,"summary":"s","list":"[1e-400]"}'],
  ['an array where an object is required', '{"passed":true,"summary":"s","more":"[]"}'],
  ['what nests too deeply', `{"passed":true,"summary":"s","list":"${'['.repeat(100)}${']'.repeat(100)}"}`],
  ['prose around the JSON', '{"passed":true,"summary":"s","more":"Here: {}"}'],
])('S7 the contract does not repair %s', async (_, raw) => {
  expect((await checking(passed, raw)).ok).toBe(false);
});

it.each<[string, string, string, ArgumentStatus?]>([
  ['S8 cut-off arguments that look valid', valid, 'shorter payload: fewer items, short', 'truncated'],
  ['S8 too long ones that look valid', valid, 'longer than 2 MiB', 'too_long'],
  ['N9 text that is not JSON', '{"passed":true', 'The text is not valid JSON'],
  ['duplicate keys', '{"passed":false,"summary":"s","passed":true}', 'gives a key twice'],
  ['one level too many', `{"more":${'['.repeat(100)}${']'.repeat(100)}}`, 'deeper than 100 levels'],
  ['S11 half of a surrogate pair', '{"passed":true,"summary":"\\ud83d"}', 'surrogate pair'],
  ['an array', '[]', 'but they are an array'],
  ['null', 'null', 'but they are null'],
  ['prose', '"all good"', 'but they are a string'],
])('%s: rejected with an issue about the arguments', async (_, raw, words, status) => {
  const issues = [{ path: '', keyword: 'arguments', message: expect.stringContaining(words) }];
  expect(await checking(passed, raw, status)).toEqual({ ok: false, issues });
});

const item = { type: 'object', properties: { 'a/b': { type: 'number' } } };
const places: JsonObject = {
  type: 'object',
  properties: {
    list: { type: 'array', items: { $ref: '#/$defs/item' } },
    closed: { required: ['a'], additionalProperties: false, propertyNames: { maxLength: 3 } },
  },
  additionalProperties: item,
  patternProperties: { '^n': false },
  $defs: { item },
};
const PLACES =
  '/additionalProperties type, /$defs/item/properties/a~1b type, /patternProperties/%5En false schema';
const CLOSED =
  'required a, /properties/closed/propertyNames maxLength, /properties/closed propertyNames, /properties/closed additionalProperties';
it.each([
  ['{"list":[{},{"a/b":"x"}],"alice@example.com":{"a/b":1,"x":1},"bob":1,"no":1}', PLACES],
  ['{"closed":{"alice":1}}', `/properties/closed ${CLOSED}`],
  ['{"list":[{"a/b":1e999}]}', ' precision'],
  ['{"a":1,"a":2}', ' arguments'],
])('of %s are recorded keywords and places in the schema, nothing of the payload', async (raw, recorded) => {
  const check = await (await createContract(places)).accept(complete(raw));
  const redacted = check.ok ? [] : check.redacted;
  const lines = redacted.map(({ path, ...rest }) => [path, ...Object.values(rest)].join(' '));
  expect(lines.join(', ')).toBe(recorded);
});

const scores: JsonObject = { properties: { score: { type: ['number', 'string'] }, list: { type: 'array' } } };
const issueAt = (...paths: readonly string[]) => {
  const message = expect.stringContaining('Send fewer digits, or a string');
  return { ok: false, issues: paths.map((path) => ({ path, keyword: 'precision', message })) };
};

it.each([
  ['9007199254740993', 9007199254740992],
  ['79.99999999999999999', 80],
  ['1e-400', 0],
  ['1e999', 0],
])('the inexact number %s is rejected by its path, whatever the schema says', async (literal, score) => {
  for (const schema of [scores, { properties: { score: { const: score } } }, {}])
    expect(await checking(schema, `{"score":${literal}}`)).toEqual(issueAt('/score'));
  expect(await checking(scores, `{"output":{"score":${literal}}}`)).toEqual(issueAt('/output/score'));
  expect(await checking(scores, `{"score":"${literal}"}`)).toEqual(accepted({ score: literal }));
});

it('such a number is reported at each of its paths, up to ten', async () => {
  const raw = '{"score":1e999,"list":[{"id":1},{"id":9007199254740993}]}';
  expect(await checking(scores, raw)).toEqual(issueAt('/score', '/list/1/id'));
  const many = await checking(scores, `{"score":1,"list":[${Array(500).fill('1e999').join()}]}`);
  expect(many.ok ? [] : many.issues).toHaveLength(10);
});

const name = fc.constantFrom('a', 'b', 'constructor', '__proto__', 'output', 'toString');
const options = { strictTypes: false, allowUnionTypes: true, ownProperties: true, logger: false } as const;
const { schema } = fc.letrec<{ schema: JsonObject }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<JsonObject[]>({}, { enum: ['a', 1] }, { const: { a: 1 } }),
    fc.record(
      {
        type: fc.constantFrom<Json>('string', 'array', 'object', 'boolean', ['object', 'null']),
        properties: fc.dictionary(name, tie('schema'), { maxKeys: 3 }),
        required: fc.uniqueArray(name, { maxLength: 2 }),
        additionalProperties: fc.boolean(),
        items: tie('schema'),
      },
      { requiredKeys: [] },
    ),
    fc.record({ anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }) }),
  ),
}));
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom('a', '{}', '[]', '{"a":"[]"}', 1, true, null, '{"a":1}'),
    fc.array(tie('value'), { maxLength: 2 }),
    fc.array(fc.tuple(name, tie('value')), { maxLength: 3 }).map((entries) => Object.fromEntries(entries)),
  ),
}));

it('S9c of any schema, only payloads that a plain Ajv accepts by their own keys are accepted, unchanged unless reported as repaired', async () => {
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(schema, fc.array(value, { minLength: 1, maxLength: 6 }), async (generated, values) => {
      const contract = await createContract(generated).catch(() => null);
      if (contract === null) return;
      const validate = new Ajv(options).compile({ type: 'object', allOf: [generated] });
      const plain = (payload: unknown): boolean => {
        // Comparing an object with its own `toString` to a literal throws: that is not accepted either.
        try {
          return validate(payload);
        } catch {
          return false;
        }
      };
      for (const raw of values.map((each) => JSON.stringify(each))) {
        const check = await contract.accept(complete(raw));
        const isRepaired = check.ok && check.repaired !== null;
        seen.add(`${check.ok} ${isRepaired}`);
        expect(plain(JSON.parse(raw))).toBe(check.ok && !isRepaired);
        if (!check.ok) expect(check.issues).not.toEqual([]);
        else if (isRepaired) expect(plain(check.payload)).toBe(true);
        else expect(JSON.stringify(check.payload)).toBe(raw);
      }
    }),
    { numRuns: 150 },
  );
  expect(seen.size).toBe(3);
});
