/** What the adapter of each API makes of its answers, and sends back. */
import { describe, expect, it, vi } from 'vitest';
import { identify, MAX_ARGUMENTS, replayable } from '../../src/providers/call.ts';
import type { ProviderName } from '../../src/providers/registry.ts';
import type { ArgumentStatus, JsonObject } from '../../src/types.ts';
import { asking, wireOf } from '../support/fakes/model/wires.ts';
import { ask, bodyOf, replayOf, served } from './served.ts';

const chat = wireOf('openai-compatible');
const responses = wireOf('openai');
const anthropic = wireOf('anthropic');

const choice = (message: object, finish_reason?: string) => ({ choices: [{ message, finish_reason }] });

const call = { type: 'function_call', id: 'fc_1', call_id: 'x', name: 'shell', arguments: '{"a": 1}' };
const content = [{ type: 'output_text', text: 'Prose.' }];
const message = { type: 'message', id: 'msg_1', role: 'assistant', content };
const reasoning = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'opaque' };

/** The stream of a response. */
const responding = (fields: JsonObject = {}) => {
  const response = { object: 'response', status: 'completed', output: [message], ...fields };
  return [
    { type: 'response.created', response: { ...response, output: [] } },
    { type: `response.${String(response.status)}`, response },
  ];
};
const incomplete = (incomplete_details: JsonObject | null) =>
  responding({ status: 'incomplete', incomplete_details, output: [call] });

const thinking = { type: 'thinking', thinking: 'Hm. Well.', signature: 'c2ln' };
const redacted = { type: 'redacted_thinking', data: 'b3BhcXVl' };
const use = { type: 'tool_use', id: 'x', name: 'shell', input: { command: 'ls' } };
const text = (words: string) => ({ type: 'text', text: words });
const start: JsonObject = { type: 'message_start', message: { content: [] } };

/** The stream of a message whose blocks arrive whole, as some compatible servers send them. */
const streaming = (blocks: readonly JsonObject[], stop_reason = 'tool_use') => [
  start,
  ...blocks.map((content_block, index) => ({ type: 'content_block_start', index, content_block })),
  { type: 'message_delta', delta: { stop_reason } },
  { type: 'message_stop' },
];

const STOPPED = {
  anthropic: (reason = '') => streaming([use], reason),
  openai: (reason?: string) => incomplete(reason === undefined ? null : { reason }),
  'openai-compatible': (reason?: string) => choice({ role: 'assistant' }, reason),
};

/** Answers that have the code of an error. */
const FAILED = {
  anthropic: (type: string) => [[start, { type: 'error', error: { type, message: 'told' } }]],
  openai: (code: string) => {
    const error = { code, message: 'told' };
    return [responding({ status: 'failed', output: [call], error }), [{ type: 'error', ...error }]];
  },
  'openai-compatible': (code: string) => [{ error: { code: Number(code), message: 'told' } }],
};

describe('an answer', () => {
  it.each([
    ['anthropic', 'end_turn', 'tool_calls'],
    ['anthropic', 'max_tokens', 'length'],
    ['anthropic', 'model_context_window_exceeded', 'length'],
    ['anthropic', 'pause_turn', 'pause'],
    ['anthropic', 'refusal', 'refusal'],
    ['openai', 'max_output_tokens', 'length'],
    ['openai', undefined, 'length'],
    ['openai', 'content_filter', 'refusal'],
    ['openai-compatible', 'content_filter', 'refusal'],
    ['openai-compatible', 'content_filter: PROHIBITED_CONTENT', 'refusal'],
    ['openai-compatible', 'SAFETY', 'refusal'],
    ['openai-compatible', 'MAX_TOKENS', 'length'],
    ['openai-compatible', 'model_length', 'length'],
    ['openai-compatible', 'function_call_filter: MALFORMED_FUNCTION_CALL', 'end'],
    ['openai-compatible', 'STOP', 'end'],
    ['openai-compatible', undefined, 'end'],
  ] as const)('E18 of %s that stopped with %s ends as %s', async (provider, reason, stopReason) => {
    const { completion } = await ask(wireOf(provider), STOPPED[provider](reason));
    expect(completion).toMatchObject({ stopReason, usage: null });
    const status = stopReason === 'tool_calls' ? 'complete' : 'truncated';
    for (const each of completion?.message.toolCalls ?? []) expect(each.status).toBe(status);
  });

  const refusal = 'I will not.';
  const refused = { ...message, content: [{ type: 'refusal', refusal }] };
  const filtered = { status: 'failed', error: { code: 'content_filter', message: 'told' } };
  it.each([
    [
      'openai',
      responding({ output: [refused, call] }),
      { text: refusal, toolCalls: [{ status: 'truncated' }] },
    ],
    ['openai', responding(filtered), { text: '' }],
    ['openai-compatible', choice({ content: null, refusal }, 'stop'), { text: refusal }],
  ] as const)('E18 of %s that is %j is a refusal, whatever its status', async (provider, answer, told) => {
    const { completion } = await ask(wireOf(provider), answer);
    expect(completion).toMatchObject({ stopReason: 'refusal', message: told });
  });

  it.each([
    ['anthropic', 'overloaded_error', 'overloaded', 3],
    ['anthropic', 'api_error', 'error', 3],
    ['anthropic', 'rate_limit_error', 'rate_limit', 3],
    ['anthropic', 'invalid_request_error', 'error', 1],
    ['openai', 'rate_limit_exceeded', 'rate_limit', 3],
    ['openai', 'server_error', 'error', 3],
    ['openai', 'server_is_overloaded', 'overloaded', 3],
    ['openai', 'context_length_exceeded', 'context_overflow', 1],
    ['openai', 'invalid_prompt', 'error', 1],
    ['openai-compatible', '429', 'rate_limit', 3],
    ['openai-compatible', '502', 'error', 3],
    ['openai-compatible', '400', 'error', 1],
  ] as const)('of %s with the error %s ends as %s after %i tries', async (provider, code, failure, tries) => {
    for (const answer of FAILED[provider](code)) {
      const told = await ask(wireOf(provider), answer);
      expect(told).toMatchObject({ failure, tries, error: { status: null } });
      expect(told.error?.message).toMatch(/(?:ended its answer|too long).*It said: "told"/u);
    }
  });

  const BROKEN = ['error', 'abort', 'insufficient_system_resource'];
  it.each(BROKEN)('that stopped with %s broke off, and is asked for after growing pauses', async (reason) => {
    const timers = vi.spyOn(globalThis, 'setTimeout');
    const told = await ask(chat, choice({ content: 'x' }, reason), { retryPauseMs: 7 });
    const pauses = timers.mock.calls.map(([, ms]) => ms).filter((ms) => ms === 7 || ms === 14);
    timers.mockRestore();
    expect([told.failure, told.tries, pauses]).toEqual(['error', 3, [7, 14]]);
    expect(told.error?.message).toContain('broke off its answer for asked in every try: run again later.');
  });

  it.each([
    ['thinking that the output includes', { completion_tokens: 400, total_tokens: 410 }, 400],
    ['thinking that only the total includes', { completion_tokens: 12, total_tokens: 410 }, 400],
    ['only thinking of Gemini', { total_tokens: 410 }, 400],
    ['output without a total', { completion_tokens: 12 }, 12],
    ['output with a total that is too small', { completion_tokens: 12, total_tokens: 3 }, 12],
  ])('counts %s', async (_, usage, outputTokens) => {
    const details = { cached_tokens: 3, cache_write_tokens: 2 };
    const given = { prompt_tokens: 10, prompt_tokens_details: details, ...usage };
    const { completion } = await ask(chat, { ...choice({ content: 'x' }), usage: given });
    const counts = { inputTokens: 10, outputTokens, cachedInputTokens: 3, cacheWriteTokens: 2 };
    expect(completion?.usage).toEqual(counts);
  });

  it.each<[ProviderName, JsonObject]>([
    ['anthropic', { input_tokens: 10, output_tokens: null }],
    ['openai', { input_tokens: 10 }],
    ['openai', { input_tokens: null, output_tokens: 10 }],
    ['openai-compatible', { prompt_tokens: 10 }],
    ['openai-compatible', { prompt_tokens: null, total_tokens: 10 }],
  ])('of %s has no usage if all that is counted is %j', async (provider, usage) => {
    const wire = wireOf(provider);
    expect((await ask(wire, wire.response({ usage }))).completion?.usage).toBe(null);
  });
});

describe('a replay', () => {
  const { id: _, ...callWithoutId } = call;
  const { id: __, ...messageWithoutId } = message;
  const { encrypted_content: ___, ...stored } = reasoning;
  const result = { type: 'function_call_output', call_id: 'x', output: 'result 0' };

  it.each<[string, readonly JsonObject[], readonly JsonObject[]]>([
    ['omits reasoning without content, and ids that refer to it', [stored, call], [callWithoutId, result]],
    ['marks a turn of only reasoning as empty', [reasoning], [{ role: 'assistant', content: '(empty)' }]],
    ['omits reasoning at the end of a turn', [message, reasoning], [messageWithoutId]],
  ])('to OpenAI %s', async (_, output, replayed) => {
    const { sent } = await replayOf(responses, responding({ output }));
    expect(sent.slice(1)).toEqual(replayed);
  });

  it.each<[string, readonly JsonObject[], readonly JsonObject[]]>([
    ['omits blank text', [text(' \n')], [text('(empty)')]],
    ['omits thinking without its signature', [{ ...thinking, signature: '' }], [text('(empty)')]],
    ['appends text to thinking at its end', [thinking, text('')], [thinking, text('(empty)')]],
    ['appends text to redacted thinking at its end', [redacted], [redacted, text('(empty)')]],
  ])('to Anthropic %s', async (_, blocks, replayed) => {
    const { sent } = await replayOf(anthropic, streaming(blocks, 'max_tokens'));
    expect(sent[1]).toEqual({ role: 'assistant', content: replayed });
  });
});

describe('a request', () => {
  it('to Anthropic marks the system prompt and the last two user messages, and limits the tokens', async () => {
    const { provider, server } = await served(anthropic, streaming([text('Prose.')], 'end_turn'));
    const { message } = await provider.complete(asking());
    const user = { role: 'user' as const, text: 'More.' };
    await provider.complete(asking({ messages: [...asking().messages, message, user, message, user] }));
    const { system, messages, max_tokens } = bodyOf(server.requests[1]);
    const cached = { ...text('Be good.'), cache_control: { type: 'ephemeral' } };
    expect([system, max_tokens]).toEqual([[cached], 16_000]);
    const marks = [messages].flat().map((each) => JSON.stringify(each).includes('cache'));
    expect(marks).toEqual([false, false, true, false, true]);
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
  ])('to OpenAI for %s is not stored, sets no strict mode, asks for reasoning: %s', async (model, asked) => {
    const { provider, server } = await served(responses, responding(), { model });
    await provider.complete(asking());
    const include = asked ? { include: ['reasoning.encrypted_content'] } : {};
    expect(bodyOf(server.requests[0])).toEqual({
      ...{ model, stream: true, store: false, ...include, instructions: 'Be good.' },
      tools: asking().tools.map((tool) => ({ type: 'function', ...tool, strict: false })),
      input: [{ role: 'user', content: 'Go.' }],
    });
  });
});

const longest = 'x'.repeat(MAX_ARGUMENTS);
it.each<[string, unknown, string, ArgumentStatus?]>([
  ['missing', undefined, '{}'],
  ['null', null, '{}'],
  ['empty', '', ''],
  ['an object', { a: 1 }, '{"a":1}'],
  ['as long as is allowed', longest, longest],
  ['longer', `${longest}x`, '', 'too_long'],
])('a call is taken with arguments that are %s', (_, given, rawArguments, status = 'complete') => {
  const calls = identify([{ id: null, name: undefined, arguments: given }], false, []);
  expect(calls).toEqual([{ id: 'call_1_1', name: '', rawArguments, status }]);
});

const deep = `{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}`;

it.each<[string, string, string]>([
  ['whole', '{"a": 1}', '{"a": 1}'],
  ['none', '', '{}'],
  ['nested too deeply', deep, '{}'],
  ['an escaped unpaired surrogate', '{"a":["\\ud83d"]}', '{"a":["\uFFFD"]}'],
  ['an unpaired surrogate', '{"a":"\ud83d"}', '{"a":"\uFFFD"}'],
  ['an escaped surrogate pair', '{"a":"\\ud83d\\ude00"}', '{"a":"\u{1F600}"}'],
  ['__proto__ as a name', '{"__proto__":"\\ud83d"}', '{"__proto__":"\uFFFD"}'],
])('a call is replayed with arguments: %s', (_, raw, expected) => {
  const made = replayable({ id: 'a', name: 'x', rawArguments: raw, status: 'complete' });
  expect(made).toEqual({ id: 'a', name: 'x', input: JSON.parse(expected), arguments: expected });
});
