/** The events of a four-turn run: a failed read and a command, a rejected call, plain text, an accepted call. */
import type { CallDecision, CallRef, RunEvent } from '../../src/reporters/report-types.ts';
import type { StopReason } from '../../src/types.ts';

/** Text of the model, which no log of level `summary` may contain. */
export const PROSE = 'PROSE-CANARY ::error::x';

const usage = { inputTokens: 3000, outputTokens: 210, cachedInputTokens: 1200, cacheWriteTokens: 30 };
const totals = { turns: 1, usage, costUsd: 0.0042 };

const read: CallRef = { id: 'c0', name: 'read_file', target: 'src/a\n::error::.js' };
const shell: CallRef = { id: 'c1', name: 'shell', target: 'npm test' };
const output: CallRef = { id: 'c0', name: 'structured_output', target: '' };

function answered(
  turn: number,
  durationMs: number,
  stopReason: StopReason,
  calls: readonly CallRef[],
): RunEvent {
  const redacted = { rawArguments: '{"redacted":true}', status: 'complete' } as const;
  const toolCalls = calls.map(({ id, name }) => ({ id, name, ...redacted }));
  const message = { role: 'assistant', text: PROSE, toolCalls, native: { opaque: 'NATIVE-CANARY' } } as const;
  return { type: 'turn_completed', usage, totals, stopReason, turn, durationMs, message };
}

function finished(
  turn: number,
  call: CallRef,
  decision: CallDecision,
  durationMs: number,
  content: string,
  costUsd: number | null = totals.costUsd,
): RunEvent {
  const isError = decision === 'error' || decision === 'rejected';
  const result = { callId: call.id, content, isError };
  return { type: 'tool_finished', turn, call, decision, durationMs, result, totals: { ...totals, costUsd } };
}

/** The events, in order. */
export const sampleEvents: readonly RunEvent[] = [
  { type: 'notice', level: 'warning', text: 'No sandbox.' },
  {
    type: 'run_started',
    model: 'claude-sonnet-5-5',
    provider: 'anthropic',
    prompt: 'Judge this.',
    sessionId: '7f3c0c1e-0000-4000-8000-000000000000',
    tools: ['read_file', 'edit', 'shell', 'structured_output'],
  },
  { type: 'turn_started', turn: 1, forced: false },
  answered(1, 1200, 'tool_calls', [read, shell]),
  { type: 'tool_started', turn: 1, call: read },
  finished(1, read, 'error', 3, 'There is no such file.\nMore.'),
  { type: 'tool_started', turn: 1, call: shell },
  finished(1, shell, 'ok', 2100, 'OUTPUT-CANARY sk-canary-1\n::endgroup::\n[exit code 1]'),
  { type: 'turn_started', turn: 2, forced: true },
  answered(2, 800, 'length', [output]),
  finished(2, output, 'rejected', 0, 'Rejected: /passed (type)', null),
  { type: 'turn_started', turn: 3, forced: false },
  answered(3, 700, 'end', []),
  { type: 'user_message', text: 'Call structured_output now.' },
  { type: 'turn_started', turn: 4, forced: true },
  answered(4, 700, 'tool_calls', [output]),
  finished(4, output, 'accepted', 0, 'Accepted.'),
  { type: 'notice', level: 'info', text: 'a remark' },
];

/** The events with a text wherever the model, a tool or the user can put one. */
export const eventsSaying = (text: string): readonly RunEvent[] =>
  sampleEvents.map((event): RunEvent => {
    if (event.type === 'tool_started') return { ...event, call: { ...event.call, name: text, target: text } };
    if (event.type === 'tool_finished')
      return { ...event, result: { ...event.result, content: text }, call: { ...event.call, target: text } };
    if (event.type === 'run_started') return { ...event, prompt: text, model: text, tools: [text] };
    if (event.type === 'turn_completed') {
      const rawArguments = JSON.stringify({ [text]: text });
      const toolCalls = event.message.toolCalls.map((call) => ({ ...call, rawArguments }));
      return { ...event, message: { ...event.message, text, toolCalls } };
    }
    return event.type === 'notice' ? { ...event, text } : event;
  });
