import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/types.ts';
import { answered, asking } from '../support/fakes/model/wires.ts';
import { call, message, reasoning, response, sent, serving } from './responses-server.ts';

describe('a response', () => {
  it.each([
    [{}, 'end'],
    [{ output: [call] }, 'tool_calls'],
    [{ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' }, output: [call] }, 'length'],
    [{ status: 'incomplete', incomplete_details: null }, 'length'],
    [{ output: [{ ...call, status: 'incomplete' }] }, 'length'],
    [{ status: 'incomplete', incomplete_details: { reason: 'content_filter' }, output: [call] }, 'refusal'],
  ])('with %j ends as %s', async (fields, stopReason) => {
    const { provider } = await serving([response(fields)]);
    const completion = await provider.complete(asking());
    expect(completion.stopReason).toBe(stopReason);
    const statuses = completion.message.toolCalls.map((each) => each.status);
    expect(
      statuses.every((status) => status === (stopReason === 'tool_calls' ? 'complete' : 'truncated')),
    ).toBe(true);
  });

  it('can have an object for arguments, whose text is kept', async () => {
    const { provider } = await serving([response({ output: [{ ...call, arguments: { a: 1 } }] })]);
    const { toolCalls } = (await provider.complete(asking())).message;
    expect(toolCalls).toMatchObject([{ rawArguments: '{"a":1}', status: 'complete' }]);
  });

  it('E18 with a refusal is a refusal with its text, whatever its status', async () => {
    const refusal = { ...message, content: [{ type: 'refusal', refusal: 'I will not.' }] };
    const { provider } = await serving([response({ output: [refusal, call] })]);
    expect(await provider.complete(asking())).toMatchObject({
      stopReason: 'refusal',
      message: { text: 'I will not.', toolCalls: [{ status: 'truncated' }] },
    });
  });

  it('E18 of status 400 for the content of the prompt is a refusal', async () => {
    const error = { message: 'filtered', code: 'content_filter', param: 'prompt', type: null };
    const { provider, server } = await serving([{ status: 400, error }]);
    expect(await provider.complete(asking())).toMatchObject({ stopReason: 'refusal', usage: null });
    expect(server.requests).toHaveLength(1);
  });

  it.each([
    ['rate_limit_exceeded', 'rate_limit', 1],
    ['server_error', 'error', 3],
    ['server_is_overloaded', 'overloaded', 3],
    ['context_length_exceeded', 'context_overflow', 1],
    ['invalid_prompt', 'error', 1],
  ])('that failed with %s ends as %s after %i tries, streamed or not', async (code, failure, tries) => {
    const failed = response({ status: 'failed', output: [call], error: { code, message: 'told' } });
    for (const answer of [
      failed,
      [
        { type: 'response.created', response: response() },
        { type: 'response.failed', response: failed },
      ],
      [{ type: 'error', code, message: 'told', param: null, sequence_number: 3 }],
    ]) {
      const { provider, server } = await serving([answer]);
      await expect(provider.complete(asking())).rejects.toMatchObject({
        failure,
        message: expect.stringContaining('"told"'),
      });
      expect(server.requests).toHaveLength(tries);
    }
  });

  it('E18 that failed for the content of the prompt is a refusal', async () => {
    const failed = response({ status: 'failed', error: { code: 'content_filter', message: 'told' } });
    for (const answer of [failed, [{ type: 'response.failed', response: failed }]]) {
      const { provider } = await serving([answer]);
      expect((await provider.complete(asking())).stopReason).toBe('refusal');
    }
  });

  it.each(['queued', 'in_progress', 'cancelled'])('with the status %s is rejected', async (status) => {
    const { provider } = await serving([response({ status })]);
    await expect(provider.complete(asking())).rejects.toMatchObject({
      failure: 'error',
      message: expect.stringContaining(status),
    });
  });
});

describe('a replay', () => {
  const replayOf = async (...output: JsonObject[]): Promise<unknown> => {
    const { provider, server } = await serving([response({ output })]);
    const first = await provider.complete(asking());
    await provider.complete(asking({ messages: answered(asking().messages, first) }));
    const input = sent(server, 1)['input'];
    return Array.isArray(input) ? input.slice(1) : input;
  };
  const result = { type: 'function_call_output', call_id: 'x', output: 'result 0' };

  it('omits reasoning without content and the ids that refer to it', async () => {
    const { id: _, ...callWithoutId } = call;
    expect(await replayOf({ type: 'reasoning', id: 'rs_1', summary: [] }, call)).toEqual([
      callWithoutId,
      result,
    ]);
  });

  it('omits reasoning at the end of a turn and marks the turn as empty if nothing is left', async () => {
    expect(await replayOf(reasoning)).toEqual([{ role: 'assistant', content: '(empty)' }]);
    const { id: _, ...rest } = message;
    expect(await replayOf(message, reasoning)).toEqual([rest]);
  });

  it('omits calls of built-in tools, which would need a result', async () => {
    const foreign = { type: 'computer_call', id: 'cu_1', call_id: 'c', action: {} };
    expect(await replayOf(foreign, { type: 'web_search_call', id: 'ws_1' }, call)).toEqual([call, result]);
  });
});
