/** Renders a payload as tables: one for its scalars, and one for each list of objects. */

import { isArray, isObject } from '../text/json.ts';
import { DISPLAY } from '../text/limits.ts';
import { counted } from '../text/messages.ts';
import type { Json, JsonObject, Subject } from '../types.ts';
import { bySeverity, type EvidenceByRow, isDoubted, severityMark } from './findings.ts';
import { lineLink, pathKey } from './links.ts';
import type { MarkdownSanitizer } from './report-types.ts';
import type { Locate } from './source-locations.ts';

/** Columns of a table, so that it fits a page. */
const MAX_COLUMNS = 8;
/** Rows of a table before the rest is folded, so that what follows the table stays in view. */
const MAX_OPEN_ROWS = 25;
/** Single values of a payload that are shown. */
const MAX_VALUES = 100;

/** A list of at most this many short scalars is shown in one cell instead of a section. */
const SHORT_LIST = 10;
const SHORT_ITEM = 60;

export interface TableOptions {
  readonly subject: Subject | null;
  /** Base URL of the repository's server; null for tables without links. */
  readonly serverUrl: string | null;
  /** Finds the file of a row in the repository; without it, paths are used as written. */
  readonly locate: Locate | undefined;
  readonly maxRows: number;
  /** From `placeFindings`, of which the payload is too; absent if findings were not checked. */
  readonly byRow?: EvidenceByRow;
}

type Link = (row: JsonObject) => string | null;

/**
 * Renders the payload as escaped Markdown. Rows with `path` or `file` and `line` link to that line at the judged
 * commit.
 */
export function payloadTables(
  payload: JsonObject,
  options: TableOptions,
  sanitizer: MarkdownSanitizer,
): string {
  const { subject, serverUrl, locate, maxRows, byRow = new Map() } = options;
  const scalars: [string, Json][] = [];
  const lists: [string, readonly Json[]][] = [];
  for (const [name, value] of Object.entries(payload)) {
    if (isArray(value) && value.length > 0 && !isShort(value)) lists.push([name, value]);
    else scalars.push([name, value]);
  }
  const link = (row: JsonObject) => {
    const page = lineLink(row, subject, serverUrl, locate);
    return page === null || sanitizer.holdsSecret(decodeURIComponent(page)) ? null : page;
  };
  return (
    scalarTable(scalars, sanitizer) +
    lists.map(([name, list]) => section(name, list, maxRows, link, byRow, sanitizer)).join('')
  );
}

function isShort(list: readonly Json[]): boolean {
  return (
    list.length <= SHORT_LIST &&
    list.every((item) => !isArray(item) && !isObject(item) && plain(item).length <= SHORT_ITEM)
  );
}

function scalarTable(scalars: readonly (readonly [string, Json])[], sanitizer: MarkdownSanitizer): string {
  if (scalars.length === 0) return '';
  const rows = scalars.slice(0, MAX_VALUES).map(([name, value]) => {
    const text = isArray(value) && value.length > 0 ? value.map(plain).join('\n') : value;
    return `| **${sanitizer.inline(name, DISPLAY.value)}** | ${shown(text, DISPLAY.message, sanitizer)} |\n`;
  });
  return `| Property | Value |\n| :--- | :--- |\n${rows.join('')}\n${andMore(scalars.length - MAX_VALUES, 'more value')}`;
}

function section(
  name: string,
  list: readonly Json[],
  maxRows: number,
  link: Link,
  byRow: EvidenceByRow,
  sanitizer: MarkdownSanitizer,
): string {
  const heading = `### ${sanitizer.inline(name, DISPLAY.value)} (${list.length})\n\n`;
  const objects = list.filter(isObject);
  if (objects.length === list.length && objects.some((row) => byRow.has(row)))
    return `${heading}${groundedTables(objects, maxRows, link, byRow, sanitizer)}${andMore(list.length - maxRows, 'more row')}`;
  const text =
    objects.length === list.length
      ? objectTable(bySeverity(objects), maxRows, link, sanitizer)
      : bullets(list, maxRows, sanitizer);
  return `${heading}${text}${andMore(list.length - maxRows, 'more row')}`;
}

/** Shows proven rows, and those about no file, in the open, and the others folded. */
function groundedTables(
  objects: readonly JsonObject[],
  maxRows: number,
  link: Link,
  byRow: EvidenceByRow,
  sanitizer: MarkdownSanitizer,
): string {
  const sorted = bySeverity(objects);
  const open = sorted.filter((row) => !isDoubted(byRow.get(row)));
  const doubted = sorted.filter((row) => isDoubted(byRow.get(row)));
  const table = open.length === 0 ? '' : objectTable(open, maxRows, link, sanitizer);
  const left = maxRows - open.length;
  if (doubted.length === 0 || left <= 0) return table;
  const title = `${counted(doubted.length, 'finding')} not proven`;
  return `${table}<details><summary>${title}</summary>\n\n${objectTable(doubted, left, () => null, sanitizer)}</details>\n\n`;
}

function bullets(list: readonly Json[], maxRows: number, sanitizer: MarkdownSanitizer): string {
  const lines = list.slice(0, maxRows).map((item) => `- ${shown(item, DISPLAY.cell, sanitizer)}\n`);
  return folded(lines, (some) => `${some.join('')}\n`);
}

function objectTable(
  objects: readonly JsonObject[],
  maxRows: number,
  link: Link,
  sanitizer: MarkdownSanitizer,
): string {
  const all = [...new Set(objects.flatMap((row) => Object.keys(row)))];
  const columns = all.slice(0, MAX_COLUMNS);
  if (columns.length === 0) return '';
  const head = columns.map((column) => sanitizer.inline(column, DISPLAY.value) || ' ').join(' | ');
  const ruler = columns.map((column) => (isNumeric(column, objects) ? '---:' : ':---')).join(' | ');
  const rows = objects
    .slice(0, maxRows)
    .map((row) => `| ${columns.map((column) => linkedCell(row, column, link, sanitizer)).join(' | ')} |\n`);
  const tables = folded(rows, (some) => `| ${head} |\n| ${ruler} |\n${some.join('')}\n`);
  return tables + andMore(all.length - MAX_COLUMNS, 'more column');
}

/** Shows the first rows, and the rest folded. */
function folded(rows: readonly string[], show: (rows: readonly string[]) => string): string {
  const rest = rows.slice(MAX_OPEN_ROWS);
  if (rest.length === 0) return show(rows);
  const fold = `<details><summary>${rest.length} more</summary>\n\n${show(rest)}</details>\n\n`;
  return show(rows.slice(0, MAX_OPEN_ROWS)) + fold;
}

function isNumeric(column: string, rows: readonly JsonObject[]): boolean {
  return rows.every((row) => !Object.hasOwn(row, column) || typeof row[column] === 'number');
}

function linkedCell(row: JsonObject, column: string, link: Link, sanitizer: MarkdownSanitizer): string {
  const value = Object.hasOwn(row, column) ? row[column] : undefined;
  if (value === undefined) return '';
  const target = column === pathKey(row) ? link(row) : null;
  const mark = column === 'severity' ? severityMark(value) : '';
  // A link cannot contain another link, and inline code in its text could be ended by a bracket.
  const text =
    target === null ? shown(value, DISPLAY.cell, sanitizer) : sanitizer.inline(plain(value), DISPLAY.cell);
  return target === null ? mark + text : `[${text}](${target})`;
}

function shown(value: Json, max: number, sanitizer: MarkdownSanitizer): string {
  return sanitizer.cell(plain(value), max);
}

function plain(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function andMore(count: number, noun: string): string {
  return count <= 0 ? '' : `… and ${counted(count, noun)}: see the raw JSON or the result file.\n\n`;
}
