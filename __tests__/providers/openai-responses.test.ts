import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/types.ts';
import { asking, wireOf } from '../support/fakes/model/wires.ts';
import { ask, bodyOf, replayOf, served } from './served.ts';

const wire = wireOf('openai');
const call = { type: 'function_call', id: 'fc_1', call_id: 'x', name: 'shell', arguments: '{"a": 1}' };
const content = [{ type: 'output_text', text: 'Prose.' }];
const message = { type: 'message', id: 'msg_1', role: 'assistant', content };
const reasoning = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'opaque' };

/** The events of a stream with one response. */
const stream = (fields: JsonObject = {}) => {
  const response = { object: 'response', status: 'completed', output: [message], ...fields };
  return [
    { type: 'response.created', response: { ...response, output: [] } },
    { type: `response.${String(response.status)}`, response },
  ];
};

describe('a response', () => {
  it.each([
    [{}, 'end'],
    [{ output: [call] }, 'tool_calls'],
    [{ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' }, output: [call] }, 'length'],
    [{ status: 'incomplete', incomplete_details: null }, 'length'],
    [{ status: 'incomplete', incomplete_details: { reason: 'content_filter' }, output: [call] }, 'refusal'],
  ])('with %j ends as %s', async (fields, stopReason) => {
    const completion = (await ask(wire, stream(fields))).completion;
    expect(completion).toMatchObject({ stopReason, usage: null });
    const status = stopReason === 'tool_calls' ? 'complete' : 'truncated';
    for (const each of completion?.message.toolCalls ?? []) expect(each.status).toBe(status);
  });

  it('E18 with a refusal is a refusal with its text, whatever its status', async () => {
    const refusal = { ...message, content: [{ type: 'refusal', refusal: 'I will not.' }] };
    expect((await ask(wire, stream({ output: [refusal, call] }))).completion).toMatchObject({
      stopReason: 'refusal',
      message: { text: 'I will not.', toolCalls: [{ status: 'truncated' }] },
    });
  });

  it.each([
    ['rate_limit_exceeded', 'provider_rate_limit', 3],
    ['server_error', 'provider_error', 3],
    ['server_is_overloaded', 'provider_overloaded', 3],
    ['context_length_exceeded', 'context_overflow', 1],
    ['invalid_prompt', 'provider_error', 1],
  ])('that failed with %s ends as %s after %i tries', async (code, reason, tries) => {
    const error = { code, message: 'told' };
    const failed = stream({ status: 'failed', output: [call], error });
    for (const answer of [failed, [{ type: 'error', ...error }]]) {
      const told = await ask(wire, answer);
      expect(told).toMatchObject({ reason, tries });
      expect(told.error?.message).toContain('"told"');
    }
  });

  it('E18 that failed for the content of the prompt is a refusal', async () => {
    const error = { code: 'content_filter', message: 'told' };
    expect((await ask(wire, stream({ status: 'failed', error }))).completion?.stopReason).toBe('refusal');
  });
});

describe('a replay', () => {
  const replay = async (...output: JsonObject[]) => (await replayOf(wire, stream({ output }))).sent.slice(1);
  const result = { type: 'function_call_output', call_id: 'x', output: 'result 0' };

  it('omits reasoning without content and the ids that refer to it', async () => {
    const { id: _, ...callWithoutId } = call;
    const { encrypted_content: __, ...stored } = reasoning;
    expect(await replay(stored, call)).toEqual([callWithoutId, result]);
  });

  it('omits reasoning at the end of a turn and marks the turn as empty if nothing is left', async () => {
    expect(await replay(reasoning)).toEqual([{ role: 'assistant', content: '(empty)' }]);
    const { id: _, ...rest } = message;
    expect(await replay(message, reasoning)).toEqual([rest]);
  });
});

describe('a request', () => {
  it('is not stored, includes encrypted reasoning and sets no strict mode', async () => {
    const { provider, server } = await served(wire, stream(), { model: 'gpt-5.5' });
    await provider.complete(asking());
    expect(bodyOf(server.requests[0])).toEqual({
      ...{ model: 'gpt-5.5', stream: true, store: false, include: ['reasoning.encrypted_content'] },
      tools: asking().tools.map((tool) => ({ type: 'function', ...tool, strict: false })),
      instructions: 'Be good.',
      input: [{ role: 'user', content: 'Go.' }],
    });
  });

  it.each([
    ['gpt-4.1-2025-04-14', false],
    ['ft:gpt-4o-2024-08-06:acme::x1', false],
    ['openai/gpt-4.1', false],
    ['chatgpt-4o-latest', false],
    ['gpt-5.2-chat-latest', false],
    ['gpt-5', true],
    ['o4-mini', true],
    ['gpt-oss-120b', true],
  ])('for %s includes encrypted reasoning: %s', async (model, asked) => {
    const { provider, server } = await served(wire, stream(), { model });
    await provider.complete(asking());
    expect('include' in bodyOf(server.requests[0])).toBe(asked);
  });
});
