/** Renders the values and lists of a view as Markdown tables. */
import { isArray, isObject } from '../text/json.ts';
import { DISPLAY } from '../text/limits.ts';
import { counted } from '../text/messages.ts';
import type { Json, JsonObject } from '../types.ts';
import { cell, details, inline } from './escape-markdown.ts';
import { byGravity, gravityOf, locationOfRow } from './findings.ts';
import type { View } from './report-types.ts';

/** Columns of a table, so that it fits a page. */
const MAX_COLUMNS = 8;
/** Characters of a cell. */
const MAX_CELL = 500;

const MARKS = { error: '🔴&nbsp;', warning: '🟡&nbsp;', note: '🔵&nbsp;' } as const;

/**
 * Renders one table for the single values, and one for each list of objects, whose findings link to their line.
 * @param most how many rows of each list are shown; the others are counted
 * @param open how many of them are not folded
 */
export function renderTables({ tables, rows }: View, most: number, open: number): string {
  const values: string[] = [];
  const lists: string[] = [];
  for (const [name, value] of Object.entries(tables)) {
    const objects = isArray(value) ? value.filter(isObject) : [];
    if (isArray(value) && value.length > 0 && objects.length === value.length)
      lists.push(renderList(name, objects, rows, most, open));
    else {
      const text = isArray(value) ? value.map(plain).join('\n') || 'none' : plain(value);
      values.push(`| **${inline(name, DISPLAY.value)}** | ${cell(text, DISPLAY.message)} |\n`);
    }
  }
  const table = values.length === 0 ? '' : `| Property | Value |\n| :--- | :--- |\n${values.join('')}\n`;
  return table + lists.join('');
}

/** Shows what was not proven folded, after the rest. */
function renderList(
  name: string,
  list: readonly JsonObject[],
  rows: View['rows'],
  most: number,
  open: number,
): string {
  const sorted = list.toSorted((one, other) => byGravity(gravityOf(one), gravityOf(other)));
  const isDoubted = (row: JsonObject) => rows.get(row)?.isDoubted === true;
  const shown = sorted.slice(0, most);
  const sure = shown.filter((row) => !isDoubted(row));
  const fold = (some: readonly JsonObject[], noun: string, what = '') =>
    some.length === 0 ? '' : details(`${counted(some.length, noun)}${what}`, renderRows(some, rows));
  return [
    `### ${inline(name, DISPLAY.value)} (${list.length})\n\n`,
    renderRows(sure.slice(0, open), rows),
    fold(sure.slice(open), 'more row'),
    fold(shown.filter(isDoubted), 'finding', ' not proven'),
    andMore(list.length - most, 'more row'),
  ].join('');
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
  const severity = column === 'severity' ? gravityOf(row)?.severity : undefined;
  return `${severity === undefined ? '' : MARKS[severity]}${cell(plain(value), MAX_CELL)}`;
}

function plain(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function andMore(count: number, noun: string): string {
  return count <= 0 ? '' : `… and ${counted(count, noun)}: see the result file.\n\n`;
}
