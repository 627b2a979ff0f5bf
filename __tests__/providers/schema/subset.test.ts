import { describe, expect, it } from 'vitest';
import { describedTool, projectSchema } from '../../../src/providers/schema/project.ts';
import type { JsonObject } from '../../../src/types.ts';
import { wireViolations } from '../../support/schemas/wire-rules.ts';
import { lossesOf, tool } from './validate-wire.ts';

type StrictDialect = 'gemini' | 'compatible';

const dialects: readonly StrictDialect[] = ['gemini', 'compatible'];
const allTypes = ['string', 'number', 'boolean', 'object', 'array', 'null'];

function project(schema: JsonObject, dialect: StrictDialect) {
  const { parameters, note } = projectSchema(schema, dialect);
  expect(wireViolations(parameters, dialect)).toEqual([]);
  return { parameters, losses: lossesOf(note) };
}

/** The projection of a property `a` and its losses, by their path below it. */
function projectProperty(a: JsonObject, dialect: StrictDialect, rest?: JsonObject) {
  const { parameters, losses } = project(tool({ a }, rest), dialect);
  return {
    a: Object(parameters['properties']).a,
    losses: losses.map(([pointer, keywords]) => [pointer.replace('#/properties/a', ''), keywords]),
  };
}

/** Compares the projections of schemas and their losses with the golden file. */
async function expectProjections(dialect: StrictDialect, schemas: Readonly<Record<string, JsonObject>>) {
  const lines = Object.entries(schemas).map(([title, schema]) => {
    const { a, losses } = projectProperty(schema, dialect);
    const lost = losses
      .map(([place, keywords]) => `\n  lost at "${place}": ${JSON.stringify(keywords)}`)
      .join('');
    return `a schema ${title}\n  ${JSON.stringify(schema)}\n  ${JSON.stringify(a)}${lost}\n`;
  });
  await expect(lines.join('\n')).toMatchFileSnapshot(`../../golden/projections/${dialect}.txt`);
}

const near = [
  { type: 'string', minLength: 1 },
  { type: 'string', maxLength: 3 },
];
const oneOf = [{ type: 'string' }, { type: 'integer' }];

describe('for gemini, a schema', () => {
  const schemas: Readonly<Record<string, JsonObject>> = {
    'with null has a mark': { type: ['string', 'null'], maxLength: 5 },
    'with several types becomes anyOf, the description in the first': {
      type: ['string', 'integer', 'null'],
      minimum: 1,
      description: 'd',
    },
    'with a branch for null has a mark': { anyOf: [{ type: 'number' }, { type: 'null' }], title: 'T' },
    'without a type is spelled out': { description: 'd' },
    'of any entries stays open': { type: 'array', items: {} },
    'with const has an enum': { const: 'a' },
    'with null in its enum has a mark': { enum: ['a', null] },
    'has no enum of numbers': { type: 'integer', enum: [1, 2] },
    'has no empty string in its enum': { enum: ['a', ''] },
    'has the strings of a mixed enum': { enum: ['a', 1.5] },
    'of integers has inclusive bounds': { type: 'integer', exclusiveMinimum: 0, exclusiveMaximum: 9.5 },
    'of fractions has inclusive bounds': { type: 'number', exclusiveMinimum: 0 },
    'with oneOf has anyOf, and a line on what is lost': { oneOf },
    'keeps branches that overlap': { anyOf: near },
    'hands its type to its branches': {
      type: 'object',
      anyOf: [tool({ x: { type: 'string' } }), { properties: { y: { type: 'number' } } }],
    },
    'merges allOf, and keeps the first of two demands that do not fit into one schema': {
      allOf: [
        { type: 'object', properties: { x: { type: 'string' } }, required: ['x'] },
        { properties: { x: { minLength: 2 }, y: { type: 'number' } }, required: ['y', 'z'] },
      ],
    },
    'that is a closed tuple becomes a list of what it has at any position': {
      type: 'array',
      items: oneOf,
      additionalItems: false,
    },
    'keeps the tuple of one schema only, because the rest of a list counts from its end': {
      type: 'array',
      allOf: [{ prefixItems: [{}, { type: 'number' }], items: false }, { prefixItems: [{ type: 'string' }] }],
    },
    'that is an open tuple becomes a list of anything': { type: 'array', items: [{ type: 'string' }] },
    'loses what the API does not know, where it was': {
      type: 'array',
      uniqueItems: true,
      items: { type: 'string', pattern: '^(?=a)', format: 'uri' },
    },
  };

  it('is projected to what the API accepts', async () => {
    await expectProjections('gemini', schemas);
  });

  it('is unchanged when the API supports all of its keywords', () => {
    const schema = tool(
      {
        text: { type: 'string', description: 'd', minLength: 1, pattern: '^a+$', enum: ['a', 'aa'] },
        when: { type: 'string', format: 'date-time' },
        many: { type: 'array', items: { type: 'integer', minimum: 0 }, maxItems: 9 },
        deep: { type: 'object', properties: { on: { type: 'boolean', default: true } }, required: ['on'] },
      },
      { title: 'T', required: ['text'] },
    );
    expect(project(schema, 'gemini')).toEqual({ parameters: schema, losses: [] });
  });

  it('inlines references until they recur and puts the definition in the note', () => {
    const name = { type: 'string', maxLength: 9 };
    const Node = tool({ name: { $ref: '#/definitions/Name' }, next: { $ref: '#/definitions/Node' } });
    const definitions = { Node, Name: name };
    const { a, losses } = projectProperty({ $ref: '#/definitions/Node' }, 'gemini', { definitions });
    const description = 'Follows the definition "Node"; see the note on this tool\'s arguments.';
    expect(a).toEqual(tool({ name, next: { type: 'object', description } }));
    expect(losses).toEqual([
      ['/properties/next', { $ref: '#/definitions/Node' }],
      ['#/definitions/Node', Node],
      ['#/definitions/Name', name],
    ]);
  });

  it('inlines fewer references when inlining would make the schema many times larger', () => {
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

describe('for compatible servers, a schema', () => {
  const schemas: Readonly<Record<string, JsonObject>> = {
    'loses what breaks a grammar': { type: 'string', pattern: '^a', maxLength: 65_536 },
    'loses what is refused': { type: 'array', items: { type: 'string' }, uniqueItems: true },
    'without properties stays open': { type: 'object', properties: {} },
    'without a type has all of them': { description: 'd' },
    'keeps sayable what patterns allow': {
      type: 'object',
      patternProperties: { '^p': {} },
      additionalProperties: false,
    },
    'loses a union beside properties': {
      ...tool({ x: { type: 'string' } }),
      anyOf: [{ required: ['x'] }, { required: ['y'] }],
    },
  };

  it('is projected to what the servers accept', async () => {
    await expectProjections('compatible', schemas);
  });

  it('is unchanged, without a note, when it is plain', () => {
    const schema = tool(
      {
        passed: { type: 'boolean' },
        severity: { type: ['string', 'null'], enum: ['high', 'low', null] },
        list: { type: 'array', items: { type: 'string', format: 'date' }, maxItems: 20 },
        choice: { anyOf: [{ type: 'string' }, { type: 'object', properties: { x: { type: 'number' } } }] },
      },
      { required: ['passed'], additionalProperties: false },
    );
    expect(project(schema, 'compatible')).toEqual({ parameters: schema, losses: [] });
  });

  it('keeps references alone, under names that need no escape, and the definitions that they need', () => {
    const { parameters, losses } = project(
      tool(
        { a: { $ref: '#/definitions/x~1y', description: 'd' }, self: { $ref: '#' } },
        { definitions: { 'x/y': { type: 'string', pattern: 'a' }, unused: {} } },
      ),
      'compatible',
    );
    const properties = { a: { $ref: '#/$defs/x_y' }, self: { $ref: '#/$defs/root' } };
    expect(parameters).toEqual(
      tool(properties, { $defs: { x_y: { type: 'string' }, root: tool(properties) } }),
    );
    expect(losses).toEqual([
      ['#/properties/a', { description: 'd' }],
      ['#/$defs/x_y', { pattern: 'a' }],
      ['#/$defs/root/properties/a', { description: 'd' }],
    ]);
  });

  it('combines the requirements of a base and its extension', () => {
    const Base = tool({ name: { type: 'string' } }, { required: ['name'] });
    const extended = { allOf: [{ $ref: '#/$defs/Base' }, tool({ size: { type: 'number' } })] };
    const a = tool({ size: { type: 'number' }, name: { type: 'string' } }, { required: ['name'] });
    expect(projectProperty(extended, 'compatible', { $defs: { Base } })).toEqual({ a, losses: [] });
  });

  it('contains no reference cycles', () => {
    const definitions = {
      a: { description: 'd', $ref: '#/definitions/b' },
      b: { title: 't', $ref: '#/definitions/a' },
      c: { $ref: '#/definitions/d' },
      d: { type: 'number' },
    };
    const properties = { a: { $ref: '#/definitions/a' }, c: { $ref: '#/definitions/c' } };
    const { $defs } = project(tool(properties, { definitions }), 'compatible').parameters;
    expect($defs).toMatchObject({ part_1: { type: allTypes, items: {} }, c: { $ref: '#/$defs/d' } });
  });
});

describe('for both, a schema', () => {
  it('keeps literals and properties named like keywords or like members of Object.prototype', () => {
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

  it('drops a property and a branch that accept nothing', () => {
    const b = { type: 'string', enum: [1] };
    const c = { type: 'string', minLength: 1, allOf: [{ not: {} }] };
    const schema = tool({ no: false, a: { anyOf: [{ type: 'string' }, false] }, b, c });
    for (const dialect of dialects) {
      const { parameters, losses } = project(schema, dialect);
      expect(parameters).toEqual(tool({ a: { type: 'string' } }));
      for (const loss of [
        ['#/properties/no', { not: {} }],
        ['#/properties/b', b],
        ['#/properties/c', c],
      ])
        expect(losses).toContainEqual(loss);
    }
  });

  it('keeps only its property names and goes into the note when it is not supported', () => {
    const schema = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      ...tool({ a: { type: 'array', unevaluatedItems: false } }),
    };
    for (const dialect of dialects) {
      const { parameters, losses } = project(schema, dialect);
      expect(Object.keys(Object(parameters['properties']))).toEqual(['a']);
      expect(losses).toEqual([['#', schema]]);
    }
  });

  it('has the note in the description of the parameters when the tool description is full', () => {
    const parameters = tool({ a: { type: 'array', uniqueItems: true, items: { type: 'string' } } });
    for (const dialect of dialects) {
      const spec = { name: 't', description: 'd'.repeat(1000), parameters };
      const described = describedTool(spec, dialect);
      expect(described.description).toBe(spec.description);
      expect(lossesOf(String(described.parameters['description']))).toEqual([
        ['#/properties/a', { uniqueItems: true }],
      ]);
    }
  });
});
