/** A payload's findings, whatever its schema calls their parts: one typed shape for all that shows them. */

import { isArray, isObject } from '../text/json.ts';
import type { Json, JsonObject } from '../types.ts';
import type { Report } from './report-types.ts';

/** Where somebody says that something is; nothing of it is checked. */
export interface WrittenLocation {
  /** As it was written, without a line behind it; at most 4,096 characters, none of them a control character. */
  readonly path: string;
  /** From 1, like the two below. */
  readonly line: number | null;
  /** At least `line`; null where there is no `line`. */
  readonly endLine: number | null;
  readonly column: number | null;
}

/** One finding. All of its text is the model's. */
export interface Finding {
  readonly severity: Severity;
  /** From 0.1 to 10, where the severity is a word of a scale for vulnerabilities. */
  readonly securityScore: number | null;
  readonly place: WrittenLocation | null;
  readonly title: string | null;
  /** Never blank. */
  readonly message: string;
  /** What kind of finding it is; null where the row says nothing of it. */
  readonly rule: string | null;
  /** Whether `rule` is only a kind of findings, a category, of which one place may have several. */
  readonly isKind: boolean;
  /** The payload's property that it stands in. */
  readonly list: string;
}

const PATHS = ['path', 'file', 'filename', 'file_path', 'filePath', 'location'];
const LINES = ['line', 'start_line', 'startLine', 'line_number', 'lineNumber'];
const END_LINES = ['end_line', 'endLine'];
const COLUMNS = ['column', 'col', 'start_column', 'startColumn'];
const MESSAGES = ['message', 'description', 'details'];
const RULES = ['rule', 'rule_id', 'ruleId', 'check'];
const KINDS = ['category', 'type', 'kind', 'cwe'];
/** The list whose rows come first, and the one whose rows need neither a severity nor a place: failed tests. */
const FINDINGS = 'findings';
const FAILURES = 'failures';
const MAX_PATH = 4_096;
const MAX_LINE = 1_000_000_000;
/** `:3`, `:3:7`, `:3-5`, `#L3`, `#L3-L5` behind a path, as compilers, people and GitHub write it. */
const LINE_BEHIND = /(?::(\d{1,10})(?::(\d{1,10})|-(\d{1,10}))?|#L(\d{1,10})(?:-L?(\d{1,10}))?)$/;

/**
 * The findings of a payload, the gravest first: rows of the lists at its top that have a message or a title, and a
 * severity or a file. A row whose severity is missing or an unknown word is a warning, a failed test an error.
 */
export function readFindings(payload: JsonObject): readonly Finding[] {
  const lists = Object.entries(payload).toSorted(
    ([one], [other]) => Number(other === FINDINGS) - Number(one === FINDINGS),
  );
  return lists
    .flatMap(([name, list]) =>
      isArray(list) ? list.filter(isObject).flatMap((row) => readRow(row, name)) : [],
    )
    .toSorted(byGravity);
}

/** Where a row says that it is, and the key that says so; null where it names no file. */
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

function readRow(row: JsonObject, list: string): readonly Finding[] {
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
  return [{ severity, securityScore: securityScore(word), place, title, message, ...names, list }];
}

function readPlace(written: string, row: JsonObject): WrittenLocation | null {
  const text = written.trim();
  const behind = LINE_BEHIND.exec(text);
  const path = behind === null ? text : text.slice(0, behind.index);
  if (path === '' || path.length > MAX_PATH || /\p{Cc}/u.test(path)) return null;
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

/** The lines of a row; one property may hold both, as `12-15`. */
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

/** A number from 1, also where it was written as text. */
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

/** How grave a finding is to everything that shows findings: SARIF's words for it. */
export type Severity = 'error' | 'warning' | 'note';

/** The three severities, the gravest first. */
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
 * The words of scales for vulnerabilities, as the numbers that GitHub shows as these very words (more than 9.0 is
 * critical, from 7.0 high, from 4.0 medium, from 0.1 low).
 */
const SCORES: ReadonlyMap<string, number> = new Map([
  ['critical', 9.5],
  ['high', 8],
  ['medium', 5.5],
  ['moderate', 5.5],
  ['low', 2],
]);

/** What a word means, whatever its case; null for one that tells nothing. */
export function severityOf(value: Json | undefined): Severity | null {
  return WORDS.get(wordOf(value)) ?? null;
}

/** The `security-severity` (0.1 to 10) of a word of a scale for vulnerabilities; null for any other word. */
export function securityScore(value: Json | undefined): number | null {
  return SCORES.get(wordOf(value)) ?? null;
}

/** A coloured mark before the word, in Markdown; empty for a word that tells nothing. */
export function severityMark(value: Json): string {
  const severity = severityOf(value);
  return severity === null ? '' : MARKS[severity];
}

/** The rows, those with the gravest `severity` first and otherwise in their own order. */
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

/** A payload's findings, the gravest first in each list. */
interface WeighedFindings {
  readonly deciding: readonly Finding[];
  /** Their severity is what the payload says. */
  readonly minor: readonly Finding[];
}

/** Separates the findings of a payload that the report's view calls minor; without such a view all of them decide. */
export function weighFindings(payload: JsonObject, { view }: Pick<Report, 'view'>): WeighedFindings {
  const { findings: rows } = payload;
  const rule = view?.minor;
  if (rule === undefined || !isArray(rows)) return { deciding: readFindings(payload), minor: [] };
  const isMinor = (row: Json) => isObject(row) && rule.isMinor(row);
  const deciding = rows.filter((row) => !isMinor(row));
  return {
    deciding: readFindings({ ...payload, findings: deciding }),
    minor: readFindings({ findings: rows.filter(isMinor) }),
  };
}
