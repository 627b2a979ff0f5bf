/** Reads a schema or a gate: from the text as typed to parsed JSON, before its shape is checked. */
import { ContractError } from '../errors.ts';
import { jsonPointer, parseJsonWithInexact, parseStrictJson } from '../text/json.ts';
import { DISPLAY } from '../text/limits.ts';
import { quote, suggest, truncate } from '../text/messages.ts';
import type { Elsewhere, Json, Reading } from '../types.ts';
import type { GateRequest } from './gate.ts';
import { defaultPreset, type Preset, presets } from './presets.ts';

/** Reads files that the user named, here or in another repository: this folder accesses no files. */
export interface Files {
  readonly readFile: (path: string) => Promise<Reading>;
  readonly readElsewhere: (place: Elsewhere) => Promise<Reading>;
}

/**
 * Reads the `schema` input: a preset's name, a path, or inline JSON. If absent or empty, the default preset is used. The
 * preset of a custom schema is null.
 * @throws ContractError with stage `source`
 */
export async function parseSchemaArgument(
  raw: string | undefined,
  files: Files,
): Promise<{ readonly schema: Json; readonly preset: Preset | null }> {
  const given = raw === undefined || raw === '' ? defaultPreset : raw.trim();
  if (given === '') throw refuse('schema', 'It is empty. Leave it out for the verdict preset.');
  const preset = presets.get(given);
  if (preset !== undefined) return { schema: preset.schema, preset };
  if (namesFile(given)) return { schema: await parseFile('schema', given, files), preset: null };
  if (/^[^\s{}[\]"]+$/.test(given) && !parseStrictJson(given).ok)
    throw refuse('schema', describeUnknown(given));
  return { schema: exact('schema', 'It', given), preset: null };
}

/**
 * Reads the `gate` input: `auto`, `off`, a path, inline JSON, or else the name of a property. Absent or empty means
 * `auto`. Whether such a property exists is checked when the gate is created.
 * @param auto what `auto` stands for
 * @throws ContractError with stage `source`
 */
export async function parseGateArgument(
  raw: string | undefined,
  auto: GateRequest,
  files: Files,
): Promise<GateRequest> {
  const given = raw === undefined || raw === '' ? 'auto' : raw.trim();
  if (given === '') throw refuse('gate', 'It is empty. Write auto, off, a property, or a JSON Schema.');
  if (given === 'off') return { kind: 'none' };
  if (given === 'auto') return auto;
  if (namesFile(given)) return { kind: 'schema', schema: await parseFile('gate', given, files) };
  if (/^[[{"]/.test(given) || parseStrictJson(given).ok)
    return { kind: 'schema', schema: exact('gate', 'It', given) };
  return { kind: 'property', name: given };
}

function describeUnknown(word: string): string {
  const names = [...presets.keys()];
  const near = suggest(word, names, 1);
  const meant = near.length > 0 ? `Did you mean ${near[0]}?` : `The presets are ${names.join(', ')}.`;
  return `${quote(word)} is not a preset. ${meant} For a schema of your own give inline JSON or the path of a .json file.`;
}

/** Whether a text names a file: `@` and a path, or one line that ends in `.json` or contains a path separator. */
function namesFile(given: string): boolean {
  if (given.startsWith('@')) return true;
  return /^[^{["\r\n][^\r\n]*$/u.test(given) && /\.json$|[/\\]/iu.test(given);
}

async function parseFile(what: 'schema' | 'gate', given: string, files: Files): Promise<Json> {
  const path = pathOf(given);
  if (path === '') throw refuse(what, `There is no path after @. Write @path/to/file.json.`);
  const reading = await readNamed(given, files);
  if (!reading.ok) throw refuse(what, `${reading.problem}${hintAt(given)}`);
  return exact(what, `The file ${quote(path)}`, reading.text);
}

/** Says how the same path is meant to be read in the other repository or in this one. */
function hintAt(given: string): string {
  if (isInOtherRepository(given)) return ' For a path in this repository write @./ before it.';
  return placeElsewhere(given) === null ? '' : ` For a file of another repository write @${given}.`;
}

/**
 * Parses JSON unless its meaning depends on a number that JavaScript cannot represent: any in a gate, and what a `const` or
 * an `enum` of a schema is compared with.
 */
function exact(what: 'schema' | 'gate', source: string, text: string): Json {
  const parsed = parseJsonWithInexact(text);
  if (!parsed.ok) throw refuse(what, `${source} ${parsed.fault}.`);
  const found = parsed.inexact.find(
    ({ path, number }) =>
      what === 'gate' || !Number.isFinite(number) || path.includes('const') || path.includes('enum'),
  );
  if (found === undefined) return parsed.value;
  const place = truncate(jsonPointer(found.path), DISPLAY.phrase) || 'the root';
  throw refuse(
    what,
    `${source} has a number at ${place} that cannot be represented exactly. Write fewer digits, or declare a string.`,
  );
}

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

function refuse(what: 'schema' | 'gate', message: string): ContractError {
  return new ContractError(what, 'source', message);
}
