/** What the run found: the accepted payload, its plain values as a list and each list of objects as a table. */

import { bySeverity, severityOf } from '../../reporters/severity.ts';
import { isArray, isObject } from '../../text/json.ts';
import { counted, truncate } from '../../text/messages.ts';
import type { Json, JsonObject } from '../../types.ts';
import { type Html, html } from './html.ts';
import type { Showing } from './visible.ts';

/** So much of a payload is shown; the result file has the rest. */
const MAX_VALUES = 100;
const MAX_TABLES = 20;
/** Of all tables together. */
const MAX_ROWS = 500;
const MAX_COLUMNS = 8;
const MAX_VALUE = 4_000;
const MAX_CELL = 1_000;

/** The section; all of it is text of the model. */
export function payloadSection(payload: JsonObject, showing: Showing): Html {
  const values: (readonly [string, Json])[] = [];
  const tables: (readonly [string, readonly JsonObject[]])[] = [];
  for (const [name, value] of Object.entries(payload)) {
    const objects = isArray(value) ? value.filter(isObject) : [];
    if (isArray(value) && objects.length > 0 && objects.length === value.length) tables.push([name, objects]);
    else values.push([name, value]);
  }
  let left = MAX_ROWS;
  const sections = tables.slice(0, MAX_TABLES).map(([name, objects]) => {
    const rows = bySeverity(objects).slice(0, left);
    left -= rows.length;
    return table(name, rows, objects.length, showing);
  });
  return html`<section class="found" aria-labelledby="found">
<h2 id="found">What was found</h2>
${list(values.slice(0, MAX_VALUES), showing)}${andMore(values.length - MAX_VALUES, 'value')}
${sections}${andMore(tables.length - MAX_TABLES, 'table')}
</section>`;
}

function list(values: readonly (readonly [string, Json])[], showing: Showing): Html | null {
  if (values.length === 0) return null;
  const rows = values.map(([name, value]) => {
    const text = isArray(value) && value.length > 0 ? value.map(plain).join('\n') : plain(value);
    return html`<div><dt>${showing.label(name)}</dt><dd>${shown(text, MAX_VALUE, showing)}</dd></div>`;
  });
  return html`<dl class="values">${rows}</dl>`;
}

function table(name: string, rows: readonly JsonObject[], count: number, showing: Showing): Html {
  const all = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const columns = all.slice(0, MAX_COLUMNS);
  const head = columns.map((column) => html`<th scope="col">${showing.label(column)}</th>`);
  const body = rows.map((row) => html`<tr>${columns.map((column) => cell(row, column, showing))}</tr>`);
  return html`<h3>${showing.label(name)} (${counted(count, 'entry').replace('entrys', 'entries')})</h3>
<table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table>${andMore(count - rows.length, 'row')}${andMore(all.length - MAX_COLUMNS, 'column')}`;
}

function cell(row: JsonObject, column: string, showing: Showing): Html {
  const value = Object.hasOwn(row, column) ? row[column] : undefined;
  const text = value === undefined ? '' : shown(plain(value), MAX_CELL, showing);
  const severity = column === 'severity' ? severityOf(value) : null;
  const content = severity === null ? text : html`<span class="tag ${severity}">${text}</span>`;
  // The name stands beside the value where the window is too narrow for columns.
  return html`<td data-name="${showing.label(column)}">${content}</td>`;
}

function shown(text: string, max: number, showing: Showing): string {
  return truncate(showing.text(text).text, max);
}

/** A text as it is, anything else as JSON. */
function plain(value: Json): string {
  if (typeof value === 'string') return value;
  try {
    return JSON.stringify(value);
  } catch {
    return '(nested too deeply to be shown)';
  }
}

function andMore(count: number, noun: string): Html | null {
  return count <= 0
    ? null
    : html`<p class="dim">… and ${counted(count, `more ${noun}`)}: see the result file.</p>`;
}
