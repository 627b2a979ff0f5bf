import { expect, it } from 'vitest';
import { createContract } from '../../src/contract/contract.ts';
import { createGate, type GateRequest } from '../../src/contract/gate.ts';
import { ContractError } from '../../src/errors.ts';
import type { GateResult, Json, JsonObject } from '../../src/types.ts';

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
    flag: { $ref: '#/$defs/flag' },
    yes: { enum: [true, false] },
    mark: { enum: ['fail', 'pass'] },
    findings: { type: 'array', items: { properties: { severity: { enum: ['critical', 'high', 'low'] } } } },
    extra: { type: 'object', properties: { ok: { type: 'boolean' }, score: { type: 'number' } } },
  },
  required: ['passed', 'summary', 'failure_count', 'coverage', 'stats', 'findings'],
  additionalProperties: false,
  allOf: [{ properties: { deep: { const: true } } }, { anyOf: [{ $ref: '#/$defs/more' }] }],
  $defs: {
    flag: { $ref: '#/$defs/boolean' },
    boolean: { type: ['boolean', 'null'] },
    more: { properties: { further: { type: 'boolean' } } },
    stats: {
      type: 'object',
      properties: { tests: { type: 'integer', minimum: 0 }, ok: { type: 'boolean' }, runner: {} },
      required: ['tests', 'ok'],
      additionalProperties: false,
    },
  },
};
const gate = async (request: GateRequest, schema = SCHEMA) =>
  createGate(request, await createContract(schema));
const byName = (name: string) => gate({ kind: 'property', name });
const bySchema = (given: Json, schema?: JsonObject) => gate({ kind: 'schema', schema: given }, schema);
const lint = async (given: Json, schema?: JsonObject) => (await bySchema(given, schema)).warnings;
const at = (name: string, part: Json): JsonObject => ({ properties: { [name]: part } });
const each = (name: string, ...parts: readonly Json[]) => parts.map((part) => at(name, part));
const met = { status: 'met', issues: [] };
const clausesOf = ({ status, issues }: GateResult) => [status, ...issues.map(({ message }) => message)];

it('no gate has the status none', async () => {
  expect(clausesOf((await gate({ kind: 'none' })).evaluate({ passed: false }))).toEqual(['none']);
});

it('a property as the gate is met by true only', async () => {
  const { evaluate } = await byName('passed');
  expect(evaluate({ passed: true })).toEqual(met);
  const issues = [{ path: '/passed', keyword: 'const', message: '`/passed` must be true, is false' }];
  expect(evaluate({ passed: false })).toEqual({ status: 'not_met', issues });
  for (const value of ['true', 1, null, {}, []]) expect(evaluate({ passed: value }).status).toBe('not_met');
  expect(clausesOf(evaluate({}))).toEqual(['not_met', 'the payload has no "passed"']);
  expect(evaluate(JSON.parse('{"__proto__":{"passed":true}}')).status).toBe('not_met');
});

it.each(['flag', 'yes', 'deep', 'further'])('%s is a boolean that may be the gate', async (name) => {
  expect((await byName(name)).evaluate({ [name]: true })).toEqual(met);
});

const advice = 'Name a boolean property, or give the gate as a JSON Schema.';
it.each([
  ['pased', 'Did you mean "passed"?'],
  ['constructor', advice],
  ["summary == 'fine'", 'Write {"properties":{"summary":{"const":"fine"}}}.'],
  ['coverage >= 80', 'Write {"properties":{"coverage":{"minimum":80}}}.'],
  ['passed=true', 'Write {"properties":{"passed":{"const":true}}}.'],
  ['other == 1', advice],
  ['mark', 'Write {"properties":{"mark":{"const":"pass"}}}.'],
  ['none', 'For no gate write off.'],
])('E15 the gate %s is refused at once', async (name, words) => {
  await expect(byName(name)).rejects.toThrow(
    `It names ${JSON.stringify(name)}, which the schema does not declare as a boolean. ${words}`,
  );
});

it('a schema as the gate validates strictly, without coercion', async () => {
  const score = { type: 'number', minimum: 5, format: 'odd' };
  const { evaluate, warnings } = await bySchema(at('score', score), {});
  expect(warnings).toEqual(['The format "odd" in the gate is not known, so it is not checked.']);
  expect(evaluate({ score: 5, other: 1 })).toEqual(met);
  expect(clausesOf(evaluate({ score: 4 }))).toEqual(['not_met', '`/score` must be >= 5, is 4']);
  expect(evaluate({ score: '9' }).status).toBe('not_met');
});

it('E15 a schema as the gate is not met when a property that it names is absent, also in a branch', async () => {
  const $defs = { g: at('passed', { const: true }) };
  const properties = { score: { minimum: 5 }, constructor: {} };
  const { evaluate } = await bySchema({ properties, allOf: [{ $ref: '#/$defs/g' }], $defs }, {});
  const absent = ['score', 'constructor', 'passed'].map((name) => `the payload has no "${name}"`);
  expect(clausesOf(evaluate({}))).toEqual(['not_met', ...absent]);
});

const endless = { allOf: [{ $ref: '#' }, { minProperties: 0 }] };
const slow = at('summary', { pattern: '^(a+)+b$' });
it.each<[string, Json, string]>([
  ['S9b throws', endless, ': the gate may refer to itself endlessly'],
  ['times out', slow, ' within 1 second: a pattern of the gate may be too slow'],
])('a gate is not met when its validator %s', async (_, given, why) => {
  const { evaluate } = await bySchema(given);
  const clause = `the payload could not be judged${why}`;
  expect(clausesOf(evaluate({ summary: 'a'.repeat(40) }))).toEqual(['not_met', clause]);
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
  const entries = UNMET.map(async ([a, value]) => {
    const { evaluate } = await bySchema(at('a', a), {});
    const clauses = clausesOf(evaluate({ a: value })).map((clause) => `  ${clause}\n`);
    return `${JSON.stringify(a)} of ${JSON.stringify(value).slice(0, 80)}\n${clauses.join('')}`;
  });
  await expect((await Promise.all(entries)).join('\n')).toMatchFileSnapshot('../golden/gates/unmet.txt');
});

const REFUSED: readonly JsonObject[] = [
  Object([]),
  // No assertion.
  {},
  { type: 'object' },
  { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object', properties: {}, required: [] },
  { description: 'It must have passed.', definitions: { passed: { const: true } } },
  { allOf: [{}] },
  at('passed', { description: 'must be true' }),
  // No keyword.
  ...[{ passed: true }, { propertys: {} }, { prefixItems: [] }, { unevaluatedProperties: false }],
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
])('a gate that may be intended is accepted without a warning: %j', async (gate) => {
  expect(await lint(gate)).toEqual([]);
});

const idle = 'The gate may check nothing: each value tried that the schema accepts meets it.';

it.each<JsonObject>([
  ...each('failure_count', { minimum: 0 }, { type: 'integer' }, { exclusiveMinimum: -1 }),
  at('coverage', { minimum: -5, maximum: 200 }),
  ...each('passed', { type: 'boolean' }, { enum: [true, false] }),
  at('summary', { minimum: 5 }),
  at('stats', at('tests', { minimum: 0 })),
  at('risk', { enum: ['low', 'medium', 'high', 'none'] }),
])('a gate gets a warning if no value was found that does not meet it: %j', async (gate) => {
  expect(await lint(gate)).toEqual([idle]);
});

it('a gate gets a warning if it is about a name that an open schema does not declare', async () => {
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

it('ends for a gate that refers to itself, and for a pattern that takes too long', async () => {
  const endless = { properties: { extra: { $ref: '#' } }, required: ['passed'] };
  expect(await lint(endless)).toContainEqual(expect.stringContaining('"/extra/passed"'));
  const slow = at('summary', { enum: ['a'.repeat(40)], pattern: '^(a+)+b$' });
  expect(await lint(slow, { properties: { summary: { pattern: '^(a+)+b$' } } })).toEqual([]);
});
