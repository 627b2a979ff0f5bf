/** Tokens of each turn and the cost so far, as drawings that need no style or script of their own. */

import { dollars } from '../../reporters/format.ts';
import { grouped } from '../../text/messages.ts';
import { type Html, html } from './html.ts';
import type { Turn } from './story.ts';

/** A narrower column cannot be told from the next. */
const MAX_COLUMNS = 180;
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

/** Both drawings; nothing where no turn tells its tokens. */
export function charts(turns: readonly Turn[]): Html | null {
  const told = turns.filter((turn) => turn.usage !== null);
  if (told.length === 0) return null;
  const columns = columnsOf(told);
  return html`<section class="charts" aria-labelledby="costs"><h2 id="costs">Tokens and cost</h2>
<div class="pair">${tokens(columns)}${cost(columns)}</div></section>`;
}

/** One column for a turn, or for the mean of several in a row where there are very many. */
function columnsOf(turns: readonly Turn[]): readonly Column[] {
  const size = Math.ceil(turns.length / MAX_COLUMNS);
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
