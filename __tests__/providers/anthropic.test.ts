import Anthropic from '@anthropic-ai/sdk';
import { describe, expect, it } from 'vitest';
import type { Provider } from '../../src/providers/provider.ts';
import type { ProviderSettings } from '../../src/providers/registry.ts';
import { objectOf } from '../../src/providers/tool-calls.ts';
import type { JsonObject } from '../../src/types.ts';
import { answered, asking, providerAt, wireOf } from '../support/fakes/model/wires.ts';
import { type RawServer, sendEvents, sendJson } from '../support/fakes/raw-server.ts';
import { raw } from './conformance-server.ts';

const whole = wireOf('anthropic', 'whole');
const streamed = wireOf('anthropic', 'streamed');
async function serving(
  answer: JsonObject | readonly unknown[],
  settings: Partial<ProviderSettings> = {},
): Promise<{ provider: Provider; server: RawServer }> {
  const isStream = Array.isArray(answer);
  const server = await raw((response) =>
    isStream ? sendEvents(response, answer) : sendJson(response, JSON.stringify(answer)),
  );
  const wire = isStream ? streamed : whole;
  return { provider: await providerAt(wire, server.url, settings), server };
}

const sentBody = (server: RawServer, n: number): JsonObject =>
  objectOf(JSON.parse(server.requests[n]?.raw ?? '{}'));
const mark = { cache_control: { type: 'ephemeral' } };

const thinking = { type: 'thinking', thinking: 'Hm. Well.', signature: 'c2ln' };
const redacted = { type: 'redacted_thinking', data: 'b3BhcXVl' };
const input = { command: 'ls' };
const use = { type: 'tool_use', id: 'x', name: 'shell', input, caller: { type: 'direct' } };
const cited = { type: 'text', text: 'Prose.', citations: [{ n: 1 }] };

const cached = { cache_read_input_tokens: 7, cache_creation_input_tokens: 11 };
const begun = { model: 'served', content: [], usage: { input_tokens: 5, ...cached, output_tokens: 1 } };

const events: readonly unknown[] = [
  { type: 'message_start', message: begun },
  { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Hm. ' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Well.' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'c2ln' } },
  { type: 'content_block_start', index: 1, content_block: redacted },
  { type: 'content_block_start', index: 2, content_block: { type: 'text', text: '', citations: [] } },
  { type: 'content_block_delta', index: 2, delta: { type: 'citations_delta', citation: { n: 1 } } },
  { type: 'content_block_delta', index: 2, delta: { type: 'text_delta', text: 'Prose.' } },
  { type: 'content_block_start', index: 3, content_block: { ...use, input: {} } },
  { type: 'content_block_delta', index: 3, delta: { type: 'input_json_delta', partial_json: '{"command"' } },
  { type: 'content_block_delta', index: 3, delta: { type: 'input_json_delta', partial_json: ': "ls"}' } },
  { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 30 } },
  { type: 'message_stop' },
];

const message = {
  model: 'served',
  content: [thinking, redacted, cited, use],
  stop_reason: 'tool_use',
  usage: { input_tokens: 5, ...cached, output_tokens: 30 },
};

it.each([
  ['whole', message],
  ['streamed', events],
])('a %s response is replayed verbatim, with thinking, before the tool results', async (_, answer) => {
  const { provider, server } = await serving(answer);
  const first = await provider.complete(asking());
  await provider.complete(asking({ messages: answered(asking().messages, first) }));
  expect(sentBody(server, 1)['messages']).toEqual([
    { role: 'user', content: [{ type: 'text', text: 'Go.', ...mark }] },
    { role: 'assistant', content: message.content },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'x', content: 'result 0', ...mark }] },
  ]);
});

it.each([
  ['end_turn', 'tool_calls'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['pause_turn', 'pause'],
  ['refusal', 'refusal'],
])('stop_reason %s becomes %s', async (stop_reason, expected) => {
  const { provider } = await serving({ ...message, stop_reason });
  const completion = await provider.complete(asking());
  const status = expected === 'tool_calls' ? 'complete' : 'truncated';
  expect([completion.stopReason, completion.message.toolCalls[0]?.status]).toEqual([expected, status]);
});

const empty = { type: 'text', text: '(empty)' };
it.each<[string, readonly JsonObject[], readonly JsonObject[]]>([
  ['omits blank text', [{ type: 'text', text: ' \n' }], [empty]],
  ['omits thinking without its signature', [{ ...thinking, signature: '' }], [empty]],
  ['appends text to thinking at its end', [thinking, { type: 'text', text: '' }], [thinking, empty]],
  ['appends text to redacted thinking at its end', [redacted], [redacted, empty]],
])('a replay %s', async (_, content, replayed) => {
  const { provider, server } = await serving({ ...message, content, stop_reason: 'max_tokens' });
  const first = await provider.complete(asking());
  const again = { role: 'user', text: 'Again.' } as const;
  await provider.complete(asking({ messages: [...asking().messages, first.message, again] }));
  expect(sentBody(server, 1)['messages']).toEqual([
    { role: 'user', content: [{ type: 'text', text: 'Go.', ...mark }] },
    { role: 'assistant', content: replayed },
    { role: 'user', content: [{ type: 'text', text: 'Again.', ...mark }] },
  ]);
});

describe('a request', () => {
  it('marks the system prompt and the last two user messages for the cache', async () => {
    const { provider, server } = await serving({ ...message, content: [cited] });
    const { message: turn } = await provider.complete(asking());
    const user = { role: 'user' as const, text: 'More.' };
    await provider.complete(asking({ messages: [...asking().messages, turn, user, turn, user] }));
    const { system, messages } = sentBody(server, 1);
    expect(system).toEqual([{ type: 'text', text: 'Be good.', ...mark }]);
    expect(JSON.stringify(messages).split('cache_control')).toHaveLength(3);
    expect(JSON.stringify(Array.isArray(messages) && messages[0])).not.toContain('cache_control');
  });

  it.each([
    ['claude-3-haiku-20240307', 4096],
    ['claude-3-5-sonnet-20241022', 8192],
    ['claude-sonnet-5-5', 16_000],
  ])('asks %s for at most %i tokens by default', async (model, expected) => {
    const { provider, server } = await serving(message, { model });
    await provider.complete(asking());
    const limited = await serving(message, { model, maxOutputTokens: 7 });
    await limited.provider.complete(asking());
    const limits = [server, limited.server].map((each) => sentBody(each, 0)['max_tokens']);
    expect(limits).toEqual([expected, 7]);
  });

  it('forces a tool by its name, and only when asked', async () => {
    const { provider, server } = await serving(message);
    await provider.complete(asking());
    await provider.complete(asking({ toolChoice: { tool: 'shell' } }));
    const choices = [0, 1].map((n) => sentBody(server, n)['tool_choice']);
    expect(choices).toEqual([undefined, { type: 'tool', name: 'shell' }]);
  });

  it('accepts a base URL that ends with /v1', async () => {
    const server = await raw((response) => sendJson(response, JSON.stringify(message)));
    for (const tail of ['/v1', '/v1/', '/', '/gateway/v1']) {
      await (await providerAt(whole, server.url, { baseUrl: `${server.url}${tail}` })).complete(asking());
    }
    const path = '/v1/messages';
    expect(server.requests.map((request) => request.path)).toEqual([path, path, path, `/gateway${path}`]);
  });

  it('sends the same anthropic-version as the SDK', async () => {
    const { provider, server } = await serving(message);
    await provider.complete(asking());
    const sdk = new Anthropic({ apiKey: 'k', baseURL: server.url, logLevel: 'off', openTelemetry: false });
    await sdk.messages.create({ model: 'm', max_tokens: 1, messages: [] });
    const [ours, theirs] = server.requests.map((request) => request.headers['anthropic-version']);
    expect(ours).toBe(theirs);
  });
});

it.each([
  ['overloaded_error', 'overloaded', 3],
  ['rate_limit_error', 'rate_limit', 1],
  ['invalid_request_error', 'error', 1],
])('%s inside a stream ends as %s after %i tries', async (type, expected, tries) => {
  const { provider, server } = await serving([
    events[0],
    { type: 'error', error: { type, message: 'told' } },
  ]);
  await expect(provider.complete(asking())).rejects.toMatchObject({ failure: expected, status: null });
  expect(server.requests).toHaveLength(tries);
});
