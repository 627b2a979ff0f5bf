import { expect, it } from 'vitest';
import { declaredFindings } from '../../src/contract/declared-findings.ts';
import { presets } from '../../src/contract/presets.ts';
import type { JsonObject } from '../../src/types.ts';

const rows = (...properties: readonly string[]): JsonObject => ({
  type: 'array',
  items: { type: 'object', properties: Object.fromEntries(properties.map((each) => [each, {}])) },
});
const root = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties,
  ...more,
});

it.each<[string, JsonObject, string | null]>([
  ['a list named findings', root({ findings: rows('title') }), 'findings: title'],
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
  [
    'alternatives without a list',
    root({ findings: { oneOf: [{ type: 'null' }, { type: 'string' }] } }),
    null,
  ],
  [
    'references',
    root(
      { findings: { $ref: '#/$defs/list' } },
      {
        $defs: {
          list: { type: 'array', items: { $ref: '#/$defs/row' } },
          row: { allOf: [{ properties: { path: {} } }, { $ref: '#/$defs/quoted' }] },
          quoted: { properties: { quote: {} } },
        },
      },
    ),
    'findings: path quote',
  ],
  ['a circular reference', root({ findings: { $ref: '#/properties/findings' } }), null],
  ['a branch', { type: 'object', allOf: [root({ findings: rows('path') })] }, 'findings: path'],
])('declaredFindings of %s', (_, schema, expected) => {
  const found = declaredFindings(schema);
  expect(found === null ? null : `${found.list}: ${found.properties.join(' ')}`).toBe(expected);
});

it.each([
  ['verdict', 'findings', true],
  ['code-review', 'findings', true],
  ['security-review', 'findings', true],
  ['test-report', 'failures', false],
] as const)('the preset %s declares %s, with a quote: %s', (name, list, hasQuote) => {
  const found = declaredFindings(presets.get(name)?.schema ?? {});
  expect([found?.list, found?.properties.includes('quote')]).toEqual([list, hasQuote]);
});
