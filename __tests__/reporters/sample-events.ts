/** The events of a three-turn run: a failed read and a command, a rejected call, an accepted one. */
import type { RunEvent } from '../../src/reporters/report-types.ts';
import type { AssistantMessage } from '../../src/types.ts';

/** Text of the model, which no log of level `summary` may contain. */
export const PROSE = 'PROSE-CANARY ::error::x';

const usage = { inputTokens: 3000, outputTokens: 210, cachedInputTokens: 0, cacheWriteTokens: 0 };
const totals = { turns: 1, usage, costUsd: 0.0042 };
const placeholder = '{"redacted":true}';

function says(...names: string[]): AssistantMessage {
  const toolCalls = names.map(
    (name, at) => ({ id: `c${at}`, name, rawArguments: placeholder, status: 'complete' }) as const,
  );
  return { role: 'assistant', text: PROSE, toolCalls, native: { opaque: 'NATIVE-CANARY' } };
}

const read = { id: 'c0', name: 'read_file', target: 'src/a\n::error::.js' };
const shell = { id: 'c1', name: 'shell', target: 'npm test' };
const output = { id: 'c0', name: 'structured_output', target: '' };
const completed = { type: 'turn_completed', usage, totals, stopReason: 'tool_calls' } as const;

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
  { ...completed, turn: 1, durationMs: 1200, message: says('read_file', 'shell') },
  { type: 'tool_started', turn: 1, call: read },
  {
    type: 'tool_finished',
    turn: 1,
    call: read,
    decision: 'error',
    durationMs: 3,
    result: { callId: 'c0', content: 'There is no such file.\nMore.', isError: true },
    totals,
  },
  { type: 'tool_started', turn: 1, call: shell },
  {
    type: 'tool_finished',
    turn: 1,
    call: shell,
    decision: 'ok',
    durationMs: 2100,
    result: {
      callId: 'c1',
      content: 'OUTPUT-CANARY sk-canary-1\n::endgroup::\n[exit code 1]',
      isError: false,
    },
    totals,
  },
  { type: 'turn_started', turn: 2, forced: true },
  { ...completed, turn: 2, durationMs: 800, stopReason: 'length', message: says('structured_output') },
  {
    type: 'tool_finished',
    turn: 2,
    call: output,
    decision: 'rejected',
    durationMs: 0,
    result: { callId: 'c0', content: 'Rejected: /passed (type)', isError: true },
    totals: { ...totals, costUsd: null },
  },
  { type: 'turn_started', turn: 3, forced: false },
  { ...completed, turn: 3, durationMs: 700, stopReason: 'end', message: says() },
  { type: 'user_message', text: 'Call structured_output now.' },
  { type: 'turn_started', turn: 4, forced: true },
  { ...completed, turn: 4, durationMs: 700, message: says('structured_output') },
  {
    type: 'tool_finished',
    turn: 4,
    call: output,
    decision: 'accepted',
    durationMs: 0,
    result: { callId: 'c0', content: 'Accepted.', isError: false },
    totals,
  },
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
