/** The job summary, with the turns of the run as a table. */
import { statSync } from 'node:fs';
import { appendWithoutWaiting } from '../files/private-file.ts';
import { DISPLAY } from '../text/limits.ts';
import { counted, grouped } from '../text/messages.ts';
import { sanitize } from '../text/sanitize.ts';
import type { Secrets } from '../text/secrets.ts';
import { commandEnding, duration, tokensOf } from './format.ts';
import { code, details, inline } from './markdown.ts';
import { renderPage } from './page.ts';
import type { CallRef, Reporter, RunEvent } from './report-types.ts';
import { type ViewOptions, viewOf } from './view.ts';

/** Bytes of the step summary; the runner rejects a larger one entirely. */
const MAX_SUMMARY = 1024 ** 2;
/** Rows of each list that are not folded. */
const OPEN_ROWS = 50;
/** Turns that are listed. */
const MAX_TURNS = 100;

export interface SummaryOptions extends ViewOptions {
  /** The file named by GITHUB_STEP_SUMMARY. */
  readonly file: string;
}

/** Creates a reporter that appends the summary to the step's summary file. */
export function createSummary({ file, ...options }: SummaryOptions): Reporter {
  const timeline = createTimeline(options.secrets);
  return {
    name: 'job summary',
    event: timeline.event,
    async report(report) {
      const room = MAX_SUMMARY - (statSync(file, { throwIfNoEntry: false })?.size ?? 0);
      const limits = { bytes: room, open: OPEN_ROWS };
      const text = renderPage(viewOf(report, options), limits, timeline.render());
      if (Buffer.byteLength(text, 'utf8') > room)
        throw new Error(`${file} has room for ${counted(Math.max(0, room), 'byte')} only`);
      appendWithoutWaiting(file, text);
    },
  };
}

/** Creates a listener to the events of one run that renders its turns as a folded table, each command with its exit code. */
export function createTimeline(secrets: Secrets) {
  const turns: { turn: number; tokens: string; calls: string[]; durationMs: number }[] = [];
  const event = (event: RunEvent) => {
    if (event.type === 'turn_completed') {
      const { turn, durationMs, usage } = event;
      turns.push({ turn, tokens: usage === null ? '–' : grouped(tokensOf(usage)), calls: [], durationMs });
    }
    const last = turns.at(-1);
    if (last === undefined) return;
    if (event.type === 'tool_started') last.calls.push(`${callText(event.call, secrets)} · not finished`);
    if (event.type !== 'tool_finished') return;
    const { decision, durationMs } = event;
    // A call that was judged or skipped did not start.
    if (decision === 'ok' || decision === 'error') last.calls.pop();
    last.durationMs += durationMs;
    const ending = commandEnding(event) ?? (decision === 'ok' ? '' : decision);
    const took = durationMs < 1_000 ? '' : duration(durationMs);
    last.calls.push([callText(event.call, secrets), ending, took].filter((part) => part !== '').join(' · '));
  };
  const render = (): string => {
    if (turns.length === 0) return '';
    const rows = turns.slice(0, MAX_TURNS).map(({ turn, calls, durationMs, tokens }) => {
      return `| ${turn} | ${calls.join('<br>') || 'no tool call'} | ${duration(durationMs)} | ${tokens} |\n`;
    });
    const left = turns.length - MAX_TURNS;
    const more = left > 0 ? `\n… and ${counted(left, 'more turn')}.\n` : '';
    const head = '| Turn | What happened | Time | Tokens |\n| ---: | :--- | ---: | ---: |\n';
    return details(`Timeline: ${counted(turns.length, 'turn')}`, `${head}${rows.join('')}${more}\n`);
  };
  return { event, render };
}

function callText({ name, target }: CallRef, secrets: Secrets): string {
  const line = sanitize(target, secrets).trimStart().split('\n', 1)[0] ?? '';
  return `**${inline(sanitize(name, secrets), DISPLAY.label)}** ${code(line, DISPLAY.excerpt)}`.trimEnd();
}
