/** Generates values that a schema is likely to accept; a validator decides whether it does. */
import { isArray, isObject } from '../../../src/text/json.ts';
import type { Json, JsonObject } from '../../../src/types.ts';

/** A source of numbers from 0 (inclusive) to 1 (exclusive), reproducible by seed. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

interface Maker {
  readonly root: JsonObject;
  readonly random: () => number;
}

/** Texts, of which one often has the wanted format, pattern and length. */
const TEXTS = [
  ...['a', 'A', '1', '1.2.3', 'a-b', '/a', '#a', 'x-a', 'a/b', '0xab', 'https://host.example/a', ''],
  ...['2026-01-02T03:04:05Z', '2026-01-02', '03:04:05Z', 'a@host.example', 'host.example', '127.0.0.1'],
];

/** A value for the root schema. */
export function likelyInstance(root: JsonObject, random: () => number): Json {
  return made(root, { root, random }, 0);
}

function made(schema: Json, maker: Maker, depth: number): Json {
  if (!isObject(schema)) return 'any';
  const { examples, enum: values } = schema;
  if (schema['const'] !== undefined) return schema['const'];
  if (isArray(values)) return pick(values, maker);
  if (isArray(examples) && maker.random() < 0.5) return pick(examples, maker);
  if (schema['default'] !== undefined && maker.random() < 0.3) return schema['default'];
  const all = conjuncts(schema, maker, 0);
  const literal = all.find((each) => each['const'] !== undefined || each['enum'] !== undefined);
  if (literal !== undefined && literal !== schema) return made(literal, maker, depth);
  switch (typeFor(all, maker)) {
    case 'object':
      return object(all, maker, depth);
    case 'array':
      return array(all, maker, depth);
    case 'number':
    case 'integer':
      return number(all);
    case 'boolean':
      return maker.random() < 0.5;
    case 'null':
      return null;
    default:
      return string(all, maker);
  }
}

/** A schema merged with its references, its `allOf` and one branch of each union. */
function conjuncts(schema: Json, maker: Maker, steps: number): readonly JsonObject[] {
  if (!isObject(schema) || steps > 12) return [];
  const { $ref, allOf, anyOf, oneOf } = schema;
  const target = typeof $ref === 'string' ? pointed(maker.root, $ref) : undefined;
  const unions = [anyOf, oneOf].filter((each) => isArray(each)).map((each) => pick(each, maker));
  const inner = [...(target === undefined ? [] : [target]), ...(isArray(allOf) ? allOf : []), ...unions];
  return [schema, ...inner.flatMap((each) => conjuncts(each, maker, steps + 1))];
}

function pointed(root: JsonObject, reference: string): Json | undefined {
  if (!reference.startsWith('#')) return undefined;
  let found: Json | undefined = root;
  for (const token of reference.split('/').slice(1)) {
    const key = decodeURIComponent(token).replaceAll('~1', '/').replaceAll('~0', '~');
    if (isArray(found)) found = found[Number(key)];
    else found = isObject(found) && Object.hasOwn(found, key) ? found[key] : undefined;
  }
  return found;
}

function typeFor(all: readonly JsonObject[], maker: Maker): string {
  const types = all.flatMap(({ type }) => (type === undefined ? [] : [isArray(type) ? type : [type]]));
  const [first, ...others] = types;
  const common = first?.filter((type) => others.every((each) => each.includes(type)));
  if (common !== undefined && common.length > 0) return String(pick(common, maker));
  if (all.some((each) => each['properties'] !== undefined || each['required'] !== undefined)) return 'object';
  return all.some((each) => each['items'] !== undefined) ? 'array' : 'string';
}

function object(all: readonly JsonObject[], maker: Maker, depth: number): JsonObject {
  const required = new Set(all.flatMap(({ required: names }) => (isArray(names) ? names : [])));
  const entries: [string, Json][] = [];
  for (const { properties } of all) {
    if (!isObject(properties)) continue;
    for (const [name, schema] of Object.entries(properties)) {
      const share = depth > 4 ? 0 : 0.4;
      if (required.has(name) || maker.random() < share) entries.push([name, made(schema, maker, depth + 1)]);
    }
  }
  for (const name of required) {
    if (typeof name === 'string' && !entries.some(([known]) => known === name)) entries.push([name, 'any']);
  }
  const { additionalProperties } = all[0] ?? {};
  if (isObject(additionalProperties) && depth < 5)
    entries.push(['other', made(additionalProperties, maker, depth + 1)]);
  return Object.fromEntries(entries);
}

function array(all: readonly JsonObject[], maker: Maker, depth: number): Json {
  const least = Math.max(0, ...all.map(({ minItems }) => (typeof minItems === 'number' ? minItems : 0)));
  const most = Math.min(3, ...all.map(({ maxItems }) => (typeof maxItems === 'number' ? maxItems : 3)));
  const length = depth > 4 ? least : Math.max(least, Math.floor(maker.random() * (most + 1)));
  const items = all.map((each) => each['items']).find((each) => each !== undefined) ?? {};
  const prefix =
    all.map((each) => each['prefixItems']).find((each) => isArray(each)) ?? (isArray(items) ? items : []);
  return Array.from({ length: Math.min(length, 20) }, (_, at) => {
    const place = isArray(prefix) ? prefix[at] : undefined;
    return made(place ?? (isArray(items) ? {} : items), maker, depth + 1);
  });
}

function number(all: readonly JsonObject[]): number {
  const found = (keyword: string) =>
    all.map((each) => each[keyword]).find((each) => typeof each === 'number');
  const least = found('minimum') ?? found('exclusiveMinimum');
  const step = Number(found('multipleOf') ?? 1);
  return least === undefined ? Number(found('maximum') ?? step) : Math.ceil(Number(least)) + step;
}

function string(all: readonly JsonObject[], maker: Maker): string {
  const isFitting = (text: string) =>
    all.every(({ pattern, minLength }) => text.length >= Number(minLength ?? 0) && matches(text, pattern));
  return String(pick(TEXTS.filter(isFitting), maker) ?? 'a');
}

function matches(text: string, pattern: Json | undefined): boolean {
  try {
    return typeof pattern !== 'string' || new RegExp(pattern, 'u').test(text);
  } catch {
    return false;
  }
}

function pick(values: readonly Json[], { random }: Maker): Json {
  return values[Math.floor(random() * values.length)] ?? null;
}
