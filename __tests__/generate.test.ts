import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { MERGE_OUTPUTS, OUTPUTS, TARGETS } from '../scripts/generate.ts';
import { INPUTS } from '../src/config/inputs.ts';
import { presets } from '../src/contract/presets.ts';
import { MERGE_INPUTS, MERGE_NAMES } from '../src/merge/config.ts';

const root = path.join(import.meta.dirname, '..');
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');

it.each(TARGETS)('$file matches its table byte for byte', ({ file, make }) => {
  expect(make(read(file))).toBe(read(file));
});

type Described = Readonly<Record<string, { readonly description: string; readonly default?: string }>>;

it.each([
  ['action.yml', 'dist/index.js', INPUTS],
  ['merge/action.yml', '../dist/merge.js', MERGE_INPUTS],
])('%s runs on Node 24, and has each input in order, described in 20 words', (file, main, table) => {
  const { inputs, outputs, runs }: Record<'inputs' | 'outputs' | 'runs', Described> = parse(read(file));
  expect(runs).toEqual({ using: 'node24', main });
  const expected = table.map(({ name, description, default: value }) => [
    ...[name, { description, required: false, ...(value === '' ? {} : { default: value }) }],
  ]);
  expect(Object.entries(inputs)).toEqual(expected);
  for (const [name, { description }] of Object.entries({ ...inputs, ...outputs }))
    expect(description.split(/\s+/u).length, name).toBeLessThanOrEqual(20);
  for (const [name, { description }] of Object.entries(outputs))
    expect(description, name).toMatch(/^[^\n]{20,160}\.$/u);
  // Also for a reader of YAML 1.1.
  for (const [name, { default: value = '' }] of Object.entries(inputs))
    expect(value, name).toBeTypeOf('string');
  expect(read(file)).not.toMatch(/default: (?:off|on|yes|no)$/mu);
});

it('the merge has every input that its reader knows, once, and no output that conflicts with those of a run', () => {
  expect(MERGE_INPUTS.map(({ name }) => name).toSorted()).toEqual(MERGE_NAMES.toSorted());
  expect(Object.keys(OUTPUTS)).toEqual(expect.arrayContaining(Object.keys(MERGE_OUTPUTS)));
});

it('docs/reference.md has each input in one table, and what the merge has, and docs/schemas-and-gates.md a row for each preset', () => {
  const reference = read('docs/reference.md');
  const [inputs = ''] = reference.split('<!-- /inputs -->');
  for (const { name } of INPUTS) expect(inputs.split(`\n| \`${name}\` |`), name).toHaveLength(2);
  const [, merge = ''] = reference.split('<!-- merge -->');
  for (const name of [...MERGE_NAMES, ...Object.keys(MERGE_OUTPUTS)]) expect(merge).toContain(`\`${name}\``);
  for (const name of presets.keys())
    expect(read('docs/schemas-and-gates.md')).toContain(`| [\`${name}\`](../schemas/${name}.schema.json) |`);
});
