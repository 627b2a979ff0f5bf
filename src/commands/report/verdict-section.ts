/** The top of the page: how the run ended, and what it took. */

import { dollars, duration } from '../../reporters/format.ts';
import { counted, grouped } from '../../text/messages.ts';
import type { Ending } from './ending.ts';
import { type Html, html } from './html.ts';

const MARKS = { success: '✓', failure: '✕', inconclusive: '!', skipped: '–' } as const;

/** The verdict in a few words, for the title. */
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

/** The section with the page's first heading. */
export function verdictSection(ending: Ending): Html {
  const kind = ending.conclusion ?? 'unknown';
  return html`<section class="verdict ${kind}" aria-labelledby="verdict">
<h1 id="verdict"><span class="mark" aria-hidden="true">${ending.conclusion === null ? '?' : MARKS[ending.conclusion]}</span> ${titleOf(ending)}</h1>
${ending.error === '' ? null : html`<p class="error">${ending.error}</p>`}${faults(ending)}
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

/** A text with what stands between backticks as code. */
function withCode(text: string): readonly Html[] {
  return text
    .split(/`([^`]+)`/u)
    .map((part, at) => (at % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));
}
