import { describe, expect, it } from 'vitest';
import { compile } from '../../src/contract/compile.ts';
import type { JsonObject } from '../../src/types.ts';

const issues = async (schema: JsonObject, payload: JsonObject) => {
  const validation = (await compile(schema, 'schema')).validate(payload);
  const found = validation.ok ? [] : validation.issues;
  return found.map(({ path, keyword, message }) => `${path} ${keyword}: ${message}`);
};

const TEXT = { type: 'string' };
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
  [{ propertyNames: { pattern: '^x' } }, { y: 1 }],
  // Those inside branches come after those outside.
  [{ properties: { a: { anyOf: [TEXT, { type: 'null' }] }, b: TEXT } }, { a: 1, b: 1 }],
  // At most ten are listed, and the last one counts the others.
  [{ additionalProperties: TEXT }, Object.fromEntries([...'abcdefghijkl'].map((key) => [key, 1]))],
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

  it('never quote a value of the payload, and limit names and lists', async () => {
    const secret = 'canary-value';
    const parts = [
      ...[{ enum: Array.from({ length: 30 }, (_, i) => i) }, { const: 1 }, { pattern: '^x' }],
      ...[{ maxLength: 1 }, { format: 'date' }, { not: {} }, { oneOf: [true, true] }],
    ];
    const payload = Object.fromEntries([...'abcdefg'].map((name) => [name, secret]));
    const properties = Object.fromEntries([...'abcdefg'].map((name, at) => [name, parts[at] ?? {}]));
    const schema = { properties, additionalProperties: { uniqueItems: true } };
    const found = await issues(schema, { ...payload, h: [secret, secret] });
    expect(found.length).toBe(8);
    expect(found.join('\n')).not.toContain(secret);
    expect(found.find((issue) => issue.startsWith('/a '))).toContain('19 and 10 more');
    const long = await issues({ additionalProperties: false }, { ['k'.repeat(10_000)]: 1 });
    expect(long[0]?.length).toBeLessThan(250);
  });
});
