/** The rules by which providers refuse a tool's schema, as far as they are known from their documentation and errors. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Dialect } from '../../../src/providers/wire-schema.ts';
import { isArray, isObject } from '../../../src/text/json.ts';
import { subschemas } from '../../../src/text/schema-walk.ts';
import type { Json, JsonObject } from '../../../src/types.ts';

const options = { strict: false, validateFormats: false, ownProperties: true } as const;
const ajv = new Ajv2020(options);

export const dialects: readonly Dialect[] = ['openai', 'anthropic', 'gemini', 'compatible'];

const refusedAtRoot = [
  ...['anyOf', 'oneOf', 'allOf', 'not', 'enum', 'const', 'if', 'then', 'else', '$ref', '$dynamicRef'],
  ...['$schema', '$id', '$comment', '$anchor'],
];

/** The reasons for which a provider would reject these parameters. */
export function wireViolations(parameters: JsonObject, dialect: Dialect): readonly string[] {
  const found: string[] = [];
  if (parameters['type'] !== 'object') found.push('root: type must be "object"');
  if (!isObject(parameters['properties'])) found.push('root: properties missing');
  for (const keyword of refusedAtRoot) if (parameters[keyword] !== undefined) found.push(`root: ${keyword}`);
  visit(parameters, '#', found, dialect);
  const odd = Object.keys(Object(parameters['properties'])).filter(
    (name) => !/^[a-zA-Z0-9_.-]{1,64}$/.test(name),
  );
  if (dialect === 'anthropic')
    found.push(...odd.map((name) => `root: property name ${JSON.stringify(name)}`));
  if (dialect !== 'gemini' && ajv.validateSchema(parameters) !== true)
    found.push(`not draft 2020-12: ${ajv.errorsText(ajv.errors)}`);
  return found;
}

const fieldsOf = (types: readonly string[], names: string) =>
  names.split(' ').map((name) => [name, types] as const);

/** The fields of `Schema` in Google's API reference, and the types that each belongs to; none for all of them. */
const geminiFields: ReadonlyMap<string, readonly string[]> = new Map([
  ...fieldsOf([], 'type title description nullable default example'),
  ...fieldsOf(['string', 'number', 'integer'], 'format'),
  ...fieldsOf(['string'], 'enum minLength maxLength pattern'),
  ...fieldsOf(['number', 'integer'], 'minimum maximum'),
  ...fieldsOf(['array'], 'items minItems maxItems'),
  ...fieldsOf(['object'], 'properties required propertyOrdering minProperties maxProperties'),
]);

/** Google: proto3 `Schema`, where an unknown name, a list for a type and a field beside another type are a 400. */
function geminiViolations(schema: JsonObject, at: string, found: string[]): void {
  const { type, enum: values, format, required, properties, items, anyOf } = schema;
  if (anyOf !== undefined) {
    if (Object.keys(schema).length > 1) found.push(`${at}: other fields beside anyOf`);
    return;
  }
  if (typeof type !== 'string') {
    // Only `items: {}` is known to be accepted without a type.
    if (!at.endsWith('/items') || Object.keys(schema).length > 0) found.push(`${at}: no single type`);
    return;
  }
  if (!['string', 'number', 'integer', 'boolean', 'array', 'object'].includes(type))
    found.push(`${at}: type ${type}`);
  for (const keyword of Object.keys(schema)) {
    const types = geminiFields.get(keyword);
    if (types === undefined) found.push(`${at}: unknown name ${keyword}`);
    else if (types.length > 0 && !types.includes(type)) found.push(`${at}: ${keyword} beside type ${type}`);
  }
  if (isArray(values) && !values.every((each) => typeof each === 'string' && each !== ''))
    found.push(`${at}: enum with something else than non-empty strings`);
  if (type === 'string' && format !== undefined && !['enum', 'date-time'].includes(String(format)))
    found.push(`${at}: format ${String(format)}`);
  if (type === 'array' && !isObject(items)) found.push(`${at}: items missing`);
  for (const name of isArray(required) ? required : [])
    if (!Object.hasOwn(Object(properties), String(name)))
      found.push(`${at}: required ${name} is not defined`);
}

/** Compiles parameters to a function that says which payloads a model can send. */
export function compileWire(parameters: JsonObject, dialect: Dialect): ValidateFunction {
  const schema: unknown = JSON.parse(JSON.stringify(parameters), (_, value: Json) => {
    // In Google's API `nullable` allows null whatever the other keywords are.
    if (dialect !== 'gemini' || !isObject(value) || value['nullable'] !== true) return value;
    return { anyOf: [{ ...value, nullable: undefined }, { type: 'null' }] };
  });
  return new Ajv2020({ ...options, validateSchema: false }).compile(Object(schema));
}

const refusedByCompatible = [
  ...['uniqueItems', 'pattern', 'patternProperties', 'not', 'if', 'then', 'else', 'const', 'definitions'],
  ...['propertyNames', 'contains', 'dependentRequired', 'dependentSchemas', 'unevaluatedProperties'],
  ...['nullable', '$ref', 'oneOf', 'allOf'],
];

/** Servers that convert a schema to a grammar (llama.cpp and derivatives), and hosts with their own validator. */
function compatibleViolations(schema: JsonObject, at: string, found: string[]): void {
  for (const keyword of refusedByCompatible)
    if (schema[keyword] !== undefined) found.push(`${at}: ${keyword}`);
  for (const keyword of ['minLength', 'maxLength', 'minItems', 'maxItems']) {
    if (Number(schema[keyword] ?? 0) > 1000) found.push(`${at}: ${keyword} is too large for a grammar`);
  }
  const { type, anyOf, properties, additionalProperties } = schema;
  if (anyOf !== undefined && type !== undefined) found.push(`${at}: type beside anyOf`);
  if (anyOf === undefined && type === undefined && Object.keys(schema).length > 0)
    found.push(`${at}: unrecognized schema without a type`);
  if (isObject(properties) && Object.keys(properties).length === 0 && additionalProperties === undefined)
    found.push(`${at}: empty properties allow nothing`);
}

function visit(schema: Json, at: string, found: string[], dialect: Dialect): void {
  if (!isObject(schema)) return;
  if (dialect === 'gemini') geminiViolations(schema, at, found);
  if (dialect === 'compatible') compatibleViolations(schema, at, found);
  const { type = [], items } = schema;
  if ([type].flat().includes('array') && items === undefined) found.push(`${at}: array without items`);
  if (items !== undefined && isArray(items)) found.push(`${at}: items is a list`);
  if (dialect !== 'gemini' && schema['nullable'] !== undefined) found.push(`${at}: nullable`);
  for (const [path, child] of subschemas(schema)) visit(child, `${at}/${path.join('/')}`, found, dialect);
}
