/**
 * Reads one file written by another job: strict JSON in a regular file of bounded size, or the reason for rejecting it.
 */
import { decodeUtf8, type ReadFailure, readBounded } from '../files/read-bounded.ts';
import { isObject, parseStrictJson } from '../text/json.ts';
import type { JsonObject } from '../types.ts';

/** Bytes of an envelope, which another job wrote. */
const MAX_ENVELOPE = 16 * 1024 ** 2;

/** An object, or the reason why there is none: a clause that begins with `it` and contains nothing from the file. */
export type ReadObject =
  | { readonly ok: true; readonly value: JsonObject }
  | { readonly ok: false; readonly why: string };

const FAILURES: Readonly<Partial<Record<ReadFailure, string>>> = {
  not_regular: 'it is not a regular file',
  too_large: `it is larger than ${MAX_ENVELOPE / 1024 ** 2} MiB`,
};

/**
 * Reads an object from a file; never follows a link in the last path component, and never blocks waiting for a writer.
 */
export function readObjectFile(file: string): ReadObject {
  const read = readBounded(file, { maxBytes: MAX_ENVELOPE, links: 'refuse' });
  if (!read.ok) return { ok: false, why: FAILURES[read.failure] ?? unreadable(read.code) };
  const text = decodeUtf8(read.bytes);
  if (text === null) return { ok: false, why: 'it is not UTF-8 text' };
  const parsed = parseStrictJson(text);
  if (!parsed.ok) return { ok: false, why: `it ${parsed.fault}` };
  return isObject(parsed.value)
    ? { ok: true, value: parsed.value }
    : { ok: false, why: 'it holds no JSON object' };
}

function unreadable(code: string | null): string {
  return `it cannot be read${code === null ? '' : ` (${code})`}`;
}
