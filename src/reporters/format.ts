/** Human-readable numbers and names, the same in every reporter. */
import { counted } from '../text/messages.ts';
import type { Usage } from '../types.ts';
import type { CallEvent, Report } from './report-types.ts';

/** Formats a duration in milliseconds as `40 ms`, `1.2 s`, `42 s` or `3 min 05 s`. */
export function duration(ms: number): string {
  if (ms < 99.5) return `${Math.round(Math.max(0, ms))} ms`;
  const seconds = ms / 1000;
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  return `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, '0')} s`;
}

/** Formats US dollars, with four decimals below one dollar and two from there on. */
export function dollars(usd: number): string {
  return `$${usd.toFixed(usd < 1 ? 4 : 2)}`;
}

export function tokensOf(usage: Usage): number {
  return usage.inputTokens + usage.outputTokens;
}

/** Formats what a run cost: `$0.0042`, and by which other name of the price list. */
export function costText(usd: number, pricedAs: string | null | undefined): string {
  return pricedAs == null ? dollars(usd) : `${dollars(usd)} (priced as ${pricedAs})`;
}

/** Formats what a run has used so far: `3,210 tokens · $0.0042`, without the cost if the price is unknown. */
export function spent({ usage, costUsd, pricedAs }: Pick<Report, 'usage' | 'costUsd' | 'pricedAs'>): string {
  const tokens = counted(tokensOf(usage), 'token');
  return costUsd === null ? tokens : `${tokens} · ${costText(costUsd, pricedAs)}`;
}

/** Matches how a command ended: the last line of the shell tool's result, which the tool itself writes. */
const COMMAND_ENDING = /^\[(exit code \d+|killed by \w+|timed out after \d+ s)(?!\w)[^\]\n]*\]$/;

/** Returns how a command ended, such as `exit code 1`; null for any other call. A call that ran may still have failed. */
export function commandEnding({ call, decision, result }: CallEvent): string | null {
  if (call.name !== 'shell' || decision !== 'ok') return null;
  return COMMAND_ENDING.exec(result.content.slice(result.content.lastIndexOf('\n') + 1))?.[1] ?? null;
}
