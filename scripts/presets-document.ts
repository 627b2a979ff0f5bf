/**
 * Writes the tables of docs/presets.md from the presets themselves: `node scripts/presets-document.ts`. With `--check`
 * it only compares, and exits 1 when the document is not what the schemas say.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type Preset, presets } from '../src/contract/presets.ts';
import { isArray, isObject } from '../src/text/json.ts';
import type { Json, JsonObject } from '../src/types.ts';
import { fill, table } from './readme.ts';

/** Where the document lies. */
export const PRESETS_DOCUMENT = path.join(import.meta.dirname, '..', 'docs', 'presets.md');

/** The document with its tables and gates as they should be. */
export function presetsDocument(text: string): string {
  return [...presets].reduce(
    (filled, [name, preset]) => fill(filled, name, `${tableOf(preset.schema)}\n\n${gateOf(preset)}`),
    text,
  );
}

function tableOf(schema: JsonObject): string {
  return table(['property', 'type', 'meaning, as the model is told'], rows(schema, ''));
}

/** A row for each property; those of a list's entries follow the list. */
function rows(schema: JsonObject, prefix: string): readonly (readonly string[])[] {
  const { properties, required } = schema;
  const needed = isArray(required) ? required : [];
  return Object.entries(isObject(properties) ? properties : {}).flatMap(([name, property]) => {
    if (!isObject(property)) return [];
    const { description, items } = property;
    const optional = needed.includes(name) ? '' : ', optional';
    const row = [
      `\`${prefix}${name}\``,
      typeOf(property) + optional,
      String(description).replaceAll('|', '\\|'),
    ];
    return [row, ...(isObject(items) ? rows(items, `${prefix}${name}[].`) : [])];
  });
}

function typeOf({ type, enum: values }: JsonObject): string {
  if (isArray(values)) return values.map((value: Json) => `\`${String(value)}\``).join(', ');
  return String(type);
}

function gateOf({ gate }: Preset): string {
  if (gate.kind !== 'schema' || !isObject(gate.schema)) {
    return gate.kind === 'property'
      ? `Its gate: the property \`${gate.name}\`, which has to be true.`
      : 'It has no gate.';
  }
  const { $schema: _, ...rest } = gate.schema;
  return `Its gate:\n\n\`\`\`json\n${JSON.stringify(rest, null, 2)}\n\`\`\``;
}

if (import.meta.main) {
  const text = readFileSync(PRESETS_DOCUMENT, 'utf8');
  const wanted = presetsDocument(text);
  if (!process.argv.includes('--check')) writeFileSync(PRESETS_DOCUMENT, wanted);
  else if (text !== wanted) {
    console.error('docs/presets.md is not what schemas/ says. Run: node scripts/presets-document.ts');
    process.exitCode = 1;
  }
}
