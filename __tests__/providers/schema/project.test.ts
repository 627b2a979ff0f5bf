import { describe, expect, it } from 'vitest';
import { type Dialect, describedTool, projectSchema } from '../../../src/providers/schema/project.ts';
import type { JsonObject } from '../../../src/types.ts';
import { wireViolations } from '../../support/schemas/wire-rules.ts';
import { dialects, lossesOf, noteOf, tool } from './validate-wire.ts';

/** The dialects that accept all of draft 2020-12 below the root. */
const wholeDialects: readonly Dialect[] = ['openai', 'anthropic'];

describe('projectSchema', () => {
  it('S1 keeps a plain schema unchanged, without a note', () => {
    const schema = {
      type: 'object',
      properties: {
        passed: { type: 'boolean' },
        list: { type: 'array', items: { type: 'string', format: 'date' } },
      },
      required: ['passed'],
      additionalProperties: false,
    };
    for (const dialect of wholeDialects)
      expect(projectSchema(schema, dialect)).toEqual({ parameters: schema, note: null });
  });

  it('S6 projects an empty schema to an object without properties, marked as open where necessary', () => {
    for (const dialect of dialects) {
      const open = dialect === 'compatible' ? { additionalProperties: true } : {};
      expect(projectSchema({}, dialect)).toEqual({
        parameters: { type: 'object', properties: {}, ...open },
        note: null,
      });
    }
  });

  it('moves unsupported keywords of the root into properties and describes the rest in a note', async () => {
    const a = { a: { type: 'string' } };
    const b = { b: { type: 'number' } };
    const schemas: Readonly<Record<string, JsonObject>> = {
      'allOf, through references, of which nothing is lost': {
        $schema: 'http://json-schema.org/draft-07/schema#',
        $id: 'https://example.com/verdict.json',
        allOf: [{ $ref: '#/definitions/Base' }, { required: ['b'], properties: b }],
        definitions: { Base: { type: 'object', properties: a, required: ['a'] } },
      },
      'a root that is nothing but a reference': {
        $ref: '#/definitions/Verdict',
        definitions: { Verdict: { type: 'object', properties: a, additionalProperties: false } },
      },
      'allOf with a closed branch, and two schemas of one property': {
        type: 'object',
        allOf: [
          { properties: a, additionalProperties: false },
          { properties: { a: { minLength: 2 }, ...b } },
        ],
      },
      'a property, and allOf with another schema of it': {
        ...tool(a),
        allOf: [{ properties: { a: { minLength: 2 } } }],
      },
      'oneOf: the union of properties and the intersection of required': {
        type: 'object',
        oneOf: ['a', 'b'].map((kind) => ({
          properties: { kind: { const: kind }, [`of_${kind}`]: { type: 'string' } },
          required: ['kind', `of_${kind}`],
          additionalProperties: false,
        })),
      },
      'tuples and nullable of draft-07': {
        type: 'object',
        properties: {
          pair: { type: 'array', items: [{ type: 'string' }, true], additionalItems: false },
          list: { type: ['array', 'null'] },
          maybe: { type: 'string', nullable: true },
        },
        dependencies: { pair: ['list'], list: { required: ['maybe'] } },
      },
      'property names that Anthropic refuses': {
        ...tool({ 'a b': { type: 'string' }, ok: { type: 'boolean' } }),
        required: ['a b'],
        additionalProperties: false,
      },
    };
    const lines = Object.entries(schemas).map(([title, schema]) => {
      const projections = wholeDialects.map((dialect) => {
        const { parameters, note } = projectSchema(schema, dialect);
        return `  ${dialect}: ${JSON.stringify(parameters)}\n  ${note?.replaceAll('\n', '\n  ') ?? 'no note'}\n`;
      });
      return `${title}\n  ${JSON.stringify(schema)}\n${projections.join('')}`;
    });
    await expect(lines.join('\n')).toMatchFileSnapshot('../../golden/projections/root.txt');
  });

  it.each([
    ['an embedded document', { $ref: 'other#/$defs/inner' }],
    ['another document', { $ref: 'https://example.org/schema.json' }],
    ['a dynamic anchor', { $dynamicRef: '#here' }],
  ])(
    'keeps only the property names when a reference leads to %s, and puts the whole schema in the note',
    (_, reference) => {
      const $defs = { other: { $id: 'other', $defs: { inner: { type: 'boolean' } } } };
      const schema = { ...tool({ a: { type: 'string' }, b: reference }), $defs };
      for (const dialect of dialects) {
        const { parameters, note } = projectSchema(schema, dialect);
        expect(wireViolations(parameters, dialect)).toEqual([]);
        expect(Object.keys(Object(parameters['properties']))).toEqual(['a', 'b']);
        expect(note).toContain(JSON.stringify(schema));
      }
    },
  );

  it('handles deep schemas, long reference chains and multiplying branches', () => {
    let deep: JsonObject = {};
    for (let n = 0; n < 20_000; n += 1) deep = { not: deep };
    const chain = Object.fromEntries(
      Array.from({ length: 5000 }, (_, n) => [`d${n + 1}`, { $ref: `#/$defs/d${n}` }]),
    );
    const wide = Object.fromEntries(
      Array.from({ length: 40 }, (_, n) => {
        const next = { $ref: `#/$defs/w${n + 1}` };
        const branch = (k: number) => ({ allOf: [next], properties: { p: { minimum: n * 2 + k } } });
        return [`w${n}`, { anyOf: [branch(0), branch(1)] }];
      }),
    );
    const cases: readonly JsonObject[] = [
      deep,
      { allOf: [{ $ref: '#/$defs/d5000' }], $defs: { ...chain, d0: { type: 'object' } } },
      { allOf: [{ $ref: '#/$defs/w0' }], $defs: { ...wide, w40: { properties: { p: { maximum: 9 } } } } },
    ];
    for (const schema of cases) {
      for (const dialect of dialects) {
        const { parameters } = projectSchema(schema, dialect);
        expect(wireViolations(parameters, dialect)).toEqual([]);
        expect(JSON.stringify(parameters).length).toBeLessThan(1_000_000);
      }
    }
  });
});

const near = [
  { type: 'string', minLength: 1 },
  { type: 'string', maxLength: 3 },
];
const oneOf = [{ type: 'string' }, { type: 'integer' }];

/** Schemas of a property in words; the golden files hold what becomes of each. */
const shown: Readonly<Record<'gemini' | 'compatible', Readonly<Record<string, JsonObject>>>> = {
  gemini: {
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
  },
  compatible: {
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
  },
};

function project(schema: JsonObject, dialect: Dialect) {
  const { parameters, note } = projectSchema(schema, dialect);
  expect(wireViolations(parameters, dialect)).toEqual([]);
  return { parameters, losses: lossesOf(note) };
}

/** The projection of a property `a` and its losses, by their path below it. */
function projectProperty(a: JsonObject, dialect: Dialect, rest?: JsonObject) {
  const { parameters, losses } = project(tool({ a }, rest), dialect);
  return {
    a: Object(parameters['properties']).a,
    losses: losses.map(([pointer, keywords]) => [pointer.replace('#/properties/a', ''), keywords]),
  };
}

describe.each(['gemini', 'compatible'] as const)('for %s', (dialect) => {
  it('a schema is projected to what its servers accept', async () => {
    const lines = Object.entries(shown[dialect]).map(([title, schema]) => {
      const { a, losses } = projectProperty(schema, dialect);
      const lost = losses
        .map(([place, keywords]) => `\n  lost at "${place}": ${JSON.stringify(keywords)}`)
        .join('');
      return `a schema ${title}\n  ${JSON.stringify(schema)}\n  ${JSON.stringify(a)}${lost}\n`;
    });
    await expect(lines.join('\n')).toMatchFileSnapshot(`../../golden/projections/${dialect}.txt`);
  });
});

describe('describedTool', () => {
  const parameters = { type: 'object', not: { required: ['a'] } };
  const note = noteOf({ not: { required: ['a'] } });

  it('S1 puts the note in the description', () => {
    expect(describedTool({ name: 't', description: 'Deliver.', parameters }, 'anthropic')).toEqual({
      description: `Deliver.\n\n${note}`,
      parameters: { type: 'object', properties: {} },
    });
  });

  it('puts the note in the parameters when the description would exceed the OpenAI limit', () => {
    const description = 'd'.repeat(1000);
    expect(describedTool({ name: 't', description, parameters }, 'openai')).toEqual({
      description,
      parameters: { type: 'object', properties: {}, description: note },
    });
  });

  it('truncates a long note', () => {
    const long = { type: 'object', not: { const: 'x'.repeat(20_000) } };
    expect(
      describedTool({ name: 't', description: 'd', parameters: long }, 'anthropic').description.length,
    ).toBeLessThan(8200);
  });
});
