import { describe, expect, it } from 'vitest';
import type { ProviderName } from '../../src/providers/registry.ts';
import type { JsonObject } from '../../src/types.ts';
import { asking, providerAt, wires } from '../support/fakes/model/wires.ts';
import { raw } from './conformance-server.ts';

const chat = {
  prompt_tokens: 23,
  completion_tokens: 30,
  total_tokens: 53,
  prompt_tokens_details: { cached_tokens: 7, cache_write_tokens: 11 },
};

/** The same tokens in the fields of each API: Anthropic's input excludes cached tokens, the others' includes them. */
const inWords: Readonly<Record<ProviderName, JsonObject>> = {
  openai: {
    input_tokens: 23,
    output_tokens: 30,
    input_tokens_details: { cached_tokens: 7, cache_write_tokens: 11 },
  },
  anthropic: {
    input_tokens: 5,
    output_tokens: 30,
    cache_read_input_tokens: 7,
    cache_creation_input_tokens: 11,
  },
  gemini: chat,
  'azure-openai': chat,
  'openai-compatible': chat,
};

describe.each(wires)('usage of $name', (wire) => {
  it('counts cached tokens separately, read and written, and as part of the input', async () => {
    const server = await raw((response) =>
      wire.answer(response, { text: 'x', usage: inWords[wire.provider] }),
    );
    const { usage } = await (await providerAt(wire, server.url)).complete(asking());
    expect(usage).toEqual({ inputTokens: 23, outputTokens: 30, cachedInputTokens: 7, cacheWriteTokens: 11 });
  });
});
