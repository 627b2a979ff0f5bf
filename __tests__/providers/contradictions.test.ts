/** Responses that contradict themselves, which no correct server sends: they are rejected as a whole. */
import { describe, expect, it } from 'vitest';
import type { ProviderName } from '../../src/providers/registry.ts';
import { isArray } from '../../src/text/json.ts';
import type { JsonObject } from '../../src/types.ts';
import { asking, providerAt, wireOf } from '../support/fakes/model/wires.ts';
import { sendEvents, sendJson } from '../support/fakes/raw-server.ts';
import { raw } from './conformance-server.ts';

/** The calls of a response, or `refused` when the response was rejected. */
async function completeWith(
  name: ProviderName,
  answer: JsonObject | readonly JsonObject[],
): Promise<unknown> {
  const server = await raw((response) =>
    isArray(answer) ? sendEvents(response, answer) : sendJson(response, JSON.stringify(answer)),
  );
  const provider = await providerAt(wireOf(name, isArray(answer) ? 'streamed' : 'whole'), server.url);
  try {
    const { message } = await provider.complete(asking());
    return message.toolCalls.map(({ name: called, rawArguments, status }) => [called, rawArguments, status]);
  } catch (error) {
    return error instanceof Error && error.name === 'ProviderError' ? 'refused' : error;
  }
}

const accepted = [['structured_output', '{"passed":true}', 'complete']];

/** Parts of chat completions, streamed and whole. */
const call = (text: string): JsonObject => ({
  index: 0,
  id: 'a',
  type: 'function',
  function: { name: 'structured_output', arguments: text },
});
const chunk = (calls: readonly JsonObject[], finish_reason: string | null = null, more: JsonObject = {}) => ({
  choices: [
    { index: 0, delta: calls.length === 0 ? {} : { tool_calls: [...calls] }, finish_reason, ...more },
  ],
});
const all = chunk([call('{"passed":true}')]);
const begun = chunk([call('{"pass')]);
const rest = { index: 0, function: { arguments: 'ed":true}' } };
const ended = chunk([], 'tool_calls');
const choice = (more: JsonObject = {}): JsonObject => ({
  index: 0,
  message: { role: 'assistant', tool_calls: [call('{"passed":true}')] },
  finish_reason: 'tool_calls',
  ...more,
});

/** Parts of Anthropic's messages. */
const start: JsonObject = { type: 'message_start', message: { role: 'assistant', content: [] } };
const tool: JsonObject = { type: 'tool_use', id: 'a', name: 'structured_output', input: {} };
const block: JsonObject = { type: 'content_block_start', index: 0, content_block: tool };
const json = (partial_json: string): JsonObject => ({
  type: 'content_block_delta',
  index: 0,
  delta: { type: 'input_json_delta', partial_json },
});
const end = (stop_reason: string): JsonObject => ({ type: 'message_delta', delta: { stop_reason } });
const stop: JsonObject = { type: 'message_stop' };
const input = json('{"passed":true}');
const [half, other] = [json('{"pass'), json('ed":true}')];
const body = { content: [{ ...tool, input: { passed: true } }], stop_reason: 'tool_use' };

/** Parts of the Responses API. */
const response: JsonObject = {
  object: 'response',
  status: 'completed',
  error: null,
  output: [
    {
      type: 'function_call',
      call_id: 'a',
      name: 'structured_output',
      arguments: '{"passed":true}',
      status: 'completed',
    },
  ],
};
const completed: JsonObject = { type: 'response.completed', response };
const error = { code: 'x', message: 'no' };
const failed = { type: 'error', error };

describe('a response', () => {
  it.each<[string, ProviderName, JsonObject | readonly JsonObject[]]>([
    ['an error after the end', 'openai-compatible', [all, ended, { error }]],
    ['an end by length and another end', 'openai-compatible', [all, chunk([], 'length'), ended]],
    ['arguments after the end', 'openai-compatible', [begun, ended, chunk([rest])]],
    ['another choice', 'openai-compatible', [begun, chunk([rest], 'tool_calls', { index: 1 })]],
    ['an error beside its choices', 'openai-compatible', { choices: [choice()], error }],
    ['an error event after its end', 'anthropic', [start, block, input, end('tool_use'), failed]],
    ['input after the end', 'anthropic', [start, block, half, end('tool_use'), other, stop]],
    ['two messages', 'anthropic', [start, block, half, start, other, end('tool_use'), stop]],
    ['an error beside its content', 'anthropic', { ...body, error }],
    ['an error before its end', 'openai', [{ type: 'error', ...error }, completed]],
    ['an error beside its output', 'openai', { ...response, error }],
  ])('with %s is rejected: %s', async (_, provider, answer) => {
    expect(await completeWith(provider, answer)).toBe('refused');
  });

  it.each<[string, ProviderName, JsonObject | readonly JsonObject[]]>([
    ['in one chunk', 'openai-compatible', [chunk([call('{"passed":true}')], 'tool_calls')]],
    ['with a null error', 'openai-compatible', [all, { ...chunk([], 'stop', { error: null }), error: null }]],
    ['with an empty chunk after the end', 'openai-compatible', [all, ended, chunk([])]],
    ['whose end is sent twice', 'anthropic', [start, block, input, end('tool_use'), end('tool_use'), stop]],
    ['in one body', 'anthropic', body],
    ['in one event', 'openai', [completed]],
    ['in one response', 'openai', response],
  ])('%s is accepted: %s', async (_, provider, answer) => {
    expect(await completeWith(provider, answer)).toEqual(accepted);
  });
});
