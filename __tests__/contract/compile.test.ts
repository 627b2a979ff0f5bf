import { describe, expect, it } from 'vitest';
import { compile } from '../../src/contract/compile.ts';
import { ContractError } from '../../src/errors.ts';
import type { Json, JsonObject } from '../../src/types.ts';

const refusal = async (schema: Json) => {
  const error: unknown = await compile(schema, 'schema').then(
    () => null,
    (thrown) => thrown,
  );
  if (!(error instanceof ContractError)) throw new Error(`expected a ContractError, got ${error}`);
  return { stage: error.stage, message: error.message };
};

const nested = (keyword: 'properties' | 'items' | 'anyOf' | 'not', levels: number): JsonObject => {
  let schema: JsonObject = {};
  for (let i = 0; i < levels; i += 1) {
    if (keyword === 'properties') schema = { properties: { a: schema } };
    else schema = { [keyword]: keyword === 'anyOf' ? [schema] : schema };
  }
  return schema;
};

const literal = { $async: true, required: ['z'] };
const REFUSED: readonly Json[] = [
  ...[[], null, 'text', 3, true],
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
  { $schema: 'https://json-schema.org/draft/2020-12/schema', anyOf: [{ $dynamicRef: '#a' }] },
  { $schema: 7 },
  { properties: { a: { format: 5 } } },
  { properties: { a: { pattern: '[' } } },
];

describe('compile', () => {
  it('A6 S12 refuses an invalid schema at a stage, with a fix', async () => {
    const entries = REFUSED.map(async (schema) => {
      const { stage, message } = await refusal(schema);
      return `${JSON.stringify(schema)}\n  ${stage}: ${message}\n`;
    });
    const text = (await Promise.all(entries)).join('\n');
    await expect(text).toMatchFileSnapshot('../golden/schemas/refused.txt');
  });

  it('shows how to write a gate that is written like a payload as a schema', async () => {
    await expect(compile({ passed: true }, 'gate')).rejects.toThrow(
      'If it is a property of the payload, write {"properties":{"passed":{"const":true}}}.',
    );
    await expect(compile({ propertys: {} }, 'gate')).rejects.toThrow('Did you mean "properties"?');
  });

  it.each(['properties', 'items', 'anyOf', 'not'] as const)(
    'refuses a schema nested 20,000 levels in %s without a crash',
    async (keyword) => {
      expect(await refusal({ type: 'object', properties: { a: nested(keyword, 20_000) } })).toEqual({
        stage: 'root',
        message: 'The schema nests deeper than 500 levels. Use $defs and $ref.',
      });
      expect((await refusal(nested(keyword, 20_000))).stage).toBe('root');
    },
  );

  it.each([
    ['properties', 247],
    ['items', 497],
    ['anyOf', 247],
    ['not', 497],
  ] as const)('100 levels in %s compile, and %i compile or are refused', async (keyword, most) => {
    const outcomeOf = (levels: number) =>
      compile({ type: 'object', properties: { a: nested(keyword, levels) } }, 'schema').then(
        (compiled) => typeof compiled.validate({ a: 1 }).ok,
        (error: unknown) => error instanceof ContractError && error.stage,
      );
    expect(await outcomeOf(100)).toBe('boolean');
    expect(['boolean', 'compile']).toContain(await outcomeOf(most));
  });

  it('a long chain of root branches gets a message of bounded length', async () => {
    const { stage, message } = await refusal(
      JSON.parse(`${'{"allOf":['.repeat(240)}{"type":"array"}${']}'.repeat(240)}`),
    );
    expect(stage).toBe('root');
    expect(message.length).toBeLessThan(2_000);
  });

  it('S12 a property named $async, and $async inside a literal, are not keywords', async () => {
    const schema = { properties: { $async: { const: { $async: true } } }, required: ['$async'] };
    const compiled = await compile(schema, 'schema');
    expect(compiled.validate({ $async: { $async: true } })).toEqual({ ok: true });
    expect(compiled.validate({ $async: 1 }).ok).toBe(false);
  });

  it.each([
    ['http://json-schema.org/draft-07/schema#', { items: [{ format: 'date-time' }] }],
    ['https://json-schema.org/draft/2020-12/schema', { prefixItems: [{ format: 'date-time' }] }],
    ['https://json-schema.org/draft/2020-12/schema#', { prefixItems: [{ format: 'date-time' }] }],
  ])('S9d checks a known format and the items of %s', async ($schema, list) => {
    const compiled = await compile({ $schema, properties: { at: list } }, 'schema');
    expect(compiled.warnings).toEqual([]);
    expect(compiled.validate({ at: ['2026-01-02T03:04:05Z'] })).toEqual({ ok: true });
    const issues = [{ path: '/at/0', keyword: 'format' }];
    expect(compiled.validate({ at: ['nope'] })).toMatchObject({ issues });
  });

  it.each(['snowflake-id', 'constructor', '__proto__'])(
    'S9d ignores the unknown format %s with a warning',
    async (format) => {
      const compiled = await compile({ properties: { a: { items: { format } } } }, 'schema');
      expect(compiled.warnings).toEqual([
        `The format "${format}" in the schema is not known, so it is not checked.`,
      ]);
      expect(compiled.validate({ a: ['anything', 1] })).toEqual({ ok: true });
    },
  );

  it('S9d ignores literals and property names that look like formats', async () => {
    const odd = { format: 'odd' };
    const literals = { const: odd, default: odd, examples: [odd], enum: [odd] };
    expect((await compile({ properties: { format: literals } }, 'schema')).warnings).toEqual([]);
  });

  it('S9 a catastrophic pattern gives a clear issue, for values and for names', async () => {
    const evil = '^(a+)+b$';
    const text = 'a'.repeat(40);
    const issue = { path: '', keyword: 'deadline', message: expect.stringContaining('longer than 1 second') };
    const byValue = await compile({ properties: { a: { pattern: evil }, b: { pattern: evil } } }, 'schema');
    expect(byValue.validate({ a: text, b: text })).toEqual({ ok: false, errors: [], issues: [issue] });
    const byName = await compile({ patternProperties: { [evil]: { type: 'string' } } }, 'schema');
    expect(byName.validate({ [text]: 1 })).toEqual({ ok: false, errors: [], issues: [issue] });
    expect(byValue.validate({ a: 'aab' })).toEqual({ ok: true });
  });

  it.each([{ allOf: [{ $ref: '#' }] }, { properties: {}, not: { $ref: '#' } }])(
    'S9b the endless recursion of %j rejects the payload',
    async (schema) => {
      const issues = [{ path: '', keyword: 'validator' }];
      expect((await compile(schema, 'schema')).validate({})).toMatchObject({ ok: false, issues });
    },
  );

  it('S9c looks for required names among own keys only', async () => {
    const compiled = await compile({ required: ['constructor', '__proto__'] }, 'schema');
    expect(compiled.validate({}).ok).toBe(false);
    expect(compiled.validate(JSON.parse('{"__proto__":1,"constructor":2}'))).toEqual({ ok: true });
  });

  it('S10 an exception in the validator never accepts the payload', async () => {
    const compiled = await compile(
      { properties: { a: { const: { x: {} } }, b: { uniqueItems: true } } },
      'schema',
    );
    expect(compiled.validate(JSON.parse('{"a":{"valueOf":1,"x":{}}}')).ok).toBe(false);
    expect(compiled.validate({ b: [{ valueOf: 1 }, { valueOf: 1 }] }).ok).toBe(false);
  });

  it('unevaluatedProperties of 2020-12 judges the payload', async () => {
    const $schema = 'https://json-schema.org/draft/2020-12/schema';
    const anyOf = [{ properties: { a: {} } }, { properties: { b: { type: 'string' } } }];
    const { validate } = await compile({ $schema, anyOf, unevaluatedProperties: false }, 'schema');
    expect(validate({ a: 1 })).toEqual({ ok: true });
    expect(validate({ a: 1, c: 1 })).toMatchObject({ issues: [{ keyword: 'unevaluatedProperties' }] });
  });
});

describe('acceptsPart', () => {
  const names = ['a', '', '.', '..', '$id', 'properties', '%41', 'a/b', '~1', 'é 😀', 'a%/~ #"?&=+'];
  it.each<[string, JsonObject]>([
    ['draft-07', {}],
    ['draft-07 with an address', { $id: 'https://example.com/a.json#' }],
    ['2020-12', { $schema: 'https://json-schema.org/draft/2020-12/schema' }],
    ['2020-12 with an address', { $schema: 'https://json-schema.org/draft/2020-12/schema', $id: 'a.json' }],
  ])('validates with the part, whatever its name: %s', async (_, head) => {
    const parts = names.map((name): [string, JsonObject] => [name, { allOf: [{ $ref: '#/$defs/low' }] }]);
    const schema = { ...head, properties: Object.fromEntries(parts), $defs: { low: { maximum: 5 } } };
    const { acceptsPart } = await compile(schema, 'schema');
    for (const [name, part] of parts)
      expect([acceptsPart(part, 5), acceptsPart(part, 6)], name).toEqual([true, false]);
    expect([acceptsPart(schema, { a: 5 }), acceptsPart(schema, { a: 6 })]).toEqual([true, false]);
  });

  it('returns null for an unknown part, and for endless references', async () => {
    const circle = { allOf: [{ $ref: '#/$defs/circle' }] };
    const { acceptsPart } = await compile({ $defs: { circle } }, 'schema');
    expect([acceptsPart({ type: 'string' }, 'b'), acceptsPart(circle, 1)]).toEqual([null, null]);
  });
});
