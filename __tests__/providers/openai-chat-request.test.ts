import { describe, expect, it } from 'vitest';
import { objectOf } from '../../src/providers/tool-calls.ts';
import { asking, providerAt, wireOf } from '../support/fakes/model/wires.ts';
import { sendJson } from '../support/fakes/raw-server.ts';
import { whole } from './chat-server.ts';
import { raw } from './conformance-server.ts';

const answer = '{"choices":[{"message":{"content":"x"}}]}';

describe('a request', () => {
  it('sends max_tokens to a compatible server and asks for usage only when it streams', async () => {
    const fields = async (stream: 'on' | 'off') => {
      const server = await raw((response) => sendJson(response, answer));
      await (await providerAt(whole, server.url, { stream, maxOutputTokens: 9 })).complete(asking());
      const { messages: _, tools: __, ...rest } = objectOf(JSON.parse(server.requests[0]?.raw ?? '{}'));
      return rest;
    };
    expect(await fields('off')).toEqual({ model: 'asked', max_tokens: 9 });
    expect(await fields('on')).toEqual({
      model: 'asked',
      max_tokens: 9,
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  it('sends Gemini only the fields that it knows', async () => {
    const server = await raw((response) => sendJson(response, answer));
    const settings = { maxOutputTokens: 9, reasoningEffort: 'low' };
    const provider = await providerAt(wireOf('gemini', 'streamed'), server.url, settings);
    await provider.complete(asking({ toolChoice: { tool: 'shell' } }));
    const { messages: _, tools: __, ...rest } = objectOf(JSON.parse(server.requests[0]?.raw ?? '{}'));
    expect(rest).toEqual({
      model: 'asked',
      stream: true,
      stream_options: { include_usage: true },
      max_tokens: 9,
      reasoning_effort: 'low',
      tool_choice: { type: 'function', function: { name: 'shell' } },
    });
  });

  it("E16 reports Google's 400 for an invalid key as an auth failure", async () => {
    // As quoted in an issue of continuedev/continue (8516), trimmed.
    const error = {
      code: 400,
      message: 'API key not valid. Please pass a valid API key.',
      status: 'INVALID_ARGUMENT',
      details: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' }],
    };
    const server = await raw((response) => sendJson(response, JSON.stringify([{ error }]), 400));
    const provider = await providerAt(wireOf('gemini', 'whole'), server.url);
    await expect(provider.complete(asking())).rejects.toMatchObject({
      failure: 'auth',
      status: 400,
      message: expect.stringContaining('the input api-key'),
    });
  });
});
