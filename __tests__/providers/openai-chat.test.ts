import { describe, expect, it } from 'vitest';
import { asking, wireOf } from '../support/fakes/model/wires.ts';
import { ask, bodyOf, served } from './served.ts';

const chat = wireOf('openai-compatible');
const complete = async (answer: object) => (await served(chat, answer)).provider.complete(asking());
const choice = (message: object, finish_reason?: string) => ({ choices: [{ message, finish_reason }] });

describe('an answer', () => {
  it('E18 with a refusal is a refusal with its text, although the finish reason is ordinary', async () => {
    expect(await complete(choice({ content: null, refusal: 'I will not.' }, 'stop'))).toMatchObject({
      stopReason: 'refusal',
      message: { text: 'I will not.' },
    });
  });

  it.each([
    ['content_filter', 'refusal'],
    ['content_filter: PROHIBITED_CONTENT', 'refusal'],
    ['SAFETY', 'refusal'],
    ['MAX_TOKENS', 'length'],
    ['model_length', 'length'],
    ['function_call_filter: MALFORMED_FUNCTION_CALL', 'end'],
    ['STOP', 'end'],
    [undefined, 'end'],
  ])('E18 with the finish reason %s ends as %s', async (reason, expected) => {
    expect((await complete(choice({ role: 'assistant' }, reason))).stopReason).toBe(expected);
  });

  const BROKEN = ['error', 'abort', 'insufficient_system_resource'];
  it.each(BROKEN)('with the finish reason %s broke off', async (reason) => {
    const told = await ask(chat, choice({ content: 'x' }, reason));
    expect(told).toMatchObject({ reason: 'provider_error', tries: 3 });
    expect(told.error?.message).toContain('broke off its answer');
  });

  it.each([
    [429, 'provider_rate_limit', 3],
    [502, 'provider_error', 3],
    [400, 'provider_error', 1],
  ])('with an error of the code %i of a gateway ends as %s after %i tries', async (code, reason, tries) => {
    const error = { message: 'Provider returned error', code };
    const told = await ask(chat, { error });
    expect(told).toMatchObject({ reason, tries });
    expect(told.error?.message).toContain('ended its answer with an error for asked. It said: "Provider');
  });

  const OTHERS = ['{"hello":"world"}', '[]', 'null', '"x"', '{"choices":[]}', '{"choices":[{}]}'];
  it.each(OTHERS)('that is %s is no completion', async (text) => {
    const told = await ask(chat, JSON.parse(text));
    expect(told).toMatchObject({ reason: 'provider_error', tries: 1 });
    expect(told.error?.message).toContain('not a completion. Check `base-url`, which often ends in /v1');
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
    const answer = { ...choice({ content: 'x' }), usage: given };
    const counts = { inputTokens: 10, outputTokens, cachedInputTokens: 3, cacheWriteTokens: 2 };
    expect((await complete(answer)).usage).toEqual(counts);
  });
});

it('a request to Gemini has only fields that it knows', async () => {
  const settings = { maxOutputTokens: 9, reasoningEffort: 'low' };
  const { provider, server } = await served(wireOf('gemini'), choice({ content: 'x' }), settings);
  await provider.complete(asking({ toolChoice: { tool: 'shell' } }));
  const fields = Object.keys(bodyOf(server.requests[0])).sort();
  expect(fields.join()).toBe('max_tokens,messages,model,reasoning_effort,tool_choice,tools');
});
