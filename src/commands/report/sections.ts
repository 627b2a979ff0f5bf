/** The sections of the page: how the run ended, findings, tokens and cost, events. */

import { bySeverity, type EvidenceByRow, isDoubted, severityOf } from '../../reporters/findings.ts';
import { dollars, duration, tokensOf } from '../../reporters/format.ts';
import { groundFindings } from '../../reporters/grounding.ts';
import type { CallDecision, Evidence } from '../../reporters/report-types.ts';
import { isArray, isObject } from '../../text/json.ts';
import { DISPLAY, LISTED } from '../../text/limits.ts';
import { counted, grouped, truncate } from '../../text/messages.ts';
import type { Json, JsonObject } from '../../types.ts';
import type { Ending } from './ending.ts';
import type { Argument, Call, Part, Turn, Words } from './story.ts';
import { type Html, html, type Showing, type Shown } from './visible.ts';

const MARKS = { success: '✓', failure: '✕', inconclusive: '!', skipped: '–' } as const;

/** Returns the verdict in a few words, for the title. */
export function titleOf(ending: Ending): string {
  const words = wordsFor(ending);
  return ending.replayed ? `Replay, judged by no model. ${words}` : words;
}

function wordsFor({ conclusion, reason, gate }: Ending): string {
  switch (conclusion) {
    case 'success':
      if (gate === 'met') return 'Success: the gate is met';
      return gate === 'none' ? 'Accepted: no gate was asked for' : 'Success';
    case 'failure':
      return 'Failure: the gate is not met';
    case 'skipped':
      return 'Skipped: nothing was judged';
    case 'inconclusive':
      return `Inconclusive: ${reason.replaceAll('_', ' ')}`;
    case null:
      return 'No verdict: the transcript has no end';
  }
}

/** Returns the section with the page's first heading. */
export function verdictSection(ending: Ending): Html {
  const kind = ending.conclusion ?? 'unknown';
  return html`<section class="verdict ${kind}" aria-labelledby="verdict">
<h1 id="verdict"><span class="mark" aria-hidden="true">${ending.conclusion === null ? '?' : MARKS[ending.conclusion]}</span> ${titleOf(ending)}</h1>
${ending.error === '' ? null : html`<p class="error">${ending.error}</p>`}${faults(ending)}${ending.coverage === '' ? null : html`<p>${withCode(ending.coverage)}</p>`}${ending.grounding === '' ? null : html`<p>${ending.grounding}</p>`}
<dl class="facts">${factsOf(ending).map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
${judged(ending)}</section>`;
}

function faults({ conclusion, faults, gateWords }: Ending): Html | null {
  if (gateWords.length > 0) {
    const rows = gateWords.map((clause) => html`<li>It ${withCode(clause)}.</li>`);
    return html`<p>The gate is ${conclusion === 'failure' ? 'not met' : 'met'}:</p><ul>${rows}</ul>`;
  }
  if (faults.length === 0) return null;
  const rows = faults.map(({ path, keyword }) => html`<li><code>${path}</code> (${keyword})</li>`);
  return html`<p>The gate finds fault with:</p><ul>${rows}</ul>`;
}

function factsOf(ending: Ending): readonly (readonly [string, string])[] {
  const { exitCode, turns, rejections, usage, costUsd, durationMs } = ending;
  const rows: readonly (readonly [string, string | null])[] = [
    ['Reason', ending.reason],
    ['Gate', ending.gate.replaceAll('_', ' ')],
    ['Exit code', exitCode === null ? null : String(exitCode)],
    ['Model', ending.model],
    ['Provider', ending.provider],
    ['Turns', turns === null ? null : grouped(turns)],
    ['Rejected', rejections === null || rejections === 0 ? null : counted(rejections, 'call')],
    ['Tokens in', usage === null ? null : grouped(usage.inputTokens)],
    [
      'From the cache',
      usage === null || usage.cachedInputTokens === 0 ? null : grouped(usage.cachedInputTokens),
    ],
    ['Tokens out', usage === null ? null : grouped(usage.outputTokens)],
    ['Cost', costUsd === null ? (turns === null ? null : 'unknown') : dollars(costUsd)],
    ['Time', durationMs === null ? null : duration(durationMs)],
    ['Sandbox', ending.sandbox],
  ];
  return rows.flatMap(([name, value]) => (value === null || value === '' ? [] : [[name, value] as const]));
}

function judged({ judged }: Ending): Html | null {
  if (judged.length === 0) return null;
  const rows = judged.map(([name, value]) => html`<div><dt>${name}</dt><dd><code>${value}</code></dd></div>`);
  return html`<details class="judged"><summary>What was judged, and by what</summary><dl class="facts wide">${rows}</dl></details>`;
}

/** Formats text between backticks as code. */
function withCode(text: string): readonly Html[] {
  return text
    .split(/`([^`]+)`/u)
    .map((part, at) => (at % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));
}

/**
 * Returns the section with the payload, all of which is text of the model. Findings are shown where they were proven; those
 * that are not proven come last.
 */
export function payloadSection(written: JsonObject, evidence: Evidence | null, showing: Showing): Html {
  const { payload, byRow } = groundFindings(written, evidence);
  const values: (readonly [string, Json])[] = [];
  const tables: (readonly [string, readonly JsonObject[]])[] = [];
  for (const [name, value] of Object.entries(payload)) {
    const objects = isArray(value) ? value.filter(isObject) : [];
    if (isArray(value) && objects.length > 0 && objects.length === value.length) tables.push([name, objects]);
    else values.push([name, value]);
  }
  let left: number = LISTED.rows;
  const sections = tables.slice(0, LISTED.tables).map(([name, objects]) => {
    const rows = provenFirst(bySeverity(objects), byRow).slice(0, left);
    left -= rows.length;
    return table(name, rows, objects.length, showing);
  });
  return html`<section class="found" aria-labelledby="found">
<h2 id="found">What was found</h2>
${list(values.slice(0, LISTED.values), showing)}${andMore(values.length - LISTED.values, 'value')}
${sections}${andMore(tables.length - LISTED.tables, 'table')}
</section>`;
}

/** The first column of a list with findings that are not proven, whatever the rows call their own. */
const DOUBT = 'not proven';

function provenFirst(rows: readonly JsonObject[], byRow: EvidenceByRow): readonly JsonObject[] {
  const others = rows.filter((row) => isDoubted(byRow.get(row)));
  if (others.length === 0) return rows;
  const proven = rows.filter((row) => !isDoubted(byRow.get(row)));
  const mark = (row: JsonObject, word: string) => ({ ...{ [DOUBT]: '' }, ...row, [DOUBT]: word });
  return [...proven.map((row) => mark(row, '')), ...others.map((row) => mark(row, 'yes'))];
}

function list(values: readonly (readonly [string, Json])[], showing: Showing): Html | null {
  if (values.length === 0) return null;
  const rows = values.map(([name, value]) => {
    const text = isArray(value) && value.length > 0 ? value.map(plain).join('\n') : plain(value);
    return html`<div><dt>${showing.label(name)}</dt><dd>${shown(text, DISPLAY.message, showing)}</dd></div>`;
  });
  return html`<dl class="values">${rows}</dl>`;
}

function table(name: string, rows: readonly JsonObject[], count: number, showing: Showing): Html {
  const all = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const columns = all.slice(0, LISTED.columns);
  const head = columns.map((column) => html`<th scope="col">${showing.label(column)}</th>`);
  const body = rows.map((row) => html`<tr>${columns.map((column) => cell(row, column, showing))}</tr>`);
  return html`<h3>${showing.label(name)} (${counted(count, 'entry').replace('entrys', 'entries')})</h3>
<table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table>${andMore(count - rows.length, 'row')}${andMore(all.length - LISTED.columns, 'column')}`;
}

function cell(row: JsonObject, column: string, showing: Showing): Html {
  const value = Object.hasOwn(row, column) ? row[column] : undefined;
  const text = value === undefined ? '' : shown(plain(value), DISPLAY.cell, showing);
  const severity = column === 'severity' ? severityOf(value) : null;
  const content = severity === null ? text : html`<span class="tag ${severity}">${text}</span>`;
  // The name is shown next to the value if the window is too narrow for columns.
  return html`<td data-name="${showing.label(column)}">${content}</td>`;
}

function shown(text: string, max: number, showing: Showing): string {
  return truncate(showing.text(text).text, max);
}

/** Returns a string as it is, anything else as JSON. */
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

/** With more rows than this, rows are rendered individually as they come into view, not with their turn. */
const MANY = 40;

export function storySection(turns: readonly Turn[]): Html {
  return html`<section class="story" aria-labelledby="story"><h2 id="story" tabindex="-1">What happened</h2>
${turns.map(turnArticle)}<p id="nothing" hidden>Nothing matches.</p></section>`;
}

function turnArticle(turn: Turn, at: number): Html {
  const name = turn.turn === null ? 'Before the first turn' : `Turn ${turn.turn}`;
  const facts = turnFacts(turn);
  return html`<article class="turn${turn.parts.length > MANY ? ' many' : ''}" aria-labelledby="t${at}"><header><h3 id="t${at}"><a href="#t${at}">${name}</a></h3>${
    facts === '' ? null : html`<p class="dim">${facts}</p>`
  }</header>
${turn.parts.length === 0 ? html`<p class="dim">Nothing is recorded of it.</p>` : turn.parts.map(partOf)}</article>
`;
}

const STOPS: Readonly<Record<string, string>> = {
  length: 'cut off by the limit of output tokens',
  refusal: 'refused',
  pause: 'paused by the provider',
};

function turnFacts({ forced, usage, durationMs, costUsd, stopReason }: Turn): string {
  const facts = [
    ...(forced ? ['asked once more'] : []),
    ...(durationMs === null ? [] : [duration(durationMs)]),
    ...(usage === null
      ? []
      : [
          `${counted(tokensOf(usage), 'token')} (${grouped(usage.inputTokens)} in, ${grouped(usage.outputTokens)} out)`,
        ]),
    ...(costUsd === null ? [] : [`${dollars(costUsd)} so far`]),
    ...(stopReason !== null && Object.hasOwn(STOPS, stopReason) ? [STOPS[stopReason] ?? ''] : []),
  ];
  return facts.join(' · ');
}

function partOf(part: Part): Html {
  return part.kind === 'call' ? callRow(part) : wordsRow(part);
}

const SPEAKERS: Readonly<Record<Words['kind'], string>> = {
  prompt: 'The task',
  user: 'Told to the model',
  model: 'The model said',
  info: 'Notice',
  warning: 'Warning',
};

/** Short texts are shown; a long one is collapsed like a call. */
function wordsRow({ kind, text }: Words): Html {
  const speaker = html`<span class="tag ${kind}">${SPEAKERS[kind]}</span>`;
  const problem = kind === 'warning' ? html` data-problem` : null;
  if (kind === 'info' || kind === 'warning') {
    return html`<div class="row note" data-row${problem} tabindex="-1">${speaker} <span class="text">${text.text}</span>${rest(text)}</div>`;
  }
  const first = text.text.trimStart().split('\n', 1)[0] ?? '';
  const open = text.text.length <= 1_200 ? html` open` : null;
  return html`<details class="row words" data-row${open}><summary>${speaker} <span class="target preview">${first.slice(0, DISPLAY.phrase).toWellFormed()}</span></summary><div class="body">${block(text)}</div></details>`;
}

const DECISIONS: readonly string[] = [
  'ok',
  'error',
  'skipped',
  'accepted',
  'rejected',
] satisfies CallDecision[];

function callRow(call: Call): Html {
  const { done } = call;
  const known = DECISIONS.find((each) => each === done?.decision);
  const kind = known ?? 'open';
  const problem = kind === 'ok' || kind === 'accepted' || kind === 'skipped' ? null : html` data-problem`;
  const time = done === null || done.durationMs === null ? '' : duration(done.durationMs);
  return html`<details class="row call" data-row${problem}><summary><span class="tag ${kind}">${known ?? (done === null ? 'no result' : 'ended')}</span> <b class="name">${call.name}</b> <code class="target">${call.target}</code> <span class="dim time">${time}</span></summary>
<div class="body">${damage(call)}${call.arguments.length === 0 ? null : html`<h4>Arguments</h4>${call.arguments.map(argument)}`}
<h4>Result</h4>${done === null ? html`<p class="dim">The transcript has none.</p>` : block(done.result)}</div></details>`;
}

function damage({ damage }: Call): Html | null {
  if (damage === null) return null;
  const words = { truncated: 'cut off while the model wrote them', malformed: 'not delivered whole' }[damage];
  return html`<p class="dim">The arguments were ${words}.</p>`;
}

function argument({ name, text }: Argument): Html {
  return html`<div class="argument">${name === null ? null : html`<code class="key">${name}</code>`}${block(text)}</div>`;
}

function block(shown: Shown): Html {
  if (shown.text === '') return html`<p class="dim">(empty)</p>`;
  // The HTML parser drops a line feed right after <pre>, so it is not part of the text.
  return html`<pre>
${shown.text}</pre>${rest(shown)}`;
}

function rest({ missing }: Shown): Html | null {
  return missing === 0
    ? null
    : html`<p class="dim">… ${counted(missing, 'more character')}: see the transcript itself.</p>`;
}

/** Narrower columns would merge visually. */
const MAX_BARS = 180;
const WIDTH = 720;
const HEIGHT = 120;

interface Column {
  readonly first: number;
  readonly last: number;
  readonly fresh: number;
  readonly cached: number;
  readonly output: number;
  readonly costUsd: number | null;
}

/** Returns both charts; null when no turn has token counts. */
export function charts(turns: readonly Turn[]): Html | null {
  const known = turns.filter((turn) => turn.usage !== null);
  if (known.length === 0) return null;
  const columns = columnsOf(known);
  return html`<section class="charts" aria-labelledby="costs"><h2 id="costs">Tokens and cost</h2>
<div class="pair">${tokens(columns)}${cost(columns)}</div></section>`;
}

/** Returns one column per turn, or per group of turns (their mean) when there are very many. */
function columnsOf(turns: readonly Turn[]): readonly Column[] {
  const size = Math.ceil(turns.length / MAX_BARS);
  const columns: Column[] = [];
  let costUsd: number | null = null;
  for (let from = 0; from < turns.length; from += size) {
    const group = turns.slice(from, from + size);
    const mean = (pick: (turn: Turn) => number) =>
      Math.round(group.reduce((total, turn) => total + pick(turn), 0) / group.length);
    costUsd = group.findLast((turn) => turn.costUsd !== null)?.costUsd ?? costUsd;
    columns.push({
      first: group[0]?.turn ?? 0,
      last: group.at(-1)?.turn ?? 0,
      fresh: mean(({ usage }) => Math.max(0, (usage?.inputTokens ?? 0) - (usage?.cachedInputTokens ?? 0))),
      cached: mean(({ usage }) => usage?.cachedInputTokens ?? 0),
      output: mean(({ usage }) => usage?.outputTokens ?? 0),
      costUsd,
    });
  }
  return columns;
}

function tokens(columns: readonly Column[]): Html {
  const most = Math.max(1, ...columns.map(tokensIn));
  const step = WIDTH / columns.length;
  const bars = columns.map((column, at) => {
    let top = HEIGHT;
    const part = (kind: string, count: number) => {
      const height = (count / most) * HEIGHT;
      top -= height;
      return html`<rect class="${kind}" x="${px(at * step)}" y="${px(top)}" width="${px(step * 0.84)}" height="${px(height)}"/>`;
    };
    return html`<g><title>${nameOf(column)}: ${grouped(column.fresh)} in, ${grouped(column.cached)} from the cache, ${grouped(column.output)} out</title>${part('cached', column.cached)}${part('fresh', column.fresh)}${part('output', column.output)}</g>`;
  });
  const peak = columns.find((column) => tokensIn(column) === most) ?? null;
  const words =
    peak === null
      ? ''
      : `most: ${grouped(most)} in ${nameOf(peak).toLowerCase()}${peak.first === peak.last ? '' : ', on average'}`;
  return html`<figure><figcaption><b>Tokens by turn</b> <span class="dim">${words}</span></figcaption>
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="Tokens by turn, ${words}">${bars}</svg>
<p class="key"><span class="cached"></span> read from the cache <span class="fresh"></span> read <span class="output"></span> written</p></figure>`;
}

function cost(columns: readonly Column[]): Html | null {
  const last = columns.at(-1)?.costUsd ?? null;
  if (last === null) return null;
  const most = Math.max(last, ...columns.map((column) => column.costUsd ?? 0)) || 1;
  const step = WIDTH / columns.length;
  const points = columns.flatMap((column, at) => {
    const y = HEIGHT - ((column.costUsd ?? 0) / most) * (HEIGHT - 2);
    return [`${px(at * step)},${px(y)}`, `${px((at + 1) * step)},${px(y)}`];
  });
  const area = `0,${HEIGHT} ${points.join(' ')} ${WIDTH},${HEIGHT}`;
  return html`<figure><figcaption><b>Cost so far</b> <span class="dim">in the end: ${dollars(last)}</span></figcaption>
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="Cost so far, in the end ${dollars(last)}"><polygon class="area" points="${area}"/><polyline class="line" points="${points.join(' ')}"/></svg>
<p class="key">US dollars, turn by turn</p></figure>`;
}

function tokensIn({ fresh, cached, output }: Column): number {
  return fresh + cached + output;
}

function nameOf({ first, last }: Column): string {
  return first === last ? `Turn ${first}` : `Turns ${first} to ${last}`;
}

function px(value: number): string {
  return value.toFixed(2);
}
