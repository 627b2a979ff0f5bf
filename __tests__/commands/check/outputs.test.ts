import { describe, expect, it } from 'vitest';
import { MERGE_OUTPUTS, OUTPUTS } from '../../../scripts/generate.ts';
import {
  MERGE_RUN_OUTPUTS,
  MERGED_OUTPUTS,
  PAYLOAD_OUTPUT,
  payloadOutputs,
  RUN_OUTPUTS,
} from '../../../src/commands/check/outputs.ts';
import { formOf } from '../../../src/commands/check/report.ts';
import type { JsonObject } from '../../../src/types.ts';

describe('the outputs', () => {
  it('of a run are those of action.yml', () => {
    const declared = Object.keys(OUTPUTS).filter((name) => name.startsWith('run-'));
    expect(RUN_OUTPUTS.map(({ name }) => name)).toEqual(declared);
    expect(Object.keys(OUTPUTS)).toContain(PAYLOAD_OUTPUT.name);
  });

  it('of a merge are those of merge/action.yml', () => {
    const names = [PAYLOAD_OUTPUT, ...MERGED_OUTPUTS, ...MERGE_RUN_OUTPUTS].map(({ name }) => name);
    expect(names).toEqual(Object.keys(MERGE_OUTPUTS));
  });

  it.each<[JsonObject, string, string]>([
    [{ type: 'boolean' }, 'boolean', 'boolean'],
    [{ const: true }, 'boolean', 'boolean'],
    [{ type: 'integer' }, 'integer', 'number'],
    [{ type: ['integer', 'number'] }, 'integer or number', 'number'],
    [{ type: 'string' }, 'string', 'text'],
    [{ enum: ['low', 'high'] }, 'string', 'word'],
    [{ enum: ['$(rm)', 'high'] }, 'string', 'text'],
    [{ type: ['string', 'null'] }, 'string or null', 'text'],
    [{ type: 'array' }, 'array', 'json'],
    [{ enum: ['a', 1] }, 'string or number', 'text'],
    [{ $ref: '#/$defs/flag' }, 'boolean', 'boolean'],
    [{ $ref: 'elsewhere' }, 'any', 'json'],
    [{}, 'any', 'json'],
  ])('%j has the type %s and the kind %s', (property, type, kind) => {
    const schema = { type: 'object', properties: { it: property }, $defs: { flag: { type: 'boolean' } } };
    expect(payloadOutputs(schema, ['it'])).toEqual([
      expect.objectContaining({ name: 'it', type, kind, isRequired: false }),
    ]);
  });

  it('of differing branches have the types of all branches', () => {
    const schema = {
      oneOf: [{ properties: { it: { type: 'boolean' } } }, { properties: { it: { type: 'string' } } }],
      allOf: [{ required: ['it'] }],
    };
    const [output] = payloadOutputs(schema, ['it']);
    expect(output).toMatchObject({ type: 'boolean or string', kind: 'text', good: null, isRequired: true });
    expect(output === undefined ? '' : formOf(output)).toBe('text as it is, all else as JSON');
  });
});
