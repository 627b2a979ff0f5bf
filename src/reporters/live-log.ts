/**
 * What happens in each turn, and the verdict as the last lines: the log of the action, and the progress of the command
 * line. The payload never appears: it belongs in the outputs, the summary and the envelope.
 */
import { DISPLAY } from '../text/limits.ts';
import { counted } from '../text/messages.ts';
import type { Secrets } from '../text/secrets.ts';
import { createLog, type Log } from './log.ts';
import type { CallEvent, CallRef, Report, Reporter, RunEvent, View, ViewFacts } from './report-types.ts';
import { commandEnding, duration, spent } from './sentences.ts';
import { viewOf } from './view.ts';

/** `turns` is a line for each turn; `summary` has one for each call; `full` adds prompts, prose and tool output, folded. */
type Level = 'turns' | 'summary' | 'full';

export function createLiveLog(log: Log, level: Level, options: ViewFacts): Reporter {
  const show = level === 'turns' ? createTurnLines(log) : createCallLines(log, level === 'full');
  return {
    name: 'log',
    event(event) {
      if (event.type !== 'notice') show(event);
      else if (event.level === 'warning') log.warning(event.text, { title: 'structured-agent' });
      else log.info(event.text);
    },
    report: async (report) => writeVerdict(report, viewOf(report, options), log),
  };
}

/**
 * Creates the progress of one run on stderr, and the function that prints a warning of no event.
 * @param level null to print only the sentence of a failure
 */
export function createProgress(write: (text: string) => void, level: Level | null, secrets: Secrets) {
  const print = (text: string) => write(`${text}\n`);
  const info = level === null ? () => undefined : print;
  const core = {
    info,
    notice: info,
    // Keeps the line breaks of a stack trace.
    warning: (text: string) => info(text.replace(/^/gm, 'warning: ')),
    error: (text: string) => print(`structured-agent: ${text.replace(/\s+/g, ' ')}`),
    startGroup: info,
    endGroup: () => undefined,
  };
  const log = createLog(core, secrets, null);
  const view = { secrets, name: null, serverUrl: null, help: 'docs/troubleshooting.md' };
  return { reporter: createLiveLog(log, level ?? 'turns', view), warn: (text: string) => log.warning(text) };
}

function createCallLines(log: Log, isFull: boolean): (event: RunEvent) => void {
  const group = (title: string, text: string) => {
    if (isFull && text.trim() !== '') log.group(title, text);
  };
  return (event) => {
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
        const cut = event.stopReason === 'length' ? ' · cut off by the output-token limit' : '';
        log.info(
          `model answered in ${duration(event.durationMs)} · ${what}${cut} · ${spent(event.totals)}`,
          1,
        );
        group('what the model said', event.message.text);
        return;
      }
      case 'tool_started':
        log.info(`▸ ${named(event.call, DISPLAY.excerpt, log)}`, 1);
        return;
      case 'tool_finished':
        log.info(finishedLine(event, log), 1);
        if (hasRun(event))
          group(`output of ${log.excerpt(event.call.name, DISPLAY.label)}`, event.result.content);
        return;
      case 'user_message':
        group('what was sent to the model', event.text);
    }
  };
}

/** Whether a call ran, and was not judged or skipped. */
function hasRun({ decision }: CallEvent): boolean {
  return decision === 'ok' || decision === 'error';
}

function finishedLine(event: CallEvent, log: Log): string {
  const { call, decision, result } = event;
  const isFailed = decision === 'error' || decision === 'rejected';
  const ended = commandEnding(event);
  // A failing command is not a failed tool call, but it should not get a check mark either.
  const isOdd = decision === 'skipped' || (ended !== null && ended !== 'exit code 0');
  // A tool result is shown only if it explains a failure: our own text, short, on one line.
  const first = result.content.trimStart().split('\n', 1)[0] ?? '';
  return [
    // Shorter than at the start of the call, which was logged in full.
    `${isFailed ? '✗' : isOdd ? '•' : '✓'} ${named(call, DISPLAY.label, log)}`,
    ...(ended === null ? [] : [ended]),
    hasRun(event) ? duration(event.durationMs) : decision,
    ...(isFailed ? [log.excerpt(first.replace(/^Rejected: /, ''), DISPLAY.phrase)] : []),
  ].join(' · ');
}

function named(call: CallRef, max: number, log: Log): string {
  return `${log.excerpt(call.name, DISPLAY.label)} ${log.excerpt(call.target, max)}`.trim();
}

/** Returns a listener that writes a line when a turn is over: `turn 3 · shell npm test · 12 s · 6,420 tokens · $0.0123`. */
function createTurnLines(log: Log): (event: RunEvent) => void {
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
  log.info('─'.repeat(60));
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
