import { describe, expect, it, vi } from 'vitest';
import { compile, vettingObjection } from '../../src/contract/compile.ts';
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

describe('compile', () => {
  it.each<[Json, string]>([
    [[], 'an array'],
    [null, 'null'],
    ['text', 'a string'],
    [3, 'a number'],
    [true, 'a boolean'],
  ])('A6 %j must be a JSON object', async (schema, kind) => {
    expect(await refusal(schema)).toEqual({
      stage: 'shape',
      message: `The schema must be a JSON object, but it is ${kind}. Write a JSON Schema such as {"type": "object", "properties": {…}}.`,
    });
  });

  it.each(['properties', 'items', 'anyOf', 'not'] as const)(
    'a schema nested 20,000 levels in %s is refused, not a crash',
    async (keyword) => {
      expect(await refusal({ type: 'object', properties: { a: nested(keyword, 20_000) } })).toEqual({
        stage: 'root',
        message: 'The schema nests deeper than 500 levels. Make it flatter, with $defs and $ref.',
      });
      expect((await refusal(nested(keyword, 20_000))).stage).toBe('root');
    },
  );

  it.each(['properties', 'items', 'anyOf', 'not'] as const)(
    'a schema 100 levels deep in %s compiles and judges',
    async (keyword) => {
      const compiled = await compile({ type: 'object', properties: { a: nested(keyword, 100) } }, 'schema');
      expect(typeof compiled.validate({ a: 1 }).ok).toBe('boolean');
    },
  );

  it.each(['properties', 'items', 'anyOf', 'not'] as const)(
    'the deepest schema in %s compiles or is refused',
    async (keyword) => {
      const levels = keyword === 'properties' || keyword === 'anyOf' ? 247 : 497;
      const schema = { type: 'object', properties: { a: nested(keyword, levels) } };
      const outcome = await compile(schema, 'schema').then(
        (compiled) => typeof compiled.validate({ a: 1 }).ok,
        (error: unknown) => error instanceof ContractError && error.stage,
      );
      expect(['boolean', 'compile']).toContain(outcome);
    },
  );

  it('no pointers are made of the places of a deep schema in which nothing is wrong: they took a minute', () => {
    const schema: JsonObject = JSON.parse(`${'{"items":'.repeat(200)}{}${'}'.repeat(200)}`);
    const made = vi.spyOn(String.prototype, 'replaceAll');
    try {
      expect(vettingObjection(schema)).toBeNull();
      expect(made).not.toHaveBeenCalled();
    } finally {
      made.mockRestore();
    }
  });

  it('a long chain of root branches gives a message of bounded length', async () => {
    const { stage, message } = await refusal(
      JSON.parse(`${'{"allOf":['.repeat(240)}{"type":"array"}${']}'.repeat(240)}`),
    );
    expect(stage).toBe('root');
    expect(message.length).toBeLessThan(2_000);
  });

  it('a misspelt keyword is refused with the keyword that was probably meant', async () => {
    expect(await refusal({ type: 'object', propertees: {} })).toEqual({
      stage: 'compile',
      message:
        'The schema does not compile: strict mode: unknown keyword: "propertees". Did you mean "properties"? Unknown keywords are refused, because they would check nothing.',
    });
  });

  it.each<[string, JsonObject, string]>([
    [
      'a type',
      { properties: { passed: { type: 'boolen' } } },
      'The schema does not compile: the type at /properties/passed is "boolen". Did you mean "boolean"?',
    ],
    [
      'one of several types',
      { type: ['object', 'nil', 'null'] },
      'The schema does not compile: the type at the root is "nil". Did you mean "null"?',
    ],
    [
      'a word that is near none',
      { properties: { a: { items: { type: 'dictionary-like' } } } },
      'The schema does not compile: the type at /properties/a/items is "dictionary-like". The types are array, boolean, integer, null, number, object, string.',
    ],
  ])('%s that there is not is named with its place and what may be meant', async (_, schema, message) => {
    expect(await refusal(schema)).toEqual({ stage: 'compile', message });
  });

  it('a required name that a closed schema does not declare is refused: no payload could have it', async () => {
    const schema: JsonObject = {
      properties: { passed: { type: 'boolean' } },
      required: ['pased'],
      additionalProperties: false,
    };
    expect(await refusal(schema)).toEqual({
      stage: 'root',
      message:
        'The schema can never be satisfied: required names "pased", which properties does not declare and additionalProperties forbids. Did you mean "passed"?',
    });
    const { additionalProperties: _, ...open } = schema;
    expect((await compile(open, 'schema')).validate({ pased: 1 }).ok).toBe(true);
    const patterned = { ...schema, patternProperties: { '^pas': {} } };
    expect((await compile(patterned, 'schema')).validate({ pased: 1 }).ok).toBe(true);
  });

  it('a gate that is written like a payload is told how it is written as a schema', async () => {
    await expect(compile({ passed: true }, 'gate')).rejects.toThrow(
      'The gate does not compile: strict mode: unknown keyword: "passed". Did you mean "pattern"? If it is a property of the payload, write {"properties": {"passed": {"const": true}}}. Unknown keywords are refused, because they would check nothing.',
    );
    await expect(compile({ propertys: {} }, 'gate')).rejects.toThrow(
      'unknown keyword: "propertys". Did you mean "properties"? Unknown keywords are refused',
    );
  });

  it.each<[string, JsonObject]>([
    ['at the root', { $async: true }],
    ['when false', { $async: false }],
    ['in a property', { properties: { a: { $async: true } } }],
    ['in a definition', { $defs: { a: { items: { $async: true } } } }],
  ])('S12 $async %s is refused', async (_, schema) => {
    const { stage, message } = await refusal({ type: 'object', ...schema });
    expect(stage).toBe('compile');
    expect(message).toContain('Remove $async.');
  });

  it.each<[string, JsonObject]>([
    [
      'referred to in a literal',
      { default: { $async: true, required: ['z'] }, anyOf: [{ $ref: '#/default' }] },
    ],
    [
      'nested in a literal referred to',
      { default: { properties: { q: { $async: true, minProperties: 3 } } }, anyOf: [{ $ref: '#/default' }] },
    ],
  ])('S12 $async %s is refused by the compiler', async (_, schema) => {
    expect((await refusal(schema)).stage).toBe('compile');
  });

  it('S12 a property that is named $async, and $async inside a literal, are no keywords', async () => {
    const schema = { properties: { $async: { const: { $async: true } } }, required: ['$async'] };
    const compiled = await compile(schema, 'schema');
    expect(compiled.validate({ $async: { $async: true } })).toEqual({ ok: true });
    expect(compiled.validate({ $async: 1 }).ok).toBe(false);
  });

  it('S12 a remote $ref is refused, and nothing is fetched', async () => {
    expect(await refusal({ anyOf: [{ $ref: 'https://example.com/x.json' }] })).toEqual({
      stage: 'compile',
      message:
        "The schema does not compile: can't resolve reference https://example.com/x.json from id #. A $ref must lead to a definition in this same document, such as #/$defs/Name: nothing is read from elsewhere.",
    });
  });

  it('S12 a $ref to the meta-schema, which the compiler holds, is remote too', async () => {
    const { stage, message } = await refusal({
      allOf: [{ $ref: 'http://json-schema.org/draft-07/schema#' }],
    });
    expect(stage).toBe('compile');
    expect(message).toContain('/allOf/0; remote schemas are not read');
  });

  it.each(['toString', 'constructor', 'hasOwnProperty'])(
    'the keyword %s is unknown, although every object has it',
    async (keyword) => {
      const { stage, message } = await refusal({ type: 'object', [keyword]: 1 });
      expect(stage).toBe('compile');
      expect(message).toContain(`strict mode: unknown keyword: "${keyword}"`);
    },
  );

  it('a rule about __proto__, which the validator would skip, is refused', async () => {
    expect((await refusal(JSON.parse('{"properties":{"__proto__":{"type":"string"}}}'))).stage).toBe(
      'compile',
    );
  });

  it.each<[string, JsonObject]>([
    ['an invalid pattern', { properties: { a: { pattern: '[' } } }],
    ['an $id of the meta-schema', { $id: 'http://json-schema.org/draft-07/schema' }],
    ['two schemas of one $id', { $defs: { a: { $id: 'x:1' }, b: { $id: 'x:1' } } }],
    ['a number as $schema', { $schema: 7 }],
    ['a number as format', { properties: { a: { format: 5 } } }],
  ])('%s is a compile error', async (_, schema) => {
    expect((await refusal(schema)).stage).toBe('compile');
  });

  it('S9d a known format is checked', async () => {
    const schema = { properties: { at: { type: 'string', format: 'date-time' } } };
    for (const $schema of [
      'http://json-schema.org/draft-07/schema#',
      'https://json-schema.org/draft/2020-12/schema',
    ]) {
      const compiled = await compile({ $schema, ...schema }, 'schema');
      expect(compiled.warnings).toEqual([]);
      expect(compiled.validate({ at: '2026-01-02T03:04:05Z' })).toEqual({ ok: true });
      expect(compiled.validate({ at: 'nope' })).toMatchObject({
        issues: [{ path: '/at', keyword: 'format' }],
      });
    }
  });

  it.each(['snowflake-id', 'constructor', '__proto__'])(
    'S9d the unknown format %s is ignored with a warning',
    async (format) => {
      const compiled = await compile({ properties: { a: { items: { format } } } }, 'schema');
      expect(compiled.warnings).toEqual([
        `The format "${format}" in the schema is not known, so it is not checked.`,
      ]);
      expect(compiled.validate({ a: ['anything', 1] })).toEqual({ ok: true });
    },
  );

  it('S9d literals and names that look like formats are neither', async () => {
    const schema = {
      properties: {
        format: {
          const: { format: 'odd' },
          default: { format: 'odd' },
          examples: [{ format: 'odd' }],
          enum: [{ format: 'odd' }],
        },
      },
    };
    expect((await compile(schema, 'schema')).warnings).toEqual([]);
  });

  it('2020-12 is read with and without a final #', async () => {
    for (const end of ['', '#']) {
      const $schema = `https://json-schema.org/draft/2020-12/schema${end}`;
      const compiled = await compile(
        { $schema, properties: { a: { prefixItems: [{ type: 'string' }] } } },
        'schema',
      );
      expect(compiled.validate({ a: [1] }).ok).toBe(false);
    }
  });

  it('S9 a catastrophic pattern is a clear issue, for values and for names', async () => {
    const evil = '^(a+)+b$';
    const text = 'a'.repeat(40);
    const issue = { path: '', keyword: 'deadline', message: expect.stringContaining('longer than 1 second') };
    const byValue = await compile({ properties: { a: { pattern: evil }, b: { pattern: evil } } }, 'schema');
    expect(byValue.validate({ a: text, b: text })).toEqual({ ok: false, errors: [], issues: [issue] });
    const byName = await compile({ patternProperties: { [evil]: { type: 'string' } } }, 'schema');
    expect(byName.validate({ [text]: 1 })).toEqual({ ok: false, errors: [], issues: [issue] });
    expect(byValue.validate({ a: 'aab' })).toEqual({ ok: true });
  });

  it('S9b endless recursion is a rejection', async () => {
    for (const schema of [{ allOf: [{ $ref: '#' }] }, { properties: {}, not: { $ref: '#' } }]) {
      const compiled = await compile(schema, 'schema');
      expect(compiled.validate({})).toMatchObject({
        ok: false,
        issues: [{ path: '', keyword: 'validator' }],
      });
    }
  });

  it('S9c required names are looked for among own keys only', async () => {
    const compiled = await compile({ required: ['constructor', '__proto__'] }, 'schema');
    expect(compiled.validate({}).ok).toBe(false);
    expect(compiled.validate(JSON.parse('{"__proto__":1,"constructor":2}'))).toEqual({ ok: true });
  });

  it('S10 a payload cannot make the validator throw its way to acceptance', async () => {
    const compiled = await compile(
      { properties: { a: { const: { x: {} } }, b: { uniqueItems: true } } },
      'schema',
    );
    expect(compiled.validate(JSON.parse('{"a":{"valueOf":1,"x":{}}}')).ok).toBe(false);
    expect(compiled.validate({ b: [{ valueOf: 1 }, { valueOf: 1 }] }).ok).toBe(false);
  });

  it.each(['constructor', 'toString', '__proto__'])(
    'S10 unevaluatedProperties: false holds for %s too',
    async (key) => {
      const schema = {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        anyOf: [{ properties: { a: {} } }, { properties: { b: { type: 'string' } } }],
        unevaluatedProperties: false,
      };
      const compiled = await compile(schema, 'schema');
      expect(compiled.validate({ a: 1 })).toEqual({ ok: true });
      expect(compiled.validate(JSON.parse(`{"a":1,"${key}":1}`))).toEqual({
        ok: false,
        errors: [],
        issues: [
          {
            path: '',
            keyword: 'unevaluatedProperties',
            message: `the property "${key}" is not allowed here; leave it out.`,
          },
        ],
      });
    },
  );

  it('S10 unevaluatedProperties lets a declared constructor pass, and finds deep keys', async () => {
    const compiled = await compile(
      {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        anyOf: [{ properties: { constructor: {}, a: {} } }],
        unevaluatedProperties: false,
      },
      'schema',
    );
    expect(compiled.validate({ constructor: 1 })).toEqual({ ok: true });
    expect(compiled.validate({ a: [{ toString: 1 }] })).toMatchObject({
      ok: false,
      issues: [{ path: '/a/0' }],
    });
  });
});

describe('the question whether a part of a schema accepts a value', () => {
  const names = ['a', '', '.', '..', '$id', 'properties', '%41', 'a/b', '~1', 'é 😀', 'a%/~ #"?&=+'];
  it.each<[string, JsonObject]>([
    ['draft-07', {}],
    ['draft-07 with an address', { $id: 'https://example.com/a.json#' }],
    ['2020-12', { $schema: 'https://json-schema.org/draft/2020-12/schema' }],
    ['2020-12 with an address', { $schema: 'https://json-schema.org/draft/2020-12/schema', $id: 'a.json' }],
  ])('is answered by that part, whatever its name: %s', async (_, head) => {
    const parts = names.map((name): [string, JsonObject] => [name, { allOf: [{ $ref: '#/$defs/low' }] }]);
    const schema = { ...head, properties: Object.fromEntries(parts), $defs: { low: { maximum: 5 } } };
    const { acceptsPart } = await compile(schema, 'schema');
    for (const [name, part] of parts)
      expect([acceptsPart(part, 5), acceptsPart(part, 6)], name).toEqual([true, false]);
    expect([acceptsPart(schema, { a: 5 }), acceptsPart(schema, { a: 6 })]).toEqual([true, false]);
    expect([acceptsPart(true, 1), acceptsPart(false, 1)]).toEqual([true, false]);
  });

  it('has no answer for what is no part, for a pattern that does not end, and for endless references', async () => {
    const [slow, circle] = [{ pattern: '^(a+)+b$' }, { allOf: [{ $ref: '#/$defs/circle' }] }];
    const { acceptsPart } = await compile({ properties: { slow }, $defs: { circle } }, 'schema');
    expect(acceptsPart({ pattern: '^(a+)+b$' }, 'b')).toBe(null);
    expect(acceptsPart(slow, 'a'.repeat(40))).toBe(null);
    expect(acceptsPart(circle, 1)).toBe(null);
    expect(acceptsPart(slow, 'ab')).toBe(true);
  });
});
