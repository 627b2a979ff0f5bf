/** The findings of a payload in one typed shape, whatever its schema calls their properties. */

import { isArray, isObject } from '../text/json.ts';
import { WIRE } from '../text/limits.ts';
import type { Json, JsonObject } from '../types.ts';
import type { FindingEvidence, Report } from './report-types.ts';

/** A location as written by the model; unverified. */
export interface WrittenLocation {
  /** The path as written, without a line suffix; at most 4,096 characters, none of them a control character. */
  readonly path: string;
  /** 1-based, like `endLine` and `column`. */
  readonly line: number | null;
  /** At least `line`; null if `line` is null. */
  readonly endLine: number | null;
  readonly column: number | null;
}

/** One finding. All of its text comes from the model. */
export interface Finding {
  readonly severity: Severity;
  /** From 0.1 to 10; null unless the severity is a word of a vulnerability scale. */
  readonly securityScore: number | null;
  readonly place: WrittenLocation | null;
  readonly title: string | null;
  /** Never blank. */
  readonly message: string;
  /** The rule or category of the finding; null if the row does not name one. */
  readonly rule: string | null;
  /** Whether `rule` is only a category, of which one location may have several findings. */
  readonly isKind: boolean;
  /** Name of the payload property that contains the finding. */
  readonly list: string;
  /** How the finding was checked against the files; absent if it was not. */
  readonly evidence?: FindingEvidence;
  /** The text that the finding copies from the file; only if it was checked. */
  readonly quote?: string | null;
}

/** What was found out about each row of a payload. */
export type EvidenceByRow = ReadonlyMap<JsonObject, FindingEvidence>;

const PATHS = ['path', 'file', 'filename', 'file_path', 'filePath', 'location'];
const LINES = ['line', 'start_line', 'startLine', 'line_number', 'lineNumber'];
const END_LINES = ['end_line', 'endLine'];
const COLUMNS = ['column', 'col', 'start_column', 'startColumn'];
const MESSAGES = ['message', 'description', 'details'];
const RULES = ['rule', 'rule_id', 'ruleId', 'check'];
const KINDS = ['category', 'type', 'kind', 'cwe'];
/**
 * `findings` is the list whose rows come first; `failures` holds failed tests, whose rows need neither a severity nor a
 * location.
 */
const FINDINGS = 'findings';
const FAILURES = 'failures';
const MAX_LINE = 1_000_000_000;
/** A line suffix after a path, as written by compilers, people and GitHub: `:3`, `:3:7`, `:3-5`, `#L3`, `#L3-L5`. */
const LINE_BEHIND = /(?::(\d{1,10})(?::(\d{1,10})|-(\d{1,10}))?|#L(\d{1,10})(?:-L?(\d{1,10}))?)$/;

/**
 * Returns the findings of a payload, most severe first: rows of its top-level lists that have a message or a title, and
 * a severity or a file. A row with a missing or unknown severity is a warning; a failed test is an error.
 */
export function readFindings(payload: JsonObject): readonly Finding[] {
  return readGroundedFindings(payload, new Map());
}

/** Returns the same of a payload of `placeFindings`, with the evidence of each finding that was checked. */
export function readGroundedFindings(payload: JsonObject, byRow: EvidenceByRow): readonly Finding[] {
  const lists = Object.entries(payload).toSorted(
    ([one], [other]) => Number(other === FINDINGS) - Number(one === FINDINGS),
  );
  return lists
    .flatMap(([name, list]) =>
      isArray(list) ? list.filter(isObject).flatMap((row) => readRow(row, name, byRow.get(row))) : [],
    )
    .toSorted(byGravity);
}

/** Returns the location that a row names and the key that holds it; null if the row names no file. */
export function locationOfRow(
  row: JsonObject,
): { readonly key: string; readonly place: WrittenLocation } | null {
  for (const key of PATHS) {
    const value = own(row, key);
    const nested = key === 'location' && isObject(value) ? locationOfRow({ ...value, location: null }) : null;
    const place = typeof value === 'string' ? readPlace(value, row) : (nested?.place ?? null);
    if (place !== null) return { key, place };
  }
  return null;
}

function byGravity(one: Finding, other: Finding): number {
  const rank = ({ severity }: Finding) => SEVERITIES.indexOf(severity);
  return rank(one) - rank(other) || (other.securityScore ?? 0) - (one.securityScore ?? 0);
}

function readRow(row: JsonObject, list: string, evidence: FindingEvidence | undefined): readonly Finding[] {
  const failed = list === FAILURES;
  const title = textOf(row, failed ? ['title', 'test', 'name'] : ['title']);
  const message = textOf(row, MESSAGES) ?? title;
  const place = locationOfRow(row)?.place ?? null;
  const word = own(row, 'severity');
  if (message === null || (typeof word !== 'string' && place === null && !failed)) return [];
  const severity = severityOf(word) ?? (failed ? 'error' : 'warning');
  const rule = textOf(row, RULES);
  const kind = rule === null ? textOf(row, KINDS) : null;
  const names = { rule: rule ?? kind, isKind: kind !== null };
  const finding = { severity, securityScore: securityScore(word), place, title, message, ...names, list };
  if (evidence === undefined) return [finding];
  const value = own(row, 'quote');
  const quote = typeof value === 'string' ? value : null;
  // Nobody should look at a line that proves nothing.
  const certain = place === null || !isDoubted(evidence) ? place : { ...place, ...NO_LINE };
  return [{ ...finding, place: certain, evidence, quote }];
}

const NO_LINE = { line: null, endLine: null, column: null } as const;

/** Whether a finding was checked and stands at a place that proves it. */
export function isProven({ grounding = null }: FindingEvidence): boolean {
  return grounding === 'exact' || grounding === 'moved';
}

/** Whether a finding was checked and is not proven; one about no file is neither. */
export function isDoubted(evidence: FindingEvidence | undefined): boolean {
  return evidence?.grounding === 'unproven';
}

/** Returns the rows that evidence has entries for: the list `findings`, or else the only list whose rows name files. */
export function findingRows(payload: JsonObject): readonly Json[] {
  const named = Object.hasOwn(payload, 'findings') ? payload['findings'] : undefined;
  if (isArray(named)) return named;
  const lists = Object.values(payload)
    .filter(isArray)
    .filter((list) => list.some((row) => writtenPath(row) !== null));
  const [only] = lists;
  return lists.length === 1 && only !== undefined ? only : [];
}

/** Returns the path that a row names, without a line suffix; null if it names none. */
export function writtenPath(row: Json): string | null {
  return isObject(row) ? (locationOfRow(row)?.place.path ?? null) : null;
}

function readPlace(written: string, row: JsonObject): WrittenLocation | null {
  const text = written.trim();
  const behind = LINE_BEHIND.exec(text);
  const path = behind === null ? text : text.slice(0, behind.index);
  if (path === '' || path.length > WIRE.findingPath || /\p{Cc}/u.test(path)) return null;
  const [, colonLine, column, colonEnd, hashLine, hashEnd] = behind ?? [];
  const [from, to] = rangeOf(row);
  const line = from ?? count(colonLine ?? hashLine);
  const end = to ?? count(colonEnd ?? hashEnd);
  return {
    path,
    line,
    endLine: line !== null && end !== null && end >= line ? end : null,
    column: line === null ? null : (first(row, COLUMNS) ?? count(column)),
  };
}

/** The line range of a row; one property may hold both ends, as in `12-15`. */
function rangeOf(row: JsonObject): readonly [from: number | null, to: number | null] {
  for (const key of LINES) {
    const value = own(row, key);
    const range =
      typeof value === 'string' ? /^L?(\d{1,10})(?:\s*[-–]\s*L?(\d{1,10}))?$/.exec(value.trim()) : null;
    const from = count(range === null ? value : range[1]);
    if (from !== null) return [from, first(row, END_LINES) ?? count(range?.[2])];
  }
  return [null, null];
}

function first(row: JsonObject, keys: readonly string[]): number | null {
  return keys.map((key) => count(own(row, key))).find((value) => value !== null) ?? null;
}

/** A positive integer, also if written as a string. */
function count(value: Json | undefined): number | null {
  const number = typeof value === 'string' && /^\d{1,10}$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isInteger(number) && number >= 1 && number <= MAX_LINE
    ? number
    : null;
}

function textOf(row: JsonObject, keys: readonly string[]): string | null {
  for (const key of keys) {
    const value = own(row, key);
    if (typeof value === 'string' && value.trim() !== '') return value.trim();
  }
  return null;
}

function own(row: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(row, key) ? row[key] : undefined;
}

/** Severity of a finding, in SARIF's terms. */
export type Severity = 'error' | 'warning' | 'note';

/** The three severities, most severe first. */
export const SEVERITIES: readonly Severity[] = ['error', 'warning', 'note'];

const MARKS: Readonly<Record<Severity, string>> = {
  error: '🔴&nbsp;',
  warning: '🟡&nbsp;',
  note: '🔵&nbsp;',
};

const WORDS: ReadonlyMap<string, Severity> = new Map([
  ...words('error', 'blocker critical fatal severe error high'),
  ...words('warning', 'warning warn major medium moderate'),
  ...words(
    'note',
    'notice minor low info information informational note remark suggestion recommendation hint nit nitpick style trivial',
  ),
]);

/**
 * Words of vulnerability scales and a score for each, chosen so that GitHub displays the same word (above 9.0 is
 * critical, from 7.0 high, from 4.0 medium, from 0.1 low).
 */
const SCORES: ReadonlyMap<string, number> = new Map([
  ['critical', 9.5],
  ['high', 8],
  ['medium', 5.5],
  ['moderate', 5.5],
  ['low', 2],
]);

/** Returns the severity that a word means, case-insensitively; null for an unknown word. */
export function severityOf(value: Json | undefined): Severity | null {
  return WORDS.get(wordOf(value)) ?? null;
}

/** Returns the `security-severity` (0.1 to 10) for a word of a vulnerability scale; null for any other word. */
export function securityScore(value: Json | undefined): number | null {
  return SCORES.get(wordOf(value)) ?? null;
}

/** Returns a coloured mark, in Markdown, to put before the word; empty for an unknown word. */
export function severityMark(value: Json): string {
  const severity = severityOf(value);
  return severity === null ? '' : MARKS[severity];
}

/** Sorts rows by `severity`, most severe first; the sort is stable. */
export function bySeverity(rows: readonly JsonObject[]): readonly JsonObject[] {
  const rankOf = (row: JsonObject) => {
    const severity = severityOf(Object.hasOwn(row, 'severity') ? row['severity'] : undefined);
    return severity === null ? SEVERITIES.length : SEVERITIES.indexOf(severity);
  };
  return rows.toSorted((one, other) => rankOf(one) - rankOf(other));
}

function words(severity: Severity, text: string): [string, Severity][] {
  return text.split(' ').map((word) => [word, severity]);
}

function wordOf(value: Json | undefined): string {
  return typeof value === 'string' ? value.trim().toLowerCase() : '';
}

interface WeighedFindings {
  readonly deciding: readonly Finding[];
  /** Findings that did not decide the verdict, with the severity that the payload gives them. */
  readonly minor: readonly Finding[];
}

/** Separates out the findings that the report's view considers minor; without such a view all findings decide. */
export function weighFindings(
  payload: JsonObject,
  { view }: Pick<Report, 'view'>,
  byRow: EvidenceByRow = new Map(),
): WeighedFindings {
  const { findings: rows } = payload;
  const rule = view?.minor;
  if (rule === undefined || !isArray(rows))
    return { deciding: readGroundedFindings(payload, byRow), minor: [] };
  const isMinor = (row: Json) => isObject(row) && rule.isMinor(row);
  const deciding = rows.filter((row) => !isMinor(row));
  return {
    deciding: readFindings({ ...payload, findings: deciding }),
    minor: readFindings({ findings: rows.filter(isMinor) }),
  };
}
