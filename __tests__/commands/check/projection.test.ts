import { describe, expect, it } from 'vitest';
import { viewsOf } from '../../../src/commands/check/projection.ts';
import { describedTool } from '../../../src/providers/schema/project.ts';
import { structuredOutputSpec } from '../../../src/tools/structured-output.ts';

const schema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  type: 'object',
  properties: {
    name: { type: 'string', pattern: '^(?!x)', minLength: 1 },
    'a/b': { type: 'integer', multipleOf: 2 },
  },
  required: ['name'],
  not: { required: ['x'] },
};

describe('viewsOf', () => {
  it('gives one view to providers that share a dialect', () => {
    expect(viewsOf(schema).map(({ providers }) => providers)).toEqual([
      ['openai', 'azure-openai'],
      ['anthropic'],
      ['gemini'],
      ['openai-compatible'],
    ]);
  });

  it('lists each keyword that moves to the note, with its places', () => {
    const [gemini] = viewsOf(schema, ['gemini']);
    expect(gemini?.hasNote).toBe(true);
    const changes = new Map(gemini?.changes.map(({ keyword, how, places }) => [keyword, [how, ...places]]));
    expect(changes.get('pattern')).toEqual(['words', '/properties/name']);
    expect(changes.get('multipleOf')).toEqual(['words', '/properties/a~1b']);
    expect(changes.get('not')).toEqual(['words', '']);
    expect(changes.get('minLength')).toBeUndefined();
    expect(changes.get('$schema')).toBeUndefined();
  });

  it('has no changes when the schema is sent unchanged', () => {
    const plain = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] };
    for (const { changes, hasNote } of viewsOf(plain)) expect([changes, hasNote]).toEqual([[], false]);
  });

  it('has the size of the tool definition that is sent', () => {
    const [view] = viewsOf(schema, ['anthropic']);
    const spec = structuredOutputSpec(schema);
    const sent = JSON.stringify({ name: spec.name, ...describedTool(spec, 'anthropic') });
    expect(view?.bytes).toBe(Buffer.byteLength(sent));
    expect(view?.tokens).toBe(Math.ceil(Buffer.byteLength(sent) / 4));
  });
});
