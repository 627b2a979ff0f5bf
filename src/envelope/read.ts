/** Reads one file that another job wrote: strict JSON in a regular file of a bounded size, or a sentence that says why not. */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { isObject, type JsonFault, parseStrictJson } from '../json.ts';
import type { JsonObject } from '../types.ts';
import { codeOf } from './list.ts';

/** An object, or why there is none: a clause that begins with `it` and holds nothing of the file. */
export type ReadFile =
  | { readonly ok: true; readonly value: JsonObject }
  | { readonly ok: false; readonly why: string };

const MAX_MIB = 16;
const MAX_BYTES = MAX_MIB * 1024 * 1024;

const FAULTS: Readonly<Record<JsonFault, string>> = {
  syntax: 'it is not valid JSON',
  duplicate_key: 'it gives a key twice in one object',
  number: 'it holds a number that cannot be represented exactly',
  depth: 'it nests too deeply',
  surrogate: 'it holds half of a surrogate pair',
};

/** Reads an object from a file; never follows a link at the path's end, and never waits for a writer. */
export function readObject(file: string): ReadFile {
  const read = readBytes(file);
  if (typeof read === 'string') return { ok: false, why: read };
  const text = decode(read);
  if (text === null) return { ok: false, why: 'it is not UTF-8 text' };
  const parsed = parseStrictJson(text);
  if (!parsed.ok) return { ok: false, why: `${FAULTS[parsed.fault]}, at ${parsed.place}` };
  return isObject(parsed.value)
    ? { ok: true, value: parsed.value }
    : { ok: false, why: 'it holds no JSON object' };
}

/** The bytes of a file, or why there are none. */
function readBytes(file: string): Buffer | string {
  let handle: number | null = null;
  try {
    // Without O_NONBLOCK, opening a pipe would wait for a writer.
    handle = openSync(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
    const status = fstatSync(handle);
    if (!status.isFile()) return 'it is not a regular file';
    if (status.size > MAX_BYTES) return `it is larger than ${MAX_MIB} MiB`;
    const bytes = Buffer.allocUnsafe(status.size);
    let length = 0;
    for (let read = 1; read > 0 && length < bytes.length; length += read) {
      read = readSync(handle, bytes, length, bytes.length - length, null);
    }
    return bytes.subarray(0, length);
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ELOOP') return 'it is a link, and links are not followed';
    return `it cannot be read${code === '' ? '' : ` (${code})`}`;
  } finally {
    if (handle !== null) closeSync(handle);
  }
}

/** The text, without the mark that some editors put before it; null for bytes that are not UTF-8. */
function decode(bytes: Buffer): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}
