import { describe, expect, it } from 'vitest';
import { describedTool, projectSchema } from '../../../src/providers/schema/project.ts';
import type { JsonObject } from '../../../src/types.ts';
import { wireViolations } from '../../support/schemas/wire-rules.ts';
import { lead, lostOf, tool } from '../strict-tool.ts';

describe('gemini', () => {
  const project = (schema: JsonObject) => {
    const { parameters, note } = projectSchema(schema, 'gemini');
    expect(wireViolations(parameters, 'gemini')).toEqual([]);
    return { parameters, lost: lostOf(note) };
  };
  const property = (a: JsonObject, rest?: JsonObject) => {
    const { parameters, lost } = project(tool({ a }, rest));
    return {
      a: Object(parameters['properties']).a,
      lost: lost === null ? null : Object(lost['properties']).a,
    };
  };

  it('leaves what its API knows as it is', () => {
    const schema = tool(
      {
        text: { type: 'string', description: 'd', minLength: 1, pattern: '^a+$', enum: ['a', 'aa'] },
        when: { type: 'string', format: 'date-time' },
        many: { type: 'array', items: { type: 'integer', minimum: 0 }, maxItems: 9 },
        deep: { type: 'object', properties: { on: { type: 'boolean', default: true } }, required: ['on'] },
      },
      { title: 'T', required: ['text'] },
    );
    expect(project(schema)).toEqual({ parameters: schema, lost: null });
  });

  it('says null by a mark, and several types by anyOf, where the description stands in the first', () => {
    expect(property({ type: ['string', 'null'], maxLength: 5 })).toEqual({
      a: { type: 'string', maxLength: 5, nullable: true },
      lost: null,
    });
    expect(property({ type: ['string', 'integer', 'null'], minimum: 1, description: 'd' })).toEqual({
      a: {
        anyOf: [
          { type: 'string', description: 'd', nullable: true },
          { type: 'integer', minimum: 1 },
        ],
      },
      lost: null,
    });
    expect(property({ anyOf: [{ type: 'number' }, { type: 'null' }], title: 'T' }).a).toEqual({
      type: 'number',
      title: 'T',
      nullable: true,
    });
  });

  it('spells out what has no type', () => {
    const any = [{ type: 'number' }, { type: 'boolean' }, { type: 'object' }, { type: 'array', items: {} }];
    expect(property({ description: 'd' })).toEqual({
      a: { anyOf: [{ type: 'string', description: 'd', nullable: true }, ...any] },
      lost: null,
    });
    expect(property({ type: 'array', items: {} }).a).toEqual({ type: 'array', items: {} });
  });

  it('writes const as enum, and has no enum but of strings', () => {
    expect(property({ const: 'a' })).toEqual({ a: { type: 'string', enum: ['a'] }, lost: null });
    expect(property({ enum: ['a', null] })).toEqual({
      a: { type: 'string', enum: ['a'], nullable: true },
      lost: null,
    });
    expect(property({ type: 'integer', enum: [1, 2] })).toEqual({
      a: { type: 'integer' },
      lost: { enum: [1, 2] },
    });
    expect(property({ enum: ['a', ''] })).toEqual({ a: { type: 'string' }, lost: { enum: ['a', ''] } });
    expect(property({ enum: ['a', 1.5] })).toEqual({
      a: { anyOf: [{ type: 'string', enum: ['a'] }, { type: 'number' }] },
      lost: { enum: ['a', 1.5] },
    });
  });

  it('writes exclusive bounds as inclusive ones, which is a loss for fractions only', () => {
    expect(property({ type: 'integer', exclusiveMinimum: 0, exclusiveMaximum: 9.5 }).a).toEqual({
      type: 'integer',
      minimum: 1,
      maximum: 9,
    });
    expect(property({ type: 'number', exclusiveMinimum: 0 })).toEqual({
      a: { type: 'number', minimum: 0 },
      lost: { exclusiveMinimum: 0 },
    });
  });

  it('makes oneOf an anyOf, and says so where two could match', () => {
    const apart = [{ type: 'string' }, { type: 'integer' }];
    expect(property({ oneOf: apart })).toEqual({ a: { anyOf: apart }, lost: null });
    const near = [
      { type: 'string', minLength: 1 },
      { type: 'string', maxLength: 3 },
    ];
    expect(property({ oneOf: near })).toEqual({ a: { anyOf: near }, lost: { oneOf: near } });
  });

  it('makes one enum of branches that are literals, and one anyOf of branches that carry a tag', () => {
    expect(property({ oneOf: [{ const: 'a' }, { enum: ['b', 'c'] }] })).toEqual({
      a: { type: 'string', enum: ['a', 'b', 'c'] },
      lost: null,
    });
    const branch = (kind: string) => tool({ kind: { type: 'string', enum: [kind] } }, { required: ['kind'] });
    const $defs = { A: branch('a'), B: branch('b') };
    const oneOf = [{ $ref: '#/$defs/A' }, { $ref: '#/$defs/B' }];
    expect(property({ oneOf }, { $defs })).toEqual({ a: { anyOf: [$defs.A, $defs.B] }, lost: null });
  });

  it('merges allOf, and keeps the first of two demands that do not fit into one schema', () => {
    const allOf = [
      { type: 'object', properties: { x: { type: 'string' } }, required: ['x'] },
      { properties: { x: { minLength: 2 }, y: { type: 'number' } }, required: ['y', 'z'] },
    ];
    expect(property({ allOf })).toEqual({
      a: {
        type: 'object',
        properties: { x: { type: 'string' }, y: { type: 'number' } },
        required: ['x', 'y'],
      },
      lost: { properties: { x: expect.anything() }, required: ['z'] },
    });
  });

  it('makes a tuple a list of whatever it has at any place', () => {
    const prefixItems = [{ type: 'string' }, { type: 'number' }];
    const draft = { $schema: 'https://json-schema.org/draft/2020-12/schema' };
    expect(property({ type: 'array', prefixItems, items: false }, draft)).toEqual({
      a: { type: 'array', items: { anyOf: prefixItems }, maxItems: 2 },
      lost: { prefixItems, items: false },
    });
    expect(property({ type: 'array', items: [{ type: 'string' }] })).toEqual({
      a: { type: 'array', items: {} },
      lost: { prefixItems: [{ type: 'string' }] },
    });
  });

  it('says what it leaves out, where it was', () => {
    const { parameters, lost } = project(
      tool(
        {
          a: {
            type: 'array',
            uniqueItems: true,
            items: { type: 'string', pattern: '^(?=a)', format: 'uri' },
          },
        },
        { additionalProperties: false, required: ['a', 'b'], minProperties: 1 },
      ),
    );
    expect(parameters).toEqual(
      tool({ a: { type: 'array', items: { type: 'string' } } }, { required: ['a'], minProperties: 1 }),
    );
    expect(lost).toEqual({
      properties: { a: { uniqueItems: true, items: { pattern: '^(?=a)', format: 'uri' } } },
      additionalProperties: false,
      required: ['b'],
    });
  });

  it('follows references, and ends where they lead back, with the definition in the note', () => {
    const node = {
      type: 'object',
      properties: { name: { $ref: '#/definitions/Name' }, next: { $ref: '#/definitions/Node' } },
    };
    const definitions = { Node: node, Name: { type: 'string', maxLength: 9 } };
    const told = 'Follows the definition "Node"; see the note on this tool\'s arguments.';
    const { parameters, lost } = project(tool({ a: { $ref: '#/definitions/Node' } }, { definitions }));
    expect(parameters).toEqual(
      tool({
        a: {
          type: 'object',
          properties: {
            name: { type: 'string', maxLength: 9 },
            next: { type: 'object', description: told },
          },
        },
      }),
    );
    expect(lost).toEqual({
      properties: { a: { properties: { next: { $ref: '#/definitions/Node' } } } },
      definitions,
    });
  });

  it('follows fewer references where following them would make the schema many times larger', () => {
    const $defs: Record<string, JsonObject> = { d0: { type: 'string' } };
    for (let n = 1; n < 60; n += 1) {
      const next = { $ref: `#/$defs/d${n - 1}` };
      $defs[`d${n}`] = { type: 'object', properties: { l: next, r: next } };
    }
    const { parameters } = projectSchema(tool({ a: { $ref: '#/$defs/d59' } }, { $defs }), 'gemini');
    expect(wireViolations(parameters, 'gemini')).toEqual([]);
    expect(JSON.stringify(parameters).length).toBeLessThan(100_000);
  });
});

describe('both strict dialects', () => {
  const dialects = ['gemini', 'compatible'] as const;

  it('never touch literals, nor properties that are named like keywords or like what every object has', () => {
    const literal = '{"$ref": "#/nowhere", "const": 1, "__proto__": {"items": [1]}}';
    const schema: JsonObject = JSON.parse(
      `{"type": "object", "properties": {
        "$ref": {"type": "string"}, "format": {"type": "string"}, "const": {"type": "string"},
        "constructor": {"type": "string"}, "__proto__": {"type": "string"},
        "any": {"type": "object", "default": ${literal}}
      }, "required": ["constructor", "__proto__"]}`,
    );
    for (const dialect of dialects) {
      const { parameters, note } = projectSchema(schema, dialect);
      expect(JSON.stringify(parameters)).toBe(JSON.stringify(schema));
      expect(note).toBeNull();
    }
  });

  it('drop a property that accepts nothing, and a branch that does', () => {
    for (const dialect of dialects) {
      const schema = tool({
        no: false,
        a: { anyOf: [{ type: 'string' }, false] },
        b: { type: 'string', enum: [1] },
        c: { type: 'string', minLength: 1, allOf: [false] },
      });
      const { parameters, note } = projectSchema(schema, dialect);
      expect(parameters).toEqual(tool({ a: { type: 'string' } }));
      expect(lostOf(note)).toEqual({
        properties: {
          no: { not: {} },
          b: { type: 'string', enum: [1] },
          c: { type: 'string', minLength: 1, allOf: [{ not: {} }] },
        },
      });
    }
  });

  it('name the properties of a schema that cannot be told apart, and say it whole', () => {
    const schema = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      ...tool({ a: { type: 'array', unevaluatedItems: false } }),
    };
    for (const dialect of dialects) {
      const { parameters, note } = projectSchema(schema, dialect);
      expect(wireViolations(parameters, dialect)).toEqual([]);
      expect(Object.keys(Object(parameters['properties']))).toEqual(['a']);
      expect(note).toContain('"unevaluatedItems":false');
    }
  });

  it('have the note in the description of the parameters where the tool has no room for it', () => {
    const parameters = tool({ a: { type: 'array', uniqueItems: true, items: { type: 'string' } } });
    for (const dialect of dialects) {
      const spec = { name: 't', description: 'd'.repeat(1000), parameters };
      const described = describedTool(spec, dialect);
      expect(described.description).toBe(spec.description);
      expect(described.parameters['description']).toBe(`${lead}{"properties":{"a":{"uniqueItems":true}}}`);
    }
  });
});
