/** Findings as they were proven, at the place where their quote stands. */
import { isObject } from '../text/json.ts';
import { counted, grouped } from '../text/messages.ts';
import type { JsonObject } from '../types.ts';
import { type EvidenceByRow, findingRows, isProven, locationOfRow } from './findings.ts';
import type { Evidence, FindingEvidence } from './report-types.ts';

/**
 * Returns one line about how many findings are proven; null if findings were not checked, or there are none.
 */
export function groundingSentence(evidence: Evidence | null | undefined): string | null {
  const counts = evidence?.grounding ?? null;
  if (counts === null) return null;
  const proven = counts.exact + counts.moved;
  const checked = proven + counts.unproven;
  // Those about no file are in no count.
  const exempt = Math.max(0, (evidence?.findings.length ?? 0) - checked);
  if (checked + exempt === 0) return null;
  const parts = [
    `${grouped(proven)} proven${counts.moved === 0 ? '' : ` (${grouped(counts.moved)} in another file)`}`,
    ...(counts.unproven === 0 ? [] : [`${grouped(counts.unproven)} not proven`]),
    ...(exempt === 0 ? [] : [`${grouped(exempt)} about no file`]),
  ];
  return `${counted(checked + exempt, 'finding')}: ${parts.join(', ')}.`;
}

interface Grounded {
  /** The payload with proven rows at their proven places. */
  readonly payload: JsonObject;
  /** The evidence of each checked row of that payload; empty if findings were not checked. */
  readonly byRow: EvidenceByRow;
}

/**
 * Puts the rows of a payload at the places in their evidence. Returns the payload itself if findings were not checked,
 * or there is not exactly one entry for each row, for example in an envelope forged by another job.
 */
export function placeFindings(payload: JsonObject, evidence: Evidence | null | undefined): Grounded {
  const rows = findingRows(payload);
  const findings = evidence?.findings ?? [];
  if (evidence?.grounding == null || rows.length !== findings.length) return { payload, byRow: new Map() };
  const byRow = new Map<JsonObject, FindingEvidence>();
  const placed = rows.map((row, at) => {
    const found = findings[at];
    if (!isObject(row) || found === undefined) return row;
    const own = placeRow(row, found);
    byRow.set(own, found);
    return own;
  });
  const lists = Object.entries(payload).map(
    ([name, value]) => [name, value === rows ? placed : value] as const,
  );
  return { payload: Object.fromEntries(lists), byRow };
}

/** Always a new object: one row may be listed twice in the payload. */
function placeRow(row: JsonObject, evidence: FindingEvidence): JsonObject {
  const named = locationOfRow(row);
  const { path, line = null } = evidence;
  // A nested location is left to the locator.
  const at =
    named === null || path === null || typeof row[named.key] !== 'string' ? {} : { [named.key]: path };
  if (line === null || !isProven(evidence)) return { ...row, ...at };
  const { line: from = null, endLine = null } = named?.place ?? {};
  const end = endLine === null || from === null ? {} : { end_line: line + endLine - from };
  return { ...row, ...at, line, ...end };
}
