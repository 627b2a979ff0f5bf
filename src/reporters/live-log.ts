/** The live log: a line when each turn and tool call starts and ends, with the verdict as the last lines. */

import { DISPLAY } from '../text/limits.ts';
import { counted } from '../text/messages.ts';
import type { Repair } from '../types.ts';
import { changedFilesText, duration, spent, tokensOf } from './format.ts';
import { groundingSentence } from './grounding.ts';
import type { Log } from './log.ts';
import type { CallDecision, CallRef, Report, Reporter, RunEvent, Totals } from './report-types.ts';
import { coverageSentence, evidenceWarnings, policyChangeSentence } from './verdict-text.ts';

const MARKS: Readonly<Record<CallDecision, string>> = {
  ok: '✓',
  error: '✗',
  skipped: '–',
  accepted: '✓',
  rejected: '✗',
};
const RULE = '─'.repeat(60);
/** Matches how a command ended: the last line of the shell tool's result, which the tool itself writes. */
const COMMAND_ENDING = /^\[(exit code \d+|killed by \w+|timed out after \d+ s)(?!\w)[^\]\n]*\]$/;

export type RunLog = Pick<Log, 'excerpt' | 'info' | 'warning' | 'error' | 'group'>;

export interface LiveLogOptions {
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
export function createLiveLog({ log, level }: LiveLogOptions): Reporter {
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
    const ended = ending(event);
    // A failing command is not a failed tool call, but it should not get a check mark either.
    const mark = ended.some((words) => words !== 'exit code 0') ? '•' : MARKS[decision];
    log.info([`${mark} ${name}`, ...ended, took, ...why(event)].join(' · '), 1);
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

  return { name: 'log', event: listen, report: async (report) => writeVerdict(report, log) };
}

function writeVerdict(report: Report, log: RunLog): void {
  const { verdict, view } = report;
  const hidesGate = view?.hidesGate === true;
  const parts: string[] = [verdict.conclusion.toUpperCase(), verdict.reason];
  if (report.gate !== null && verdict.reason !== 'gate_not_met' && !hidesGate)
    parts.push(gateWords[report.gate.status]);
  if (report.replayed === true) parts.push('replayed: no model judged this');
  if (view?.logClause !== undefined) parts.push(log.excerpt(view.logClause, DISPLAY.phrase));
  for (const change of report.policyChanges) {
    const text = `This pull request changes what judges it: ${policyChangeSentence(change, change.path)}`;
    log.warning(text, { title: 'structured-agent' });
  }
  log.info(RULE);
  log.info(`${verdictMark(report)} ${parts.join(' · ')} · exit code ${verdict.exitCode}`);
  // The annotation also prints the sentence to the log, so do not print it twice.
  const title = `structured-agent: ${verdict.reason}`;
  if (verdict.error !== null) {
    if (verdict.conclusion === 'skipped') log.warning(verdict.error, { title });
    else log.error(verdict.error, { title });
  }
  // If the run ended because the gate was not met, the sentence above already says why.
  if (verdict.reason !== 'gate_not_met')
    for (const { message } of hidesGate ? [] : (report.gate?.issues ?? []))
      log.info(`gate: ${log.excerpt(message, DISPLAY.reason)}`, 1);
  if (report.repaired !== null)
    log.info(`the payload was repaired before it was accepted: ${repairWords(report.repaired)}`, 1);
  const shown = coverageSentence(report.evidence?.coverage, {
    path: (path) => JSON.stringify(log.excerpt(path, DISPLAY.path)),
    sentence: (text) => log.excerpt(text, DISPLAY.reason),
  });
  if (shown !== null) log.info(shown, 1);
  const found = groundingSentence(report.evidence);
  if (found !== null) log.info(found, 1);
  for (const text of evidenceWarnings(report))
    log.info(`weaker than it could be: ${log.excerpt(text, DISPLAY.reason)}`, 1);
  for (const line of view?.logLines?.(report, log.excerpt) ?? [costLine(report)]) log.info(line, 1);
  const changed = changedFilesText(report);
  if (changed !== null) log.info(changed, 1);
  if (report.results !== null) log.info(`results: ${report.results}`, 1);
  if (report.patchFile !== null) log.info(`patch: ${report.patchFile}`, 1);
}

/** Names no place: the keys of a payload are text of the model. */
function repairWords(repair: Repair): string {
  return repair.kind === 'unwrapped'
    ? `taken out of a wrapper named ${repair.key}`
    : `${counted(repair.paths.length, 'JSON string')} inside it parsed`;
}

/** Formats what a run used: `claude-x · 3 turns · 6,420 tokens · $0.0123 · 12 s · sandbox bwrap`. */
function costLine(report: Report): string {
  if (report.view?.isWithoutModel === true) return duration(report.durationMs);
  const parts = [
    ...(report.model === '' ? [] : [report.model]),
    counted(report.turnCount, 'turn'),
    ...(tokensOf(report.usage) === 0 ? [] : [spent(report)]),
    duration(report.durationMs),
    ...(report.turnCount === 0
      ? []
      : [report.isolation === 'none' ? 'no sandbox' : `sandbox ${report.isolation}`]),
  ];
  return parts.join(' · ');
}

const gateWords = { met: 'gate met', not_met: 'gate not met', none: 'no gate' } as const;

function verdictMark(report: Report): string {
  switch (report.verdict.conclusion) {
    case 'success':
      return '✓';
    case 'failure':
      return '✗';
    case 'inconclusive':
      return '?';
    case 'skipped':
      return '–';
  }
}

function named(call: CallRef, max: number, log: RunLog): string {
  const target = log.excerpt(call.target, max);
  const name = log.excerpt(call.name, DISPLAY.label);
  return target === '' ? name : `${name} ${target}`;
}

/** Returns how a command ended, for a shell call: a call that ran may still have failed. */
function ending({ call, decision, result }: Extract<RunEvent, { type: 'tool_finished' }>): readonly string[] {
  if (call.name !== 'shell' || decision !== 'ok') return [];
  const { content } = result;
  const words = COMMAND_ENDING.exec(content.slice(content.lastIndexOf('\n') + 1))?.[1];
  return words === undefined ? [] : [words];
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
