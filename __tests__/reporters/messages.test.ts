import { describe, expect, it } from 'vitest';
import { createMessages } from '../../src/reporters/messages.ts';
import type { RunEvent } from '../../src/reporters/report-types.ts';
import { createSecrets } from '../../src/text/secrets.ts';
import type { JsonObject, ToolCall } from '../../src/types.ts';
import { PROSE, sampleEvents } from './sample-events.ts';

const session_id = '7f3c0c1e-0000-4000-8000-000000000000';
const secrets = createSecrets();
secrets.add('sk-canary-1');

function told(events: readonly RunEvent[]): readonly JsonObject[] {
  const messages = createMessages({ version: '0.1.0', cwd: '/w', mask: secrets.mask });
  return events.flatMap(messages);
}

const usage = { inputTokens: 100, outputTokens: 7, cachedInputTokens: 60, cacheWriteTokens: 30 };
const totals = { turns: 1, usage, costUsd: null };

function turn(calls: readonly Partial<ToolCall>[], changes: Partial<RunEvent> = {}): RunEvent {
  const toolCalls = calls.map((call) => ({
    id: 'c0',
    name: 'shell',
    rawArguments: '{}',
    status: 'complete' as const,
    ...call,
  }));
  const event = {
    type: 'turn_completed',
    turn: 1,
    durationMs: 1,
    usage,
    totals,
    stopReason: 'tool_calls',
    message: { role: 'assistant', text: '', toolCalls, native: null },
  } as const;
  return Object.assign({}, event, changes);
}

function messageOf(event: RunEvent): unknown {
  return told([event])[0]?.['message'];
}

describe('the messages of a run', () => {
  it('begin with one system message and the task', () => {
    expect(told(sampleEvents).slice(0, 2)).toEqual([
      {
        type: 'system',
        subtype: 'init',
        session_id,
        cwd: '/w',
        model: 'claude-sonnet-4-5',
        provider: 'anthropic',
        tools: ['read_file', 'edit', 'shell', 'structured_output'],
        version: '0.1.0',
      },
      {
        type: 'user',
        message: { role: 'user', content: [{ type: 'text', text: 'Judge this.' }] },
        session_id,
      },
    ]);
  });

  it('are one for each turn and each result, in order', () => {
    const messages = told(sampleEvents);
    expect(messages.map(({ type }) => type)).toEqual([
      'system',
      'user',
      'assistant',
      'user',
      'user',
      'assistant',
      'user',
      'assistant',
      'user',
      'assistant',
      'user',
    ]);
    expect(messages[2]).toEqual({
      type: 'assistant',
      message: {
        id: `msg_${session_id}_1`,
        type: 'message',
        role: 'assistant',
        model: 'claude-sonnet-4-5',
        content: [
          { type: 'text', text: PROSE },
          { type: 'tool_use', id: 'c0', name: 'read_file', input: { redacted: true } },
          { type: 'tool_use', id: 'c1', name: 'shell', input: { redacted: true } },
        ],
        stop_reason: 'tool_use',
        stop_sequence: null,
        usage: {
          input_tokens: 3000,
          cache_creation_input_tokens: 0,
          cache_read_input_tokens: 0,
          output_tokens: 210,
        },
      },
      session_id,
    });
    expect(messages[4]).toEqual({
      type: 'user',
      message: {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'c1',
            content: 'OUTPUT-CANARY ***\n::endgroup::\n[exit code 1]',
            is_error: false,
          },
        ],
      },
      session_id,
    });
  });

  it('P3 tell a rejection by path and keyword, and hold nothing of the native form', () => {
    const messages = told(sampleEvents);
    expect(messages[6]).toMatchObject({
      message: { content: [{ type: 'tool_result', content: 'Rejected: /passed (type)', is_error: true }] },
    });
    expect(JSON.stringify(messages)).not.toContain('NATIVE-CANARY');
  });

  it('count as the Messages API does: input tokens are those that no cache had a part in', () => {
    expect(messageOf(turn([]))).toMatchObject({
      usage: {
        input_tokens: 10,
        cache_creation_input_tokens: 30,
        cache_read_input_tokens: 60,
        output_tokens: 7,
      },
    });
    expect(messageOf(turn([], { usage: null }))).toMatchObject({ usage: null });
  });

  it.each([
    ['end', 'end_turn'],
    ['tool_calls', 'tool_use'],
    ['length', 'max_tokens'],
    ['refusal', 'refusal'],
    ['pause', 'pause_turn'],
  ] as const)('name the stop reason %s as the Messages API does', (stopReason, stop_reason) => {
    expect(messageOf(turn([], { stopReason }))).toMatchObject({ stop_reason });
  });

  it.each<[Partial<ToolCall>, JsonObject]>([
    [{ rawArguments: '{"a":1,"__proto__":2}' }, { input: JSON.parse('{"a":1,"__proto__":2}') }],
    [{ rawArguments: '' }, { input: {} }],
    [
      { rawArguments: '{"a":1', status: 'truncated' },
      { input: {}, raw_input: '{"a":1' },
    ],
    [
      { rawArguments: '{"a":1}', status: 'truncated' },
      { input: {}, raw_input: '{"a":1}' },
    ],
    [{ rawArguments: '[1]' }, { input: {}, raw_input: '[1]' }],
    [{ rawArguments: 'sk-canary-1' }, { input: {}, raw_input: '***' }],
    [{ rawArguments: '{"a":1,"a":2}' }, { input: {}, raw_input: '{"a":1,"a":2}' }],
  ])('%o has an object as its input', (call, expected) => {
    expect(messageOf(turn([call]))).toMatchObject({
      content: [{ type: 'tool_use', id: 'c0', name: 'shell', ...expected }],
    });
  });

  it('hold no secret in any string or name', () => {
    const rawArguments = JSON.stringify({ 'sk-canary-1': ['sk-canary-1', { deep: 'x sk-canary-1 y' }] });
    const event = turn([{ id: 'sk-canary-1', name: 'sk-canary-1', rawArguments }]);
    expect(messageOf(event)).toMatchObject({
      content: [{ id: '***', name: '***', input: { '***': ['***', { deep: 'x *** y' }] } }],
    });
  });
});
