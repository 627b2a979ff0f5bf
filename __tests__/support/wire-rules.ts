/** The rules by which providers refuse a tool's schema, as far as they are known from their documentation and errors. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { isArray, isObject } from '../../src/json.ts';
import type { Json, JsonObject } from '../../src/types.ts';

const ajv = new Ajv2020({ strict: false, validateFormats: false });

const refusedAtRoot = [
  'anyOf',
  'oneOf',
  'allOf',
  'not',
  'enum',
  'const',
  'if',
  'then',
  'else',
  '$ref',
  '$dynamicRef',
];
const refusedIdentifiers = ['$schema', '$id', '$comment', '$anchor'];

/** Why a provider would refuse these parameters; empty where it would not. */
export function wireViolations(parameters: JsonObject, dialect: 'openai' | 'anthropic'): readonly string[] {
  const found: string[] = [];
  if (parameters['type'] !== 'object') found.push('root: type must be "object"');
  if (!isObject(parameters['properties'])) found.push('root: properties missing');
  for (const keyword of [...refusedAtRoot, ...refusedIdentifiers]) {
    if (parameters[keyword] !== undefined) found.push(`root: ${keyword}`);
  }
  visit(parameters, '#', found);
  if (dialect === 'anthropic') {
    for (const name of Object.keys(isObject(parameters['properties']) ? parameters['properties'] : {})) {
      if (!/^[a-zA-Z0-9_.-]{1,64}$/.test(name)) found.push(`root: property name ${JSON.stringify(name)}`);
    }
  }
  if (ajv.validateSchema(parameters) !== true) found.push(`not draft 2020-12: ${ajv.errorsText(ajv.errors)}`);
  return found;
}

const schemaKeywords = [
  'additionalProperties',
  'contains',
  'else',
  'if',
  'items',
  'not',
  'propertyNames',
  'then',
];
const listKeywords = ['allOf', 'anyOf', 'oneOf', 'prefixItems'];
const mapKeywords = ['$defs', 'definitions', 'dependentSchemas', 'patternProperties', 'properties'];

function visit(schema: Json, at: string, found: string[]): void {
  if (!isObject(schema)) return;
  const { type, items } = schema;
  const takesArrays = type === 'array' || (type !== undefined && isArray(type) && type.includes('array'));
  if (takesArrays && items === undefined) found.push(`${at}: array without items`);
  if (items !== undefined && isArray(items)) found.push(`${at}: items is a list`);
  if (schema['nullable'] !== undefined) found.push(`${at}: nullable`);
  for (const keyword of schemaKeywords) visit(schema[keyword] ?? null, `${at}/${keyword}`, found);
  for (const keyword of listKeywords) {
    const list = schema[keyword];
    if (list !== undefined && isArray(list))
      list.forEach((each, n) => void visit(each, `${at}/${keyword}/${n}`, found));
  }
  for (const keyword of mapKeywords) {
    const map = schema[keyword];
    if (isObject(map))
      for (const [name, each] of Object.entries(map)) visit(each, `${at}/${keyword}/${name}`, found);
  }
}
