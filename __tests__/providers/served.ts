/** Providers with a scripted server of their own, which is closed after the test. */
import type { ServerResponse } from 'node:http';
import { afterEach, expect, onTestFinished, vi } from 'vitest';
import { ProviderError } from '../../src/errors.ts';
import type { CompletionRequest, Provider } from '../../src/providers/provider.ts';
import type { ProviderSettings } from '../../src/providers/registry.ts';
import { objectOf } from '../../src/text/json.ts';
import type { JsonObject } from '../../src/types.ts';
import { answered, asking, providerAt, send, testKey, type Wire } from '../support/fakes/model/wires.ts';
import { type RawRequest, type RawServer, startRawServer } from '../support/fakes/raw-server.ts';

export type Handler = (response: ServerResponse, request: RawRequest, index: number) => void;

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
});

/** A provider whose server always gives this answer, or answers by a function. */
export async function served(
  wire: Wire,
  answer: Handler | object,
  settings: Partial<ProviderSettings> = {},
): Promise<{ provider: Provider; server: RawServer }> {
  const handler = isHandler(answer) ? answer : (to: ServerResponse) => send(to, answer);
  const server = await startRawServer(handler);
  onTestFinished(server.close);
  return { server, provider: await providerAt(wire, server.url, settings) };
}

function isHandler(answer: object): answer is Handler {
  return typeof answer === 'function';
}

export function bodyOf(request: RawRequest | undefined): JsonObject {
  return objectOf(JSON.parse(request?.raw ?? '{}'));
}

/** Completes a turn, and sends it back with the results of its calls; the conversation of the second request. */
export async function replayOf(wire: Wire, answer: object) {
  const { provider, server } = await served(wire, answer);
  const first = await provider.complete(asking());
  await provider.complete(asking({ messages: answered(asking().messages, first) }));
  const sent = bodyOf(server.requests[1])[wire.conversation];
  return { first, sent: Array.isArray(sent) ? sent : [] };
}

/**
 * The outcome of one request, including its retries: `tries` says how often the server was asked, and the notices are
 * without the host, whose port changes.
 */
export async function ask(
  wire: Wire,
  answer: Handler | object,
  settings: Partial<ProviderSettings> = {},
  request: Partial<CompletionRequest> = {},
) {
  const { provider, server } = await served(wire, answer, settings);
  const notices: string[] = [];
  const notify = (text: string) => void notices.push(text.replaceAll(/127\.0\.0\.1:\d+/gu, 'HOST'));
  try {
    const completion = await provider.complete(asking({ notify, ...request }));
    return { completion, error: null, failure: null, tries: server.requests.length, notices };
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    expect(`${notices.join()}${error.message}`).not.toContain(testKey);
    return { completion: null, error, failure: error.failure, tries: server.requests.length, notices };
  }
}
