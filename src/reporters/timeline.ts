/** The turns of a run as a table, each command with its exit code. */
import { DISPLAY, LISTED } from '../text/limits.ts';
import { counted, grouped } from '../text/messages.ts';
import { sanitize } from '../text/sanitize.ts';
import type { Secrets } from '../text/secrets.ts';
import { commandEnding, duration, tokensOf } from './format.ts';
import { code, inline } from './markdown.ts';
import type { CallRef, RunEvent } from './report-types.ts';
import { details } from './tables.ts';

/** Turns that are listed. */
const MAX_TURNS = 100;

interface Turn {
  readonly turn: number;
  readonly tokens: string;
  readonly calls: string[];
  durationMs: number;
}

export interface Timeline {
  readonly event: (event: RunEvent) => void;
  /** Renders the turns so far as a folded table; empty if there are none. */
  readonly render: () => string;
}

/** Creates the timeline of one run. */
export function createTimeline(secrets: Secrets): Timeline {
  const turns: Turn[] = [];
  const event = (event: RunEvent) => {
    if (event.type === 'turn_completed') {
      const { turn, durationMs, usage } = event;
      turns.push({ turn, tokens: usage === null ? '–' : grouped(tokensOf(usage)), calls: [], durationMs });
    }
    const last = turns.at(-1);
    if (last === undefined) return;
    if (event.type === 'tool_started') last.calls.push(`${callText(event.call, secrets)} · not finished`);
    if (event.type !== 'tool_finished') return;
    // A call that was judged or skipped did not start.
    if (event.decision === 'ok' || event.decision === 'error') last.calls.pop();
    last.durationMs += event.durationMs;
    last.calls.push([callText(event.call, secrets), ...endingOf(event)].join(' · '));
  };
  const render = () => {
    if (turns.length === 0) return '';
    const rows = turns.slice(0, MAX_TURNS).map(({ turn, calls, durationMs, tokens }) => {
      const shown = calls.length > LISTED.many ? [...calls.slice(0, LISTED.many), '…'] : calls;
      return `| ${turn} | ${shown.join('<br>') || 'no tool call'} | ${duration(durationMs)} | ${tokens} |\n`;
    });
    const more =
      turns.length > MAX_TURNS ? `\n… and ${counted(turns.length - MAX_TURNS, 'more turn')}.\n` : '';
    const head = '| Turn | What happened | Time | Tokens |\n| ---: | :--- | ---: | ---: |\n';
    return details(`Timeline: ${counted(turns.length, 'turn')}`, `${head}${rows.join('')}${more}\n`);
  };
  return { event, render };
}

function callText({ name, target }: CallRef, secrets: Secrets): string {
  const line = sanitize(target, secrets).trimStart().split('\n', 1)[0] ?? '';
  return `**${inline(sanitize(name, secrets), DISPLAY.label)}** ${code(line, DISPLAY.excerpt)}`.trimEnd();
}

function endingOf(event: Extract<RunEvent, { type: 'tool_finished' }>): readonly string[] {
  const { decision, durationMs } = event;
  const ending = commandEnding(event) ?? (decision === 'ok' ? null : decision);
  return [...(ending === null ? [] : [ending]), ...(durationMs < 1_000 ? [] : [duration(durationMs)])];
}
