import { expect, it } from 'vitest';
import type { JsonObject } from '../../src/types.ts';
import { asking, wireOf } from '../support/fakes/model/wires.ts';
import { ask, bodyOf, replayOf, served } from './served.ts';

const wire = wireOf('anthropic');
const mark = { cache_control: { type: 'ephemeral' } };
const thinking = { type: 'thinking', thinking: 'Hm. Well.', signature: 'c2ln' };
const redacted = { type: 'redacted_thinking', data: 'b3BhcXVl' };
const use = { type: 'tool_use', id: 'x', name: 'shell', input: { command: 'ls' } };
const text = (words: string) => ({ type: 'text', text: words });
const start: JsonObject = { type: 'message_start', message: { content: [] } };

/** A stream whose blocks arrive whole, as some compatible servers send them. */
const stream = (blocks: readonly JsonObject[], stop_reason = 'tool_use') => [
  start,
  ...blocks.map((content_block, index) => ({ type: 'content_block_start', index, content_block })),
  { type: 'message_delta', delta: { stop_reason } },
  { type: 'message_stop' },
];

it.each([
  ['end_turn', 'tool_calls'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['pause_turn', 'pause'],
  ['refusal', 'refusal'],
])('stop_reason %s becomes %s', async (reason, expected) => {
  const { completion } = await ask(wire, stream([use], reason));
  const status = expected === 'tool_calls' ? 'complete' : 'truncated';
  expect(completion).toMatchObject({
    stopReason: expected,
    message: { toolCalls: [{ status }] },
    usage: null,
  });
});

it.each<[string, readonly JsonObject[], readonly JsonObject[]]>([
  ['omits blank text', [text(' \n')], [text('(empty)')]],
  ['omits thinking without its signature', [{ ...thinking, signature: '' }], [text('(empty)')]],
  ['appends text to thinking at its end', [thinking, text('')], [thinking, text('(empty)')]],
  ['appends text to redacted thinking at its end', [redacted], [redacted, text('(empty)')]],
])('a replay %s', async (_, content, replayed) => {
  const { sent } = await replayOf(wire, stream(content, 'max_tokens'));
  expect(sent[1]).toEqual({ role: 'assistant', content: replayed });
});

it('a request marks the system prompt and the last two user messages, and limits the tokens', async () => {
  const { provider, server } = await served(wire, stream([text('Prose.')], 'end_turn'));
  const { message } = await provider.complete(asking());
  const user = { role: 'user' as const, text: 'More.' };
  await provider.complete(asking({ messages: [...asking().messages, message, user, message, user] }));
  const { system, messages, max_tokens } = bodyOf(server.requests[1]);
  expect([system, max_tokens]).toEqual([[{ ...text('Be good.'), ...mark }], 16_000]);
  const marks = Array.isArray(messages) ? messages.map((each) => JSON.stringify(each).includes('cache')) : [];
  expect(marks).toEqual([false, false, true, false, true]);
});

it.each([
  ['overloaded_error', 'provider_overloaded', 3],
  ['api_error', 'provider_error', 3],
  ['rate_limit_error', 'provider_rate_limit', 3],
  ['invalid_request_error', 'provider_error', 1],
])('%s inside a stream ends as %s after %i tries', async (type, reason, tries) => {
  const told = await ask(wire, [start, { type: 'error', error: { type, message: 'told' } }]);
  expect(told).toMatchObject({ reason, tries, error: { status: null } });
  expect(told.error?.message).toContain('ended its answer with an error for asked. It said: "told".');
});
