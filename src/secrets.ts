/** Knows the secret values of a run: masks them in any text that leaves, and finds them in what would be published. */
import {
  base64Forms,
  bytesOf,
  decodePercent,
  reverse,
  rot13,
  squeeze,
  squeezeHex,
  toStandardAlphabet,
  toUrlAlphabet,
} from './encodings.ts';
import { jsonPointer } from './json.ts';
import type { Json } from './types.ts';

/** A part of a text: from its first character up to the one behind it, in UTF-16 units. */
export type Span = readonly [start: number, end: number];

/** The secret values of a run. Its functions may be passed around on their own. */
export interface Secrets {
  /** Remembers a value; blank ones are ignored. */
  add(value: string): void;
  /** Whether a text is exactly a known value. */
  has(value: string): boolean;
  /** The known values that are long enough to mask, in the order they were added. */
  values(): readonly string[];
  /**
   * The text with every known value of at least 4 characters replaced by `***`, also where two overlap; of longer
   * values also their base64, hex, URL- and JSON-escaped forms, and the single lines of values with several lines.
   */
  mask(text: string): string;
  /**
   * Where known values stand that begin before `end`, each from its first character up to the one behind it, by their
   * beginnings; they may overlap. In the forms that `mask` covers, and reversed and in rot13. Takes no longer for what
   * comes far behind `end`.
   */
  spans(text: string, end: number): readonly Span[];
  /**
   * Looks for a known value of at least 8 characters in the strings, numbers and names of a payload: as it is (blanks
   * inside do not hide it), reversed, in base64, hex, URL encoding or rot13. Gives how and where, like
   * `base64 at /summary`, never the value; null when there is none.
   */
  find(payload: Json): string | null;
}

/** Shorter values would mask ordinary words, and tell by the holes what they are. */
const MIN_MASKED = 4;
/** What the detector looks for has at least so many characters. */
const MIN_FOUND = 8;
/** A part of a secret with several lines (a PEM body, a key in a JSON file) counts from this length on its own. */
const MIN_PART = 32;
/** A pointer is told up to this length. */
const MAX_POINTER = 200;
const MASK = '***';

/** Texts of a payload, seen in a way that undoes one encoding, and what to look for in that view. */
interface View {
  readonly encoding: string;
  readonly see: (text: string) => string;
  readonly needles: readonly string[];
}

/** An empty set of secrets. */
export function createSecrets(): Secrets {
  const known = new Set<string>();
  let needles: readonly string[] | null = null;
  let wholes: readonly string[] | null = null;
  let views: readonly View[] | null = null;

  const mask = (text: string): string => {
    needles ??= maskNeedles(known);
    return cover(text, spansOf(text, needles));
  };
  return {
    add(value) {
      if (value.trim() === '' || known.has(value)) return;
      known.add(value);
      needles = null;
      wholes = null;
      views = null;
    },
    has: (value) => known.has(value),
    values: () => [...known].filter((value) => value.trim().length >= MIN_MASKED),
    mask,
    spans(text, end) {
      wholes ??= wholeNeedles(known);
      const longest = wholes.reduce((most, { length }) => Math.max(most, length), 0);
      return spansOf(text.slice(0, end + longest), wholes).filter(([start]) => start < end);
    },
    find(payload) {
      views ??= viewsOf(known);
      const where = findIn(payload, views);
      return where === null ? null : mask(where);
    },
  };
}

function maskNeedles(known: ReadonlySet<string>): readonly string[] {
  const needles = new Set<string>();
  for (const value of known) {
    const trimmed = value.trim();
    if (trimmed.length < MIN_MASKED) continue;
    needles.add(trimmed);
    if (trimmed.length < MIN_FOUND) continue;
    const hex = bytesOf(trimmed).toString('hex');
    const base64 = base64Forms(trimmed);
    const forms = [hex, hex.toUpperCase(), ...base64, ...base64.map(toUrlAlphabet)];
    forms.push(encodeURIComponent(trimmed.toWellFormed()), JSON.stringify(trimmed).slice(1, -1));
    for (const form of forms) needles.add(form);
    for (const line of trimmed.split(/[\r\n]+/))
      if (line.trim().length >= MIN_FOUND) needles.add(line.trim());
  }
  return [...needles];
}

/** What must not be cut: half of it would be found by nobody. */
function wholeNeedles(known: ReadonlySet<string>): readonly string[] {
  const plain = [...known].map((value) => value.trim()).filter(({ length }) => length >= MIN_MASKED);
  return [...new Set([...maskNeedles(known), ...plain.map(reverse), ...plain.map(rot13)])];
}

/** Where the needles stand, overlapping ones included. */
function spansOf(text: string, needles: readonly string[]): readonly Span[] {
  const spans: Span[] = [];
  for (const needle of needles) {
    for (let at = text.indexOf(needle); at !== -1; at = text.indexOf(needle, at + 1)) {
      spans.push([at, at + needle.length]);
    }
  }
  return spans.sort((one, other) => one[0] - other[0]);
}

function cover(text: string, spans: readonly Span[]): string {
  let masked = '';
  let done = 0;
  for (const [start, end] of spans) {
    // A span that overlaps the one before only widens it: both are one hole.
    if (start >= done) masked += `${text.slice(done, start)}${MASK}`;
    done = Math.max(done, end);
  }
  return masked + text.slice(done);
}

function viewsOf(known: ReadonlySet<string>): readonly View[] {
  const plain = new Set<string>();
  for (const value of known) {
    const trimmed = value.trim();
    if (trimmed.length < MIN_FOUND) continue;
    plain.add(trimmed);
    for (const part of keyParts(trimmed)) plain.add(part);
  }
  const values = [...plain];
  return [
    { encoding: 'plain', see: (text) => text, needles: values },
    {
      encoding: 'plain',
      see: squeeze,
      needles: values.map(squeeze).filter((value) => value.length >= MIN_FOUND),
    },
    { encoding: 'reversed', see: (text) => text, needles: values.map(reverse) },
    {
      encoding: 'base64',
      see: (text) => toStandardAlphabet(squeeze(text)),
      needles: values.flatMap(base64Forms),
    },
    { encoding: 'hex', see: squeezeHex, needles: values.map((value) => bytesOf(value).toString('hex')) },
    { encoding: 'URL-encoded', see: decodePercent, needles: values },
    { encoding: 'rot13', see: (text) => text, needles: values.map(rot13) },
  ];
}

/** The runs of key material in a secret with several parts; its labels, addresses and armour lines are no secret. */
function keyParts(value: string): readonly string[] {
  const parts = value.split(/(?:\\n|[\s"',;{}\\])+/);
  return parts.length === 1
    ? []
    : parts.filter((part) => part.length >= MIN_PART && /^\w[\w+/=.-]*$/.test(part));
}

function findIn(payload: Json, views: readonly View[]): string | null {
  if (views.every((view) => view.needles.length === 0)) return null;
  const texts: string[] = [];
  visit(payload, [], (text) => {
    texts.push(text);
    return false;
  });
  // One long text per view: many needles in many short strings would be their product. NUL keeps neighbours apart.
  const all = texts.join('\0');
  for (const view of views) {
    const seen = view.see(all);
    const needle = view.needles.find((each) => seen.includes(each));
    if (needle === undefined) continue;
    let where = '';
    visit(payload, [], (text, place) => {
      if (!view.see(text).includes(needle)) return false;
      where = place();
      return true;
    });
    return where === '' ? view.encoding : `${view.encoding} ${where}`;
  }
  return null;
}

type Visitor = (text: string, place: () => string) => boolean;

/** Calls the visitor for each scalar and each name until it says true. The contract bounds a payload's depth. */
function visit(value: Json, path: readonly (string | number)[], visitor: Visitor): boolean {
  if (typeof value === 'string' || typeof value === 'number') {
    return visitor(String(value), () => `at ${pointer(path)}`);
  }
  if (typeof value !== 'object' || value === null) return false;
  const isList = Array.isArray(value);
  for (const [key, child] of Object.entries(value)) {
    if (!isList && visitor(key, () => `in the name of a property of ${pointer(path)}`)) return true;
    if (visit(child, [...path, key], visitor)) return true;
  }
  return false;
}

function pointer(path: readonly (string | number)[]): string {
  const text = path.length === 0 ? 'the root' : jsonPointer(path);
  return text.length <= MAX_POINTER ? text : `${text.slice(0, MAX_POINTER).toWellFormed()}…`;
}
