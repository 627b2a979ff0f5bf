/** Which findings make a red verdict red. */

import { isArray, isObject } from '../text/json.ts';
import { readText } from '../text/json-fields.ts';
import type { JsonObject } from '../types.ts';

/** Rows that are tried one by one, each with a copy of the payload; more count as blocking. */
const MAX_TRIED = 500;
const BLOCKING = new Set(['error', 'critical', 'high']);

/**
 * Returns the indexes of the rows in a root array that make the gate fail: those that fail it as the only row, if it is
 * met without rows; if none does, but together they do (as for a gate on their number), all rows. If the gate fails
 * without rows too, as one on `passed` does, the rows of severity `error`, `critical` or `high`. Empty if the gate is met.
 */
export function findBlockingRows(
  payload: JsonObject,
  list: string,
  meetsGate: (payload: JsonObject) => boolean,
): readonly number[] {
  const rows = Object.hasOwn(payload, list) ? payload[list] : undefined;
  if (!isArray(rows) || rows.length === 0 || meetsGate(payload)) return [];
  const indexes = [...rows.keys()];
  if (!meetsGate({ ...payload, [list]: [] }))
    return indexes.filter((at) => BLOCKING.has(severityOf(rows[at] ?? null)));
  const blocking = indexes.filter(
    (at) => at >= MAX_TRIED || !meetsGate({ ...payload, [list]: [rows[at] ?? null] }),
  );
  return blocking.length === 0 ? indexes : blocking;
}

function severityOf(row: unknown): string {
  return (isObject(row) ? (readText(row, 'severity') ?? '') : '').toLowerCase();
}
