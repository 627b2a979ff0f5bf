/** The turns, one after another: what was said is there to read, calls are folded. */

import { dollars, duration, tokensOf } from '../../reporters/format.ts';
import type { CallDecision } from '../../reporters/report-types.ts';
import { counted, grouped } from '../../text/messages.ts';
import type { Argument } from './arguments.ts';
import { type Html, html } from './html.ts';
import type { Call, Part, Turn, Words } from './story.ts';
import type { Shown } from './visible.ts';

/** More rows than that are drawn one by one as they come into sight, not with their turn. */
const MANY = 40;

/** The list of turns. */
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

/** Short words stand open; a long text is folded like a call. */
function wordsRow({ kind, text }: Words): Html {
  const speaker = html`<span class="tag ${kind}">${SPEAKERS[kind]}</span>`;
  const problem = kind === 'warning' ? html` data-problem` : null;
  if (kind === 'info' || kind === 'warning') {
    return html`<div class="row note" data-row${problem} tabindex="-1">${speaker} <span class="text">${text.text}</span>${rest(text)}</div>`;
  }
  const first = text.text.trimStart().split('\n', 1)[0] ?? '';
  const open = text.text.length <= 1_200 ? html` open` : null;
  return html`<details class="row words" data-row${open}><summary>${speaker} <span class="target preview">${first.slice(0, 200).toWellFormed()}</span></summary><div class="body">${block(text)}</div></details>`;
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
  // A line feed right after <pre> is the parser's, not the text's.
  return html`<pre>
${shown.text}</pre>${rest(shown)}`;
}

function rest({ missing }: Shown): Html | null {
  return missing === 0
    ? null
    : html`<p class="dim">… ${counted(missing, 'more character')}: see the transcript itself.</p>`;
}
