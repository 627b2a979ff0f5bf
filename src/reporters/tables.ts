/** Renders the values and lists of a view as Markdown tables. */
import { isArray, isObject } from '../text/json.ts';
import { DISPLAY } from '../text/limits.ts';
import { counted } from '../text/messages.ts';
import type { Json, JsonObject } from '../types.ts';
import { bySeverity, locationOfRow, severityOf } from './findings.ts';
import { cell, details, inline } from './markdown.ts';
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

const MARKS = { error: '🔴&nbsp;', warning: '🟡&nbsp;', note: '🔵&nbsp;' } as const;

/**
 * Renders one table for the single values, and one for each list, whose findings link to their line.
 * @param most how many rows of each list are shown; the others are counted
 * @param open how many of them are not folded
 */
export function renderTables(
  { tables, rows }: Pick<View, 'tables' | 'rows'>,
  most: number,
  open = most,
): string {
  const values: [string, Json][] = [];
  const sections: string[] = [];
  for (const [name, value] of Object.entries(tables)) {
    if (!isArray(value) || isShort(value)) values.push([name, value]);
    else sections.push(renderList(name, value, rows, most, open));
  }
  return renderValues(values) + sections.join('');
}

function isShort(list: readonly Json[]): boolean {
  const isShortItem = (item: Json) => !isArray(item) && !isObject(item) && plain(item).length <= SHORT_ITEM;
  return list.length <= SHORT_LIST && list.every(isShortItem);
}

function renderValues(values: readonly (readonly [string, Json])[]): string {
  if (values.length === 0) return '';
  const lines = values.slice(0, MAX_VALUES).map(([name, value]) => {
    const text = isArray(value) ? value.map(plain).join('\n') || 'none' : plain(value);
    return `| **${inline(name, DISPLAY.value)}** | ${cell(text, DISPLAY.message)} |\n`;
  });
  return `| Property | Value |\n| :--- | :--- |\n${lines.join('')}\n${andMore(values.length - MAX_VALUES, 'more value')}`;
}

/** Shows what was not proven folded, after the rest. */
function renderList(
  name: string,
  list: readonly Json[],
  rows: View['rows'],
  most: number,
  open: number,
): string {
  const heading = `### ${inline(name, DISPLAY.value)} (${list.length})\n\n`;
  const more = andMore(list.length - most, 'more row');
  const objects = list.filter(isObject);
  if (objects.length < list.length) {
    const lines = list.slice(0, most).map((item) => `- ${cell(plain(item), MAX_CELL)}\n`);
    return `${heading}${lines.join('')}\n${more}`;
  }
  const shown = bySeverity(objects).slice(0, most);
  const isDoubted = (row: JsonObject) => rows.get(row)?.isDoubted === true;
  const sure = shown.filter((row) => !isDoubted(row));
  const fold = (some: readonly JsonObject[], noun: string, what = '') =>
    some.length === 0 ? '' : details(`${counted(some.length, noun)}${what}`, renderRows(some, rows));
  const folded = fold(sure.slice(open), 'more row') + fold(shown.filter(isDoubted), 'finding', ' not proven');
  return `${heading}${renderRows(sure.slice(0, open), rows)}${folded}${more}`;
}

function renderRows(objects: readonly JsonObject[], rows: View['rows']): string {
  const all = [...new Set(objects.flatMap((row) => Object.keys(row)))];
  const columns = all.slice(0, MAX_COLUMNS);
  if (columns.length === 0) return '';
  const lines = [
    columns.map((column) => inline(column, DISPLAY.value) || ' '),
    columns.map(() => ':---'),
    ...objects.map((row) => {
      const link = rows.get(row)?.link ?? null;
      return columns.map((column) => renderCell(row, column, link));
    }),
  ].map((cells) => `| ${cells.join(' | ')} |\n`);
  return `${lines.join('')}\n${andMore(all.length - MAX_COLUMNS, 'more column')}`;
}

function renderCell(row: JsonObject, column: string, link: string | null): string {
  const value = Object.hasOwn(row, column) ? row[column] : undefined;
  if (value === undefined) return '';
  // A link cannot contain another link, and inline code in its text could be ended by a bracket.
  if (link !== null && column === locationOfRow(row)?.key)
    return `[${inline(plain(value), MAX_CELL)}](${link})`;
  const severity = column === 'severity' ? severityOf(value) : undefined;
  return `${severity === undefined ? '' : MARKS[severity]}${cell(plain(value), MAX_CELL)}`;
}

function plain(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function andMore(count: number, noun: string): string {
  return count <= 0 ? '' : `… and ${counted(count, noun)}: see the result file.\n\n`;
}
