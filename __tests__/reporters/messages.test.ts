import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { ReportError } from '../../src/errors.ts';
import { createMessages, createTranscript } from '../../src/reporters/messages.ts';
import type { RunEvent } from '../../src/reporters/report-types.ts';
import type { JsonObject, ToolCall } from '../../src/types.ts';
import { knowSecrets, makeFolder } from '../support/surroundings.ts';
import { sampleEvents } from './sample-events.ts';
import { sampleReport } from './sample-report.ts';

const secrets = knowSecrets('sk-canary-1');
const options = { version: '0.1.0', cwd: '/w', mask: secrets.mask };
const signal = new AbortController().signal;
const folder = makeFolder();

function collectMessages(events: readonly RunEvent[]): readonly JsonObject[] {
  return events.flatMap(createMessages(options));
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
  return collectMessages([event])[0]?.['message'];
}

describe('the messages of a run', () => {
  it('P3 start with the task, contain each turn and result, and describe a rejection by path and keyword', async () => {
    const text = `${JSON.stringify(collectMessages(sampleEvents), null, 2)}\n`;
    await expect(text).toMatchFileSnapshot('../golden/messages.json');
    expect(text).not.toMatch(/NATIVE-CANARY|sk-canary/u);
  });

  it('count tokens like the Messages API: input tokens exclude cached tokens', () => {
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
  ])('contain an object as the input of %o', (call, expected) => {
    expect(messageOf(turn([call]))).toMatchObject({
      content: [{ type: 'tool_use', id: 'c0', name: 'shell', ...expected }],
    });
  });
});

describe('the transcript', () => {
  it('P3 has one line for each message, without the payload, for the owner only', async () => {
    const file = path.join(folder, 'new', 'transcript.jsonl');
    const transcript = createTranscript({ file, ...options });
    for (const event of sampleEvents) transcript.event?.(event);
    await transcript.report?.(sampleReport({ payload: { a: 'PAYLOAD-CANARY' } }), signal);
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual(collectMessages(sampleEvents));
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('reports a file that cannot be written once, at the end', async () => {
    const transcript = createTranscript({ file: folder, ...options });
    for (const event of sampleEvents) transcript.event?.(event);
    await expect(transcript.report?.(sampleReport(), signal)).rejects.toThrow(ReportError);
  });
});
