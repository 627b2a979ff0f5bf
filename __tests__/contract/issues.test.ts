import { describe, expect, it } from 'vitest';
import { compile } from '../../src/contract/compile.ts';
import type { JsonObject } from '../../src/types.ts';

const issues = async (schema: JsonObject, payload: JsonObject) => {
  const validation = (await compile(schema, 'schema')).validate(payload);
  return validation.ok
    ? []
    : validation.issues.map(({ path, keyword, message }) => `${path} ${keyword}: ${message}`);
};

const ROWS: readonly (readonly [schema: JsonObject, payload: JsonObject])[] = [
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
];

describe('issues', () => {
  it('name the path, the keyword and a fix', async () => {
    const entries = ROWS.map(async ([schema, payload]) =>
      [schema, payload, ...(await issues(schema, payload))]
        .map((each) => (typeof each === 'string' ? `  ${each}\n` : `${JSON.stringify(each)}\n`))
        .join(''),
    );
    const text = (await Promise.all(entries)).join('\n');
    await expect(text).toMatchFileSnapshot('../golden/schemas/issues.txt');
  });

  it('of property names say which name', async () => {
    expect(await issues({ propertyNames: { pattern: '^x' } }, { y: 1 })).toEqual([
      ' pattern: the property name "y" must match pattern "^x".',
      ' propertyNames: property name must be valid.',
    ]);
  });

  it('inside branches come after those outside', async () => {
    const found = await issues(
      { properties: { a: { anyOf: [{ type: 'string' }, { type: 'null' }] }, b: { type: 'string' } } },
      { a: 1, b: 1 },
    );
    expect(found.map((issue) => issue.split(':')[0])).toEqual(['/a anyOf', '/b type', '/a type', '/a type']);
  });

  it('are limited to ten, and the last one counts the others', async () => {
    const found = await issues(
      { additionalProperties: { type: 'string' } },
      Object.fromEntries([...'abcdefghijkl'].map((key) => [key, 1])),
    );
    expect(found.length).toBe(10);
    expect(found[9]).toBe('/j type: must be string, but is a number. (2 more not listed)');
  });

  it('never quote a value of the payload, and limit names and lists', async () => {
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
      ...Object.fromEntries([...'abcdefg'].map((name) => [name, secret])),
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
