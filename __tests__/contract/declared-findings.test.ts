import { expect, it } from 'vitest';
import { declaredFindings } from '../../src/contract/declared.ts';
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
