/** The live log: a line when each turn and tool call starts and ends, with the verdict as the last lines. */

import { DISPLAY } from '../text/limits.ts';
import { counted } from '../text/messages.ts';
import type { Conclusion } from '../types.ts';
import { commandEnding, duration, spent } from './format.ts';
import type { Log } from './log.ts';
import type { CallDecision, CallRef, Report, Reporter, RunEvent, Totals, View } from './report-types.ts';
import { type ViewOptions, viewOf } from './view.ts';

const MARKS: Readonly<Record<CallDecision, string>> = {
  ok: '✓',
  error: '✗',
  skipped: '–',
  accepted: '✓',
  rejected: '✗',
};
const RULE = '─'.repeat(60);
export type RunLog = Pick<Log, 'excerpt' | 'info' | 'warning' | 'error' | 'group'>;

export interface LiveLogOptions extends ViewOptions {
  readonly log: RunLog;
  /** Level of detail: `full` adds the model's prose, prompts and tool output, in folded groups. */
  readonly level: 'summary' | 'full';
}

interface OpenTurn {
  readonly turn: number;
  /** Calls that have no result yet. */
  pending: number;
  durationMs: number;
}

/**
 * Writes a run to the log as it progresses. The model's prose and tool output appear only at level `full`, folded. The
 * payload never appears: it belongs in the outputs, the summary and the envelope.
 */
export function createLiveLog({ log, level, ...options }: LiveLogOptions): Reporter {
  let open: OpenTurn | null = null;

  const listen = (event: RunEvent): void => {
    switch (event.type) {
      case 'run_started':
        log.info(`structured-agent · ${event.provider} · ${event.model}`);
        if (level === 'full') log.group('prompt', event.prompt);
        return;
      case 'turn_started':
        log.info(`turn ${event.turn}${event.forced ? ' · asked once more, for structured_output only' : ''}`);
        return;
      case 'turn_completed': {
        const calls = event.message.toolCalls.length;
        open = { turn: event.turn, pending: calls, durationMs: event.durationMs };
        if (calls > 0) {
          const took = `model answered in ${duration(event.durationMs)}`;
          log.info(`${took} · ${counted(calls, 'call')}${cut(event)} · ${spent(event.totals)}`, 1);
        }
        if (level === 'full' && event.message.text.trim() !== '')
          log.group('what the model said', event.message.text);
        if (calls === 0) endTurn(open, event.totals, ` · no tool call${cut(event)}`);
        return;
      }
      case 'tool_started':
        log.info(`▸ ${named(event.call, DISPLAY.excerpt, log)}`, 1);
        return;
      case 'tool_finished':
        finishCall(event);
        return;
      case 'user_message':
        if (level === 'full') log.group('what the model was told', event.text);
        return;
      case 'notice':
        if (event.level === 'warning') log.warning(event.text, { title: 'structured-agent' });
        else log.info(event.text);
    }
  };

  const endTurn = (turn: OpenTurn, totals: Totals, detail: string) => {
    log.info(`turn ${turn.turn} done in ${duration(turn.durationMs)}${detail} · ${spent(totals)}`);
  };

  const finishCall = (event: Extract<RunEvent, { type: 'tool_finished' }>) => {
    const { call, decision, result, totals } = event;
    const ran = decision === 'ok' || decision === 'error';
    // Shorter than at the start of the call, which was logged in full.
    const name = named(call, DISPLAY.label, log);
    const took = ran ? `${duration(event.durationMs)} · ${spent(totals)}` : decision;
    const ended = commandEnding(event);
    // A failing command is not a failed tool call, but it should not get a check mark either.
    const mark = ended === null || ended === 'exit code 0' ? MARKS[decision] : '•';
    log.info([`${mark} ${name}`, ...(ended === null ? [] : [ended]), took, ...why(event)].join(' · '), 1);
    // A one-line error is already part of the line above.
    const isShown = decision === 'error' && !result.content.trim().includes('\n');
    if (ran && level === 'full' && !isShown)
      log.group(`output of ${log.excerpt(call.name, DISPLAY.label)}`, result.content);
    if (open === null) return;
    open.durationMs += event.durationMs;
    open.pending -= 1;
    if (open.pending === 0) endTurn(open, totals, '');
  };

  /** A tool result is shown only if it explains a failure: our own text, short, on one line. */
  const why = ({ decision, result }: Extract<RunEvent, { type: 'tool_finished' }>): readonly string[] => {
    if (decision !== 'error' && decision !== 'rejected') return [];
    const first = result.content.trimStart().split('\n', 1)[0] ?? '';
    return [log.excerpt(first.replace(/^Rejected: /, ''), DISPLAY.phrase)];
  };

  return {
    name: 'log',
    event: listen,
    report: async (report) => writeVerdict(report, viewOf(report, options), log),
  };
}

/** The error sentence is an annotation, which also prints it to the log. */
function writeVerdict(report: Report, view: View, log: RunLog): void {
  const { verdict } = report;
  const name = view.name === null ? '' : `${view.name}: `;
  log.info(RULE);
  log.info(`${VERDICT_MARKS[view.conclusion]} ${name}${view.outcome}`);
  const title = `structured-agent: ${verdict.reason}`;
  if (verdict.error !== null && verdict.conclusion === 'skipped') log.warning(verdict.error, { title });
  else if (verdict.error !== null) log.error(verdict.error, { title });
  if (view.help !== null) log.info(`what to do: ${view.help}`, 1);
  // The annotation has these already.
  const known =
    verdict.reason === 'gate_not_met' ? [] : view.reasons.filter((text) => text !== verdict.error);
  for (const text of [...known, ...view.notes]) log.info(log.excerpt(text, DISPLAY.reason), 1);
  for (const text of view.warnings)
    log.info(`weaker than it could be: ${log.excerpt(text, DISPLAY.reason)}`, 1);
  log.info(view.facts.join(' · '), 1);
  log.info(view.costs.join(' · '), 1);
  if (report.results !== null) log.info(`results: ${report.results}`, 1);
  if (report.patchFile !== null) log.info(`patch: ${report.patchFile}`, 1);
}

const VERDICT_MARKS: Readonly<Record<Conclusion, string>> = {
  success: '✓',
  failure: '✗',
  inconclusive: '?',
  skipped: '–',
};

function named(call: CallRef, max: number, log: RunLog): string {
  const target = log.excerpt(call.target, max);
  const name = log.excerpt(call.name, DISPLAY.label);
  return target === '' ? name : `${name} ${target}`;
}

/** Describes an unusual stop reason; empty for a normal one. */
function cut(event: Extract<RunEvent, { type: 'turn_completed' }>): string {
  switch (event.stopReason) {
    case 'length':
      return ' · cut off by the output-token limit';
    case 'pause':
      return ' · paused by the provider';
    case 'refusal':
      return ' · refused';
    case 'end':
    case 'tool_calls':
      return '';
  }
}
