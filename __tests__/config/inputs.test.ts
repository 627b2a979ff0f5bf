import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { MERGE_INPUTS } from '../../src/merge/config.ts';

interface Manifest {
  readonly inputs: Readonly<Record<string, { readonly description: string; readonly default?: string }>>;
  readonly outputs: Readonly<Record<string, { readonly description: string }>>;
}

const action: Manifest = parse(readFileSync('action.yml', 'utf8'));
const merge: Manifest = parse(readFileSync('merge/action.yml', 'utf8'));

describe('the manifests', () => {
  it('declare the inputs and outputs of the product', () => {
    expect(Object.keys(action.inputs)).toHaveLength(36);
    expect(Object.keys(action.outputs)).toHaveLength(17);
    expect(MERGE_INPUTS).toHaveLength(10);
  });

  it.each(Object.entries({ ...merge.inputs, ...merge.outputs, ...action.inputs, ...action.outputs }))(
    '%s is described in at most 20 words',
    (_, { description }) => {
      expect(description.split(/\s+/u).length).toBeLessThanOrEqual(20);
    },
  );

  it('have defaults that are strings, also for a reader of YAML 1.1', () => {
    const defaults = [...Object.values(action.inputs), ...Object.values(merge.inputs)];
    for (const { default: value = '' } of defaults) expect(typeof value).toBe('string');
    expect(readFileSync('action.yml', 'utf8')).not.toMatch(/default: (?:off|on|yes|no)$/mu);
  });
});
