import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { MERGE_OUTPUTS, OUTPUTS, TARGETS } from '../scripts/generate.ts';
import { INPUTS } from '../src/config/inputs.ts';
import { presets } from '../src/contract/presets.ts';
import { MERGE_INPUTS, MERGE_NAMES } from '../src/merge/config.ts';

const root = path.join(import.meta.dirname, '..');
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');

describe('generated files', () => {
  it.each(TARGETS)('$file matches its table byte for byte', ({ file, make }) => {
    expect(make(read(file))).toBe(read(file));
  });
});

interface Manifest {
  readonly inputs: Readonly<Record<string, { readonly description: string; readonly default?: string }>>;
  readonly outputs: Readonly<Record<string, { readonly description: string }>>;
  readonly runs: unknown;
}

it.each([
  ['action.yml', 'dist/index.js'],
  ['merge/action.yml', '../dist/merge.js'],
])('%s runs on Node 24, and describes each input and output in 20 words', (file, main) => {
  const { inputs, outputs, runs }: Manifest = parse(read(file));
  expect(runs).toEqual({ using: 'node24', main });
  for (const [name, { description }] of Object.entries({ ...inputs, ...outputs }))
    expect(description.split(/\s+/u).length, name).toBeLessThanOrEqual(20);
  // Also for a reader of YAML 1.1.
  for (const [name, { default: value = '' }] of Object.entries(inputs))
    expect(value, name).toBeTypeOf('string');
  expect(read(file)).not.toMatch(/default: (?:off|on|yes|no)$/mu);
});

describe('action.yml', () => {
  const action: unknown = parse(read('action.yml'));

  it('has every input with its default and description, in the order of the table', () => {
    const expected = INPUTS.map((input) => [
      input.name,
      {
        description: input.description,
        required: false,
        ...(input.default === '' ? {} : { default: input.default }),
      },
    ]);
    expect(action).toMatchObject({ inputs: Object.fromEntries(expected) });
  });
});

describe('merge/action.yml', () => {
  it('has every input that its reader knows, once', () => {
    expect(MERGE_INPUTS.map(({ name }) => name).toSorted()).toEqual(MERGE_NAMES.toSorted());
  });

  it('declares no output that conflicts with those of a run', () => {
    const own = Object.keys(MERGE_OUTPUTS).filter((name) => !(name in OUTPUTS));
    expect(own).toEqual([]);
  });
});

it('every output has a one-sentence description', () => {
  for (const [name, description] of [...Object.entries(OUTPUTS), ...Object.entries(MERGE_OUTPUTS)])
    expect(description, name).toMatch(/^[^\n]{20,160}\.$/u);
});

it('docs/reference.md has each input in one table, and docs/schemas-and-gates.md a row for each preset', () => {
  const [inputs = ''] = read('docs/reference.md').split('<!-- /inputs -->');
  for (const { name } of INPUTS) expect(inputs.split(`\n| \`${name}\` |`), name).toHaveLength(2);
  for (const name of presets.keys())
    expect(read('docs/schemas-and-gates.md')).toContain(`| [\`${name}\`](../schemas/${name}.schema.json) |`);
});

it('docs/reference.md names each input and output of the merge', () => {
  const [, merge = ''] = read('docs/reference.md').split('<!-- merge -->');
  for (const name of [...MERGE_NAMES, ...Object.keys(MERGE_OUTPUTS)]) expect(merge).toContain(`\`${name}\``);
});
