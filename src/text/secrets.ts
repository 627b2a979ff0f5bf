/** The secret values of a run: masks them in outgoing text, and finds them in what would be published. */

import type { Json } from '../types.ts';
import {
  base64Forms,
  bytesOf,
  decodePercent,
  holdsSequences,
  reverse,
  rot13,
  seenText,
  squeezeHex,
  type TextReading,
  toStandardAlphabet,
  toUrlAlphabet,
} from './encodings.ts';
import { jsonPointer } from './json.ts';
import { DISPLAY, SECRET } from './limits.ts';
import { truncate } from './messages.ts';

/** A range of a text in UTF-16 code units, end exclusive. */
type Span = readonly [start: number, end: number];

/** The secret values of a run. Its functions do not use `this`. */
export interface Secrets {
  /** Adds a value; blank values are ignored. */
  add(value: string): void;
  /** Whether a text is exactly a known value. */
  has(value: string): boolean;
  /** Returns the known values that are long enough to mask, in the order they were added. */
  values(): readonly string[];
  /**
   * Replaces every known value of at least 4 characters with `***`, including overlapping ones. Of longer values it
   * also replaces the base64, hex, URL-encoded and JSON-escaped forms, and the single lines of multi-line values.
   * Characters between the letters that are not displayed do not prevent a match: invisible characters, terminal
   * sequences, and in longer values whitespace.
   */
  mask(text: string): string;
  /** Returns the length of the longest form that `mask` looks for, in characters; 0 when no value is known. */
  longest(): number;
  /**
   * Looks for a known value of at least 8 characters in the strings, numbers and names of a payload: literal, reversed,
   * or in base64, hex, URL encoding or rot13. Whitespace and characters that are not displayed do not prevent a match.
   * Returns the form and path, such as `base64 at /summary`, never the value; null when there is none.
   */
  find(payload: Json): string | null;
}

const MASK = '***';
/** Separates the texts of a payload. Unlike NUL it is not removed by any view, so adjacent texts are not joined. */
const APART = '\uffff';

/** What is not displayed between two letters, on a page and in a terminal. */
const CHARACTERS: readonly TextReading[] = [
  { blanks: false, sequences: false },
  { blanks: false, sequences: true },
];
const CHARACTERS_AND_BLANKS: readonly TextReading[] = CHARACTERS.map((each) => ({ ...each, blanks: true }));

/** The strings to look for in a text as it is, and in each reading of it. */
interface Needles {
  readonly plain: readonly string[];
  readonly read: readonly { readonly reading: TextReading; readonly needles: readonly string[] }[];
}

/** A way to decode a text, and the strings to look for in the result. */
interface View {
  readonly encoding: string;
  /** How the text is read before decoding; null for unchanged. */
  readonly reading: TextReading | null;
  readonly decode: (text: string) => string;
  readonly needles: readonly string[];
}

export function createSecrets(): Secrets {
  const known = new Set<string>();
  let needles: Needles | null = null;
  let views: readonly View[] | null = null;

  const mask = (text: string): string => {
    needles ??= needlesOf(maskNeedles(known));
    return cover(text, spansOf(text, needles));
  };
  return {
    add(value) {
      if (value.trim() === '' || known.has(value)) return;
      known.add(value);
      needles = null;
      views = null;
    },
    has: (value) => known.has(value),
    values: () => [...known].filter((value) => value.trim().length >= SECRET.masked),
    mask,
    longest() {
      needles ??= needlesOf(maskNeedles(known));
      return needles.plain.reduce((most, { length }) => Math.max(most, length), 0);
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
    if (trimmed.length < SECRET.masked) continue;
    needles.add(trimmed);
    if (trimmed.length < SECRET.found) continue;
    const hex = bytesOf(trimmed).toString('hex');
    const base64 = base64Forms(trimmed);
    const forms = [hex, hex.toUpperCase(), ...base64, ...base64.map(toUrlAlphabet)];
    forms.push(encodeURIComponent(trimmed.toWellFormed()), JSON.stringify(trimmed).slice(1, -1));
    for (const form of forms) needles.add(form);
    for (const line of trimmed.split(/[\r\n]+/))
      if (line.trim().length >= SECRET.found) needles.add(line.trim());
  }
  return [...needles];
}

function needlesOf(plain: readonly string[]): Needles {
  const readAs = (reading: TextReading, min: number, max: number) => ({
    reading,
    needles: [...new Set(plain.map((needle) => seenText(needle, reading).text))].filter(
      ({ length }) => length >= min && length <= max,
    ),
  });
  const read = [
    // Surrounded by whitespace, a short value is an ordinary word.
    ...CHARACTERS.map((reading) => readAs(reading, SECRET.masked, SECRET.found - 1)),
    ...CHARACTERS_AND_BLANKS.map((reading) => readAs(reading, SECRET.found, Number.POSITIVE_INFINITY)),
  ];
  return { plain, read: read.filter(({ needles }) => needles.length > 0) };
}

/** Returns the spans of the needles in order of their start, including overlapping matches of different needles. */
function spansOf(text: string, { plain, read }: Needles): readonly Span[] {
  const spans = placesOf(text, plain);
  const inTerminal = holdsSequences(text);
  for (const { reading, needles } of read) {
    if (reading.sequences && !inTerminal) continue;
    const seen = seenText(text, reading);
    const found = placesOf(seen.text, needles);
    if (found.length === 0) continue;
    const places = seen.places();
    for (const [start, end] of found) spans.push([places[start] ?? 0, (places[end - 1] ?? 0) + 1]);
  }
  spans.sort((one, other) => one[0] - other[0] || one[1] - other[1]);
  return spans.filter((span, at) => spans[at - 1]?.[0] !== span[0] || spans[at - 1]?.[1] !== span[1]);
}

function placesOf(text: string, needles: readonly string[]): Span[] {
  const spans: Span[] = [];
  for (const needle of needles) {
    let last: [number, number] | null = null;
    for (let at = text.indexOf(needle); at !== -1; at = text.indexOf(needle, at + 1)) {
      // Merges overlapping matches of one value: a megabyte of one letter would otherwise give a million spans.
      if (last !== null && at < last[1]) last[1] = at + needle.length;
      else {
        last = [at, at + needle.length];
        spans.push(last);
      }
    }
  }
  return spans;
}

function cover(text: string, spans: readonly Span[]): string {
  let masked = '';
  let done = 0;
  for (const [start, end] of spans) {
    // A span that overlaps the previous one extends it: both become one mask.
    if (start >= done) masked += `${text.slice(done, start)}${MASK}`;
    done = Math.max(done, end);
  }
  return masked + text.slice(done);
}

function viewsOf(known: ReadonlySet<string>): readonly View[] {
  const plain = new Set<string>();
  for (const value of known) {
    const trimmed = value.trim();
    if (trimmed.length < SECRET.found) continue;
    plain.add(trimmed);
    for (const part of keyParts(trimmed)) plain.add(part);
  }
  const values = [...plain];
  return [
    { encoding: 'plain', reading: null, decode: (text) => text, needles: values },
    ...CHARACTERS_AND_BLANKS.flatMap((reading) => viewsAs(reading, values)),
  ];
}

function viewsAs(reading: TextReading, values: readonly string[]): readonly View[] {
  const seen = (text: string) => seenText(text, reading).text;
  const as = (encoding: string, needles: readonly string[], decode = (text: string) => text): View => ({
    encoding,
    reading,
    decode,
    needles: needles.filter((needle) => needle.length >= SECRET.found),
  });
  return [
    as('plain', values.map(seen)),
    as('reversed', values.map(reverse).map(seen)),
    as('base64', values.flatMap(base64Forms), toStandardAlphabet),
    as(
      'hex',
      values.map((value) => bytesOf(value).toString('hex')),
      squeezeHex,
    ),
    as('URL-encoded', values.map(seen), (text) => seen(decodePercent(text))),
    as('rot13', values.map(rot13).map(seen)),
  ];
}

/** Returns the runs of key material in a multi-line secret; its labels, addresses and armour lines are not secret. */
function keyParts(value: string): readonly string[] {
  const parts = value.split(/(?:\\n|[\s"',;{}\\])+/);
  return parts.length === 1
    ? []
    : parts.filter((part) => part.length >= SECRET.part && /^\w[\w+/=.-]*$/.test(part));
}

function findIn(payload: Json, views: readonly View[]): string | null {
  if (views.every((view) => view.needles.length === 0)) return null;
  const texts: string[] = [];
  visit(payload, [], (text) => {
    texts.push(text);
    return false;
  });
  // One long text per view: searching for many needles in many short strings would cost their product.
  const all = texts.join(APART);
  const read = new Map<TextReading | null, string>([[null, all]]);
  const inTerminal = holdsSequences(all);
  for (const { encoding, reading, decode, needles } of views) {
    if (reading?.sequences === true && !inTerminal) continue;
    const readAs = (text: string) => (reading === null ? text : seenText(text, reading).text);
    const whole = read.get(reading) ?? readAs(all);
    read.set(reading, whole);
    const decoded = decode(whole);
    const needle = needles.find((each) => decoded.includes(each));
    if (needle === undefined) continue;
    let where = '';
    visit(payload, [], (text, place) => {
      if (!decode(readAs(text)).includes(needle)) return false;
      where = place();
      return true;
    });
    return where === '' ? encoding : `${encoding} ${where}`;
  }
  return null;
}

type Visitor = (text: string, place: () => string) => boolean;

/** Calls the visitor for each scalar and each name until it returns true. The contract bounds a payload's depth. */
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
  return truncate(text, DISPLAY.phrase);
}
