/** The keywords that the stricter dialects support, and to what extent. */
import type { Json } from '../../types.ts';

/** Dialects whose servers support only a part of JSON Schema. */
export type StrictDialect = 'gemini' | 'compatible';

/** Assertion keywords by the type of value; each is only sent in schemas of that type. */
export const keywordsOf: Readonly<Record<StrictDialect, ReadonlyMap<string, readonly string[]>>> = {
  // The fields of `Schema` in Google's API. Any other name causes a 400 for the whole request, and so does a field in a
  // schema of the wrong type ("field predicate failed: $type == Type.ARRAY").
  gemini: new Map([
    ['string', ['enum', 'format', 'pattern', 'minLength', 'maxLength']],
    ['number', ['format', 'minimum', 'maximum']],
    ['integer', ['format', 'minimum', 'maximum']],
    ['object', ['properties', 'required', 'minProperties', 'maxProperties']],
    ['array', ['items', 'minItems', 'maxItems']],
  ]),
  // What the converters from JSON Schema to grammars support (llama.cpp, xgrammar). `pattern` in a nested schema breaks
  // llama.cpp's; `uniqueItems` causes a 400 at DashScope.
  compatible: new Map([
    ['string', ['enum', 'format', 'minLength', 'maxLength']],
    ['number', ['enum', 'format', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum']],
    ['integer', ['enum', 'format', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum']],
    ['object', ['enum', 'properties', 'required', 'additionalProperties']],
    ['array', ['enum', 'items', 'minItems', 'maxItems']],
    ['boolean', ['enum']],
    ['null', ['enum']],
  ]),
};

/** Annotation keywords that are sent. */
export const annotationsOf: Readonly<Record<StrictDialect, ReadonlySet<string>>> = {
  gemini: new Set(['title', 'description', 'default']),
  compatible: new Set(['title', 'description', 'default', 'examples']),
};

const bounds = new Set(['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties']);

/** int64 in Google's API. llama.cpp fails on grammars with thousands of repetitions, which add up and multiply. */
const maxBound: Readonly<Record<StrictDialect, number>> = { gemini: 2 ** 31 - 1, compatible: 256 };

const geminiFormats: ReadonlyMap<string, readonly string[]> = new Map([
  ['string', ['date-time']],
  ['number', ['float', 'double']],
  ['integer', ['int32', 'int64']],
]);

/** Whether the dialect accepts a keyword with this value in a schema of this type. */
export function isTaken(dialect: StrictDialect, keyword: string, value: Json, type: string): boolean {
  if (!keywordsOf[dialect].get(type)?.includes(keyword)) return false;
  if (bounds.has(keyword)) return typeof value === 'number' && value <= maxBound[dialect];
  if (dialect === 'compatible') return true;
  if (keyword === 'format') return geminiFormats.get(type)?.some((each) => each === value) ?? false;
  // Google's regular expressions have neither lookahead nor lookbehind.
  if (keyword === 'pattern') return typeof value === 'string' && !/\(\?|\\[1-9kpP]/.test(value);
  return true;
}
