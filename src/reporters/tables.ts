/** Renders the values and lists of a view as Markdown tables. */
import { isArray, isObject } from '../text/json.ts';
import { DISPLAY } from '../text/limits.ts';
import { counted } from '../text/messages.ts';
import type { Json, JsonObject } from '../types.ts';
import { bySeverity, severityMark } from './findings.ts';
import { pathKey } from './links.ts';
import { cell, inline } from './markdown.ts';
import type { View } from './report-types.ts';

/** Columns of a table, so that it fits a page. */
const MAX_COLUMNS = 8;
/** Single values that are shown. */
const MAX_VALUES = 100;
/** Characters of a cell. */
const MAX_CELL = 500;
/** A list of at most this many short values is shown in one cell instead of a section. */
const SHORT_LIST = 10;
const SHORT_ITEM = 60;

export interface TableLimits {
  /** Rows of each list; the others are counted. */
  readonly rows: number;
  /** Rows before the rest is folded. */
  readonly openRows: number;
}

type Shown = Pick<View, 'tables' | 'rows'>;

/** Renders one table for the single values, and one for each list; findings link to their line. */
export function renderTables({ tables, rows }: Shown, limits: TableLimits): string {
  const values: [string, Json][] = [];
  const sections: string[] = [];
  for (const [name, value] of Object.entries(tables)) {
    if (!isArray(value) || value.length === 0 || isShort(value)) values.push([name, value]);
    else sections.push(renderList(name, value, rows, limits));
  }
  return renderValues(values) + sections.join('');
}

function isShort(list: readonly Json[]): boolean {
  const isScalar = (item: Json) => !isArray(item) && !isObject(item);
  return (
    list.length <= SHORT_LIST && list.every((item) => isScalar(item) && plain(item).length <= SHORT_ITEM)
  );
}

function renderValues(values: readonly (readonly [string, Json])[]): string {
  if (values.length === 0) return '';
  const lines = values.slice(0, MAX_VALUES).map(([name, value]) => {
    const text = isArray(value) && value.length > 0 ? value.map(plain).join('\n') : plain(value);
    return `| **${inline(name, DISPLAY.value)}** | ${cell(text, DISPLAY.message)} |\n`;
  });
  return `| Property | Value |\n| :--- | :--- |\n${lines.join('')}\n${andMore(values.length - MAX_VALUES, 'more value')}`;
}

/** Shows what was not proven folded, after the rest. */
function renderList(name: string, list: readonly Json[], rows: View['rows'], limits: TableLimits): string {
  const heading = `### ${inline(name, DISPLAY.value)} (${list.length})\n\n`;
  const more = andMore(list.length - limits.rows, 'more row');
  const objects = list.filter(isObject);
  if (objects.length < list.length) {
    const lines = list.slice(0, limits.rows).map((item) => `- ${cell(plain(item), MAX_CELL)}\n`);
    return `${heading}${fold(lines, limits.openRows, (some) => `${some.join('')}\n`)}${more}`;
  }
  const shown = bySeverity(objects).slice(0, limits.rows);
  const isDoubted = (row: JsonObject) => rows.get(row)?.isDoubted === true;
  const open = shown.filter((row) => !isDoubted(row));
  const doubted = shown.filter(isDoubted);
  const table = open.length === 0 ? '' : renderRows(open, rows, limits.openRows);
  const folded =
    doubted.length === 0
      ? ''
      : details(`${counted(doubted.length, 'finding')} not proven`, renderRows(doubted, rows, limits.rows));
  return `${heading}${table}${folded}${more}`;
}

function renderRows(objects: readonly JsonObject[], rows: View['rows'], openRows: number): string {
  const all = [...new Set(objects.flatMap((row) => Object.keys(row)))];
  const columns = all.slice(0, MAX_COLUMNS);
  if (columns.length === 0) return '';
  const head = columns.map((column) => inline(column, DISPLAY.value) || ' ').join(' | ');
  const isNumeric = (column: string) =>
    objects.every((row) => !Object.hasOwn(row, column) || typeof row[column] === 'number');
  const ruler = columns.map((column) => (isNumeric(column) ? '---:' : ':---')).join(' | ');
  const lines = objects.map(
    (row) =>
      `| ${columns.map((column) => renderCell(row, column, rows.get(row)?.link ?? null)).join(' | ')} |\n`,
  );
  const table = fold(lines, openRows, (some) => `| ${head} |\n| ${ruler} |\n${some.join('')}\n`);
  return table + andMore(all.length - MAX_COLUMNS, 'more column');
}

function renderCell(row: JsonObject, column: string, link: string | null): string {
  const value = Object.hasOwn(row, column) ? row[column] : undefined;
  if (value === undefined) return '';
  // A link cannot contain another link, and inline code in its text could be ended by a bracket.
  if (link !== null && column === pathKey(row)) return `[${inline(plain(value), MAX_CELL)}](${link})`;
  return `${column === 'severity' ? severityMark(value) : ''}${cell(plain(value), MAX_CELL)}`;
}

/** Shows the first lines, and the rest folded. */
function fold(
  lines: readonly string[],
  openRows: number,
  show: (lines: readonly string[]) => string,
): string {
  const rest = lines.slice(openRows);
  if (rest.length === 0) return show(lines);
  return show(lines.slice(0, openRows)) + details(`${rest.length} more`, show(rest));
}

/** Returns a folded block; the title is trusted. */
export function details(title: string, body: string): string {
  return `<details><summary>${title}</summary>\n\n${body}</details>\n\n`;
}

function plain(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function andMore(count: number, noun: string): string {
  return count <= 0 ? '' : `… and ${counted(count, noun)}: see the result file.\n\n`;
}
