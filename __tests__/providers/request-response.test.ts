import { describe, expect, it } from 'vitest';
import { answered, asking, providerAt, wireOf } from '../support/fakes/model/wires.ts';
import { sendEvents, sendJson } from '../support/fakes/raw-server.ts';
import { raw } from './conformance-server.ts';

describe('hostile responses', () => {
  it('rejects a stream with many errors after its end without blocking the thread', async () => {
    const wire = wireOf('openai-compatible', 'streamed');
    const end = { choices: [{ index: 0, delta: { content: 'x' }, finish_reason: 'stop' }] };
    const errors = Array.from({ length: 60_000 }, () => ({ error: 1 }));
    const server = await raw((response) => sendEvents(response, [end, ...errors]));
    const pending = (await providerAt(wire, server.url)).complete(asking());
    await expect(pending).rejects.toMatchObject({
      message: expect.stringContaining('broke off in every try'),
    });
    expect(server.requests).toHaveLength(3);
  });

  it('reads a body with thousands of calls up to the size limit of one body', async () => {
    const wire = wireOf('anthropic', 'whole');
    const call = { type: 'tool_use', name: 'x', input: {} };
    const content = Array.from({ length: 4_000 }, (_, n) => ({ ...call, id: `t${n}` }));
    const server = await raw((response) =>
      sendJson(response, JSON.stringify({ content, stop_reason: 'tool_use' })),
    );
    const { message } = await (await providerAt(wire, server.url)).complete(asking());
    expect(new Set(message.toolCalls.map((call) => call.status))).toEqual(new Set(['complete', 'malformed']));
    expect(message.toolCalls[0]).toMatchObject({ rawArguments: '{}', status: 'complete' });
    expect(message.toolCalls.at(-1)).toMatchObject({ rawArguments: '', status: 'malformed' });
  });

  it.each(['whole', 'streamed'] as const)('rejects a deeply nested response: %s', async (kind) => {
    const wire = wireOf('openai-compatible', kind);
    const said = `{"content":"x","odd":${'['.repeat(20_000)}${']'.repeat(20_000)}}`;
    const choices = `{"choices":[{"message":${said},"delta":${said},"finish_reason":"stop"}]}`;
    const server = await raw((response) =>
      kind === 'whole' ? sendJson(response, choices) : response.end(`data: ${choices}\n\n`),
    );
    const pending = (await providerAt(wire, server.url)).complete(asking());
    await expect(pending).rejects.toMatchObject({
      failure: 'error',
      message: expect.stringContaining('levels'),
    });
    expect(server.requests).toHaveLength(1);
  });

  it('can send the next request after deeply nested arguments', async () => {
    const wire = wireOf('anthropic', 'whole');
    const input = `{"a":${'['.repeat(1_500)}${']'.repeat(1_500)}}`;
    const call = `{"type":"tool_use","id":"t","name":"x","input":${input}}`;
    const server = await raw((response) =>
      sendJson(response, `{"content":[${call}],"stop_reason":"tool_use"}`),
    );
    const provider = await providerAt(wire, server.url);
    const first = await provider.complete(asking());
    expect(first.message.toolCalls).toMatchObject([{ rawArguments: input, status: 'complete' }]);
    await provider.complete(asking({ messages: answered(asking().messages, first) }));
    expect(JSON.parse(server.requests[1]?.raw ?? '')).toMatchObject({
      messages: [{}, { content: [{ type: 'tool_use', id: 't', input: {} }] }, {}],
    });
  });
});

describe('an error inside a response', () => {
  it.each([
    [429, 'rate_limit', 3],
    [408, 'error', 3],
    [502, 'error', 3],
    [400, 'error', 1],
  ])('a gateway reports %i in a body of status 200', async (code, failure, requests) => {
    const wire = wireOf('openai-compatible', 'whole');
    const server = await raw((response) =>
      sendJson(response, JSON.stringify({ error: { message: 'Provider returned error', code } })),
    );
    const pending = (await providerAt(wire, server.url)).complete(asking());
    await expect(pending).rejects.toMatchObject({ failure });
    expect(server.requests).toHaveLength(requests);
  });
});
