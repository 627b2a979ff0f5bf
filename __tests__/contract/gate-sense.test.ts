import { describe, expect, it } from 'vitest';
import { createGate } from '../../src/contract/gate.ts';
import { ContractError } from '../../src/errors.ts';
import type { JsonObject } from '../../src/types.ts';

const rows = { type: 'array', items: { type: 'object', properties: { severity: { type: 'string' } } } };
const verdict = { type: 'object', properties: { ok: { type: 'boolean' } }, additionalProperties: false };
const properties = { passed: { type: 'boolean' }, verdict, rows, note: { type: 'string' } };
const closed: JsonObject = {
  type: 'object',
  properties,
  required: ['passed', 'verdict'],
  additionalProperties: false,
};
const open: JsonObject = { type: 'object', properties };

const warningsOf = async (schema: JsonObject, contract: JsonObject) =>
  (await createGate({ kind: 'schema', schema }, { schema: contract })).warnings;

describe('a gate that every payload of the schema meets', () => {
  it.each<[JsonObject, string]>([
    [
      {},
      'The gate asks for nothing: every payload meets it. Write what must hold, such as {"properties": {"passed": {"const": true}}}, or none.',
    ],
    [
      { properties: { passed: { description: 'must be true' } } },
      'The gate asks for nothing: every payload meets it, for "/properties/passed" turns nothing away. Write what must hold there, such as {"const": true}, or give none.',
    ],
    [
      { properties: { verdict: { properties: { ok: {} } } } },
      'for "/properties/verdict/properties/ok" turns',
    ],
    [{ allOf: [{}] }, 'for "/allOf/0" turns'],
    [{ anyOf: [{ required: ['note'] }, {}] }, 'for "/anyOf/1" turns'],
    [{ not: { not: {} } }, 'for "/not" turns'],
    [
      { properties: { verdict: { properties: { okay: { const: true } } } } },
      'lets nothing be at "/verdict/okay". Did you mean "ok"?',
    ],
    [
      { anyOf: [{ properties: { pased: { const: true } } }] },
      'lets nothing be at "/pased". Did you mean "passed"?',
    ],
  ])('is refused: %j', async (gate, words) => {
    const error: unknown = await warningsOf(gate, closed).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(ContractError);
    expect(error).toMatchObject({ message: expect.stringContaining(words) });
  });

  it.each<JsonObject>([{ required: ['passed'] }, { properties: { passed: { type: 'boolean' } } }])(
    'because the schema says it already is doubted, for another schema may not: %j',
    async (gate) => {
      expect(await warningsOf(gate, closed)).toEqual([
        'Every payload meets the gate: it asks for nothing that the schema does not ask for already. Write what must hold, such as {"properties": {"passed": {"const": true}}}, or none.',
      ]);
    },
  );

  it('but for one that lacks a property is doubted', async () => {
    expect(await warningsOf({ properties: { passed: {} } }, open)).toEqual([
      'The gate wants nothing but that "passed" is there, whatever it says: "/properties/passed" turns nothing away. Write what must hold there, such as {"const": true}.',
    ]);
  });
});

describe('a gate that no payload of the schema meets', () => {
  it.each<[JsonObject, string]>([
    [
      { properties: { pased: { const: true } } },
      'The gate is about "pased", which the schema does not declare, and it lets nothing else be there: no payload meets the gate. Did you mean "passed"',
    ],
    [{ allOf: [{ required: ['zzzzzzzzzzzz'] }] }, 'about "zzzzzzzzzzzz"'],
    [{ properties: { zzzzzzzzzzzz: {} } }, 'Correct the name, or declare it in the schema.'],
  ])('is refused: %j', async (gate, words) => {
    const error: unknown = await warningsOf(gate, closed).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(ContractError);
    expect(error).toMatchObject({ message: expect.stringContaining(words) });
  });
});

describe('a property that a gate names and the schema does not', () => {
  it.each<[JsonObject, string]>([
    [
      { properties: { pased: { const: true } } },
      'The gate is about "pased", which the schema does not declare: a payload without it does not meet the gate. Did you mean "passed"',
    ],
    [
      { properties: { rows: { items: { properties: { severty: { not: { const: 'high' } } } } } } },
      'The gate is about "/rows/*/severty", which the schema does not declare: where a payload has none, that part of the gate asks for nothing. Did you mean "severity"?',
    ],
    [{ not: { properties: { rows: { contains: { properties: { severty: {} } } } } } }, '"/rows/*/severty"'],
    [
      { anyOf: [{ properties: { pased: { const: true } } }, { required: ['note'] }] },
      'asks for nothing. Did',
    ],
    [
      {
        allOf: [{ $ref: '#/$defs/a' }],
        $defs: { a: { properties: { pased: {}, rows: { items: { $ref: '#/$defs/a' } } } } },
      },
      '"pased"',
    ],
  ])('is doubted where the schema takes more than it declares: %j', async (gate, words) => {
    expect(await warningsOf(gate, open)).toContainEqual(expect.stringContaining(words));
  });

  it.each<[JsonObject, JsonObject]>([
    [{ properties: { rows: { items: { properties: { severity: { const: 'low' } } } } } }, open],
    [{ properties: { rows: { items: { properties: { error: false } } } } }, open],
    [{ properties: { passed: { const: true } } }, { type: 'object' }],
    [{ properties: { pased: { const: true } } }, { ...open, additionalProperties: { type: 'boolean' } }],
    [{ properties: { pased: { const: true } } }, { ...open, patternProperties: { '^p': {} } }],
    [
      { properties: { pased: { const: true } } },
      { allOf: [open, { anyOf: [{ properties: { pased: {} } }] }] },
    ],
  ])('is not doubted where it may be meant: %j', async (gate, schema) => {
    expect(await warningsOf(gate, schema)).toEqual([]);
  });

  it('is told of a few times at most', async () => {
    const names = Array.from({ length: 30 }, (_, index) => [`x${index}`, { const: true }]);
    expect(await warningsOf({ properties: Object.fromEntries(names) }, open)).toHaveLength(5);
  });
});
