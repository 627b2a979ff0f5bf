import { describe, expect, it } from 'vitest';
import { createContract } from '../../src/contract/contract.ts';
import { createGate, type GateRequest } from '../../src/contract/gate.ts';
import { ContractError } from '../../src/errors.ts';
import type { Issue, Json, JsonObject } from '../../src/types.ts';

const schema: JsonObject = {
  properties: {
    passed: { type: 'boolean' },
    summary: { type: 'string' },
    flag: { $ref: '#/$defs/flag' },
    yes: { enum: [true, false] },
    score: { type: 'number' },
  },
  allOf: [{ properties: { deep: { const: true } } }, { anyOf: [{ $ref: '#/$defs/more' }] }],
  $defs: {
    flag: { $ref: '#/$defs/maybe' },
    maybe: { type: ['boolean', 'null'] },
    more: { properties: { further: { type: 'boolean' } } },
  },
};
const gate = async (request: GateRequest) => createGate(request, await createContract(schema));
const bySchema = (given: Json) => gate({ kind: 'schema', schema: given });
const met = { status: 'met', issues: [], words: expect.any(Array) };
const notMet = (...issues: readonly Issue[]) => ({ status: 'not_met', issues, words: expect.any(Array) });

describe('no gate', () => {
  it('has the status none', async () => {
    expect((await gate({ kind: 'none' })).evaluate({ passed: false })).toEqual({
      status: 'none',
      issues: [],
    });
  });
});

describe('a gate that is a boolean', () => {
  const ask = async (value: boolean, schema: JsonObject) =>
    createGate({ kind: 'schema', schema: value }, await createContract(schema));
  const booleans = { properties: { passed: { type: 'boolean' }, safe: { type: 'boolean' }, n: {} } };

  it.each<[boolean, JsonObject, string]>([
    [
      true,
      booleans,
      'The gate is true, which every payload meets. Write the name of the boolean property that must be true: "passed" or "safe".',
    ],
    [
      true,
      {},
      'The gate is true, which every payload meets. Write the name of a boolean property, or a JSON Schema for the payload.',
    ],
    [false, booleans, 'The gate is false, which no payload can meet. For no gate at all write off.'],
  ])('%j is refused with a message that says what to write', async (value, schema, message) => {
    await expect(ask(value, schema)).rejects.toMatchObject({ stage: 'shape', message });
  });
});

describe('a gate that is the name of a property', () => {
  it('is met by true only', async () => {
    const { evaluate } = await gate({ kind: 'property', name: 'passed' });
    expect(evaluate({ passed: true })).toEqual(met);
    const issue = { path: '/passed', keyword: 'const', message: 'must be true.' };
    for (const value of [false, 'true', 1, null, {}]) {
      expect(evaluate({ passed: value })).toEqual(notMet(issue));
    }
  });

  it('is not met when the property is absent', async () => {
    const { evaluate } = await gate({ kind: 'property', name: 'passed' });
    const message = 'the payload has no "passed", and the gate is about it.';
    expect(evaluate({})).toEqual({
      status: 'not_met',
      issues: [{ path: '', keyword: 'present', message }],
      words: ['wants `passed` to be true; the payload has none'],
    });
    expect(evaluate(JSON.parse('{"__proto__":{"passed":true}}')).status).toBe('not_met');
  });

  it.each(['passed', 'flag', 'yes', 'deep', 'further'])(
    'accepts %s, which the schema declares as a boolean',
    async (name) => {
      const { evaluate } = await gate({ kind: 'property', name });
      expect(evaluate({ [name]: true })).toEqual(met);
    },
  );

  it.each([
    ['pased', 'which the schema does not declare. Did you mean "passed"?'],
    [
      'summary',
      'which the schema does not declare as a boolean. Its boolean properties: "passed", "flag", "yes".',
    ],
    ['constructor', 'which the schema does not declare.'],
  ])('E15 refuses the name %s at once', async (name, words) => {
    const error: unknown = await gate({ kind: 'property', name }).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(ContractError);
    expect(error).toMatchObject({ message: expect.stringContaining(`The gate names "${name}", ${words}`) });
  });

  it('E15 gives an alternative when the schema has no booleans', async () => {
    await expect(createGate({ kind: 'property', name: 'x' }, await createContract({}))).rejects.toThrow(
      'It declares no boolean property: add one, or give the gate as a JSON Schema.',
    );
  });
});

describe('a gate that is a schema', () => {
  it('validates strictly, without coercion', async () => {
    const { evaluate, warnings } = await bySchema({
      properties: { score: { type: 'number', minimum: 5, format: 'odd' } },
    });
    expect(warnings).toEqual(['The format "odd" in the gate is not known, so it is not checked.']);
    expect(evaluate({ score: 5, other: 1 })).toEqual(met);
    expect(evaluate({ score: 4 })).toEqual(
      notMet({ path: '/score', keyword: 'minimum', message: 'must be >= 5.' }),
    );
    expect(evaluate({ score: '9' }).status).toBe('not_met');
  });

  it('E15 is not met when a property that it names is absent', async () => {
    const { evaluate } = await bySchema({ properties: { score: { minimum: 5 }, constructor: {} } });
    const absent = ['score', 'constructor'].map((name) => ({
      path: '',
      keyword: 'present',
      message: `the payload has no "${name}", and the gate is about it.`,
    }));
    expect(evaluate({})).toEqual(notMet(...absent));
  });

  it('E15 counts the properties of conjunctive branches, also through a $ref', async () => {
    const { evaluate } = await bySchema({
      allOf: [{ $ref: '#/$defs/g' }],
      $defs: { g: { properties: { passed: { const: true } } } },
    });
    expect(evaluate({}).status).toBe('not_met');
    expect(evaluate({ passed: true })).toEqual(met);
  });

  it.each<[string, Json]>([
    ['shape', []],
    ['root', { type: 'array' }],
    ['root', { $ref: '#/$defs/a' }],
    ['compile', { propertees: {} }],
    ['compile', { $async: true }],
  ])('is refused at the stage %s: %j', async (stage, given) => {
    const error: unknown = await bySchema(given).catch((thrown) => thrown);
    expect(error).toMatchObject({
      name: 'ContractError',
      stage,
      message: expect.stringMatching(/^The gate /),
    });
  });

  it('S9b is not met when the validator throws or times out', async () => {
    expect((await bySchema({ allOf: [{ $ref: '#' }] })).evaluate({})).toMatchObject({
      status: 'not_met',
      issues: [{ keyword: 'validator' }],
      words: [
        'broke off while judging the payload, which counts as not met: it may refer to itself endlessly',
      ],
    });
    const slow = await bySchema({ properties: { summary: { pattern: '^(a+)+b$' } } });
    expect(slow.evaluate({ summary: 'a'.repeat(40) })).toMatchObject({
      status: 'not_met',
      issues: [{ keyword: 'deadline' }],
      words: [
        'took longer than 1 second to judge the payload, which counts as not met: a pattern may be too slow',
      ],
    });
  });
});
