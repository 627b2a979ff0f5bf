/** Contradictory responses that no correct server sends: they are rejected as a whole. */
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
const call = (text: string): JsonObject => ({
  ...{ index: 0, id: 'a', type: 'function' },
  function: { name: 'structured_output', arguments: text },
});
const rest = (text: string): JsonObject => ({ index: 0, function: { arguments: text } });
const part = (calls: readonly JsonObject[], finish_reason: string | null = null, more: JsonObject = {}) => ({
  choices: [
    { index: 0, delta: calls.length === 0 ? {} : { tool_calls: [...calls] }, finish_reason, ...more },
  ],
});
const all = part([call('{"passed":true}')]);
const usage: JsonObject = { choices: [], usage: { prompt_tokens: 1, completion_tokens: 1 } };

describe('a stream of chat completions', () => {
  it.each([
    ['an error after the end', [all, part([], 'tool_calls'), { error: { message: 'no', code: 400 } }]],
    ['an error of the choice', [all, part([], 'tool_calls', { error: { message: 'no' } })]],
    ['an end by length and another end', [all, part([], 'length'), part([], 'tool_calls')]],
    ['an end and another end by length', [all, part([], 'tool_calls'), part([], 'length')]],
    ['an end by a filter and another end', [all, part([], 'content_filter'), part([], 'stop')]],
    ['a failure and an end', [all, part([], 'error'), part([], 'tool_calls')]],
    ['arguments after the end', [part([call('{"pass')]), part([], 'tool_calls'), part([rest('ed":true}')])]],
    [
      'arguments after the end and another end',
      [part([call('{"pass')], 'stop'), part([rest('ed":true}')], 'stop')],
    ],
    ['a call after the end', [part([], 'stop'), all]],
    ['another choice', [part([call('{"pass')]), part([rest('ed":true}')], 'tool_calls', { index: 1 })]],
    ['only another choice', [part([call('{"passed":true}')], 'tool_calls', { index: 1 })]],
    ['two choices', [{ choices: [...all.choices, { index: 0, delta: {} }] }, part([], 'tool_calls')]],
  ])('is rejected with %s', async (_, chunks) => {
    expect(await completeWith('openai-compatible', chunks)).toBe('refused');
  });

  it.each([
    ['in one chunk', [part([call('{"passed":true}')], 'tool_calls')]],
    ['with stop in every chunk', [part([], 'stop'), part([call('{"passed":true}')], 'stop')]],
    ['with two finish reasons for one end', [all, part([], 'stop'), part([], 'tool_calls'), usage]],
    [
      'without an index',
      [{ choices: [{ delta: { tool_calls: [call('{"passed":true}')] }, finish_reason: 'stop' }] }],
    ],
    ['with a null error', [all, { ...part([], 'tool_calls', { error: null }), error: null }]],
    ['with an empty chunk after the end', [all, part([], 'tool_calls'), part([]), usage]],
  ])('is accepted %s', async (_, chunks) => {
    expect(await completeWith('openai-compatible', chunks)).toEqual(accepted);
  });
});

describe('a chat completion body', () => {
  const choice = (more: JsonObject = {}): JsonObject => ({
    ...{ index: 0, message: { role: 'assistant', tool_calls: [call('{"passed":true}')] } },
    ...{ finish_reason: 'tool_calls', ...more },
  });
  it.each([
    ['an error beside its choices', { choices: [choice()], error: { message: 'no' } }],
    ['an error that is a string', { choices: [choice()], error: 'no' }],
    ['an error of its choice', { choices: [choice({ error: { message: 'no' } })] }],
    ['another choice first', { choices: [choice({ index: 1 }), choice()] }],
    ['a failure as its end', { choices: [choice({ finish_reason: 'error' })] }],
  ])('is rejected with %s', async (_, body) => {
    expect(await completeWith('openai-compatible', body)).toBe('refused');
  });

  it.each([
    ['with a null error', { choices: [choice({ error: null })], error: null }],
    ['without an end', { choices: [choice({ finish_reason: null })] }],
    ['without an index', { choices: [choice({ index: null })] }],
  ])('is accepted %s', async (_, body) => {
    expect(await completeWith('openai-compatible', body)).toEqual(accepted);
  });
});

describe('an Anthropic message', () => {
  const start: JsonObject = { type: 'message_start', message: { role: 'assistant', content: [] } };
  const tool: JsonObject = { type: 'tool_use', id: 'a', name: 'structured_output', input: {} };
  const block: JsonObject = { type: 'content_block_start', index: 0, content_block: tool };
  const json = (text: string): JsonObject => ({
    ...{ type: 'content_block_delta', index: 0 },
    delta: { type: 'input_json_delta', partial_json: text },
  });
  const end = (stop_reason: string): JsonObject => ({ type: 'message_delta', delta: { stop_reason } });
  const stop: JsonObject = { type: 'message_stop' };
  const input = json('{"passed":true}');

  it.each([
    [
      'an error after the end',
      [start, block, input, end('tool_use'), { type: 'error', error: { type: 'x' } }],
    ],
    ['arguments after the end', [start, block, json('{"pass'), end('tool_use'), json('ed":true}'), stop]],
    ['two ends', [start, block, input, end('max_tokens'), end('tool_use'), stop]],
    ['two messages', [start, block, json('{"pass'), start, json('ed":true}'), end('tool_use'), stop]],
  ])('is rejected with %s', async (_, events) => {
    expect(await completeWith('anthropic', events)).toBe('refused');
  });

  it('is rejected with an error beside its content', async () => {
    const content: JsonObject[] = [{ ...tool, input: { passed: true } }];
    const body = { content, stop_reason: 'tool_use' };
    expect(await completeWith('anthropic', body)).toEqual(accepted);
    expect(await completeWith('anthropic', { ...body, error: { message: 'no' } })).toBe('refused');
  });

  it('is accepted when its end is sent twice', async () => {
    expect(
      await completeWith('anthropic', [start, block, input, end('tool_use'), end('tool_use'), stop]),
    ).toEqual(accepted);
  });
});

describe('a response of the Responses API', () => {
  const item: JsonObject = {
    ...{ type: 'function_call', call_id: 'a', name: 'structured_output', arguments: '{"passed":true}' },
    status: 'completed',
  };
  const response: JsonObject = { object: 'response', status: 'completed', error: null, output: [item] };
  const completed: JsonObject = { type: 'response.completed', response };

  it('is rejected with an error before its end or beside its output', async () => {
    expect(await completeWith('openai', [completed])).toEqual(accepted);
    expect(await completeWith('openai', [{ type: 'error', message: 'no', code: 'x' }, completed])).toBe(
      'refused',
    );
    expect(await completeWith('openai', response)).toEqual(accepted);
    expect(await completeWith('openai', { ...response, error: { code: 'x', message: 'no' } })).toBe(
      'refused',
    );
  });
});
