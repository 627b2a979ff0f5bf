/** Where a schema or a gate comes from: the text that was typed → parsed JSON, before anything is said of its shape. */
import { ContractError } from '../errors.ts';
import { type JsonFault, parseStrictJson } from '../json.ts';
import { nearest } from '../nearest.ts';
import type { Elsewhere, Json, Reading } from '../types.ts';
import type { GateRequest } from './gate.ts';
import { defaultPreset, type Preset, presets } from './presets.ts';

/** Reads a file that the user named; given by the entry, because this folder touches no file. */
export type ReadFile = (path: string) => Promise<Reading>;

/** Reads files of the user's, here or in another repository. */
export interface Files {
  readonly readFile: ReadFile;
  readonly readElsewhere: (place: Elsewhere) => Promise<Reading>;
}

/** A schema as it was given, and the preset that it is; null for a schema of the user's own. */
export interface SchemaSource {
  readonly schema: Json;
  readonly preset: Preset | null;
}

/**
 * Reads the `schema` input: a preset's name, `@path`, or inline JSON; absent or empty is the default preset.
 * @throws ContractError with stage `source`.
 */
export async function parseSchemaArgument(raw: string | undefined, files: Files): Promise<SchemaSource> {
  const given = raw === undefined || raw === '' ? defaultPreset : raw.trim();
  if (given === '') throw sourceError('schema', 'cannot be empty. Leave it out for the verdict preset.');
  const preset = presets.get(given);
  if (preset !== undefined) return { schema: preset.schema, preset };
  if (given.startsWith('@')) return { schema: await parseFile('schema', given, files), preset: null };
  if (isBareWord(given)) throw sourceError('schema', unknownWord(given));
  return { schema: parseInline('schema', given), preset: null };
}

/**
 * Reads the `gate` input: `auto` (the preset's own gate, or none), `none`, `@path`, inline JSON, or else the name of a
 * property; absent or empty is `auto`. Whether such a property exists is asked when the gate is made.
 * @throws ContractError with stage `source`.
 */
export async function parseGateArgument(
  raw: string | undefined,
  preset: Preset | null,
  files: Files,
): Promise<GateRequest> {
  const given = raw === undefined || raw === '' ? 'auto' : raw.trim();
  if (given === '')
    throw sourceError('gate', 'cannot be empty. Write auto, none, a property, or a JSON Schema.');
  if (given === 'none') return { kind: 'none' };
  if (given === 'auto') return preset?.gate ?? { kind: 'none' };
  if (given.startsWith('@')) return { kind: 'schema', schema: await parseFile('gate', given, files) };
  if (/^[[{"]/.test(given) || parseStrictJson(given).ok) {
    return { kind: 'schema', schema: parseInline('gate', given) };
  }
  return { kind: 'property', name: given };
}

/** A word that is no JSON, so that it can only have been meant as a name or a path. */
function isBareWord(given: string): boolean {
  return /^[^\s{}[\]"]+$/.test(given) && !parseStrictJson(given).ok;
}

function unknownWord(word: string): string {
  const near = nearest(word, [...presets.keys()]);
  const names = (near.length > 0 ? near : [...presets.keys()]).map((name) => JSON.stringify(name)).join(', ');
  const file = /[./\\]/.test(word);
  const fix = file
    ? `To read that file, write ${shown(`@${word}`)}.`
    : 'For a schema of your own give inline JSON or @path.';
  const meant = file ? '' : near.length > 0 ? ` Did you mean ${names}?` : ` The presets are: ${names}.`;
  return `is ${shown(word)}, which is no preset.${meant} ${fix}`;
}

async function parseFile(what: 'schema' | 'gate', given: string, files: Files): Promise<Json> {
  const path = given.slice(1).trim();
  if (path === '') throw sourceError(what, 'has no path after @. Write @path/to/file.json.');
  const elsewhere = placeElsewhere(path);
  const reading = elsewhere === null ? await files.readFile(path) : await files.readElsewhere(elsewhere);
  if (!reading.ok) {
    const hint = elsewhere === null ? '' : ' If it is a path in this repository, write @./ before it.';
    throw new ContractError('source', `${what}: ${reading.problem}${hint}`);
  }
  const parsed = parseStrictJson(reading.text);
  if (parsed.ok) return parsed.value;
  // Nothing of the file is quoted: whoever chose the path may not be allowed to read it.
  throw sourceError(
    what,
    `file ${shown(path)} is not valid JSON: ${faults[parsed.fault]}, at ${parsed.place}.`,
  );
}

const faults: Readonly<Record<JsonFault, string>> = {
  syntax: 'a syntax error',
  duplicate_key: 'a key that is given twice in one object',
  number: 'a number that is too large',
  depth: 'too many levels of nesting',
  surrogate: 'half of a surrogate pair',
};

/** Three segments or more, the first two plain names, and a ref at the end; null for a path of this repository. */
function placeElsewhere(path: string): Elsewhere | null {
  const parts = /^(?!\.{1,2}\/)([\w.-]+)\/(?!\.{1,2}\/)([\w.-]+)\/([^@]+)@([^@]+)$/u.exec(path);
  if (parts === null) return null;
  const [, owner = '', repo = '', file = '', ref = ''] = parts;
  return { owner, repo, path: file, ref };
}

/** The path in this repository that an `@path` names; null for everything else. */
export function pathHere(given: string): string | null {
  const path = given.startsWith('@') ? given.slice(1).trim() : '';
  return path === '' || placeElsewhere(path) !== null ? null : path;
}

function parseInline(what: 'schema' | 'gate', text: string): Json {
  const parsed = parseStrictJson(text);
  if (parsed.ok) return parsed.value;
  const hint = `Write JSON, @path to a .json file, or ${what === 'schema' ? "a preset's name" : 'the name of a property'}.`;
  if (parsed.fault !== 'syntax') throw new ContractError('source', `${what}: ${parsed.problem} ${hint}`);
  throw sourceError(what, `is not valid JSON: ${parserWords(text)} (${parsed.place}). ${hint}`);
}

/** The words of JSON.parse, which quote a little of an inline text and so show the place. */
function parserWords(text: string): string {
  try {
    JSON.parse(text);
  } catch (error) {
    if (error instanceof Error)
      return error.message.replace(/ in JSON at position \d+.*$/s, '').slice(0, 300);
  }
  return 'it cannot be read';
}

function sourceError(what: 'schema' | 'gate', rest: string): ContractError {
  return new ContractError('source', `${what} ${rest}`);
}

function shown(text: string): string {
  return JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text);
}
