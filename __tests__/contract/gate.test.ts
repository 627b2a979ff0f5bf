import { describe, expect, it } from 'vitest';
import { createContract } from '../../src/contract/contract.ts';
import { createGate, type GateRequest } from '../../src/contract/gate.ts';
import type { GateResult, Json, JsonObject } from '../../src/types.ts';

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
const byName = (name: string) => gate({ kind: 'property', name });
const bySchema = (given: Json) => gate({ kind: 'schema', schema: given });
const met = { status: 'met', issues: [] };
const clausesOf = ({ status, issues }: GateResult) => [status, ...issues.map(({ message }) => message)];

it('no gate has the status none', async () => {
  expect(clausesOf((await gate({ kind: 'none' })).evaluate({ passed: false }))).toEqual(['none']);
});

describe('a gate that is the name of a property', () => {
  it('is met by true only', async () => {
    const { evaluate } = await byName('passed');
    expect(evaluate({ passed: true })).toEqual(met);
    const message = '`/passed` must be true, is false';
    const issues = [{ path: '/passed', keyword: 'const', message }];
    expect(evaluate({ passed: false })).toEqual({ status: 'not_met', issues });
    for (const value of ['true', 1, null, {}, []]) expect(evaluate({ passed: value }).status).toBe('not_met');
    expect(clausesOf(evaluate({}))).toEqual(['not_met', 'the payload has no "passed"']);
    expect(evaluate(JSON.parse('{"__proto__":{"passed":true}}')).status).toBe('not_met');
  });

  it.each(['flag', 'yes', 'deep', 'further'])('accepts %s, which is declared as a boolean', async (name) => {
    expect((await byName(name)).evaluate({ [name]: true })).toEqual(met);
  });

  const advice = 'Name a boolean property, or give the gate as a JSON Schema.';
  it.each([
    ['pased', 'Did you mean "passed"?'],
    ['constructor', advice],
    ["summary == 'fine'", 'Write {"properties":{"summary":{"const":"fine"}}}.'],
    ['score >= 80', 'Write {"properties":{"score":{"minimum":80}}}.'],
    ['passed=true', 'Write {"properties":{"passed":{"const":true}}}.'],
    ['other == 1', advice],
  ])('E15 refuses the name %s at once', async (name, words) => {
    await expect(byName(name)).rejects.toThrow(
      `The gate names ${JSON.stringify(name)}, which the schema does not declare as a boolean. ${words}`,
    );
  });
});

describe('a gate that is a schema', () => {
  it('validates strictly, without coercion', async () => {
    const score = { type: 'number', minimum: 5, format: 'odd' };
    const { evaluate, warnings } = await bySchema({ properties: { score } });
    expect(warnings).toEqual(['The format "odd" in the gate is not known, so it is not checked.']);
    expect(evaluate({ score: 5, other: 1 })).toEqual(met);
    expect(clausesOf(evaluate({ score: 4 }))).toEqual(['not_met', '`/score` must be >= 5, is 4']);
    expect(evaluate({ score: '9' }).status).toBe('not_met');
  });

  it('E15 is not met when a property that it names is absent, also in a branch', async () => {
    const $defs = { g: { properties: { passed: { const: true } } } };
    const properties = { score: { minimum: 5 }, constructor: {} };
    const { evaluate } = await bySchema({ properties, allOf: [{ $ref: '#/$defs/g' }], $defs });
    const absent = ['score', 'constructor', 'passed'].map((name) => `the payload has no "${name}"`);
    expect(clausesOf(evaluate({}))).toEqual(['not_met', ...absent]);
  });

  const endless = { allOf: [{ $ref: '#' }, { minProperties: 0 }] };
  const slow = { properties: { summary: { pattern: '^(a+)+b$' } } };
  it.each<[string, Json, string]>([
    ['S9b throws', endless, ': the gate may refer to itself endlessly'],
    ['times out', slow, ' within 1 second: a pattern of the gate may be too slow'],
  ])('is not met when the validator %s', async (_, given, why) => {
    const { evaluate } = await bySchema(given);
    const clause = `the payload could not be judged${why}`;
    expect(clausesOf(evaluate({ summary: 'a'.repeat(40) }))).toEqual(['not_met', clause]);
  });
});

/** Gates on the property `a`, and values that do not meet them. */
const UNMET: readonly (readonly [gate: Json, a: Json])[] = [
  [{ const: true }, false],
  [{ const: null }, 0],
  [{ enum: ['low', 'medium'] }, 'high'],
  [{ type: 'integer' }, 1.5],
  [{ type: ['string', 'null'] }, []],
  [{ minimum: 80 }, 79.5],
  [{ maxItems: 3 }, [1, 2, 3, 4, 5]],
  [{ maxProperties: 1 }, { x: 1, y: 2 }],
  [{ additionalProperties: false }, { x: 1 }],
  [{ items: { properties: { severity: { enum: ['low'] } } } }, [{ severity: 'low' }, { severity: 'high' }]],
  [{ required: ['b'] }, {}],
  [{ pattern: '^x' }, `${'y'.repeat(200)}`],
  [{ pattern: '^x' }, 'two\n::error::lines\u202e'],
  [{ not: { const: 3 } }, 3],
  [{ contains: { const: 1 } }, [2, 3]],
  [{ items: { const: 1 } }, Array.from({ length: 100 }, () => 2)],
];

it('an unmet gate says what must hold and what the payload has, in at most 10 clauses', async () => {
  const contract = await createContract({});
  const entries = UNMET.map(async ([a, value]) => {
    const { evaluate } = await createGate({ kind: 'schema', schema: { properties: { a } } }, contract);
    const clauses = clausesOf(evaluate({ a: value })).map((clause) => `  ${clause}\n`);
    return `${JSON.stringify(a)} of ${JSON.stringify(value).slice(0, 80)}\n${clauses.join('')}`;
  });
  await expect((await Promise.all(entries)).join('\n')).toMatchFileSnapshot('../golden/gates/unmet.txt');
});
