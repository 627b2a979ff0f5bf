/** Copies a schema into draft 2020-12, keyword by keyword, so that it accepts exactly what it accepted before. */
import { isArray, isObject } from '../../text/json.ts';
import { shapeOf } from '../../text/schema-keywords.ts';
import type { Json, JsonObject } from '../../types.ts';
import { identifying } from './keywords.ts';
import type { Refs } from './refs.ts';

/** A walk over one schema; what it copied before it gives again, the same object. */
export interface Walk {
  schema(schema: Json): Json;
  object(schema: JsonObject): JsonObject;
}

/** A walk that spells references as `refs` says. The schema must not nest deeper than `maxDepth` of json.ts. */
export function createWalk(refs: Refs): Walk {
  const copies = new Map<JsonObject, JsonObject>();
  const schema = (source: Json): Json => {
    if (source === true) return {};
    if (source === false) return { not: {} };
    return isObject(source) ? object(source) : source;
  };
  const object = (source: JsonObject): JsonObject => {
    const before = copies.get(source);
    if (before !== undefined) return before;
    const fields = Object.entries(source).flatMap(([keyword, value]) => copiedField(keyword, value, source));
    const copy = withItems(withDependencies(Object.fromEntries(fields), source, schema));
    copies.set(source, copy);
    return copy;
  };
  const copiedField = (
    keyword: string,
    value: Json,
    source: JsonObject,
  ): readonly (readonly [string, Json])[] => {
    if (identifying.has(keyword)) return [];
    switch (keyword) {
      case '$ref':
      case '$dynamicRef':
        return typeof value === 'string' ? [['$ref', refs.spelled(source)]] : [];
      case 'type':
        return [['type', source['nullable'] === true ? nullable(value) : value]];
      // The contract's compiler reads this word of OpenAPI; 2020-12 does not know it.
      case 'nullable':
      case 'dependencies':
        return [];
      // Without a tuple beside it, it says nothing.
      case 'additionalItems':
        return isArray(source['items'] ?? null)
          ? [['items', typeof value === 'boolean' ? value : schema(value)]]
          : [];
      case 'additionalProperties':
      case 'unevaluatedProperties':
        return [[keyword, typeof value === 'boolean' ? value : schema(value)]];
      case 'items':
        if (isArray(value)) return [['prefixItems', value.map(schema)]];
        return [['items', value === false ? false : schema(value)]];
    }
    return [[keyword, copiedValue(keyword, value)]];
  };
  const copiedValue = (keyword: string, value: Json): Json => {
    switch (shapeOf(keyword, value)) {
      case 'schema':
        return schema(value);
      case 'list':
        return isArray(value) ? value.map(schema) : value;
      case 'map':
        return isObject(value) ? mapped(value, schema) : value;
      case 'literal':
        return value;
    }
  };
  return { schema, object };
}

function mapped(map: JsonObject, copy: (schema: Json) => Json): JsonObject {
  return Object.fromEntries(Object.entries(map).map(([name, value]) => [name, copy(value)]));
}

function nullable(type: Json): Json {
  const types = isArray(type) ? type : [type];
  return types.includes('null') ? type : [...types, 'null'];
}

/** Draft-07 `dependencies` as the two keywords that they became. */
function withDependencies(copy: JsonObject, source: JsonObject, schema: (schema: Json) => Json): JsonObject {
  const { dependencies } = source;
  if (!isObject(dependencies)) return copy;
  const required = new Map(Object.entries(objectAt(copy, 'dependentRequired')));
  const schemas = new Map(Object.entries(objectAt(copy, 'dependentSchemas')));
  for (const [name, value] of Object.entries(dependencies)) {
    if (isArray(value)) {
      const before = required.get(name);
      required.set(name, [...new Set([...(isArray(before) ? before : []), ...value])]);
    } else {
      const before = schemas.get(name);
      schemas.set(name, before === undefined ? schema(value) : { allOf: [before, schema(value)] });
    }
  }
  return {
    ...copy,
    ...(required.size === 0 ? {} : { dependentRequired: Object.fromEntries(required) }),
    ...(schemas.size === 0 ? {} : { dependentSchemas: Object.fromEntries(schemas) }),
  };
}

/** OpenAI refuses arrays without `items`. */
function withItems(copy: JsonObject): JsonObject {
  const { type } = copy;
  const isArrayType = type === 'array' || (isArray(type) && type.includes('array'));
  return isArrayType && copy['items'] === undefined ? { ...copy, items: {} } : copy;
}

/** A keyword's object; empty where there is none. */
export function objectAt(schema: JsonObject, keyword: string): JsonObject {
  const value = schema[keyword];
  return isObject(value) ? value : {};
}
