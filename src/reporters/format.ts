/** Numbers and names as people read them, the same in every reporter. */

import { counted } from '../text/messages.ts';
import type { Usage } from '../types.ts';
import type { Report, Totals } from './report-types.ts';

/** A duration in milliseconds as `40 ms`, `1.2 s`, `42 s` or `3 min 05 s`. */
export function duration(ms: number): string {
  if (ms < 99.5) return `${Math.round(Math.max(0, ms))} ms`;
  const seconds = ms / 1000;
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  return `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, '0')} s`;
}

/** US dollars, with four digits below one dollar and two above. */
export function dollars(usd: number): string {
  return `$${usd.toFixed(usd < 1 ? 4 : 2)}`;
}

/** Input and output tokens together. */
export function tokensOf(usage: Usage): number {
  return usage.inputTokens + usage.outputTokens;
}

/** What a run has used so far: `3,210 tokens · $0.0042`, without money where the price is unknown. */
export function spent(totals: Pick<Totals, 'usage' | 'costUsd'>): string {
  const tokens = counted(tokensOf(totals.usage), 'token');
  return totals.costUsd === null ? tokens : `${tokens} · ${dollars(totals.costUsd)}`;
}

/** How many files the agent changed, and where: its copy is not the checkout. null where it changed none, or that is not known. */
export function changedFilesText({
  changedFiles,
  workspaceAccess,
  isolation,
}: Pick<Report, 'changedFiles' | 'workspaceAccess' | 'isolation'>): string | null {
  if (changedFiles === null || changedFiles === 0) return null;
  const what = `the agent changed ${counted(changedFiles, 'file')}`;
  if (workspaceAccess === 'in-place') return `${what} in your checkout`;
  if (workspaceAccess !== 'scratch') return what;
  // Without a sandbox nothing keeps the shell away from the checkout.
  return isolation === 'none' ? `${what} in its copy` : `${what} in its copy; your checkout is as it was`;
}
