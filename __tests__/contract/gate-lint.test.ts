import { Ajv } from 'ajv';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { options } from '../../src/contract/ajv.ts';
import { type Compiled, compile } from '../../src/contract/compile.ts';
import { createContract } from '../../src/contract/contract.ts';
import { createGate } from '../../src/contract/gate.ts';
import { decideGate } from '../../src/contract/gate-lint.ts';
import { ContractError } from '../../src/errors.ts';
import type { Json, JsonObject } from '../../src/types.ts';

/** A schema as users write them, with properties of each type, required and optional ones. */
const SCHEMA: JsonObject = {
  type: 'object',
  properties: {
    passed: { type: 'boolean' },
    summary: { type: 'string', minLength: 1 },
    failure_count: { type: 'integer', minimum: 0 },
    coverage: { type: 'number', minimum: 0, maximum: 100 },
    risk: { enum: ['low', 'medium', 'high'] },
    commit: { type: 'string', pattern: '^[0-9a-f]{4,40}$' },
    maybe: { anyOf: [{ type: 'boolean' }, { type: 'null' }] },
    owner: { type: ['string', 'null'] },
    tags: { type: 'array', items: { type: 'string' }, maxItems: 5 },
    stats: { $ref: '#/$defs/stats' },
    step: { type: 'integer', multipleOf: 5 },
    note: {},
    findings: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          severity: { enum: ['critical', 'high', 'low'] },
          line: { type: 'integer', minimum: 1 },
        },
        required: ['severity'],
        additionalProperties: false,
      },
    },
    extra: { type: 'object', properties: { ok: { type: 'boolean' }, score: { type: 'number' } } },
  },
  required: ['passed', 'summary', 'failure_count', 'coverage', 'stats', 'findings'],
  additionalProperties: false,
  $defs: {
    stats: {
      type: 'object',
      properties: {
        tests: { type: 'integer', minimum: 0 },
        ok: { type: 'boolean' },
        runner: { type: 'string' },
      },
      required: ['tests', 'ok'],
      additionalProperties: false,
    },
  },
};
const at = (name: string, part: Json): JsonObject => ({ properties: { [name]: part } });
const lint = async (gate: JsonObject, schema: JsonObject = SCHEMA) =>
  (await createGate({ kind: 'schema', schema: gate }, await createContract(schema))).warnings;

/** The message of a gate that is refused before the first request. */
async function refusalOf(gate: JsonObject, schema = SCHEMA): Promise<string> {
  const error: unknown = await lint(gate, schema).catch((thrown) => thrown);
  if (!(error instanceof ContractError)) throw new Error(`accepted: ${JSON.stringify(gate)}`);
  return error.message;
}

/** Compares each gate and its message with the golden file. */
async function expectRefusals(name: string, gates: readonly JsonObject[]): Promise<void> {
  const entries = gates.map(async (gate) => `${JSON.stringify(gate)}\n  ${await refusalOf(gate)}\n`);
  const text = (await Promise.all(entries)).join('\n');
  await expect(text).toMatchFileSnapshot(`../golden/gates/${name}.txt`);
}

const NEVER_MET: readonly JsonObject[] = [
  at('passed', { const: 'true' }),
  at('failure_count', { const: -1 }),
  at('failure_count', { const: '0' }),
  at('failure_count', { const: 1.5 }),
  at('failure_count', { maximum: -1 }),
  at('coverage', { minimum: 101 }),
  at('coverage', { exclusiveMinimum: 100 }),
  at('coverage', { minimum: 5, maximum: 3 }),
  at('failure_count', { exclusiveMinimum: 0, exclusiveMaximum: 1 }),
  at('summary', { const: 5 }),
  at('summary', { type: 'integer' }),
  at('risk', { const: 'hihg' }),
  at('risk', { enum: ['none', 'critical'] }),
  at('commit', { const: 'HEAD' }),
  at('maybe', { const: 'true' }),
  at('owner', { const: 5 }),
  at('stats', at('ok', { const: 'yes' })),
  at('stats', { properties: { tests: { maximum: -1 } }, required: ['tests'] }),
  at('stats', { required: ['test'] }),
  at('pased', { const: true }),
  { allOf: [{ required: ['zzzzzzzzzzzz'] }] },
  at('passed', false),
  at('passed', { not: {} }),
  { not: {} },
  { properties: { passed: { const: true } }, additionalProperties: false },
  { allOf: [at('coverage', { minimum: 80 }), at('coverage', { maximum: 70 })] },
  { allOf: [{ $ref: '#/$defs/ok' }], $defs: { ok: at('passed', { const: 1 }) } },
];

it('refuses a gate that no payload can meet', async () => {
  await expectRefusals('never-met', NEVER_MET);
});

const ALWAYS_MET: readonly JsonObject[] = [
  {},
  { type: 'object' },
  { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object', properties: {}, required: [] },
  { description: 'It must have passed.', definitions: { passed: { const: true } } },
  at('failure_count', { minimum: 0 }),
  at('failure_count', { type: 'integer' }),
  at('failure_count', { exclusiveMinimum: -1 }),
  at('coverage', { maximum: 100 }),
  at('coverage', { minimum: -5, maximum: 200 }),
  at('passed', { type: 'boolean' }),
  at('passed', { enum: [true, false] }),
  at('passed', { anyOf: [{ const: true }, { const: false }] }),
  at('passed', { not: { const: 'false' } }),
  at('passed', { description: 'must be true' }),
  at('summary', { minimum: 5 }),
  at('summary', { minLength: 1 }),
  at('stats', at('tests', { minimum: 0 })),
  at('stats', at('okay', { const: true })),
  at('findings', { items: at('severity', { enum: ['critical', 'high', 'low'] }) }),
  { required: ['passed'] },
  { minimum: 5, maximum: 3 },
  { allOf: [{}] },
];

describe('a gate that every payload meets is refused', () => {
  it('with the message that it checks nothing', async () => {
    await expectRefusals('always-met', ALWAYS_MET);
  });

  it.each([{}, ...[true, {}, false].map((additionalProperties) => ({ additionalProperties }))])(
    'when it is a copy of the schema, with %j',
    async (others) => {
      const properties = { passed: { type: 'boolean' }, summary: { type: 'string' } };
      const copy = { type: 'object', properties, required: ['passed', 'summary'], ...others };
      expect(await refusalOf(copy, copy)).toContain('The gate checks nothing');
    },
  );
});

describe('a gate that may be intended is accepted', () => {
  const single: readonly JsonObject[] = [
    ...[{ const: true }, { enum: [true] }, { not: { const: false } }].map((part) => at('passed', part)),
    ...[{ minLength: 20 }, { pattern: '^OK' }, { const: 'true' }].map((part) => at('summary', part)),
    ...[{ const: 'low' }, { enum: ['low', 'none'] }, { pattern: '^l' }].map((part) => at('risk', part)),
    ...[{ const: 'abcd' }, { pattern: '^abc' }, { minLength: 40 }].map((part) => at('commit', part)),
    ...[{ const: null }, { type: 'boolean' }].map((part) => at('maybe', part)),
    ...[{ const: 'me' }, { type: 'null' }, { minLength: 1 }].map((part) => at('owner', part)),
    ...[{ maxItems: 0 }, { contains: { const: 'x' } }, { items: false }].map((part) => at('tags', part)),
    ...[{ maximum: 10 }, { minimum: 0.5 }, { const: 5 }].map((part) => at('step', part)),
    ...[{ const: 5 }, { minimum: 5, maximum: 3 }, { type: 'string' }].map((part) => at('note', part)),
    ...[0.5, 1, 80].flatMap((number) => [
      at('coverage', { minimum: number }),
      at('coverage', { const: number }),
    ]),
    ...[{ const: 0 }, { maximum: 3 }, { minimum: 0.5 }].map((part) => at('failure_count', part)),
    at('stats', at('ok', { const: true })),
    at('stats', { required: ['runner'] }),
    at('stats', at('runner', { const: 5 })),
    at('extra', at('ok', { const: 'true' })),
    at('extra', at('other', false)),
    at('findings', { items: at('severity', { const: 'none' }) }),
    at('findings', { contains: at('severity', { const: 'critical' }) }),
    at('findings', { not: { contains: at('severity', { const: 'critical' }) } }),
  ];
  it.each<JsonObject>([
    at('summary', { maxLength: 0 }),
    at('tags', { minItems: 6 }),
    at('risk', { type: 'boolean' }),
    { anyOf: [{ required: ['note'] }, {}] },
    { not: { not: {} } },
  ])('when only more than a keyword comparison would refuse it: %j', async (gate) => {
    expect(await lint(gate)).toEqual([]);
  });

  it.each(single)('%j', async (gate) => {
    await lint(gate);
  });
});

describe('a gate that is likely a mistake gets a warning', () => {
  it.each<[JsonObject, string]>([
    [
      at('note', {}),
      'The gate only asks that `note` be present, whatever the value. Write what the value must be, such as {"const": true}.',
    ],
    [at('step', { multipleOf: 5 }), 'The gate only asks that `step` be present'],
    [
      at('extra', at('okay', { const: true })),
      'The gate is about `/extra/okay`, which the schema does not declare: a payload without it meets that part of the gate. Did you mean `ok`?',
    ],
    [{ not: at('extra', at('scores', { const: 1 })) }, '`/extra/scores`'],
    [{ anyOf: [at('pased', { const: true })] }, 'Did you mean `passed`?'],
  ])('for %j', async (gate, words) => {
    expect(await lint(gate)).toEqual([expect.stringContaining(words)]);
  });

  it('for names that an open schema does not declare, at most 5 times', async () => {
    const open: JsonObject = { type: 'object', properties: { passed: { type: 'boolean' } } };
    expect(await lint(at('pased', { const: true }), open)).toEqual([
      'The gate is about `pased`, which the schema does not declare: a payload without it does not meet the gate. Did you mean `passed`?',
    ]);
    const many = Array.from({ length: 30 }, (_, index) => [`x${index}`, { const: true }]);
    expect(await lint({ properties: Object.fromEntries(many) }, open)).toHaveLength(5);
    expect(await lint(at('pased', { const: true }), { ...open, additionalProperties: {} })).toEqual([]);
    expect(await lint(at('anything', { const: true }), { type: 'object' })).toEqual([]);
  });
});

const names = fc.constantFrom('a', 'b', 'c');
const scalar = fc.constantFrom<Json>(true, false, null, 0, 1, 2, 5, -1, 1.5, 'x', 'xy', '');
const size = fc.constantFrom(0, 1, 2, 3);
const value = fc.oneof(
  { weight: 6, arbitrary: scalar },
  { weight: 1, arbitrary: fc.array(scalar, { maxLength: 3 }) },
  { weight: 2, arbitrary: fc.dictionary(names, scalar, { maxKeys: 3 }) },
);
const types = fc.constantFrom<Json>('boolean', 'integer', 'number', 'string', 'array', 'object', 'null', [
  'boolean',
  'null',
]);
const { part } = fc.letrec<{ part: Json; node: JsonObject }>((tie) => {
  const keywords: readonly (readonly [names: string, values: fc.Arbitrary<Json>])[] = [
    ['type', types],
    ['const', value],
    ['enum', fc.uniqueArray(value, { minLength: 1, maxLength: 3, selector: JSON.stringify })],
    ['minimum maximum exclusiveMinimum exclusiveMaximum', fc.constantFrom<Json>(0, 0.5, 1, 2, 3)],
    ['minLength maxLength minItems maxItems minProperties maxProperties', size],
    ['multipleOf', fc.constantFrom<Json>(1, 2)],
    ['pattern', fc.constantFrom<Json>('^x', 'y$')],
    ['uniqueItems', fc.boolean()],
    ['$ref', fc.constantFrom<Json>('#/$defs/one', '#/$defs/two')],
    ['required', fc.uniqueArray(names, { maxLength: 2 })],
    ['properties dependencies', fc.dictionary(names, tie('part'), { maxKeys: 2 })],
    ['allOf anyOf oneOf', fc.array(tie('part'), { minLength: 1, maxLength: 2 })],
    ['not items propertyNames additionalProperties contains', tie('part')],
    ['additionalProperties', fc.constant<Json>(false)],
  ];
  const keyword = fc.oneof(
    { maxDepth: 3 },
    ...keywords.map(([list, values]) => fc.tuple(fc.constantFrom(...list.split(' ')), values)),
  );
  return {
    part: fc.oneof({ maxDepth: 3 }, fc.boolean(), { weight: 8, arbitrary: tie('node') }),
    node: fc.array(keyword, { maxLength: 3 }).map((entries): JsonObject => Object.fromEntries(entries)),
  };
});
const root = fc
  .record({
    properties: fc.dictionary(names, part, { maxKeys: 3 }),
    required: fc.uniqueArray(names, { maxLength: 3 }),
    more: fc.array(part, { maxLength: 1 }),
    isClosed: fc.boolean(),
    one: part,
    two: part,
  })
  .map(
    ({ properties, required, more, isClosed, one, two }): JsonObject => ({
      properties,
      required,
      ...(more.length > 0 ? { allOf: more } : {}),
      ...(isClosed ? { additionalProperties: false } : {}),
      $defs: { one, two },
    }),
  );
const some: readonly (Json | undefined)[] = [
  ...[undefined, true, false, null, 0, 1, 2, 5, -1, 1.5, 'x', 'xy', ''],
  ...[[], [1], [1, 1, 'x'], {}, { a: 1 }, { a: true, b: 'x' }],
];
const few: readonly (Json | undefined)[] = [undefined, true, 1, 'x', { a: 2 }];
/** Payloads with the properties a, b and c, each absent or of any type. */
const PAYLOADS = some.flatMap((a) =>
  few.flatMap((b) =>
    few.map((c) => Object.fromEntries(Object.entries({ a, b, c }).filter(([, each]) => each !== undefined))),
  ),
);
const RUNS = Number(process.env['FUZZ_RUNS'] ?? 400);

const AJV = new Ajv({
  ...options,
  strictSchema: false,
  allErrors: false,
  meta: false,
  validateSchema: false,
});

/** Validates with a compiled schema; an exception counts as invalid. */
function validator(schema: object): (payload: unknown) => boolean {
  const validate = AJV.compile(schema);
  return (payload) => {
    try {
      return validate(payload) === true;
    } catch {
      return false;
    }
  };
}

const modes = fc.constantFrom('other', 'other', 'same', 'part', 'tighter', 'wider');

/** A schema with every limit from below moved up by a number, and every limit from above down. */
function shift(schema: JsonObject, by: number): JsonObject {
  return JSON.parse(
    JSON.stringify(schema).replace(
      /("(?:(min)|max|exclusiveM(?:(in)|ax))[A-Za-z]+"):(\d+(?:\.\d+)?)/gu,
      (_, keyword: string, min?: string, exclusive?: string, limit = '0') =>
        `${keyword}:${Math.max(0, Number(limit) + (min === undefined && exclusive === undefined ? -by : by))}`,
    ),
  );
}

/** The compiled schema, or null when it is refused. */
async function compiled(schema: JsonObject): Promise<Compiled | null> {
  return compile(schema, 'schema').catch((error: unknown) => {
    expect(error).toBeInstanceOf(ContractError);
    return null;
  });
}

describe('for random schemas and gates', () => {
  it('an "always" gate is met by every payload, and a "never" gate by none', async () => {
    const count = { always: 0, never: 0, maybe: 0, tried: 0 };
    await fc.assert(
      fc.asyncProperty(root, root, modes, async (ofSchema, other, mode) => {
        // A copy of the schema, or a part of it, is often a gate that is always met.
        const { properties = {}, $defs = {} } = ofSchema;
        const part = { properties, $defs };
        const ofGate = { other, same: ofSchema, part, tighter: shift(part, 1), wider: shift(part, -1) }[mode];
        const [schema, gate] = [await compiled(ofSchema), await compiled(ofGate)];
        if (schema === null || gate === null) return;
        const named = Object.keys(Object(ofGate['properties']));
        const { answer, conflict, missing } = decideGate(gate, schema, named);
        count[answer] += 1;
        expect(conflict !== null).toBe(answer === 'never');
        if (answer === 'maybe') return;
        const [accepts, meets] = [validator(ofSchema), validator(ofGate)];
        for (const payload of PAYLOADS.filter(accepts)) {
          count.tried += 1;
          const isMet = meets(payload) && named.every((name) => Object.hasOwn(payload, name));
          if (answer === 'never' && isMet) expect({ ofSchema, ofGate, payload }).toBe('not met');
          if (answer === 'always' && !isMet && !missing.some((name) => !Object.hasOwn(payload, name)))
            expect({ ofSchema, ofGate, payload }).toBe('met');
        }
      }),
      { numRuns: RUNS },
    );
    expect(count.always).toBeGreaterThan(RUNS / 20);
    expect(count.never).toBeGreaterThan(RUNS / 20);
    expect(count.tried).toBeGreaterThan(RUNS);
  });
});
