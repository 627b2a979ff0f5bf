/** The live log: what happens in each turn, and the verdict as the last lines. */
import { DISPLAY } from '../text/limits.ts';
import { counted } from '../text/messages.ts';
import type { StopReason } from '../types.ts';
import { commandEnding, duration, spent } from './format.ts';
import type { Log } from './log.ts';
import type { CallDecision, CallEvent, CallRef, Report, Reporter, RunEvent, View } from './report-types.ts';
import { type ViewOptions, viewOf } from './view.ts';

const MARKS: Readonly<Record<CallDecision, string>> = {
  ok: '✓',
  error: '✗',
  skipped: '–',
  accepted: '✓',
  rejected: '✗',
};
const RULE = '─'.repeat(60);

export interface LiveLogOptions extends ViewOptions {
  readonly log: Log;
  /** `turns` is a line for each turn; `summary` has one for each call; `full` adds prompts, prose and tool output, folded. */
  readonly level: 'turns' | 'summary' | 'full';
}

/**
 * Writes a run to the log as it progresses. The model's prose and tool output appear only at level `full`. The payload
 * never appears: it belongs in the outputs, the summary and the envelope.
 */
export function createLiveLog({ log, level, ...options }: LiveLogOptions): Reporter {
  const group = (title: string, text: string) => {
    if (level === 'full' && text.trim() !== '') log.group(title, text);
  };
  const listTurn = level === 'turns' ? createTurnLine(log) : () => undefined;
  const listen = (event: RunEvent): void => {
    if (event.type === 'notice') {
      if (event.level === 'warning') log.warning(event.text, { title: 'structured-agent' });
      else log.info(event.text);
    } else if (level === 'turns') listTurn(event);
    else showEvent(event);
  };
  const showEvent = (event: RunEvent): void => {
    switch (event.type) {
      case 'run_started':
        log.info(`structured-agent · ${event.provider} · ${event.model}`);
        group('prompt', event.prompt);
        return;
      case 'turn_started':
        log.info(`turn ${event.turn}${event.forced ? ' · asked once more, for structured_output only' : ''}`);
        return;
      case 'turn_completed': {
        const calls = event.message.toolCalls.length;
        const what = calls === 0 ? 'no tool call' : counted(calls, 'call');
        const took = `model answered in ${duration(event.durationMs)}`;
        log.info(`${took} · ${what}${CUTS[event.stopReason]} · ${spent(event.totals)}`, 1);
        group('what the model said', event.message.text);
        return;
      }
      case 'tool_started':
        log.info(`▸ ${named(event.call, DISPLAY.excerpt, log)}`, 1);
        return;
      case 'tool_finished': {
        log.info(finishedLine(event, log), 1);
        const { call, decision, result } = event;
        // A one-line error is already part of the line above.
        const isShown = decision === 'error' && !result.content.trim().includes('\n');
        if (hasRun(decision) && !isShown)
          group(`output of ${log.excerpt(call.name, DISPLAY.label)}`, result.content);
        return;
      }
      case 'user_message':
        group('what was sent to the model', event.text);
    }
  };
  return {
    name: 'log',
    event: listen,
    report: async (report) => writeVerdict(report, viewOf(report, options), log),
  };
}

/** What is unusual about the end of an answer. */
const CUTS: Readonly<Record<StopReason, string>> = {
  length: ' · cut off by the output-token limit',
  pause: ' · paused by the provider',
  refusal: ' · refused',
  end: '',
  tool_calls: '',
};

function hasRun(decision: CallDecision): boolean {
  return decision === 'ok' || decision === 'error';
}

function finishedLine(event: CallEvent, log: Log): string {
  const { call, decision, result } = event;
  const ended = commandEnding(event);
  // A failing command is not a failed tool call, but it should not get a check mark either.
  const mark = ended === null || ended === 'exit code 0' ? MARKS[decision] : '•';
  // A tool result is shown only if it explains a failure: our own text, short, on one line.
  const isFailed = decision === 'error' || decision === 'rejected';
  const first = result.content.trimStart().split('\n', 1)[0] ?? '';
  return [
    // Shorter than at the start of the call, which was logged in full.
    `${mark} ${named(call, DISPLAY.label, log)}`,
    ...(ended === null ? [] : [ended]),
    hasRun(decision) ? duration(event.durationMs) : decision,
    ...(isFailed ? [log.excerpt(first.replace(/^Rejected: /, ''), DISPLAY.phrase)] : []),
  ].join(' · ');
}

function named(call: CallRef, max: number, log: Log): string {
  return `${log.excerpt(call.name, DISPLAY.label)} ${log.excerpt(call.target, max)}`.trim();
}

/** Returns a listener that writes a line when a turn is over: `turn 3 · shell npm test · 12 s · 6,420 tokens · $0.0123`. */
function createTurnLine(log: Log): (event: RunEvent) => void {
  let calls: string[] = [];
  let pending = 0;
  let took = 0;
  return (event) => {
    if (event.type === 'turn_completed') {
      calls = [];
      pending = event.message.toolCalls.length;
      took = event.durationMs;
    } else if (event.type === 'tool_finished') {
      const call = named(event.call, DISPLAY.label, log);
      calls.push(event.decision === 'ok' ? call : `${call}: ${event.decision}`);
      pending -= 1;
      took += event.durationMs;
    } else return;
    if (pending > 0) return;
    const what = calls.length === 0 ? 'no tool call' : calls.join(', ');
    log.info([`turn ${event.turn}`, what, duration(took), spent(event.totals)].join(' · '));
  };
}

function writeVerdict({ verdict, results, patchFile }: Report, view: View, log: Log): void {
  const name = view.name === null ? '' : `${view.name}: `;
  log.info(RULE);
  log.info(`${view.mark} ${name}${view.outcome}`);
  // An annotation is printed to the log as well.
  const annotate = verdict.conclusion === 'skipped' ? log.warning : log.error;
  if (verdict.error !== null) annotate(verdict.error, { title: `structured-agent: ${verdict.reason}` });
  if (view.help !== null) log.info(`what to do: ${view.help}`, 1);
  for (const text of view.notes) log.info(log.excerpt(text, DISPLAY.reason), 1);
  for (const text of view.warnings)
    log.info(`weaker than it could be: ${log.excerpt(text, DISPLAY.reason)}`, 1);
  log.info(view.facts.join(' · '), 1);
  log.info(view.costs.join(' · '), 1);
  if (results !== null) log.info(`results: ${results}`, 1);
  if (patchFile !== null) log.info(`patch: ${patchFile}`, 1);
}
