import { describe, expect, it } from 'vitest';
import { compile } from '../../src/contract/compile.ts';
import type { JsonObject } from '../../src/types.ts';

const issues = async (schema: JsonObject, payload: JsonObject) => {
  const validation = (await compile(schema, 'schema')).validate(payload);
  return validation.ok
    ? []
    : validation.issues.map(({ path, keyword, message }) => `${path} ${keyword}: ${message}`);
};

describe('issues', () => {
  it.each<[JsonObject, JsonObject, string]>([
    [{ required: ['a'] }, {}, ' required: the required property "a" is missing; there are no keys here.'],
    [
      { additionalProperties: false },
      { x: 1 },
      ' additionalProperties: the property "x" is not allowed here; leave it out.',
    ],
    [
      { properties: { a: { type: ['array', 'null'] } } },
      { a: 'x' },
      '/a type: must be array or null, but is a string; write it as JSON, without quotes around it.',
    ],
    [{ properties: { a: { type: 'string' } } }, { a: [] }, '/a type: must be string, but is an array.'],
    [{ properties: { a: { type: 'integer' } } }, { a: 1.5 }, '/a type: must be integer, but is a number.'],
    [
      { properties: { a: { enum: ['x', 1, null] } } },
      { a: 'y' },
      '/a enum: must be one of "x", 1, null, exactly as written.',
    ],
    [{ properties: { a: { const: { b: 1 } } } }, { a: 'y' }, '/a const: must be exactly {"b":1}.'],
    [{ properties: { a: { pattern: '^x' } } }, { a: 'y' }, '/a pattern: must match pattern "^x".'],
    [{ properties: { a: false } }, { a: 'y' }, '/a false schema: nothing is allowed here; leave it out.'],
    [{ minProperties: 1 }, {}, ' minProperties: must NOT have fewer than 1 properties.'],
  ])('of %j in %j', async (schema, payload, issue) => {
    expect(await issues(schema, payload)).toEqual([issue]);
  });

  it('of names say which name', async () => {
    expect(await issues({ propertyNames: { pattern: '^x' } }, { y: 1 })).toEqual([
      ' pattern: the property name "y" must match pattern "^x".',
      ' propertyNames: the property name "y" is not allowed.',
    ]);
  });

  it('inside branches come after those outside', async () => {
    const found = await issues(
      { properties: { a: { anyOf: [{ type: 'string' }, { type: 'null' }] }, b: { type: 'string' } } },
      { a: 1, b: 1 },
    );
    expect(found.map((issue) => issue.split(':')[0])).toEqual(['/a anyOf', '/b type', '/a type', '/a type']);
  });

  it('are ten at most, and the last says how many more there are', async () => {
    const found = await issues(
      { additionalProperties: { type: 'string' } },
      Object.fromEntries([...'abcdefghijkl'].map((key) => [key, 1])),
    );
    expect(found.length).toBe(10);
    expect(found[9]).toBe('/j type: must be string, but is a number. (2 more issues not listed.)');
  });

  it('never quote a value of the payload, and cap names and lists', async () => {
    const secret = 'canary-value';
    const schema = {
      properties: {
        a: { enum: Array.from({ length: 30 }, (_, i) => i) },
        b: { const: 1 },
        c: { pattern: '^x' },
        d: { maxLength: 1 },
        e: { format: 'date' },
        f: { not: {} },
        g: { oneOf: [true, true] },
      },
      additionalProperties: { uniqueItems: true },
    };
    const payload = {
      a: secret,
      b: secret,
      c: secret,
      d: secret,
      e: secret,
      f: secret,
      g: secret,
      h: [secret, secret],
    };
    const found = await issues(schema, payload);
    expect(found.length).toBe(8);
    expect(found.join('\n')).not.toContain(secret);
    expect(found.find((issue) => issue.startsWith('/a '))).toContain('19 and 10 more');
    const long = await issues({ additionalProperties: false }, { ['k'.repeat(10_000)]: 1 });
    expect(long[0]?.length).toBeLessThan(250);
  });
});
