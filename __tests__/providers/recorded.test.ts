import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { PROVIDERS } from '../../src/providers/registry.ts';
import { objectOf } from '../../src/text/json.ts';
import type { JsonObject } from '../../src/types.ts';
import { wireOf } from '../support/fakes/model/wires.ts';
import { replayOf } from './served.ts';

const folder = new URL('../fixtures/providers/', import.meta.url);
const fixtures = readdirSync(folder).map((name): [string, JsonObject] => [
  name,
  objectOf(JSON.parse(readFileSync(new URL(name, folder), 'utf8'))),
]);

describe.each(fixtures)('%s', (_, { provider: name, answer, expected, replay }) => {
  const wire = wireOf(PROVIDERS.find((each) => each === name) ?? 'openai');

  it('is read with its text, calls, stop reason and usage, and replayed verbatim before its results', async () => {
    const { first, sent } = await replayOf(wire, Object(answer));
    const { message, ...rest } = first;
    expect({ text: message.text, toolCalls: message.toolCalls, ...rest }).toEqual(expected);
    const said = Array.isArray(replay) ? replay : [];
    const from = sent.findIndex((each) => JSON.stringify(each).includes('"Go."')) + 1;
    expect(sent.slice(from, from + said.length)).toEqual(said);
    const results = JSON.stringify(sent.slice(from + said.length));
    for (const call of message.toolCalls) expect(results.split(`"${call.id}"`)).toHaveLength(2);
  });
});
