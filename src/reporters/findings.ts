/** The findings of a payload in one shape, at the places that the evidence of the run names. Their texts are the model's. */
import { isArray, isObject, readText } from '../text/json.ts';
import { DISPLAY } from '../text/limits.ts';
import type { Json, JsonObject } from '../types.ts';
import type { Evidence, FindingEvidence, SourcePlace } from './report-types.ts';

export interface Finding extends Gravity {
  /** As written, or where the finding was proven. */
  readonly place: SourcePlace | null;
  readonly title: string | null;
  /** Never blank. */
  readonly message: string;
  /** The rule or category of the finding; null if the row does not name one. */
  readonly rule: string | null;
  /** Whether `rule` is only a category, of which one place may have several findings. */
  readonly isKind: boolean;
  /** Whether the finding was looked up and is not proven; one about no file is neither. */
  readonly isDoubted: boolean;
  /** What the finding was read from. */
  readonly row: JsonObject;
}

const MAX_LINE = 1_000_000_000;
/** The line, and perhaps the column, that compilers write behind a path. */
const LINE_BEHIND = /:(\d{1,9})(?::\d{1,9})?$/;

/**
 * Returns the findings of a payload, most severe first: rows of its top-level lists that have a message or a title, and
 * a severity or a file. A row with a missing or unknown severity is a warning. A row of `failures` is a failed test, which
 * needs neither and is an error.
 */
export function readFindings(payload: JsonObject, evidence: Evidence | null = null): readonly Finding[] {
  const placed = placeFindings(payload, evidence);
  return Object.entries(placed.payload)
    .flatMap(([name, list]) => {
      const rows = isArray(list) ? list.filter(isObject) : [];
      return rows.map((row) => readRow(row, name === 'failures', placed.byRow.get(row)));
    })
    .filter((finding) => finding !== null)
    .toSorted(byGravity);
}

function readRow(row: JsonObject, failed: boolean, evidence: FindingEvidence | undefined): Finding | null {
  const title = firstText(row, failed ? ['title', 'test'] : ['title']);
  const message = firstText(row, ['message', 'description']) ?? title;
  const place = locationOfRow(row)?.place ?? null;
  const hasSeverity = typeof row['severity'] === 'string';
  if (message === null || (!hasSeverity && place === null && !failed)) return null;
  const rule = firstText(row, ['rule']);
  const isDoubted = evidence?.grounding === 'unproven';
  return {
    ...(gravityOf(row) ?? { severity: failed ? 'error' : 'warning', score: 0 }),
    // Nobody should look at a line that proves nothing.
    place: place !== null && isDoubted ? { path: place.path, line: null, endLine: null } : place,
    title,
    message,
    rule: rule ?? firstText(row, ['category', 'cwe']) ?? (failed ? 'failed-test' : null),
    isKind: rule === null,
    isDoubted,
    row,
  };
}

/**
 * Puts the rows of a payload at the places in their evidence, which it returns by row. Returns the payload itself if
 * there is not exactly one entry for each row, for example in an envelope forged by another job.
 */
export function placeFindings(payload: JsonObject, evidence: Evidence | null | undefined) {
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

/** Always returns a new object: one row may be listed twice in the payload. */
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

/** Returns the rows that evidence has entries for: the list `findings`, or else the only list whose rows name files. */
export function findingRows(payload: JsonObject): readonly Json[] {
  const { findings } = payload;
  if (isArray(findings)) return findings;
  const lists = Object.values(payload).filter(isArray);
  const [only, ...others] = lists.filter((list) => list.some((row) => locationOfRow(row) !== null));
  return only === undefined || others.length > 0 ? [] : only;
}

/** Returns the place that a row names and the key of its file; null if the row names no file. */
export function locationOfRow(row: Json): { readonly key: string; readonly place: SourcePlace } | null {
  if (!isObject(row)) return null;
  for (const key of ['path', 'file']) {
    const text = readText(row, key)?.trim() ?? '';
    const behind = LINE_BEHIND.exec(text);
    const path = behind === null ? text : text.slice(0, behind.index);
    if (path === '' || path.length > DISPLAY.wholePath || /\p{Cc}/u.test(path)) continue;
    const line = readLine(row['line']) ?? readLine(Number(behind?.[1]));
    const endLine = readLine(row['end_line']);
    const isRange = line !== null && endLine !== null && endLine > line;
    return { key, place: { path, line, endLine: isRange ? endLine : null } };
  }
  return null;
}

function readLine(value: Json | undefined): number | null {
  const isLine = typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= MAX_LINE;
  return isLine ? value : null;
}

function firstText(row: JsonObject, keys: readonly string[]): string | null {
  const texts = keys.map((key) => readText(row, key)?.trim() ?? '');
  return texts.find((text) => text !== '') ?? null;
}

/** The severities of findings in SARIF's terms, most severe first. */
export const SEVERITIES = ['error', 'warning', 'note'] as const;

export type Severity = (typeof SEVERITIES)[number];

/**
 * The words of severities with their scores. Only those of vulnerability scales have one, for which GitHub shows the same
 * word: above 9.0 is critical, from 7.0 high, from 4.0 medium, from 0.1 low.
 */
const WORDS: Readonly<Record<Severity, Readonly<Record<string, number>>>> = {
  error: { critical: 9.5, high: 8, blocker: 0, error: 0 },
  warning: { medium: 5.5, moderate: 5.5, major: 0, warning: 0 },
  note: { low: 2, minor: 0, note: 0, info: 0 },
};

interface Gravity {
  readonly severity: Severity;
  /** From 0.1 to 10; 0 unless the severity is a word of a vulnerability scale. */
  readonly score: number;
}

/** Returns what the severity of a row means; undefined if it has none, or an unknown one. */
export function gravityOf(row: JsonObject): Gravity | undefined {
  const word = readText(row, 'severity')?.trim().toLowerCase() ?? '';
  const severity = SEVERITIES.find((each) => Object.hasOwn(WORDS[each], word));
  return severity && { severity, score: WORDS[severity][word] ?? 0 };
}

/** Compares by severity, most severe first and unknown ones last, and then by score. */
export function byGravity(one: Gravity | undefined, other: Gravity | undefined): number {
  const ranks: readonly (Severity | undefined)[] = [...SEVERITIES, undefined];
  const byRank = ranks.indexOf(one?.severity) - ranks.indexOf(other?.severity);
  return byRank || (other?.score ?? 0) - (one?.score ?? 0);
}
