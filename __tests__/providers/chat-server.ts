/** A server of the Chat Completions API with scripted responses, and parts of responses. */
import type { Provider } from '../../src/providers/provider.ts';
import { objectOf } from '../../src/providers/tool-calls.ts';
import { answered, asking, providerAt, wireOf } from '../support/fakes/model/wires.ts';
import { type RawServer, sendEvents, sendJson } from '../support/fakes/raw-server.ts';
import { raw } from './conformance-server.ts';

export const whole = wireOf('openai-compatible', 'whole');
export const streamed = wireOf('openai-compatible', 'streamed');
/** A provider whose server responds to every request with this body or these chunks. */
export async function serving(
  answer: string | readonly unknown[],
): Promise<{ provider: Provider; server: RawServer }> {
  const server = await raw((response) =>
    typeof answer === 'string' ? sendJson(response, answer) : sendEvents(response, answer),
  );
  const wire = typeof answer === 'string' ? whole : streamed;
  return { provider: await providerAt(wire, server.url), server };
}

export const chunk = (delta: object, finish_reason: string | null = null) => ({
  choices: [{ index: 0, delta, finish_reason }],
});
export const part = (fields: object) => chunk({ tool_calls: [fields] });

export async function replay(provider: Provider, server: RawServer) {
  const first = await provider.complete(asking());
  await provider.complete(asking({ messages: answered(asking().messages, first) }));
  return { first, sent: objectOf(JSON.parse(server.requests[1]?.raw ?? '{}'))['messages'] };
}
