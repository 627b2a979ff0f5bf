import { readFileSync } from 'node:fs';
import { brotliDecompressSync } from 'node:zlib';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createContract } from '../../src/contract/contract.ts';
import { presets } from '../../src/contract/presets.ts';
import { ContractError } from '../../src/errors.ts';
import { type Dialect, describedTool, projectSchema } from '../../src/providers/wire-schema.ts';
import { isObject } from '../../src/text/json.ts';
import type { Json, JsonObject } from '../../src/types.ts';
import { samples } from '../contract/preset-samples.ts';
import { testAll } from '../support/all.ts';
import { compileWire, dialects, wireViolations } from '../support/schemas/wire-rules.ts';

/** Whether validation accepts; it overflows the stack if references recur without end. */
function isAccepted(validate: () => unknown): boolean {
  try {
    return validate() === true;
  } catch {
    return false;
  }
}

/** Compiles a schema as the contract does, apart from its strictness; null if it is not a schema. */
function compileFully(schema: JsonObject): ((payload: Json) => boolean) | null {
  const options = { strict: false, validateFormats: false, ownProperties: true, logger: false } as const;
  const is2020 = String(schema['$schema'] ?? '').includes('2020-12');
  try {
    const validate = (is2020 ? new Ajv2020(options) : new Ajv(options)).compile(schema);
    return (payload) => isAccepted(() => validate(payload));
  } catch {
    return null;
  }
}

/** Expects parameters that the provider accepts and with which a model can send each of these payloads. */
function expectSayable(schema: JsonObject, payloads: readonly Json[], dialect: Dialect): void {
  const before = structuredClone(schema);
  const parameters = projectSchema(schema, dialect);
  expect(schema).toEqual(before);
  expect(wireViolations(parameters, dialect)).toEqual([]);
  const validate = compileWire(parameters, dialect);
  expect(payloads.filter((payload) => !isAccepted(() => validate(payload)))).toEqual([]);
}

const names = ['a', 'b', '$ref', 'format', 'x y'];
const leaf: fc.Arbitrary<Json> = fc.constantFrom<Json[]>(null, true, 0, 1, 2.5, 'a', 'b', '', [], {});
const payloads: fc.Arbitrary<JsonObject> = fc.letrec<{ value: Json; object: JsonObject }>((tie) => ({
  value: fc.oneof({ maxDepth: 3 }, leaf, tie('object'), fc.array(tie('value'), { maxLength: 3 })),
  object: fc.dictionary(fc.constantFrom(...names), tie('value'), { maxKeys: 4 }),
})).object;

const plainKeywords: readonly JsonObject[] = [
  ...['object', 'string', 'array', 'number', ['object', 'null'], ['array', 'string']].map((type) => ({
    type,
  })),
  { type: 'string', nullable: true },
  { type: 'string', maxLength: 1 },
  { minProperties: 1 },
  { items: { type: 'string' } },
  { patternProperties: { '^a': { type: 'string' } }, additionalProperties: false },
  ...['#', '#/definitions/a', '#/definitions/b', '#/properties/a'].map(($ref) => ({ $ref })),
];

/** Schemas with every keyword that the projection treats specially; many contradict themselves. */
function schemas(is2020: boolean): fc.Arbitrary<JsonObject> {
  const nodes = fc.letrec<{ node: Json; map: JsonObject; list: readonly Json[]; keyword: JsonObject }>(
    (tie) => ({
      map: fc.dictionary(fc.constantFrom(...names), tie('node'), { maxKeys: 3 }),
      list: fc.array(tie('node'), { minLength: 1, maxLength: 3 }),
      keyword: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom(...plainKeywords),
        fc.record({ required: fc.uniqueArray(fc.constantFrom(...names), { maxLength: 2 }) }),
        fc.record({ const: fc.oneof(leaf, payloads) }),
        fc.record({ enum: fc.array(fc.oneof(leaf, payloads), { minLength: 1, maxLength: 3 }) }),
        fc.record({ properties: tie('map') }),
        fc.record({ properties: tie('map'), additionalProperties: fc.oneof(fc.boolean(), tie('node')) }),
        ...['allOf', 'anyOf', 'oneOf'].map((name) => fc.record({ [name]: tie('list') })),
        ...['not', 'contains', 'propertyNames'].map((name) => fc.record({ [name]: tie('node') })),
        fc.record(Object.fromEntries(['if', 'then', 'else'].map((name) => [name, tie('node')]))),
        is2020
          ? fc.record({ type: fc.constant('array'), prefixItems: tie('list'), items: tie('node') })
          : fc.record({ type: fc.constant('array'), items: tie('list'), additionalItems: tie('node') }),
        is2020
          ? fc.record({ unevaluatedProperties: tie('node') })
          : fc.record({ dependencies: fc.oneof(fc.constant({ a: ['b'] }), tie('map')) }),
      ),
      node: fc.oneof(
        { maxDepth: 4 },
        fc.boolean(),
        fc.array(tie('keyword'), { maxLength: 3 }).map((parts): JsonObject => Object.assign({}, ...parts)),
      ),
    }),
  ).node;
  const circle = { properties: { a: { $ref: '#' } } };
  const definition = fc.constantFrom<Json[]>({ type: 'string' }, circle, true);
  return fc.tuple(nodes, definition).map(([node, a]): JsonObject => {
    const root = isObject(node) ? node : {};
    const own = isObject(root['properties']) ? root['properties'] : {};
    return {
      ...(is2020 ? { $schema: 'https://json-schema.org/draft/2020-12/schema' } : {}),
      ...root,
      properties: { a: { type: ['string', 'object', 'number'] }, ...own },
      definitions: { a, b: { not: { $ref: '#/properties/a' } } },
    };
  });
}

describe('projectSchema makes parameters that a provider accepts and that refuse no valid payload', () => {
  it.each(Object.entries(samples))('for the preset %s', (name, { met, unmet }) => {
    const { schema = {} } = presets.get(name) ?? {};
    for (const dialect of dialects) expectSayable(schema, [...met, ...unmet], dialect);
  });

  it.each(['draft-07', '2020-12'])('for random schemas of %s', (draft) => {
    let compared = 0;
    const sample = fc.array(payloads, { minLength: 25, maxLength: 25 });
    const property = fc.property(schemas(draft === '2020-12'), sample, (schema, candidates) => {
      const isValid = compileFully(schema);
      fc.pre(isValid !== null);
      const valid = candidates.filter((each) => isValid?.(each) === true);
      compared += valid.length;
      for (const dialect of dialects) expectSayable(schema, valid, dialect);
    });
    fc.assert(property, { numRuns: testAll ? 1_000 : 50 });
    expect(compared).toBeGreaterThan(10);
  });

  // fixtures/schemas/SOURCES.txt has their sources.
  it.runIf(testAll)('for published schemas and their payloads', { timeout: 600_000 }, async () => {
    const file = new URL('../fixtures/schemas/published.jsonl.br', import.meta.url);
    const lines = brotliDecompressSync(readFileSync(file)).toString('utf8').trim().split('\n');
    const legal = new Map(dialects.map((dialect) => [dialect, 0]));
    let accepted = 0;
    for (const line of lines) {
      const { source, schema, instances = [] } = JSON.parse(line);
      if (JSON.stringify(schema).length > 50_000) continue;
      const contract = await createContract(schema).catch((error: unknown) => error);
      if (contract instanceof ContractError) continue;
      accepted += 1;
      const isValid = compileFully(schema);
      const valid = instances.filter((each: Json) => isValid?.(each));
      for (const dialect of dialects) {
        const parameters = projectSchema(schema, dialect);
        if (wireViolations(parameters, dialect).length === 0)
          legal.set(dialect, (legal.get(dialect) ?? 0) + 1);
        const validate = compileWire(parameters, dialect);
        for (const each of valid) expect([dialect, source, validate(each)]).toEqual([dialect, source, true]);
      }
    }
    expect(accepted).toBeGreaterThan(180);
    for (const count of legal.values()) expect(count).toBeGreaterThanOrEqual(accepted - 3);
  });
});

const text = { type: 'string' };
const tool = (properties: JsonObject, rest: JsonObject = {}) => ({ type: 'object', properties, ...rest });
const list = (items: JsonObject) => ({ type: 'array', items });
const literal = { oneOf: [{ nullable: true }] };
const number = { type: 'number' };
const half = { ...number, enum: [1.5] };
const node = tool({ next: { $ref: '#/$defs/node' } });
const anything = {
  gemini: {
    anyOf: [
      ...['string', 'number', 'boolean', 'object'].map((type) => ({ type, nullable: true })),
      { type: 'array', items: {}, nullable: true },
    ],
  },
  compatible: {
    anyOf: [
      ...['string', 'number', 'boolean'].map((type) => ({ type })),
      { type: 'object', additionalProperties: true },
      list({}),
      { type: 'null' },
    ],
  },
};

const $defs = { node };

/** Schemas of a property, with what becomes of them; if nothing is given, they stay as they are. */
type Fact = Readonly<{ schema: JsonObject } & Partial<Record<Dialect | 'typed', JsonObject>>>;
const facts: Readonly<Record<string, Fact>> = {
  'null is a flag for Gemini; the others get what stands beside': {
    schema: { anyOf: [{ type: 'number' }, { type: 'null' }], title: 'T' },
    gemini: { type: 'number', title: 'T', nullable: true },
    compatible: { anyOf: ['number', 'null'].map((type) => ({ type, title: 'T' })) },
  },
  'a schema of several types becomes one for each, with only the keywords of that type': {
    schema: { type: ['string', 'integer'], minimum: 1 },
    typed: { anyOf: [text, { type: 'integer', minimum: 1 }] },
  },
  'what may be anything is spelled out': { schema: {}, ...anything },
  'Gemini lists strings only': {
    schema: { type: ['string', 'number'], enum: ['a', 1.5] },
    gemini: { anyOf: [{ ...text, enum: ['a'] }, { type: 'number' }] },
    compatible: { anyOf: [{ ...text, enum: ['a'] }, half] },
  },
  'Gemini lists no empty string': { schema: { ...text, enum: ['a', ''] }, gemini: text },
  'what breaks grammars is left out': {
    schema: { ...text, pattern: '^a', format: 'uri', maxLength: 65_536 },
    gemini: text,
    compatible: { ...text, format: 'uri' },
  },
  'what a more lenient subschema makes stricter is left out': {
    schema: { ...text, not: { const: 'x' }, if: { minLength: 2 }, else: false },
    openai: text,
    typed: text,
  },
  'a tuple of draft-07 becomes one of 2020-12, or a list of anything': {
    schema: { type: 'array', items: [text, true], additionalItems: { type: 'null' } },
    openai: { type: 'array', prefixItems: [text, {}], items: { type: 'null' } },
    typed: list({}),
  },
  'nullable becomes a type, and oneOf becomes anyOf': {
    schema: { oneOf: [{ ...text, nullable: true }, { type: 'boolean' }] },
    openai: { anyOf: [{ type: ['string', 'null'] }, { type: 'boolean' }] },
    gemini: { anyOf: ['string', 'boolean'].map((type) => ({ type, nullable: true })) },
    compatible: { anyOf: ['string', 'null', 'boolean'].map((type) => ({ type })) },
  },
  'an object is open if patterns allow further names': {
    schema: { type: 'object', patternProperties: { '^p': {} }, additionalProperties: false },
    openai: { type: 'object', additionalProperties: true },
    gemini: { type: 'object' },
    compatible: { type: 'object', additionalProperties: true },
  },
  'allOf is merged, and a required name is declared': {
    schema: { allOf: [tool({ x: text }, { required: ['x'] }), { required: ['y'] }] },
    gemini: tool({ x: text, y: anything.gemini }, { required: ['x', 'y'] }),
    compatible: tool({ x: text, y: anything.compatible }, { required: ['x', 'y'] }),
  },
  'a union beside properties declares its names': {
    schema: tool({ x: text }, { anyOf: [{ required: ['x'] }, { required: ['y'] }] }),
    gemini: tool({ x: text, y: anything.gemini }),
    compatible: tool({ x: text, y: anything.compatible }),
  },
  'a reference is replaced by its target until it recurs': {
    schema: { $ref: '#/$defs/node', description: 'd' },
    gemini: tool({ next: anything.gemini }, { description: 'd' }),
    compatible: tool({ next: anything.compatible }, { description: 'd' }),
  },
  'a reference into the middle of the schema is replaced, or left out': {
    schema: { $ref: '#/properties/a/$defs/text', $defs: { text } },
    openai: { $defs: { text } },
    typed: text,
  },
  'a reference out of the schema may be anything': {
    schema: { $ref: 'https://host.example/schema.json' },
    openai: {},
    ...anything,
  },
  'an $id makes anything of a schema: its references mean another one': {
    schema: { $id: 'other', $ref: '#/$defs/node' },
    openai: {},
    ...anything,
  },
  'literals stay as they are, and names are not keywords': {
    schema: tool({ $ref: text, format: list({ const: literal }) }),
    gemini: tool({ $ref: text, format: list({ type: 'object' }) }),
    compatible: tool({
      $ref: text,
      format: list({ type: 'object', enum: [literal], additionalProperties: true }),
    }),
  },
};

it.each(Object.entries(facts))('in a property %s', (_, { schema, ...expected }) => {
  for (const dialect of dialects) {
    const parameters = projectSchema(tool({ a: schema }, { $defs }), dialect);
    const { typed = schema, openai = schema, [dialect]: own } = expected;
    const wanted = own ?? (dialect === 'openai' || dialect === 'anthropic' ? openai : typed);
    expect([dialect, parameters['properties']]).toEqual([dialect, { a: wanted }]);
  }
});

const verdicts = ['good', 'bad'].map((kind) => ({
  properties: { kind: { const: kind }, summary: text, [kind]: number },
  required: ['kind', kind],
  additionalProperties: false,
}));

describe('at the root', () => {
  const odd = tool({ 'a b': {}, ok: {} }, { required: ['a b'], additionalProperties: false });
  it.each<[fact: string, schema: JsonObject, parameters: JsonObject, forAnthropic?: JsonObject]>([
    [
      'names that Anthropic refuses are left out, and remain possible',
      odd,
      odd,
      tool({ ok: {} }, { required: ['a b'], additionalProperties: true }),
    ],
    ['S6 an empty schema becomes an object', {}, tool({})],
    [
      'allOf and references are merged',
      { allOf: [{ $ref: '#/$defs/node' }, { required: ['x'] }], $defs: { node } },
      tool({ next: { $ref: '#/$defs/node' }, x: {} }, { required: ['x'], $defs: { node } }),
    ],
    [
      'branches are united, and what all of them require is required',
      { oneOf: [...verdicts, { type: 'string' }] },
      tool(
        { kind: { anyOf: [{ const: 'good' }, { const: 'bad' }] }, summary: text, good: number, bad: number },
        { required: ['kind'] },
      ),
    ],
    [
      'a name that an open branch does not declare may be anything',
      { anyOf: [{ properties: { a: text } }, { properties: {} }] },
      tool({ a: { anyOf: [text, {}] } }),
    ],
  ])('%s', (_, schema, parameters, forAnthropic = parameters) => {
    expect(projectSchema(schema, 'openai')).toEqual(parameters);
    expect(projectSchema(schema, 'anthropic')).toEqual(forAnthropic);
  });
});

it('neither depth nor length nor branching of a schema stops the projection', () => {
  const to = (n: number): JsonObject => ({ $ref: `#/$defs/d${n + 1}` });
  const link = (n: number): JsonObject => ({ allOf: [to(n)] });
  const nest = (n: number): JsonObject => ({ properties: { a: to(n) } });
  const fork = (n: number): JsonObject => ({
    anyOf: [0, 1].map((k) => ({ allOf: [to(n)], properties: { a: { const: k } } })),
    properties: { [`p${n}`]: to(n) },
  });
  const definitions = (length: number, make: (n: number) => JsonObject) =>
    Object.fromEntries(Array.from({ length }, (_, n) => [`d${n}`, n === length - 1 ? {} : make(n)]));
  const schemas = [
    { allOf: [to(-1)], $defs: definitions(5000, link) },
    { properties: { a: to(-1) }, $defs: definitions(5000, nest) },
    { allOf: [to(-1)], properties: { b: to(-1) }, $defs: definitions(40, fork) },
    { anyOf: Array.from({ length: 1000 }, (_, n) => ({ properties: { [`p${n}`]: text } })) },
  ];
  for (const schema of schemas) {
    for (const dialect of dialects) {
      const parameters = projectSchema(schema, dialect);
      expect(wireViolations(parameters, dialect)).toEqual([]);
      expect(JSON.stringify(parameters).length).toBeLessThan(2_000_000);
    }
  }
});

describe('describedTool', () => {
  const schema = { type: 'object', not: { required: ['a'] } };
  const note = `These parameters are simplified. The arguments must satisfy this JSON Schema: ${JSON.stringify(schema)}`;
  const long = 'd'.repeat(1000);
  const describeTo = (dialect: Dialect, description: string, parameters: JsonObject) =>
    describedTool({ name: 't', description, parameters }, dialect);

  it('S1 sends a schema that the provider accepts as it is, without a note', () => {
    const parameters = tool({ dates: list({ ...text, format: 'date' }) }, { required: ['dates'] });
    for (const dialect of ['openai', 'anthropic', 'compatible'] as const) {
      const $schema = 'http://json-schema.org/draft-07/schema#';
      expect(describeTo(dialect, 'd', { $schema, ...parameters })).toEqual({ description: 'd', parameters });
      if (dialect !== 'compatible') expect(describeTo(dialect, 'd', {}).description).toBe('d');
    }
  });

  it('S1 repeats the schema in the description if the parameters say less', () => {
    expect(describeTo('openai', 'd', schema)).toEqual({ description: `d\n\n${note}`, parameters: tool({}) });
    expect(describeTo('anthropic', long, schema).description).toBe(`${long}\n\n${note}`);
  });

  it('repeats the schema in the parameters if the description would be longer than OpenAI allows', () => {
    const parameters = tool({}, { description: note });
    expect(describeTo('openai', long, schema)).toEqual({ description: long, parameters });
  });
});
