import { describe, expect, it } from 'vitest';
import { createContract, createGate } from '../../src/contract/contract.ts';
import { ContractError } from '../../src/errors.ts';
import type { Json, JsonObject } from '../../src/types.ts';

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
      items: { properties: { severity: { enum: ['critical', 'high', 'low'] } }, required: ['severity'] },
    },
    extra: { type: 'object', properties: { ok: { type: 'boolean' }, score: { type: 'number' } } },
  },
  required: ['passed', 'summary', 'failure_count', 'coverage', 'stats', 'findings'],
  additionalProperties: false,
  $defs: {
    stats: {
      type: 'object',
      properties: { tests: { type: 'integer', minimum: 0 }, ok: { type: 'boolean' }, runner: {} },
      required: ['tests', 'ok'],
      additionalProperties: false,
    },
  },
};
const at = (name: string, part: Json): JsonObject => ({ properties: { [name]: part } });
const each = (name: string, ...parts: readonly Json[]) => parts.map((part) => at(name, part));
const lint = async (gate: JsonObject, schema: JsonObject = SCHEMA) =>
  (await createGate({ kind: 'schema', schema: gate }, await createContract(schema))).warnings;

/** Gates that are refused before a model is asked. */
const REFUSED: readonly JsonObject[] = [
  // No assertion.
  {},
  { type: 'object' },
  { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object', properties: {}, required: [] },
  { description: 'It must have passed.', definitions: { passed: { const: true } } },
  { allOf: [{}] },
  at('passed', { description: 'must be true' }),
  // A name that a closed schema does not have.
  at('pased', { const: true }),
  at('stats', at('okay', { const: true })),
  at('stats', { required: ['test'] }),
  { allOf: [{ required: ['zzzzzzzzzzzz'] }] },
  // A literal that the schema refuses.
  at('passed', { const: 'true' }),
  at('maybe', { const: 'true' }),
  ...each('failure_count', { const: -1 }, { const: '0' }, { const: 1.5 }),
  ...each('risk', { const: 'hihg' }, { enum: ['none', 'critical'] }),
  at('commit', { const: 'HEAD' }),
  at('stats', at('ok', { const: 'yes' })),
  { allOf: [{ $ref: '#/$defs/ok' }], $defs: { ok: at('passed', { const: 1 }) } },
];

it('refuses a gate that is certainly a mistake', async () => {
  const entries = REFUSED.map(async (gate) => {
    const error: unknown = await lint(gate).catch((thrown) => thrown);
    if (!(error instanceof ContractError)) throw new Error(`accepted: ${JSON.stringify(gate)}`);
    return `${JSON.stringify(gate)}\n  ${error.message}\n`;
  });
  const text = (await Promise.all(entries)).join('\n');
  await expect(text).toMatchFileSnapshot('../golden/gates/refused.txt');
});

describe('a gate that may be intended', () => {
  it.each<JsonObject>([
    ...each('passed', { const: true }, { enum: [true] }, { not: { const: false } }),
    ...each('summary', { minLength: 20 }, { pattern: '^OK' }, { const: 'true' }),
    ...each('risk', { const: 'low' }, { enum: ['low', 'none'] }, { pattern: '^l' }),
    ...each('commit', { const: 'abcd' }, { pattern: '^abc' }),
    ...each('maybe', { const: null }, { type: 'boolean' }),
    ...each('owner', { const: 'me' }, { type: 'null' }),
    ...each('tags', { maxItems: 0 }, { contains: { const: 'x' } }, { items: false }),
    ...each('step', { maximum: 10 }, { minimum: 0.5 }, { const: 5 }),
    ...each('note', { const: 5 }, { type: 'string' }),
    ...each('coverage', { minimum: 1 }, { const: 1 }, { minimum: 80 }, { const: 80 }),
    ...each('failure_count', { const: 0 }, { maximum: 3 }, { exclusiveMaximum: 1 }),
    at('stats', at('ok', { const: true })),
    at('stats', { required: ['runner'] }),
    at('extra', at('ok', false)),
    at('findings', { items: at('severity', { const: 'none' }) }),
    at('findings', { not: { contains: at('severity', { const: 'critical' }) } }),
    { not: { required: ['owner'] } },
    { anyOf: [at('pased', { const: true })] },
  ])('is accepted without a warning: %j', async (gate) => {
    expect(await lint(gate)).toEqual([]);
  });
});

describe('a gate that is likely a mistake gets a warning', () => {
  const idle = 'The gate may check nothing: each value tried that the schema accepts meets it.';

  it.each<JsonObject>([
    ...each('failure_count', { minimum: 0 }, { type: 'integer' }, { exclusiveMinimum: -1 }),
    at('coverage', { minimum: -5, maximum: 200 }),
    ...each('passed', { type: 'boolean' }, { enum: [true, false] }),
    at('summary', { minimum: 5 }),
    at('stats', at('tests', { minimum: 0 })),
    at('risk', { enum: ['low', 'medium', 'high', 'none'] }),
  ])('if no value was found that does not meet it: %j', async (gate) => {
    expect(await lint(gate)).toEqual([idle]);
  });

  it('if it is about a name that an open schema does not declare', async () => {
    const open: JsonObject = { type: 'object', properties: { passed: { type: 'boolean' } } };
    const warning = (path: string, meant: string) =>
      `The gate is about "${path}", which the schema does not declare. Did you mean "${meant}"?`;
    expect(await lint(at('pased', { const: true }), open)).toEqual([warning('/pased', 'passed')]);
    const inner = at('extra', at('okay', { const: true }));
    expect(await lint(inner)).toEqual([warning('/extra/okay', 'ok')]);
    const many = Array.from({ length: 30 }, (_, index) => [`x${index}`, { const: true }]);
    expect(await lint({ properties: Object.fromEntries(many) }, open)).toHaveLength(5);
    expect(await lint(at('anything', { const: true }), { type: 'object' })).toEqual([]);
  });
});

it('ends for a gate that refers to itself, and for a pattern that takes too long', async () => {
  const endless = { properties: { extra: { $ref: '#' } }, required: ['passed'] };
  expect(await lint(endless)).toContainEqual(expect.stringContaining('"/extra/passed"'));
  const slow = at('summary', { enum: ['a'.repeat(40)], pattern: '^(a+)+b$' });
  expect(await lint(slow, { properties: { summary: { pattern: '^(a+)+b$' } } })).toEqual([]);
});
