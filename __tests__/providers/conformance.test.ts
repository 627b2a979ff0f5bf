import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { PROVIDERS, type ProviderName } from '../../src/providers/registry.ts';
import { objectOf } from '../../src/text/json.ts';
import type { JsonObject } from '../../src/types.ts';
import { answered, asking, providerAt, send, testKey, wireOf, wires } from '../support/fakes/model/wires.ts';
import { sendJson } from '../support/fakes/raw-server.ts';
import { ask, bodyOf, type Handler, replayOf, served } from './served.ts';

const shell = { name: 'shell' };
const choice = { tool_choice: { type: 'function', function: shell } };
const chatFields = { reasoning_effort: 'low', max_tokens: 9, ...choice };
const chat = 'messages,model,tools';

/** The fields of every request, and those that are sent only when they are set. Servers refuse others. */
const fields: Readonly<Record<ProviderName, readonly [always: string, sometimes: JsonObject]>> = {
  gemini: [chat, chatFields],
  'openai-compatible': [chat, chatFields],
  'azure-openai': [chat, { reasoning_effort: 'low', max_completion_tokens: 9, ...choice }],
  openai: [
    'include,input,instructions,model,store,stream,tools',
    { reasoning: { effort: 'low' }, max_output_tokens: 9, tool_choice: { type: 'function', ...shell } },
  ],
  anthropic: [
    'max_tokens,messages,model,stream,system,tools',
    { output_config: { effort: 'low' }, max_tokens: 9, tool_choice: { type: 'tool', ...shell } },
  ],
};

describe.each(wires)('$provider', (wire) => {
  it('keeps each turn byte for byte, with raw arguments, and gives calls ids that are unique', async () => {
    const rawArguments = '{ "a" : "\\u00e9\\n",\t"a": 1e2, "n": 12345678901234567890 , "t": "}{\\"]" }';
    const call = { name: 'shell', arguments: rawArguments };
    const calls = [{ id: 'call_0', ...call }, { id: 'call_0', ...call }, call];
    const { provider, server } = await served(wire, wire.response({ text: 'Prose.', calls }));
    const ids = [
      ['call_0', 'call_0_2', 'call_1_3'],
      ['call_0_3', 'call_0_4', 'call_2_3'],
      ['call_0_5', 'call_0_6', 'call_3_3'],
    ];
    let { messages } = asking();
    for (const wanted of ids) {
      const completion = await provider.complete(asking({ messages: structuredClone(messages) }));
      const read = wanted.map((id) => ({ id, name: 'shell', rawArguments, status: 'complete' }));
      expect(completion.message.toolCalls).toEqual(read);
      messages = answered(messages, completion);
    }
    await provider.complete(asking({ messages }));
    // The conversation comes last, or before the tool choice. Anthropic's marks move by design.
    const texts = server.requests.map(({ raw }) =>
      raw.replaceAll(',"cache_control":{"type":"ephemeral"}', '').replace(/\]\}$/u, ''),
    );
    for (const [n, text] of texts.slice(1).entries()) expect(text.startsWith(`${texts[n]},`)).toBe(true);
    const sent = texts.at(-1)?.match(/(?<="(?:id|call_id|tool_call_id|tool_use_id)":")call_\w+/gu);
    expect(sent).toEqual(ids.flatMap((turn) => [...turn, ...turn]));
    // Only Anthropic's API marks the results of calls that failed, here the second one of each turn.
    const failed = texts.at(-1)?.match(/result 1","is_error":true/gu) ?? [];
    expect(failed).toHaveLength(wire.provider === 'anthropic' ? ids.length : 0);
  });

  it('S8 marks every call of a response that was cut inside a call as truncated', async () => {
    const calls = [
      { id: 'x', name: 'shell', arguments: '{"command":"ls"}' },
      { id: 'y', name: 'shell', arguments: '{"command":"l' },
    ];
    const { completion } = await ask(wire, wire.response({ calls, stop: wire.length }));
    const toolCalls = [{ status: 'truncated' }, { status: 'truncated' }];
    expect(completion).toMatchObject({ stopReason: 'length', message: { toolCalls } });
  });

  it('E2 reports an empty turn as an end and replays it with content', async () => {
    const { first, sent } = await replayOf(wire, wire.response({}));
    expect(first).toMatchObject({ stopReason: 'end', message: { text: '', toolCalls: [] } });
    expect(JSON.stringify(sent)).toContain('(empty)');
  });

  const INVALID = ['{"command":', '{"a":1,,}', '[1]', '{"a":1}}'];
  it.each(INVALID)('N9 replays the arguments %s and an odd name as the API accepts them', async (broken) => {
    const call = { id: 'x', name: 'functions.shell/é', arguments: broken };
    const { first, sent } = await replayOf(wire, wire.response({ calls: [call] }));
    expect(first.message.toolCalls).toMatchObject([{ name: call.name, rawArguments: broken }]);
    expect(JSON.stringify(sent)).toContain('"functions_shell__"');
    expect(JSON.stringify(sent)).toMatch(/"input":\{\}|"arguments":"\{\}"/u);
  });

  it('sends the limit, the reasoning effort and the tool choice only when they are set', async () => {
    const { provider, server } = await served(wire, wire.response({ text: 'x' }));
    await provider.complete(asking());
    const set = { reasoningEffort: 'low', maxOutputTokens: 9 };
    await (await providerAt(wire, server.url, set)).complete(asking({ toolChoice: { tool: 'shell' } }));
    const [without = {}, asked] = server.requests.map(bodyOf);
    const [always, sometimes] = fields[wire.provider];
    expect(Object.keys(without).sort().join()).toBe(always);
    expect(asked).toEqual({ ...without, ...sometimes });
  });

  it('ignores the environment, prints nothing, and sends its own headers and those of the user', async () => {
    const consoles = (['log', 'info', 'warn', 'error', 'debug'] as const).map((name) =>
      vi.spyOn(console, name).mockReturnValue(),
    );
    for (const vendor of ['OPENAI', 'ANTHROPIC', 'AZURE_OPENAI', 'GEMINI']) {
      for (const name of ['API_KEY', 'AUTH_TOKEN', 'ADMIN_KEY', 'ORG_ID', 'PROJECT_ID', 'PROFILE'])
        vi.stubEnv(`${vendor}_${name}`, 'env-value');
      vi.stubEnv(`${vendor}_BASE_URL`, 'http://127.0.0.1:9');
      vi.stubEnv(`${vendor}_CUSTOM_HEADERS`, 'x-env: env-value\nauthorization: Bearer env-value');
      vi.stubEnv(`${vendor}_LOG`, 'debug');
    }
    const failingFirst: Handler = (response, _, n) =>
      n === 0
        ? sendJson(response, '{}', 500, { 'retry-after-ms': '1' })
        : send(response, wire.response({ text: 'x' }));
    const { provider, server } = await served(wire, failingFirst, { model: 'claude-opus-4-5' });
    await provider.complete(asking());
    await (await providerAt(wire, server.url, { apiKey: null })).complete(asking());
    const overriding = { 'x-team': 'ci', authorization: 'Custom 1', 'user-agent': 'mine' };
    await (await providerAt(wire, server.url, { headers: overriding })).complete(asking());
    const written = consoles.flatMap((spy) => spy.mock.calls);
    vi.restoreAllMocks();
    expect(written).toEqual([]);
    const { connection: _, host: __, 'content-length': ___, ...headers } = server.requests[0]?.headers ?? {};
    expect(headers).toEqual({
      accept: 'application/json',
      'accept-encoding': expect.any(String),
      'accept-language': '*',
      'content-type': 'application/json',
      'sec-fetch-mode': 'cors',
      'user-agent': 'structured-agent/test',
      ...wire.headers(testKey),
    });
    expect(server.requests.map(({ path }) => path)).toEqual(Array(4).fill(wire.path));
    expect(JSON.stringify(server.requests)).not.toContain('env-value');
    expect(JSON.stringify(server.requests[2]?.headers)).not.toMatch(/authorization|api-key/);
    expect(server.requests[3]?.headers).toMatchObject(overriding);
  });
});

const folder = new URL('../fixtures/providers/', import.meta.url);
const fixtures = readdirSync(folder).map((name): [string, JsonObject] => [
  name,
  objectOf(JSON.parse(readFileSync(new URL(name, folder), 'utf8'))),
]);

it.each(fixtures)('%s is read whole, and replayed verbatim before its results', async (_, fixture) => {
  const { provider, answer, expected, replay } = fixture;
  const wire = wireOf(PROVIDERS.find((each) => each === provider) ?? 'openai');
  const { first, sent } = await replayOf(wire, Object(answer));
  const { message, ...rest } = first;
  expect({ text: message.text, toolCalls: message.toolCalls, ...rest }).toEqual(expected);
  const said = Array.isArray(replay) ? replay : [];
  const from = sent.findIndex((each) => JSON.stringify(each).includes('"Go."')) + 1;
  expect(sent.slice(from, from + said.length)).toEqual(said);
  const results = JSON.stringify(sent.slice(from + said.length));
  for (const call of message.toolCalls) expect(results.split(`"${call.id}"`)).toHaveLength(2);
});
