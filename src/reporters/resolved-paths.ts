/** Where the findings of a payload are: resolved once for each run, written to its envelope, and used by whoever shows them. */
import { isArray, isObject } from '../text/json.ts';
import type { Json, JsonObject } from '../types.ts';
import { placeOfRow } from './findings.ts';
import type { Locate } from './places.ts';
import type { Evidence, FindingEvidence, Report } from './report-types.ts';

/** The rows that evidence has entries for: the list `findings`, or else the only list whose rows name files. */
function findingRows(payload: JsonObject): readonly Json[] {
  const named = Object.hasOwn(payload, 'findings') ? payload['findings'] : undefined;
  if (isArray(named)) return named;
  const lists = Object.values(payload)
    .filter(isArray)
    .filter((list) => list.some((row) => writtenPath(row) !== null));
  const [only] = lists;
  return lists.length === 1 && only !== undefined ? only : [];
}

function writtenPath(row: Json): string | null {
  return isObject(row) ? (placeOfRow(row)?.place.path ?? null) : null;
}

/**
 * Finds the file of each row.
 * @param earlier of a run whose payload is reused: its entries are taken as they are, where there is one for each row.
 */
export function resolveFindings(
  payload: JsonObject,
  locate: Locate,
  earlier: Evidence | null = null,
): readonly FindingEvidence[] {
  const rows = findingRows(payload);
  if (earlier !== null && earlier.findings.length === rows.length) return earlier.findings;
  return rows.map((row) => {
    const place = isObject(row) ? (placeOfRow(row)?.place ?? null) : null;
    return { path: place === null ? null : (locate(place)?.path ?? null) };
  });
}

/**
 * The resolved path by the path as it was written; null for one that no file was found for. Empty where there is not exactly one
 * entry for each row, as in an envelope that another job has forged.
 */
export function resolvedPaths(
  payload: JsonObject,
  findings: readonly FindingEvidence[],
): ReadonlyMap<string, string | null> {
  const rows = findingRows(payload);
  if (rows.length !== findings.length) return new Map();
  return new Map(
    rows.flatMap((row, at) => {
      const written = writtenPath(row);
      return written === null ? [] : [[written, findings[at]?.path ?? null] as const];
    }),
  );
}

/** Finds files where the evidence of the run says that they are, and others as before. */
export function locateByEvidence(
  { payload, evidence = null }: Pick<Report, 'payload' | 'evidence'>,
  locate: Locate,
): Locate {
  if (payload === null || evidence === null) return locate;
  const resolved = resolvedPaths(payload, evidence.findings);
  return (written) => {
    const path = resolved.get(written.path);
    if (path === null) return null;
    return locate(path === undefined ? written : { ...written, path });
  };
}
