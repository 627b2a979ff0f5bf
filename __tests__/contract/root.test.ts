import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createContract } from '../../src/contract/contract.ts';
import { declaredProperties, outputNames } from '../../src/contract/declared.ts';
import { rootObjection } from '../../src/contract/root.ts';
import { resolveLocal } from '../../src/text/schema-walk.ts';
import type { Json, JsonObject } from '../../src/types.ts';

interface Row {
  readonly schema: Json;
  readonly expect: 'accept' | 'reject';
  readonly why: string;
  readonly stage?: string;
  readonly message?: string;
}

const file = new URL('../fixtures/root-schemas.json', import.meta.url);
const rows: readonly Row[] = JSON.parse(readFileSync(file, 'utf8'));

it.each(rows)('A13 row $#: $expect, $why', async ({ schema, stage, message = '', ...row }) => {
  const created = createContract(schema).then(() => 'accepted');
  if (row.expect === 'accept') expect(await created).toBe('accepted');
  else
    await expect(created).rejects.toMatchObject({
      name: 'ContractError',
      stage,
      message: expect.stringContaining(message),
    });
});

const REFUSED: readonly JsonObject[] = [
  ...[{ type: 'array' }, { type: null }, { const: 1 }, { enum: [] }, { anyOf: [] }],
  ...[{ anyOf: [{ type: 'string' }, false] }, { allOf: [true, { oneOf: [false] }] }, { allOf: [3] }],
  { not: { type: ['null', 'object'], description: 'narrows nothing' } },
  JSON.parse('{"if":true,"then":{"type":"string"}}'),
  { if: false, else: false },
  ...[{ $ref: '#/$defs/A' }, { $ref: './other.json' }, { $ref: 'defs.json' }],
  ...[{ $ref: './other.json#/$defs/A' }, { $ref: 'https://example.com/x.json' }],
];

describe('rootObjection', () => {
  it('refuses a schema that admits no object, with its path and a fix', async () => {
    const entries = REFUSED.map((schema) => `${JSON.stringify(schema)}\n  ${rootObjection(schema)}\n`);
    await expect(entries.join('\n')).toMatchFileSnapshot('../golden/schemas/roots-refused.txt');
  });
});

it('declaredProperties returns the names of the root, then of its branches, in order and once', () => {
  const names = declaredProperties({
    properties: { z: {}, a: {} },
    allOf: [{ properties: { b: {} }, anyOf: [{ properties: { c: {} } }] }, { $ref: '#/$defs/d~1x' }],
    anyOf: [
      true,
      { properties: { a: {}, e: {} } },
      { $ref: '#/$defs/circle' },
      { $ref: 'https://elsewhere/x' },
    ],
    oneOf: [{ properties: { f: {} } }, { $ref: '#' }],
    not: { properties: { no: {} } },
    $defs: { 'd/x': { properties: { d: {} } }, circle: { $ref: '#/$defs/circle' } },
  });
  expect(names).toEqual(['z', 'a', 'b', 'c', 'd', 'e', 'f']);
});

describe('resolveLocal', () => {
  const x = { title: 'x' };
  const y = { title: 'y' };
  const root = { $defs: { 'a/b~ c': x, list: [y], again: { $ref: '#/$defs/list/0' } } };

  it.each<[string, JsonObject | null]>([
    ['#', root],
    ['#/$defs/a~1b~0%20c', x],
    ['#/$defs/again', y],
    ...['#/$defs/nope', '#/constructor', '#anchor', 'https://x/y', '#/$defs/list/7', '#/%zz'].map(
      ($ref): [string, null] => [$ref, null],
    ),
  ])('of %s is %j', ($ref, target) => {
    expect(resolveLocal(root, { $ref })).toBe(target);
  });
});

describe('outputNames', () => {
  it('keeps valid names in order, also those of Object.prototype and run', () => {
    const names = ['b', 'a', '_x-1', 'A2', 'constructor', '__proto__', 'run', 'runs', 'run_x'];
    expect(outputNames(names)).toEqual({ names, warnings: [] });
  });

  it.each([
    ...['', '1a', 'a.b', 'a b', 'ä', 'a\nb', 'a\n', '-a', 'structured_output', 'Structured_Output'],
    ...['run-turns', 'RUN-x'],
  ])('P4 gives %j no output of its own, and a warning', (name) => {
    const warning = `The property ${JSON.stringify(name)} gets no step output of its own`;
    expect(outputNames(['ok', name])).toEqual({
      names: ['ok'],
      warnings: [expect.stringContaining(warning)],
    });
  });

  it('P4 gives no output to names that differ only in case', () => {
    const { names, warnings } = outputNames(['Passed', 'x', 'passed', 'PASSED']);
    expect([names, warnings.length]).toEqual([['x'], 3]);
    expect(warnings[1]).toContain('"Passed" is declared too');
  });
});
