import { expect, it } from 'vitest';
import { declaredFindings, declaredProperties, outputNames } from '../../src/contract/declared.ts';
import { presets } from '../../src/contract/presets.ts';
import type { JsonObject } from '../../src/types.ts';

const rows = (...properties: readonly string[]): JsonObject => ({
  type: 'array',
  items: { type: 'object', properties: Object.fromEntries(properties.map((each) => [each, {}])) },
});
const root = (properties: JsonObject): JsonObject => ({ type: 'object', properties });
const $defs = {
  list: { type: 'array', items: { $ref: '#/$defs/row' } },
  row: { allOf: [{ properties: { path: {} } }, { $ref: '#/$defs/quoted' }] },
  quoted: { properties: { quote: {} } },
};
const preset = (name: string): [string, JsonObject] => [name, presets.get(name)?.schema ?? {}];

it.each<[string, JsonObject, string | null]>([
  ['findings beside another list', root({ a: rows('path'), findings: rows('title') }), 'findings: title'],
  ['the only list with a path', root({ a: rows('title'), b: rows('path', 'quote') }), 'b: path quote'],
  ['two lists with a path', root({ a: rows('path'), b: rows('path') }), null],
  ['no list', root({ passed: { type: 'boolean' } }), null],
  ['a list of texts', root({ paths: { type: 'array', items: { type: 'string' } } }), null],
  ['findings that are a text', root({ findings: { type: 'string' } }), null],
  ['findings of any shape', root({ findings: {} }), 'findings: '],
  ['findings that are false', root({ findings: false }), null],
  ['findings without items', root({ findings: { type: 'array' } }), 'findings: '],
  ['a nullable list', root({ findings: { ...rows('path'), type: ['array', 'null'] } }), 'findings: path'],
  ['alternatives', root({ findings: { anyOf: [{ type: 'null' }, rows('path')] } }), 'findings: path'],
  ['alternatives without a list', root({ findings: { oneOf: [{ type: 'null' }] } }), null],
  ['references', { ...root({ findings: { $ref: '#/$defs/list' } }), $defs }, 'findings: path quote'],
  ['a circular reference', root({ findings: { $ref: '#/properties/findings' } }), null],
  ['a branch', { type: 'object', allOf: [root({ findings: rows('path') })] }, 'findings: path'],
  [...preset('verdict'), 'findings: severity path line quote title message'],
  [...preset('code-review'), 'findings: severity category path line end_line quote title message'],
  [...preset('security-review'), 'findings: severity category cwe path line end_line quote title message'],
  [...preset('test-report'), 'failures: test path line message'],
])('declaredFindings of %s', (_, schema, expected) => {
  const found = declaredFindings(schema);
  expect(found === null ? null : `${found.list}: ${found.properties.join(' ')}`).toBe(expected);
});

it('declaredProperties returns the names of the root, then of its branches, in order and once', () => {
  const names = declaredProperties({
    properties: { z: {}, a: {} },
    allOf: [{ properties: { b: {} }, anyOf: [{ properties: { c: {} } }] }, { $ref: '#/$defs/d~1x~0%20y' }],
    anyOf: [
      true,
      { properties: { a: {}, e: {} } },
      { $ref: '#/$defs/circle' },
      ...['https://elsewhere/x', '#anchor', '#/$defs/nope', '#/anyOf/9', '#/%zz'].map(($ref) => ({ $ref })),
    ],
    oneOf: [{ properties: { f: {} } }, { $ref: '#' }],
    not: { properties: { no: {} } },
    $defs: { 'd/x~ y': { properties: { d: {} } }, circle: { $ref: '#/$defs/circle' } },
  });
  expect(names).toEqual(['z', 'a', 'b', 'c', 'd', 'e', 'f']);
});

it('outputNames keeps valid names in order, also those of Object.prototype and run', () => {
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
