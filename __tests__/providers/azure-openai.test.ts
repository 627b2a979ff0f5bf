import { describe, expect, it } from 'vitest';
import type { ProviderSettings } from '../../src/providers/registry.ts';
import { objectOf } from '../../src/providers/tool-calls.ts';
import { asking, providerAt, wireOf } from '../support/fakes/model/wires.ts';
import { sendJson } from '../support/fakes/raw-server.ts';
import { raw } from './conformance-server.ts';

const answer = '{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}]}';

async function requestTo(tail: string, settings: Partial<ProviderSettings> = {}) {
  const server = await raw((response) => sendJson(response, answer));
  const made = { baseUrl: `${server.url}${tail}`, ...settings };
  await (await providerAt(wireOf('azure-openai', 'whole'), server.url, made)).complete(asking());
  const [request] = server.requests;
  const { path = '', raw: text = '{}' } = request ?? {};
  return { path, body: objectOf(JSON.parse(text)) };
}

describe('createAzureOpenAi', () => {
  const deployment = '/openai/deployments/asked/chat/completions';

  it.each([
    ['', `${deployment}?api-version=2024-10-21`],
    ['/', `${deployment}?api-version=2024-10-21`],
    ['/openai', `${deployment}?api-version=2024-10-21`],
    ['/?api-version=2025-04-01-preview', `${deployment}?api-version=2025-04-01-preview`],
    ['/gateway', `/gateway${deployment}?api-version=2024-10-21`],
    [
      '/openai/deployments/own/chat/completions?api-version=2025-01-01-preview',
      '/openai/deployments/own/chat/completions?api-version=2025-01-01-preview',
    ],
    ['/openai/v1', '/openai/v1/chat/completions'],
    ['/openai/v1?api-version=preview', '/openai/v1/chat/completions?api-version=preview'],
  ])('builds the endpoint for the base URL path %j', async (tail, path) => {
    expect((await requestTo(tail)).path).toBe(path);
  });

  it('escapes the name of the deployment', async () => {
    const { path } = await requestTo('', { model: '../../other?x=1#' });
    expect(path).toBe(
      '/openai/deployments/..%2F..%2Fother%3Fx%3D1%23/chat/completions?api-version=2024-10-21',
    );
  });

  it('limits the response with max_completion_tokens', async () => {
    const { body } = await requestTo('', { maxOutputTokens: 9 });
    expect(body).toMatchObject({ max_completion_tokens: 9 });
    expect(body).not.toHaveProperty('max_tokens');
  });

  it('E18 reports a prompt rejected by the content filter as a refusal, without a retry', async () => {
    const filtered = { jailbreak: { filtered: true, detected: true } };
    const innererror = { code: 'ResponsibleAIPolicyViolation', content_filter_result: filtered };
    const error = { message: 'Filtered.', type: null, param: 'prompt', code: 'content_filter', innererror };
    const server = await raw((response) => sendJson(response, JSON.stringify({ error }), 400));
    for (const kind of ['whole', 'streamed'] as const) {
      const provider = await providerAt(wireOf('azure-openai', kind), server.url);
      expect(await provider.complete(asking())).toEqual({
        message: { role: 'assistant', text: '', toolCalls: [], native: expect.anything() },
        stopReason: 'refusal',
        usage: null,
        model: 'asked',
      });
    }
    expect(server.requests).toHaveLength(2);
  });
});
