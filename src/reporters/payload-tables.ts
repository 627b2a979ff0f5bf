/** A payload as tables: its scalars as one, each list of objects as one of its own. */
import { isArray, isObject } from '../json.ts';
import type { Json, JsonObject, Subject } from '../types.ts';
import { counted } from './format.ts';
import type { Say } from './say.ts';

const MAX_ROWS = 50;
const MAX_COLUMNS = 8;
const MAX_SCALARS = 100;
/** Characters of one cell. */
const MAX_CELL = 1_000;
const MAX_SCALAR = 4_000;
const MAX_NAME = 100;

/** The payload in Markdown, inert. Rows with `path` or `file` and `line` link to that line at the judged commit. */
export function payloadTables(
  payload: JsonObject,
  subject: Subject | null,
  serverUrl: string | null,
  say: Say,
): string {
  const scalars: [string, Json][] = [];
  const lists: [string, readonly Json[]][] = [];
  for (const [name, value] of Object.entries(payload)) {
    if (isArray(value) && value.length > 0) lists.push([name, value]);
    else scalars.push([name, value]);
  }
  const link = (row: JsonObject) => lineLink(row, subject, serverUrl);
  return scalarTable(scalars, say) + lists.map(([name, list]) => listTable(name, list, link, say)).join('');
}

function scalarTable(scalars: readonly (readonly [string, Json])[], say: Say): string {
  if (scalars.length === 0) return '';
  const rows = scalars
    .slice(0, MAX_SCALARS)
    .map(([name, value]) => `| ${say.cell(name, MAX_NAME)} | ${shown(value, MAX_SCALAR, say)} |\n`);
  return `| Property | Value |\n| --- | --- |\n${rows.join('')}\n${andMore(scalars.length - MAX_SCALARS, 'more value')}`;
}

function listTable(
  name: string,
  list: readonly Json[],
  link: (row: JsonObject) => string | null,
  say: Say,
): string {
  const heading = `**${say.inline(name, MAX_NAME)}** (${list.length})\n\n`;
  const shownRows = list.slice(0, MAX_ROWS);
  const more = andMore(list.length - MAX_ROWS, 'more row');
  const objects = shownRows.filter(isObject);
  if (objects.length < shownRows.length) {
    return `${heading}${shownRows.map((item) => `- ${shown(item, MAX_CELL, say)}\n`).join('')}\n${more}`;
  }
  const all = [...new Set(objects.flatMap((row) => Object.keys(row)))];
  const columns = all.slice(0, MAX_COLUMNS);
  if (columns.length === 0) return `${heading}${more}`;
  const head = `| ${columns.map((column) => say.cell(column, MAX_NAME)).join(' | ')} |\n|${' --- |'.repeat(columns.length)}\n`;
  const rows = objects.map(
    (row) => `| ${columns.map((column) => linkedCell(row, column, link, say)).join(' | ')} |\n`,
  );
  const hidden = andMore(all.length - MAX_COLUMNS, 'more column');
  return `${heading}${head}${rows.join('')}\n${more}${hidden}`;
}

function linkedCell(
  row: JsonObject,
  column: string,
  link: (row: JsonObject) => string | null,
  say: Say,
): string {
  const value = Object.hasOwn(row, column) ? row[column] : undefined;
  if (value === undefined) return '';
  const target = column === pathKey(row) ? link(row) : null;
  const text = shown(value, MAX_CELL, say);
  return target === null ? text : `[${text}](${target})`;
}

/** A scalar as text, anything deeper as JSON. */
function shown(value: Json, max: number, say: Say): string {
  return say.cell(typeof value === 'string' ? value : JSON.stringify(value), max);
}

function pathKey(row: JsonObject): 'path' | 'file' | null {
  for (const key of ['path', 'file'] as const) {
    if (Object.hasOwn(row, key) && typeof row[key] === 'string') return key;
  }
  return null;
}

/** The page of a line at the judged commit; null where the row names none that could be in the repository. */
function lineLink(row: JsonObject, subject: Subject | null, serverUrl: string | null): string | null {
  const key = pathKey(row);
  if (key === null || subject === null || serverUrl === null) return null;
  const file = row[key];
  const line = Object.hasOwn(row, 'line') ? row['line'] : undefined;
  if (typeof file !== 'string' || typeof line !== 'number' || !Number.isSafeInteger(line) || line < 1)
    return null;
  if (!/^[\w.-]+\/[\w.-]+$/.test(subject.repository) || !/^[0-9a-f]{7,64}$/.test(subject.sha)) return null;
  const segments = file.replace(/^\.\//, '').split('/');
  if (
    file.length > 500 ||
    segments.some((each) => each === '' || each === '.' || each === '..' || /[\p{Cc}\\]/u.test(each))
  ) {
    return null;
  }
  const escaped = segments.map((each) =>
    encodeURIComponent(each).replace(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16)}`),
  );
  return `${serverUrl}/${subject.repository}/blob/${subject.sha}/${escaped.join('/')}#L${line}`;
}

function andMore(count: number, noun: string): string {
  return count <= 0 ? '' : `… and ${counted(count, noun)}: see the raw JSON or the result file.\n\n`;
}
