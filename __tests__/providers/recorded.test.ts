import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { PROVIDERS } from '../../src/providers/registry.ts';
import { objectOf, objectsOf } from '../../src/providers/tool-calls.ts';
import type { Json, JsonObject } from '../../src/types.ts';
import { answered, asking, providerAt, wireOf } from '../support/fakes/model/wires.ts';
import { type RawServer, sendEvents, sendJson, startRawServer } from '../support/fakes/raw-server.ts';

const open: RawServer[] = [];

afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

const folder = new URL('../fixtures/providers/', import.meta.url);
const fixtures = readdirSync(folder).map((name): [string, JsonObject] => [
  name,
  objectOf(JSON.parse(readFileSync(new URL(name, folder), 'utf8'))),
]);

const values = (list: Json | undefined): readonly JsonObject[] => objectsOf(list).map((each) => each.value);

/** Anthropic's cache marks move with the end of the conversation. */
const unmarked = (messages: readonly JsonObject[]): unknown =>
  JSON.parse(JSON.stringify(messages).replaceAll(',"cache_control":{"type":"ephemeral"}', ''));

describe.each(fixtures)('%s', (_, fixture) => {
  const { answer } = fixture;
  const events = Array.isArray(answer) ? answer : null;
  const provider = PROVIDERS.find((name) => name === fixture['provider']) ?? 'openai';
  const wire = wireOf(provider, events === null ? 'whole' : 'streamed');
  const serving = async () => {
    const server = await startRawServer((response) =>
      events === null ? sendJson(response, JSON.stringify(answer)) : sendEvents(response, events),
    );
    open.push(server);
    return { server, provider: await providerAt(wire, server.url) };
  };

  it('is read with its text, calls, stop reason and usage', async () => {
    const { message, ...rest } = await (await serving()).provider.complete(asking());
    const { text, toolCalls } = message;
    expect({ text, toolCalls, ...rest }).toEqual(fixture['expected']);
  });

  it('is replayed verbatim, followed by a result for each call', async () => {
    const { server, provider: made } = await serving();
    const first = await made.complete(asking());
    await made.complete(asking({ messages: answered(asking().messages, first) }));
    const [before, after] = server.requests.map((request) => {
      const body = objectOf(JSON.parse(request.raw));
      return values(body[wire.conversation]);
    });
    const [sentBefore, sentAfter] = [before ?? [], after ?? []];
    const replay = values(fixture['replay']);
    expect(unmarked(sentAfter.slice(0, sentBefore.length))).toEqual(unmarked(sentBefore));
    expect(unmarked(sentAfter.slice(sentBefore.length, sentBefore.length + replay.length))).toEqual(replay);
    const rest = JSON.stringify(sentAfter.slice(sentBefore.length + replay.length));
    for (const call of first.message.toolCalls) expect(rest.split(`"${call.id}"`)).toHaveLength(2);
  });
});
