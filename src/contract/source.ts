/** Reads a schema or a gate: from the text as typed to parsed JSON, before its shape is checked. */

import { ContractError } from '../errors.ts';
import {
  type InexactNumber,
  type JsonFault,
  type JsonWithInexact,
  parseJsonWithInexact,
  parseStrictJson,
} from '../text/json.ts';
import { DISPLAY } from '../text/limits.ts';
import { quote, suggest } from '../text/messages.ts';
import type { Elsewhere, Json, Reading } from '../types.ts';
import type { GateRequest } from './gate.ts';
import { defaultPreset, type Preset, presets } from './presets.ts';
import { inexactObjection, inexactWarnings } from './schema-walk.ts';

/** Reads a file that the user named. Passed in by the entry, because this folder accesses no files. */
export type ReadFile = (path: string) => Promise<Reading>;

/** Reads files that the user named, here or in another repository. */
export interface Files {
  readonly readFile: ReadFile;
  readonly readElsewhere: (place: Elsewhere) => Promise<Reading>;
}

/** A parsed schema and the preset it is; null for a custom schema. */
export interface SchemaSource {
  readonly schema: Json;
  readonly preset: Preset | null;
  /** One sentence each: numbers in the text whose parsed value differs. */
  readonly warnings: readonly string[];
}

/**
 * Reads the `schema` input: a preset's name, a path, or inline JSON. If absent or empty, the default preset is used.
 * @throws ContractError with stage `source`
 */
export async function parseSchemaArgument(raw: string | undefined, files: Files): Promise<SchemaSource> {
  const given = raw === undefined || raw === '' ? defaultPreset : raw.trim();
  if (given === '') throw sourceError('schema', 'cannot be empty. Leave it out for the verdict preset.');
  const preset = presets.get(given);
  if (preset !== undefined) return { schema: preset.schema, preset, warnings: [] };
  if (namesFile(given)) return ownSchema(await parseFile('schema', given, parseJsonWithInexact, files));
  if (isBareWord(given)) throw sourceError('schema', unknownWord(given));
  return ownSchema(parseInline('schema', given, parseJsonWithInexact));
}

/** Returns a custom schema. @throws ContractError for a number that must be exact but cannot be represented */
function ownSchema({ value, inexact }: ReadJson): SchemaSource {
  const objection = inexactObjection(value, inexact);
  if (objection !== null) throw sourceError('schema', objection);
  return { schema: value, preset: null, warnings: inexactWarnings(inexact) };
}

/**
 * Reads the `gate` input: `auto`, `off`, a path, inline JSON, or else the name of a property, which contains no `/` and
 * does not end in `.json`. Absent or empty means `auto`. Whether such a property exists is checked when the gate is
 * created.
 * @param auto what `auto` stands for.
 * @throws ContractError with stage `source`
 */
export async function parseGateArgument(
  raw: string | undefined,
  auto: GateRequest,
  files: Files,
): Promise<GateRequest> {
  const given = raw === undefined || raw === '' ? 'auto' : raw.trim();
  if (given === '')
    throw sourceError('gate', 'cannot be empty. Write auto, off, a property, or a JSON Schema.');
  if (given === 'off') return { kind: 'none' };
  if (given === 'auto') return auto;
  if (namesFile(given))
    return { kind: 'schema', schema: (await parseFile('gate', given, parseExactJson, files)).value };
  if (/^[[{"]/.test(given) || parseStrictJson(given).ok) {
    return { kind: 'schema', schema: parseInline('gate', given, parseExactJson).value };
  }
  return { kind: 'property', name: given };
}

/** Whether a text is a word that is not JSON, and so can only be a name or a path. */
function isBareWord(given: string): boolean {
  return /^[^\s{}[\]"]+$/.test(given) && !parseStrictJson(given).ok;
}

function unknownWord(word: string): string {
  const near = suggest(word, [...presets.keys()]);
  const names = (near.length > 0 ? near : [...presets.keys()]).map((name) => JSON.stringify(name)).join(', ');
  const meant = near.length > 0 ? `Did you mean ${names}?` : `The presets are: ${names}.`;
  return `is ${quote(word)}, which is no preset. ${meant} For a schema of your own give inline JSON or the path of a .json file.`;
}

/** Whether a text names a file: `@` and a path, or one line that ends in `.json` or contains a path separator. */
function namesFile(given: string): boolean {
  if (given.startsWith('@')) return true;
  return /^[^{["\r\n][^\r\n]*$/u.test(given) && /\.json$|[/\\]/iu.test(given);
}

interface ReadJson {
  readonly value: Json;
  readonly inexact: readonly InexactNumber[];
}

/** Parses JSON without changed numbers: a gate compares values exactly. */
function parseExactJson(text: string): JsonWithInexact {
  const parsed = parseStrictJson(text);
  return parsed.ok ? { ...parsed, inexact: [] } : parsed;
}

async function parseFile(
  what: 'schema' | 'gate',
  given: string,
  parse: (text: string) => JsonWithInexact,
  files: Files,
): Promise<ReadJson> {
  const path = pathOf(given);
  if (path === '') throw sourceError(what, 'has no path after @. Write @path/to/file.json.');
  const elsewhere = given.startsWith('@') ? placeElsewhere(path) : null;
  const reading = await readNamed(given, files);
  if (!reading.ok) {
    const hint =
      elsewhere !== null
        ? ' If it is a path in this repository, write @./ before it.'
        : reading.isMissing === true
          ? elsewhereHint(given, path)
          : '';
    throw new ContractError('source', `${what}: ${reading.problem}${hint}`);
  }
  const parsed = parse(reading.text);
  if (parsed.ok) return parsed;
  // Nothing in the file is quoted: the author of the path may not be allowed to read it.
  const { slip } = parsed;
  const verb = parsed.fault === 'number' ? 'holds' : 'is not valid JSON:';
  throw sourceError(
    what,
    `file ${quote(path)} ${verb} ${slip?.what ?? faults[parsed.fault]}, at ${parsed.place}.${slip === null ? '' : ` ${slip.fix}`}`,
  );
}

/**
 * Suggests what a path without a file was probably meant to be: an incomplete reference to a file in another
 * repository.
 */
function elsewhereHint(given: string, path: string): string {
  if (!given.startsWith('@')) {
    const place = placeElsewhere(path);
    return place === null
      ? ''
      : ` To read it from the repository ${place.owner}/${place.repo}, write ${quote(`@${path}`)}.`;
  }
  const [, repository] = /^([A-Za-z0-9][\w-]*\/[\w.-]+)\/[^@]+$/u.exec(path) ?? [];
  if (repository === undefined) return '';
  return ` If it is a file of the repository ${repository.slice(0, 140)}, the @REF at its end is missing: write ${quote(`@${path}@REF`)}, with a branch, a tag or a commit for REF.`;
}

const faults: Readonly<Record<JsonFault, string>> = {
  syntax: 'a syntax error',
  duplicate_key: 'a key that is given twice in one object',
  number: 'a number that cannot be represented exactly (write fewer digits, or a string)',
  depth: 'too many levels of nesting',
  surrogate: 'half of a surrogate pair',
};

/** Parses `owner/repo/path@ref`: at least three segments, the first two plain, and a ref; null for a local path. */
function placeElsewhere(path: string): Elsewhere | null {
  const parts = /^(?!\.{1,2}\/)([\w.-]+)\/(?!\.{1,2}\/)([\w.-]+)\/([^@]+)@([^@]+)$/u.exec(path);
  if (parts === null) return null;
  const [, owner = '', repo = '', file = '', ref = ''] = parts;
  return { owner, repo, path: file, ref };
}

/** Reads a file that an input names: a path, `@path`, or `@owner/repo/path@ref`. */
export function readNamed(given: string, files: Files): Promise<Reading> {
  const path = pathOf(given);
  const elsewhere = given.startsWith('@') ? placeElsewhere(path) : null;
  return elsewhere === null ? files.readFile(path) : files.readElsewhere(elsewhere);
}

/** Returns the path in this repository that a schema or a gate names; null for everything else. */
export function pathHere(input: string): string | null {
  const given = input.trim();
  return presets.has(given) || !namesFile(given) ? null : localPath(given);
}

/** Returns the path in this repository that the name of a file stands for; null for a file of another repository. */
export function localPath(given: string): string | null {
  const path = pathOf(given);
  return path === '' || isInOtherRepository(given) ? null : path;
}

/** Whether a schema or a gate is a file in another repository: `@owner/repo/path@ref`. */
export function isInOtherRepository(given: string): boolean {
  return given.startsWith('@') && placeElsewhere(pathOf(given)) !== null;
}

function pathOf(given: string): string {
  return given.startsWith('@') ? given.slice(1).trim() : given;
}

function parseInline(
  what: 'schema' | 'gate',
  text: string,
  parse: (text: string) => JsonWithInexact,
): ReadJson {
  const parsed = parse(text);
  if (parsed.ok) return parsed;
  const hint = `Write JSON, the path of a .json file, or ${what === 'schema' ? "a preset's name" : 'the name of a property'}.`;
  if (parsed.fault !== 'syntax') throw new ContractError('source', `${what}: ${parsed.problem} ${hint}`);
  const { slip, place } = parsed;
  if (slip !== null) throw sourceError(what, `is not valid JSON: ${slip.what} (${place}). ${slip.fix}`);
  throw sourceError(what, `is not valid JSON: ${parserWords(text)} (${place}). ${hint}`);
}

/** Returns JSON.parse's error message, which quotes a little of an inline text and so shows the position. */
function parserWords(text: string): string {
  try {
    JSON.parse(text);
  } catch (error) {
    if (error instanceof Error)
      return error.message.replace(/ in JSON at position \d.*/s, '').slice(0, DISPLAY.sentence);
  }
  return 'it cannot be read';
}

function sourceError(what: 'schema' | 'gate', rest: string): ContractError {
  return new ContractError('source', `${what} ${rest}`);
}
