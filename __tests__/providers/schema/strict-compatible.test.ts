import { describe, expect, it } from 'vitest';
import { projectSchema } from '../../../src/providers/schema/project.ts';
import type { JsonObject } from '../../../src/types.ts';
import { wireViolations } from '../../support/schemas/wire-rules.ts';
import { anyType, lostOf, tool } from '../strict-tool.ts';

describe('compatible', () => {
  const project = (schema: JsonObject) => {
    const { parameters, note } = projectSchema(schema, 'compatible');
    expect(wireViolations(parameters, 'compatible')).toEqual([]);
    return { parameters, lost: lostOf(note) };
  };

  it('S1 leaves a plain schema as it is, without a note', () => {
    const schema = tool(
      {
        passed: { type: 'boolean' },
        severity: { type: ['string', 'null'], enum: ['high', 'low', null] },
        list: { type: 'array', items: { type: 'string', format: 'date' }, maxItems: 20 },
        choice: { anyOf: [{ type: 'string' }, { type: 'object', properties: { x: { type: 'number' } } }] },
      },
      { required: ['passed'], additionalProperties: false },
    );
    expect(project(schema)).toEqual({ parameters: schema, lost: null });
  });

  it('leaves out what breaks a grammar or is refused, and says so', () => {
    const { parameters, lost } = project(
      tool(
        {
          text: { type: 'string', pattern: '^a', maxLength: 65_536 },
          set: { type: 'array', items: { type: 'string' }, uniqueItems: true },
          open: { type: 'object', properties: {} },
          free: { description: 'd' },
        },
        { not: { required: ['x'] } },
      ),
    );
    expect(parameters).toEqual(
      tool({
        text: { type: 'string' },
        set: { type: 'array', items: { type: 'string' } },
        open: { type: 'object' },
        free: { type: anyType, description: 'd', items: {} },
      }),
    );
    expect(lost).toEqual({
      not: { required: ['x'] },
      properties: { text: { pattern: '^a', maxLength: 65_536 }, set: { uniqueItems: true } },
    });
  });

  it('keeps references, alone and under names that need no escape, with the definitions they need', () => {
    const { parameters, lost } = project(
      tool(
        { a: { $ref: '#/definitions/x~1y', description: 'd' }, self: { $ref: '#' } },
        { definitions: { 'x/y': { type: 'string', pattern: 'a' }, unused: {} } },
      ),
    );
    expect(parameters).toEqual(
      tool(
        { a: { $ref: '#/$defs/x_y' }, self: { $ref: '#/$defs/root' } },
        {
          $defs: {
            x_y: { type: 'string' },
            root: tool({ a: { $ref: '#/$defs/x_y' }, self: { $ref: '#/$defs/root' } }),
          },
        },
      ),
    );
    expect(lost).toEqual({
      properties: { a: { description: 'd' } },
      $defs: { x_y: { pattern: 'a' }, root: { properties: { a: { description: 'd' } } } },
    });
  });

  it('shows what a base and its extension demand together', () => {
    const Base = tool({ name: { type: 'string' } }, { required: ['name'] });
    const extended = { allOf: [{ $ref: '#/$defs/Base' }, tool({ size: { type: 'number' } })] };
    const { parameters, lost } = project(tool({ a: extended }, { $defs: { Base } }));
    const a = tool({ size: { type: 'number' }, name: { type: 'string' } }, { required: ['name'] });
    expect([parameters, lost]).toEqual([tool({ a }), null]);
  });

  it('opens definitions of which only references in a circle are left', () => {
    const definitions = {
      a: { type: 'string', $ref: '#/definitions/b' },
      b: { type: 'string', $ref: '#/definitions/a' },
      c: { $ref: '#/definitions/d' },
      d: { type: 'number' },
    };
    const properties = { a: { $ref: '#/definitions/a' }, c: { $ref: '#/definitions/c' } };
    const open = { type: anyType, items: {} };
    expect(project(tool(properties, { definitions })).parameters['$defs']).toEqual({
      a: open,
      b: open,
      c: { $ref: '#/$defs/d' },
      d: { type: 'number' },
    });
  });

  it('keeps sayable what patterns allow, and folds a union beside properties into the note', () => {
    const anyOf = [{ required: ['x'] }, { required: ['y'] }];
    const inner = { type: 'object', properties: { x: { type: 'string' } }, anyOf };
    const { parameters, lost } = project(
      tool({ a: { type: 'object', patternProperties: { '^p': {} }, additionalProperties: false }, inner }),
    );
    expect(parameters).toEqual(
      tool({
        a: { type: 'object', additionalProperties: true },
        inner: { type: 'object', properties: { x: { type: 'string' } } },
      }),
    );
    expect(lost).toMatchObject({
      properties: { a: { patternProperties: { '^p': {} }, additionalProperties: false }, inner: {} },
    });
  });
});
