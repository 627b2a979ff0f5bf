/** Progress on stderr: a line for each turn, and at the end what the run used and, if it failed, one sentence. */
import { DISPLAY } from '../text/limits.ts';
import { breakCommands, sanitize, singleLine } from '../text/sanitize.ts';
import type { Secrets } from '../text/secrets.ts';
import { duration, spent } from './format.ts';
import { createLiveLog, type RunLog } from './live-log.ts';
import type { Report, Reporter, RunEvent } from './report-types.ts';

export interface ProgressOptions {
  readonly write: (text: string) => void;
  /** Whether to print only the sentence of a failure. */
  readonly quiet: boolean;
  /** `full` is the log of the action, with the model's prose, prompts and tool output. */
  readonly level: 'summary' | 'full';
  readonly secrets: Secrets;
}

/** Creates the progress of one run. */
export function createProgress({ write, quiet, level, secrets }: ProgressOptions) {
  const toText = (text: string, maxRead?: number) => breakCommands(sanitize(text, secrets, maxRead));
  const excerpt = (text: string, max: number) => singleLine(toText(text), max);
  const line = (text: string) => write(`${text.trimEnd()}\n`);
  const log: RunLog = {
    excerpt,
    info(text, indent = 0) {
      if (!quiet) line(`${'  '.repeat(indent)}${excerpt(text, DISPLAY.line)}`);
    },
    warning(text) {
      // Keep the line breaks of a stack trace.
      for (const each of quiet ? [] : toText(text).trim().split('\n'))
        line(`warning: ${singleLine(each, DISPLAY.line)}`);
    },
    error: (text) => line(`structured-agent: ${excerpt(text, DISPLAY.message)}`),
    group(title, body) {
      log.info(title);
      for (const each of toText(body, DISPLAY.block).trimEnd().split('\n')) log.info(each, 1);
    },
  };
  const view = { secrets, name: null, serverUrl: null, help: 'docs/troubleshooting.md' };
  const live = createLiveLog({ ...view, log, level });
  const listen = level === 'full' ? live.event : listTurns(log);
  const reporter: Reporter = { name: 'progress', event: (event) => listen?.(event) };
  return {
    reporter,
    /** Prints a warning that belongs to no event. */
    warn: (text: string) => log.warning(text),
    /** Prints the last lines, for the verdict that the exit code reflects. */
    conclude: async (report: Report) => live.report?.(report, new AbortController().signal),
  };
}

/** Returns a listener that prints a line when a turn is over: `turn 3 · shell npm test · 12 s · 6,420 tokens · $0.0123`. */
function listTurns(log: RunLog): (event: RunEvent) => void {
  let calls: string[] = [];
  let pending = 0;
  let took = 0;
  return (event) => {
    if (event.type === 'notice') log[event.level](event.text);
    if (event.type === 'turn_completed') {
      calls = [];
      pending = event.message.toolCalls.length;
      took = event.durationMs;
    }
    if (event.type === 'tool_finished') {
      const { name, target } = event.call;
      const call = `${log.excerpt(name, DISPLAY.label)} ${log.excerpt(target, DISPLAY.label)}`.trim();
      calls.push(event.decision === 'ok' ? call : `${call}: ${event.decision}`);
      pending -= 1;
      took += event.durationMs;
    }
    if ((event.type !== 'turn_completed' && event.type !== 'tool_finished') || pending > 0) return;
    const what = calls.length === 0 ? 'no tool call' : calls.join(', ');
    log.info([`turn ${event.turn}`, what, duration(took), spent(event.totals)].join(' · '));
  };
}
