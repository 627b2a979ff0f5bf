import { afterEach, describe, expect, it } from 'vitest';
import type { Provider } from '../../src/providers/provider.ts';
import { objectOf } from '../../src/providers/reading.ts';
import type { ProviderSettings } from '../../src/providers/settings.ts';
import type { JsonObject } from '../../src/types.ts';
import { answered, asking, providerAt, wireOf } from '../support/provider-wires.ts';
import { type RawServer, sendEvents, sendJson, startRawServer } from '../support/raw-server.ts';

const open: RawServer[] = [];

afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

type Answer = JsonObject | readonly JsonObject[];

/** A provider whose server gives these answers in turn, the last one for ever: bodies, or the events of streams. */
async function serving(
  answers: readonly Answer[],
  settings: Partial<ProviderSettings> = {},
): Promise<{ provider: Provider; server: RawServer }> {
  const server = await startRawServer((response, _, n) => {
    const answer = answers[Math.min(n, answers.length - 1)] ?? {};
    if (Array.isArray(answer)) sendEvents(response, answer);
    else if ('status' in answer && typeof answer['status'] === 'number') {
      sendJson(response, JSON.stringify({ error: answer['error'] ?? {} }), answer['status']);
    } else sendJson(response, JSON.stringify(answer));
  });
  open.push(server);
  const kind = answers.some((answer) => Array.isArray(answer)) ? 'streamed' : 'whole';
  return { provider: await providerAt(wireOf('openai', kind), server.url, settings), server };
}

const sent = (server: RawServer, n: number): JsonObject =>
  objectOf(JSON.parse(server.requests[n]?.raw ?? '{}'));

const call = { type: 'function_call', id: 'fc_1', call_id: 'x', name: 'shell', arguments: '{"a":1}' };
const message = {
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  content: [{ type: 'output_text', text: 'Prose.' }],
};
const reasoning = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'opaque' };
const response = (fields: JsonObject = {}): JsonObject => ({
  object: 'response',
  status: 'completed',
  output: [message],
  ...fields,
});

const item = (output_index: number, state: 'added' | 'done', value: JsonObject): JsonObject => ({
  type: `response.output_item.${state}`,
  output_index,
  item: value,
});
const piece = (output_index: number, delta: string): JsonObject => ({
  type: 'response.function_call_arguments.delta',
  output_index,
  delta,
});
const completed = (fields: JsonObject = {}): JsonObject => ({
  type: 'response.completed',
  response: response({ output: [], ...fields }),
});

describe('a request', () => {
  it('stores nothing, asks for encrypted reasoning, and for no strictness', async () => {
    const { provider, server } = await serving([response()], { model: 'gpt-5.5', maxOutputTokens: 9 });
    await provider.complete(asking({ toolChoice: { tool: 'shell' } }));
    const { tools, ...rest } = sent(server, 0);
    expect(rest).toEqual({
      model: 'gpt-5.5',
      store: false,
      include: ['reasoning.encrypted_content'],
      max_output_tokens: 9,
      instructions: 'Be good.',
      input: [{ role: 'user', content: 'Go.' }],
      tool_choice: { type: 'function', name: 'shell' },
    });
    expect(tools).toEqual([
      expect.objectContaining({ type: 'function', name: 'shell', strict: false }),
      expect.objectContaining({ type: 'function', name: 'structured_output', strict: false }),
    ]);
  });

  it('sends neither an empty list of tools nor empty instructions', async () => {
    const { provider, server } = await serving([response()], { model: 'gpt-4.1' });
    await provider.complete(asking({ system: '', tools: [] }));
    expect(sent(server, 0)).toEqual({
      model: 'gpt-4.1',
      store: false,
      input: [{ role: 'user', content: 'Go.' }],
    });
  });

  it.each([
    ['gpt-4o-mini', false],
    ['gpt-4.1-2025-04-14', false],
    ['ft:gpt-4o-2024-08-06:acme::x1', false],
    ['openai/gpt-4.1', false],
    ['chatgpt-4o-latest', false],
    ['gpt-5-chat-latest', false],
    ['gpt-5.2-chat-latest', false],
    ['gpt-5', true],
    ['gpt-5.6-sol', true],
    ['o4-mini', true],
    ['gpt-oss-120b', true],
  ])('of %s asks for encrypted reasoning: %s', async (model, asked) => {
    const { provider, server } = await serving([response()], { model });
    await provider.complete(asking());
    expect('include' in sent(server, 0)).toBe(asked);
  });

  it('asks again without reasoning where the server refuses that field, and remembers it', async () => {
    const error = {
      message: 'Encrypted content is not supported with this model.',
      type: 'invalid_request_error',
      param: 'include',
      code: null,
    };
    const { provider, server } = await serving([{ status: 400, error }, response()], { model: 'my-alias' });
    const notices: string[] = [];
    const notify = (text: string) => void notices.push(text);
    expect((await provider.complete(asking({ notify }))).message.text).toBe('Prose.');
    await provider.complete(asking({ notify }));
    expect(notices).toEqual([
      expect.stringMatching(
        /^127\.0\.0\.1:\d+ has no encrypted reasoning for my-alias: asking again without$/,
      ),
    ]);
    expect(server.requests.map((_, n) => 'include' in sent(server, n))).toEqual([true, false, false]);
  });

  it('does not ask again where another field is refused', async () => {
    const error = { message: 'no', type: 'invalid_request_error', param: 'reasoning.effort', code: null };
    const { provider, server } = await serving([{ status: 400, error }]);
    await expect(provider.complete(asking())).rejects.toMatchObject({ failure: 'error', status: 400 });
    expect(server.requests).toHaveLength(1);
  });
});

describe('an answer', () => {
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

  it('E18 that holds a refusal is one, with its words, whatever its status', async () => {
    const refusal = { ...message, content: [{ type: 'refusal', refusal: 'I will not.' }] };
    const { provider } = await serving([response({ output: [refusal, call] })]);
    expect(await provider.complete(asking())).toMatchObject({
      stopReason: 'refusal',
      message: { text: 'I will not.', toolCalls: [{ status: 'truncated' }] },
    });
  });

  it('E18 400 for the content of the prompt is a refusal', async () => {
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
  ])(
    'that failed with %s is a failure: %s after %i tries, whole and streamed',
    async (code, failure, tries) => {
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
    },
  );

  it('an error event that nests its error is read as one that does not', async () => {
    const error = { type: 'tokens', code: 'rate_limit_exceeded', message: 'told', param: null };
    const { provider } = await serving([[{ type: 'error', sequence_number: 2, error }]]);
    await expect(provider.complete(asking())).rejects.toMatchObject({ failure: 'rate_limit' });
  });

  it('E18 that failed for the content of the prompt is a refusal', async () => {
    const failed = response({ status: 'failed', error: { code: 'content_filter', message: 'told' } });
    for (const answer of [failed, [{ type: 'response.failed', response: failed }]]) {
      const { provider } = await serving([answer]);
      expect((await provider.complete(asking())).stopReason).toBe('refusal');
    }
  });

  it.each(['queued', 'in_progress', 'cancelled'])('whose status is %s is none', async (status) => {
    const { provider } = await serving([response({ status })]);
    await expect(provider.complete(asking())).rejects.toMatchObject({
      failure: 'error',
      message: expect.stringContaining(status),
    });
  });

  it('counts more cached tokens than there are input tokens as all of them', async () => {
    const usage = { input_tokens: 10, output_tokens: 1, input_tokens_details: { cached_tokens: 40 } };
    const { provider } = await serving([response({ usage })]);
    expect((await provider.complete(asking())).usage).toEqual({
      inputTokens: 10,
      outputTokens: 1,
      cachedInputTokens: 10,
      cacheWriteTokens: 0,
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

  it('holds reasoning, prose and calls as they came, unknown fields included', async () => {
    const items = [
      reasoning,
      { ...message, phase: 'commentary' },
      { ...call, namespace: 'n', status: 'completed' },
    ];
    expect(await replayOf(...items)).toEqual([...items, result]);
  });

  it('leaves out reasoning that the server did not hand over, and the ids that name it', async () => {
    const { id: _, ...callWithoutId } = call;
    expect(await replayOf({ type: 'reasoning', id: 'rs_1', summary: [] }, call)).toEqual([
      callWithoutId,
      result,
    ]);
  });

  it('keeps reasoning that is readable', async () => {
    const readable = { type: 'reasoning', id: 'r', content: [{ type: 'reasoning_text', text: 'Hm.' }] };
    expect(await replayOf(readable, call)).toEqual([readable, call, result]);
  });

  it('leaves out reasoning that nothing follows, and says that the turn was empty', async () => {
    expect(await replayOf(reasoning)).toEqual([{ role: 'assistant', content: '(empty)' }]);
    const { id: _, ...rest } = message;
    expect(await replayOf(message, reasoning)).toEqual([rest]);
  });

  it('leaves out calls of tools that nobody offered: they would want a result', async () => {
    const foreign = { type: 'computer_call', id: 'cu_1', call_id: 'c', action: {} };
    expect(await replayOf(foreign, { type: 'web_search_call', id: 'ws_1' }, call)).toEqual([call, result]);
  });
});

describe('a stream', () => {
  const callsOf = async (...events: readonly JsonObject[]) => {
    const { provider, server } = await serving([events]);
    const { message: got, stopReason } = await provider.complete(asking());
    return {
      calls: got.toolCalls.map((each) => [each.rawArguments, each.status]),
      stopReason,
      tries: server.requests.length,
    };
  };

  it('joins interleaved calls by their place, in order', async () => {
    const given = await callsOf(
      item(1, 'added', { ...call, call_id: 'b', arguments: '' }),
      item(0, 'added', { ...call, call_id: 'a', arguments: '' }),
      piece(0, '{"a"'),
      piece(1, '{"b"'),
      piece(0, ':1}'),
      piece(1, ':2}'),
      item(1, 'done', { ...call, call_id: 'b', arguments: '{"b":2}' }),
      item(0, 'done', { ...call, call_id: 'a', arguments: '{"a":1}' }),
      completed(),
    );
    expect(given.calls).toEqual([
      ['{"a":1}', 'complete'],
      ['{"b":2}', 'complete'],
    ]);
  });

  it('takes arguments that came at once, or with the last event only', async () => {
    expect((await callsOf(item(0, 'done', call), completed())).calls).toEqual([['{"a":1}', 'complete']]);
    expect((await callsOf(completed({ output: [call] }))).calls).toEqual([['{"a":1}', 'complete']]);
  });

  it('arguments that end otherwise than they came are malformed', async () => {
    const given = await callsOf(
      item(0, 'added', { ...call, arguments: '' }),
      piece(0, '{"a":2}'),
      item(0, 'done', call),
      completed(),
    );
    expect(given.calls).toEqual([['{"a":2}', 'malformed']]);
  });

  it('S8 a call that nothing ended is malformed although the response is complete', async () => {
    const given = await callsOf(
      item(0, 'added', { ...call, arguments: '' }),
      piece(0, '{"a":1}'),
      completed(),
    );
    expect(given.calls).toEqual([['{"a":1}', 'malformed']]);
  });

  it('joins prose that no item ended', async () => {
    const { provider } = await serving([
      [
        item(0, 'added', { ...message, content: [] }),
        { type: 'response.output_text.delta', output_index: 0, delta: 'Pro' },
        { type: 'response.output_text.delta', output_index: 0, delta: 'se.' },
        completed(),
      ],
    ]);
    expect((await provider.complete(asking())).message.text).toBe('Prose.');
  });

  it('without an event that ends it was cut, and is asked for again', async () => {
    const { provider, server } = await serving([[item(0, 'done', call)]]);
    await expect(provider.complete(asking())).rejects.toMatchObject({
      message: expect.stringContaining('broke off'),
    });
    expect(server.requests).toHaveLength(3);
  });
});
