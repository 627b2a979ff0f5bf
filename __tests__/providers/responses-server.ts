/** A server of the Responses API with scripted responses, and parts of responses. */
import type { Provider } from '../../src/providers/provider.ts';
import type { ProviderSettings } from '../../src/providers/registry.ts';
import { objectOf } from '../../src/providers/tool-calls.ts';
import type { JsonObject } from '../../src/types.ts';
import { providerAt, wireOf } from '../support/fakes/model/wires.ts';
import { type RawServer, sendEvents, sendJson } from '../support/fakes/raw-server.ts';
import { raw } from './conformance-server.ts';

type Answer = JsonObject | readonly JsonObject[];

/** A provider whose server returns these responses in turn, repeating the last one: bodies, or the events of streams. */
export async function serving(
  answers: readonly Answer[],
  settings: Partial<ProviderSettings> = {},
): Promise<{ provider: Provider; server: RawServer }> {
  const server = await raw((response, _, n) => {
    const answer = answers[Math.min(n, answers.length - 1)] ?? {};
    if (Array.isArray(answer)) sendEvents(response, answer);
    else if ('status' in answer && typeof answer['status'] === 'number') {
      sendJson(response, JSON.stringify({ error: answer['error'] ?? {} }), answer['status']);
    } else sendJson(response, JSON.stringify(answer));
  });
  const kind = answers.some((answer) => Array.isArray(answer)) ? 'streamed' : 'whole';
  return { provider: await providerAt(wireOf('openai', kind), server.url, settings), server };
}

export const sent = (server: RawServer, n: number): JsonObject =>
  objectOf(JSON.parse(server.requests[n]?.raw ?? '{}'));

export const call = { type: 'function_call', id: 'fc_1', call_id: 'x', name: 'shell', arguments: '{"a":1}' };
export const message = {
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  content: [{ type: 'output_text', text: 'Prose.' }],
};
export const reasoning = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'opaque' };
export const response = (fields: JsonObject = {}): JsonObject => ({
  object: 'response',
  status: 'completed',
  output: [message],
  ...fields,
});

export const item = (output_index: number, state: 'added' | 'done', value: JsonObject): JsonObject => ({
  type: `response.output_item.${state}`,
  output_index,
  item: value,
});
export const piece = (output_index: number, delta: string): JsonObject => ({
  type: 'response.function_call_arguments.delta',
  output_index,
  delta,
});
export const completed = (fields: JsonObject = {}): JsonObject => ({
  type: 'response.completed',
  response: response({ output: [], ...fields }),
});
