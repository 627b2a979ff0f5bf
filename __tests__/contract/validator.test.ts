import { mkdirSync, writeFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { expect, it } from 'vitest';
import { makeMetaSchema } from '../../scripts/meta-schema.ts';
import { createDraft07, options } from '../../src/contract/create-ajv.ts';
import { compile } from '../../src/contract/validator.ts';
import { ContractError } from '../../src/errors.ts';
import type { Json, JsonObject } from '../../src/types.ts';
import rows from '../fixtures/root-schemas.json' with { type: 'json' };

const D2020 = 'https://json-schema.org/draft/2020-12/schema';
const refusal = async (schema: Json) => {
  const error: unknown = await compile(schema, 'schema').catch((thrown) => thrown);
  if (!(error instanceof ContractError)) throw new Error(`expected a ContractError, got ${error}`);
  return { stage: error.stage, message: error.message };
};

it.each(rows)('A13 row $#: $expect, $why', async ({ schema, stage, message = '', ...row }) => {
  if (row.expect === 'accept') await compile(schema, 'schema');
  else expect(await refusal(schema)).toEqual({ stage, message: expect.stringContaining(message) });
});

const literal = { $async: true, required: ['z'] };
/** Of a long path the end is shown. */
const chain = JSON.parse(`${'{"allOf":['.repeat(30)}{"type":"array"}${']}'.repeat(30)}`);
const REFUSED: readonly Json[] = [
  ...[[], null, 'text', 3, true],
  // No object is accepted at the root.
  ...[{ type: 'array' }, { const: 1 }, { enum: [] }, { anyOf: [] }, { anyOf: [{ type: 'string' }, false] }],
  ...[{ allOf: [true, { oneOf: [false] }] }, { allOf: [3] }, chain],
  { not: { type: ['null', 'object'], title: 'x' } },
  ...[{ $ref: '#/$defs/A' }, { $ref: './other.json#/$defs/A' }],
  { type: 'object', propertees: {} },
  JSON.parse('{"properties":{"__proto__":{"type":"string"}}}'),
  { properties: { passed: { type: 'boolen' } } },
  { type: ['object', 'nil', 'null'] },
  { properties: { a: { items: { type: 'dictionary-like' } } } },
  // An asynchronous validator would make every payload valid.
  ...[{ $async: true }, { $async: false }, { properties: { a: { $async: true } } }],
  { $defs: { a: { items: { $async: true } } } },
  { default: literal, anyOf: [{ $ref: '#/default' }] },
  { default: { properties: { q: literal } }, anyOf: [{ $ref: '#/default' }] },
  // Nothing is read from elsewhere, the meta-schema that the compiler holds included.
  { anyOf: [{ $ref: 'https://example.com/x.json' }] },
  { allOf: [{ $ref: 'http://json-schema.org/draft-07/schema#' }] },
  { $id: 'http://json-schema.org/draft-07/schema' },
  { $defs: { a: { $id: 'x:1' }, b: { $id: 'x:1' } } },
  { anyOf: [{ $recursiveRef: '#' }] },
  { $schema: D2020, anyOf: [{ $dynamicRef: '#a' }] },
  { $schema: 7 },
  { properties: { a: { format: 5 } } },
  { properties: { a: { pattern: '[' } } },
];

it('A6 S12 an invalid schema is refused at a stage, with a fix', async () => {
  const entries = REFUSED.map(async (schema) => {
    const { stage, message } = await refusal(schema);
    return `${JSON.stringify(schema)}\n  ${stage}: ${message}\n`;
  });
  const text = (await Promise.all(entries)).join('\n');
  await expect(text).toMatchFileSnapshot('../golden/schemas/refused.txt');
});

it.each<[string, most: number, around: (schema: JsonObject) => JsonObject]>([
  ['properties', 247, (a) => ({ properties: { a } })],
  ['items', 497, (items) => ({ items })],
  ['anyOf', 247, (one) => ({ anyOf: [one] })],
  ['not', 497, (not) => ({ not })],
])('100 levels in %s compile, %i may, and 20,000 are refused', async (_, most, around) => {
  const outcomeOf = (levels: number) => {
    let a: JsonObject = {};
    for (let level = 0; level < levels; level += 1) a = around(a);
    return compile({ type: 'object', properties: { a } }, 'schema').then(
      (compiled) => typeof compiled.validate({ a: 1 }).ok,
      (error: unknown) => error instanceof ContractError && `${error.stage}: ${error.message}`,
    );
  };
  expect(await outcomeOf(100)).toBe('boolean');
  expect(await outcomeOf(most)).toMatch(/^(?:boolean$|compile: )/u);
  expect(await outcomeOf(20_000)).toMatch(/^root: It nests deeper than 500 levels\. /u);
});

it.each([
  ['http://json-schema.org/draft-07/schema#', { items: [{ format: 'date-time' }] }],
  [D2020, { prefixItems: [{ format: 'date-time' }] }],
  [`${D2020}#`, { prefixItems: [{ format: 'date-time' }] }],
])('S9d a known format and the items of %s are checked', async ($schema, list) => {
  const { warnings, validate } = await compile({ $schema, properties: { at: list } }, 'schema');
  expect(warnings).toEqual([]);
  expect(validate({ at: ['2026-01-02T03:04:05Z'] })).toEqual({ ok: true });
  expect(validate({ at: ['nope'] })).toMatchObject({ issues: [{ path: '/at/0', keyword: 'format' }] });
});

const UNKNOWN = ['snowflake-id', 'constructor', '__proto__'];
it.each(UNKNOWN)('S9d the unknown format %s is ignored with a warning', async (format) => {
  const odd = { format: 'odd' };
  const literals = { const: odd, default: odd, examples: [odd], enum: [odd] };
  const properties = { a: { items: { format } }, format: literals };
  const { warnings, validate } = await compile({ properties }, 'schema');
  expect(warnings).toEqual([`The format "${format}" in the schema is not known, so it is not checked.`]);
  expect(validate({ a: ['anything', 1] })).toEqual({ ok: true });
});

it('S9 a catastrophic pattern gives a clear issue', async () => {
  const evil = { pattern: '^(a+)+b$' };
  const { validate } = await compile({ properties: { a: evil, b: evil } }, 'schema');
  const issue = { path: '', keyword: 'deadline', message: expect.stringContaining('longer than 1 second') };
  const text = 'a'.repeat(40);
  expect(validate({ a: text, b: text })).toEqual({ ok: false, errors: [], issues: [issue] });
  expect(validate({ a: 'aab' })).toEqual({ ok: true });
});

it('S10 an exception in the validator never accepts the payload', async () => {
  const properties = { a: { const: { x: {} } }, b: { uniqueItems: true } };
  const { validate } = await compile({ properties }, 'schema');
  expect(validate(JSON.parse('{"a":{"valueOf":1,"x":{}}}')).ok).toBe(false);
  expect(validate({ b: [{ valueOf: 1 }, { valueOf: 1 }] }).ok).toBe(false);
});

const issues = async (schema: JsonObject, payload: JsonObject) => {
  const validation = (await compile(schema, 'schema')).validate(payload);
  const found = validation.ok ? [] : validation.issues;
  return found.map(({ path, keyword, message }) => `${path} ${keyword}: ${message}`);
};

const TEXT = { type: 'string' };
const UNSATISFIED: readonly (readonly [schema: JsonObject, payload: JsonObject])[] = [
  [{ required: ['a'], properties: { b: TEXT } }, { b: 1 }],
  [{ required: ['a'] }, {}],
  [{ additionalProperties: false }, { x: 1 }],
  [{ required: ['a'] }, { x: 1, y: 2 }],
  [{ properties: { a: {}, b: {} }, additionalProperties: false }, { x: 1 }],
  [{ properties: { a: { type: 'boolean' } } }, { a: 'true' }],
  [{ properties: { a: { type: 'boolean' } } }, { a: null }],
  [{ properties: { a: { type: ['array', 'null'] } } }, { a: 'x' }],
  [{ properties: { a: { type: 'string' } } }, { a: [] }],
  [{ properties: { a: { type: 'integer' } } }, { a: 1.5 }],
  [{ properties: { a: { enum: ['x', 1, null] } } }, { a: 'y' }],
  [{ properties: { a: { const: { b: 1 } } } }, { a: 'y' }],
  [{ properties: { a: { pattern: '^x' } } }, { a: 'y' }],
  [{ properties: { a: false } }, { a: 'y' }],
  [{ minProperties: 1 }, {}],
  [{ propertyNames: { pattern: '^x' } }, { y: 1 }],
  // Neither a property named $async nor a literal with it has a keyword.
  [{ properties: { $async: { const: { $async: true } } } }, { $async: 1 }],
  // Those inside branches come after those outside.
  [{ properties: { a: { anyOf: [TEXT, { type: 'null' }] }, b: TEXT } }, { a: 1, b: 1 }],
  // At most ten are listed, and the last one counts the others.
  [{ additionalProperties: TEXT }, Object.fromEntries([...'abcdefghijkl'].map((key) => [key, 1]))],
];

it('S2 S3 S4 S5 issues name the path, the keyword and a fix, and nothing is coerced', async () => {
  const entries = UNSATISFIED.map(async ([schema, payload]) =>
    [schema, payload, ...(await issues(schema, payload))]
      .map((each) => (typeof each === 'string' ? `  ${each}\n` : `${JSON.stringify(each)}\n`))
      .join(''),
  );
  const text = (await Promise.all(entries)).join('\n');
  await expect(text).toMatchFileSnapshot('../golden/schemas/issues.txt');
});

it('issues never quote a value of the payload, and limit names and lists', async () => {
  const secret = 'canary-value';
  const properties = {
    ...{ a: { enum: Array.from({ length: 30 }, (_, i) => i) }, b: { const: 1 }, c: { pattern: '^x' } },
    ...{ d: { maxLength: 1 }, e: { format: 'date' }, f: { not: {} }, g: { oneOf: [true, true] } },
    h: { uniqueItems: true },
  };
  const payload = Object.fromEntries([...'abcdefg'].map((name) => [name, secret]));
  const found = await issues({ properties }, { ...payload, h: [secret, secret] });
  expect(found.length).toBe(8);
  expect(found.join('\n')).not.toContain(secret);
  expect(found.find((issue) => issue.startsWith('/a '))).toContain('19 and 10 more');
  const long = await issues({ additionalProperties: false }, { ['k'.repeat(10_000)]: 1 });
  expect(long[0]?.length).toBeLessThan(250);
});

const names = ['a', '', '.', '..', '$id', 'properties', '%41', 'a/b', '~1', 'é 😀', 'a%/~ #"?&=+'];
it.each<[string, JsonObject]>([
  ['draft-07', {}],
  ['draft-07 with an address', { $id: 'https://example.com/a.json#' }],
  ['2020-12', { $schema: D2020 }],
  ['2020-12 with an address', { $schema: D2020, $id: 'a.json' }],
])('acceptsPart validates with the part, whatever its name: %s', async (_, head) => {
  const parts = names.map((name): [string, JsonObject] => [name, { allOf: [{ $ref: '#/$defs/low' }] }]);
  const schema = { ...head, properties: Object.fromEntries(parts), $defs: { low: { maximum: 5 } } };
  const { acceptsPart } = await compile(schema, 'schema');
  for (const [name, part] of parts)
    expect([acceptsPart(part, 5), acceptsPart(part, 6)], name).toEqual([true, false]);
  expect([acceptsPart(schema, { a: 5 }), acceptsPart(schema, { a: 6 })]).toEqual([true, false]);
});

it('acceptsPart returns null for an unknown part, and for endless references', async () => {
  const circle = { allOf: [{ $ref: '#/$defs/circle' }] };
  const { acceptsPart } = await compile({ $defs: { circle } }, 'schema');
  expect([acceptsPart({ type: 'string' }, 'b'), acceptsPart(circle, 1)]).toEqual([null, null]);
});

it('the meta-schema that the build compiles judges any schema as the one that Ajv compiles', async () => {
  // Imported from where the build's module finds its packages.
  const file = new URL('../../build/meta-schema-test.js', import.meta.url);
  mkdirSync(new URL('.', file), { recursive: true });
  writeFileSync(file, makeMetaSchema());
  const { validateSchema } = await import(file.href);
  const precompiled = new Ajv(options);
  const meta = precompiled.schemas['http://json-schema.org/draft-07/schema'];
  Object.assign(meta ?? expect.unreachable(), { validate: validateSchema });
  const plain = createDraft07();
  const keywords = 'type properties items minimum enum required $ref pattern x'.split(' ');
  const parts = ['string', {}, { type: 'x' }, true];
  const objects = parts.flatMap((part) => [{ a: part }, { type: part }]);
  const values = [...parts, ...objects, 'object', '#', '(', 1, -1, null, [], ['a', 'b'], ['a', 'a'], [1]];
  for (const schema of keywords.flatMap((keyword) => values.map((value) => ({ [keyword]: value })))) {
    const judged = [plain.validateSchema(schema), plain.errors];
    expect([precompiled.validateSchema(schema), precompiled.errors]).toEqual(judged);
  }
});
