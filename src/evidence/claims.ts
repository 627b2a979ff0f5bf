/** What the findings of a payload claim. All of it is text of the model. */
import { findObject, readText } from '../text/json-fields.ts';
import type { JsonObject } from '../types.ts';

export interface Claim {
  /** Relative to the repository root; null if the finding is about no file, or the path that it names was not found. */
  readonly path: string | null;
  readonly namesFile: boolean;
  /** 1-based, like `endLine`. */
  readonly line: number | null;
  /** null unless it is greater than `line`. */
  readonly endLine: number | null;
  /** Text copied from the file; null if there is none. */
  readonly quote: string | null;
  /** A path or text that the finding says is missing, as written. */
  readonly missing: { readonly path: string | null; readonly text: string | null } | null;
  /** Whether it is about a secret, which must not be quoted. */
  readonly isSecret: boolean;
}

/** The place that a finding names; the path is resolved, and null if no file was found. */
export type ClaimedPlace = Pick<Claim, 'path' | 'line' | 'endLine'>;

/** Reads a row of findings; `place` is null if the row names no file. */
export function readClaim(row: JsonObject, place: ClaimedPlace | null): Claim {
  const absent = findObject(row, 'missing');
  const missing = absent && { path: readFilled(absent, 'path'), text: readFilled(absent, 'text') };
  const { path = null, line = null, endLine = null } = place ?? {};
  return {
    ...{ path, line, endLine: line !== null && endLine !== null && endLine > line ? endLine : null },
    namesFile: place !== null,
    quote: readFilled(row, 'quote'),
    missing: missing !== null && (missing.path !== null || missing.text !== null) ? missing : null,
    isSecret: readText(row, 'category') === 'secret',
  };
}

function readFilled(object: JsonObject, name: string): string | null {
  const text = readText(object, name);
  return text === null || text.trim() === '' ? null : text;
}
