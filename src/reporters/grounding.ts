/** Findings at the places where the run's evidence has found them. */
import { isObject } from '../text/json.ts';
import { counted } from '../text/messages.ts';
import type { JsonObject } from '../types.ts';
import {
  type EvidenceByRow,
  type Finding,
  findingRows,
  locationOfRow,
  readGroundedFindings,
} from './findings.ts';
import type { Evidence, FindingEvidence, Report } from './report-types.ts';

/** Returns one line about how many findings are proven; null if findings were not checked, or there are none. */
export function groundingSentence(evidence: Evidence | null | undefined): string | null {
  if (evidence?.grounding == null) return null;
  const { exact, moved, unproven } = evidence.grounding;
  const checked = exact + moved + unproven;
  const total = Math.max(checked, evidence.findings.length);
  const parts = [
    { count: exact + moved, what: 'proven' },
    { count: unproven, what: 'not proven' },
    { count: total - checked, what: 'about no file' },
  ].filter(({ count }) => count > 0);
  if (total === 0) return null;
  return `${counted(total, 'finding')}: ${parts.map(({ count, what }) => `${count} ${what}`).join(', ')}.`;
}

interface Grounded {
  /** The payload with its rows at the places that were found. */
  readonly payload: JsonObject;
  /** The evidence of each row of that payload; empty if there is none. */
  readonly byRow: EvidenceByRow;
}

/**
 * Puts the rows of a payload at the places in their evidence. Returns the payload itself if there is not exactly one
 * entry for each row, for example in an envelope forged by another job.
 */
export function placeFindings(payload: JsonObject, evidence: Evidence | null | undefined): Grounded {
  const rows = findingRows(payload);
  const findings = evidence?.findings ?? [];
  const byRow = new Map<JsonObject, FindingEvidence>();
  if (rows.length !== findings.length) return { payload, byRow };
  const placed = rows.map((row, at) => {
    const found = findings[at];
    if (!isObject(row) || found === undefined) return row;
    const moved = placeRow(row, found);
    byRow.set(moved, found);
    return moved;
  });
  const lists = Object.entries(payload).map(
    ([name, value]) => [name, value === rows ? placed : value] as const,
  );
  return { payload: Object.fromEntries(lists), byRow };
}

/** Always a new object: one row may be listed twice in the payload. */
function placeRow(row: JsonObject, { path, line: found = null }: FindingEvidence): JsonObject {
  const written = locationOfRow(row);
  if (written === null || path === null) return { ...row };
  const line = found ?? written.place.line;
  const { line: from, endLine } = written.place;
  return {
    ...row,
    [written.key]: path,
    ...(line === null ? {} : { line }),
    ...(line === null || from === null || endLine === null ? {} : { end_line: line + endLine - from }),
  };
}

/**
 * Returns the findings of a published payload at their places, most severe first. Those that did not decide the verdict
 * come last, as notes with a remark: an error beside a green verdict would contradict it.
 */
export function weighFindings(report: Pick<Report, 'payload' | 'evidence' | 'view'>): readonly Finding[] {
  const { payload, byRow } = placeFindings(report.payload ?? {}, report.evidence);
  const findings = readGroundedFindings(payload, byRow);
  const minor = report.view?.minor;
  if (minor === undefined) return findings;
  const deciding = findings.filter(({ row }) => !minor.isMinor(row));
  const others = findings.filter(({ row }) => minor.isMinor(row));
  const toNote = (finding: Finding): Finding => ({
    ...finding,
    severity: 'note',
    securityScore: null,
    message: `${minor.remark}\n${finding.message}`,
  });
  return [...deciding, ...others.map(toNote)];
}
