/** What people are told where the payload of an earlier run stands for this one. */
import type { Report } from './report-types.ts';
import { runPage } from './run-link.ts';
import type { Say } from './say.ts';

type Judged = Pick<Report, 'payload' | 'reuse'>;

/** Whether the payload is an earlier run's, so that no model was asked. */
export function wasReused({ payload, reuse }: Judged): boolean {
  return payload !== null && (reuse?.from ?? null) !== null;
}

/** A clause for the log; null where nothing was reused. The number is another run's word. */
export function reusedWords(report: Judged): string | null {
  const from = report.reuse?.from ?? null;
  if (!wasReused(report) || from === null) return null;
  return `reused: the verdict of run ${from.run_id}, no model was asked`;
}

/** A paragraph for summary and comment, with the way to the run that a model judged; empty where nothing was reused. */
export function reusedLine(
  report: Judged & Pick<Report, 'subject'>,
  serverUrl: string | null,
  say: Say,
): string {
  const from = report.reuse?.from ?? null;
  if (!wasReused(report) || from === null) return '';
  const { subject } = report;
  const page = runPage(subject === null ? null : { ...subject, ...from }, serverUrl);
  const run = `run ${say.inline(from.run_id, 30)}`;
  return `♻️ **Reused:** this is the verdict of ${page === null ? run : `[${run}](${page})`}. No model was asked: files, judge and model are the same as there.\n\n`;
}
