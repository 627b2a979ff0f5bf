import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { ACTION_YML, actionYml, MERGE_OUTPUTS, MERGE_YML, mergeYml, OUTPUTS } from '../scripts/action-yml.ts';
import { INPUTS } from '../src/config/inputs.ts';
import { MERGE_INPUTS, MERGE_NAMES } from '../src/merge/inputs.ts';

describe('action.yml', () => {
  const text = readFileSync(ACTION_YML, 'utf8');
  const action: unknown = parse(text);

  it('is what the table of inputs says, byte for byte', () => {
    expect(text).toBe(actionYml());
  });

  it('gives every input with its default and description, in the order of the table', () => {
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

  it('runs the committed bundle on Node 24', () => {
    expect(action).toMatchObject({ runs: { using: 'node24', main: 'dist/index.js' } });
  });

  it('describes every output in one sentence', () => {
    for (const [name, description] of Object.entries(OUTPUTS)) {
      expect(description, name).toMatch(/^[^\n]{20,160}\.$/u);
    }
  });
});

describe('merge/action.yml', () => {
  const text = readFileSync(MERGE_YML, 'utf8');
  const action: unknown = parse(text);

  it('is what the table of inputs says, byte for byte', () => {
    expect(text).toBe(mergeYml());
  });

  it('runs the committed bundle on Node 24, by a door of its own', () => {
    expect(action).toMatchObject({ runs: { using: 'node24', main: '../dist/merge.js' } });
  });

  it('has every input that its reader knows, once', () => {
    expect(MERGE_INPUTS.map(({ name }) => name).toSorted()).toEqual(MERGE_NAMES.toSorted());
  });

  it('describes every output in one sentence', () => {
    for (const [name, description] of Object.entries(MERGE_OUTPUTS)) {
      expect(description, name).toMatch(/^[^\n]{20,160}\.$/u);
    }
  });

  it('declares no output that would clash with those of a run', () => {
    const own = Object.keys(MERGE_OUTPUTS).filter((name) => !(name in OUTPUTS));
    expect(own).toEqual(['run-tally']);
  });
});
