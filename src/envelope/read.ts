/**
 * Reads one file written by another job: strict JSON in a regular file of bounded size, or the reason for rejecting it.
 */
import { decodeUtf8, type ReadFailure, readBounded } from '../files/read-bounded.ts';
import { isObject, type JsonFault, parseStrictJson } from '../text/json.ts';
import { READ } from '../text/limits.ts';
import type { JsonObject } from '../types.ts';

/** An object, or the reason why there is none: a clause that begins with `it` and contains nothing from the file. */
export type ReadObject =
  | { readonly ok: true; readonly value: JsonObject }
  | { readonly ok: false; readonly why: string };

const FAULTS: Readonly<Record<JsonFault, string>> = {
  syntax: 'it is not valid JSON',
  duplicate_key: 'it gives a key twice in one object',
  number: 'it holds a number that cannot be represented exactly',
  depth: 'it nests too deeply',
  surrogate: 'it holds half of a surrogate pair',
};

const FAILURES: Readonly<Partial<Record<ReadFailure, string>>> = {
  not_regular: 'it is not a regular file',
  too_large: `it is larger than ${READ.envelope / 1024 ** 2} MiB`,
};

/**
 * Reads an object from a file; never follows a link in the last path component, and never blocks waiting for a writer.
 */
export function readObjectFile(file: string): ReadObject {
  const read = readBounded(file, { maxBytes: READ.envelope, links: 'refuse' });
  if (!read.ok) return { ok: false, why: FAILURES[read.failure] ?? unreadable(read.code) };
  const text = decodeUtf8(read.bytes);
  if (text === null) return { ok: false, why: 'it is not UTF-8 text' };
  const parsed = parseStrictJson(text);
  if (!parsed.ok) return { ok: false, why: `${FAULTS[parsed.fault]}, at ${parsed.place}` };
  return isObject(parsed.value)
    ? { ok: true, value: parsed.value }
    : { ok: false, why: 'it holds no JSON object' };
}

function unreadable(code: string | null): string {
  return `it cannot be read${code === null ? '' : ` (${code})`}`;
}
