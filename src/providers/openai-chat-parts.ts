/** The parts of a chat completion that streamed and whole answers share. */
import type { JsonObject, Usage } from '../types.ts';
import { countOf, objectOf, objectsOf, type RawCall, textOf } from './reading.ts';

/** An answer in one piece: what a body holds and what the chunks of a stream add up to. */
export interface WholeChat {
  readonly message: JsonObject;
  readonly calls: readonly (RawCall & { readonly native: JsonObject })[];
  readonly finishReason: string;
  readonly usage: Usage | null;
  readonly model: string;
}

/** The choice that counts; only one is ever asked for. */
export function firstChoice(chunk: JsonObject): JsonObject {
  return objectsOf(chunk['choices'])[0]?.value ?? {};
}

/** Id and name of a call. */
export function called(call: JsonObject): { readonly id: string; readonly name: string } {
  return { id: textOf(call['id']), name: textOf(objectOf(call['function'])['name']) };
}

/** Token counts of chat completions, where cached tokens are a part of the prompt's; null where there are none. */
export function chatUsage(value: unknown): Usage | null {
  const usage = objectOf(value);
  const inputTokens = countOf(usage['prompt_tokens']);
  const outputTokens = countOf(usage['completion_tokens']);
  if (inputTokens === null && outputTokens === null) return null;
  const details = objectOf(usage['prompt_tokens_details']);
  // DeepSeek counts hits beside the prompt; cache writes are known from OpenRouter only.
  const read = countOf(details['cached_tokens']) ?? countOf(usage['prompt_cache_hit_tokens']) ?? 0;
  const input = inputTokens ?? 0;
  // Gemini and xAI leave the tokens of thinking out of the completion's, and bill them: only the total holds them.
  const output = Math.max(outputTokens ?? 0, (countOf(usage['total_tokens']) ?? 0) - input);
  const cachedInputTokens = Math.min(read, input);
  const cacheWriteTokens = Math.min(countOf(details['cache_write_tokens']) ?? 0, input - cachedInputTokens);
  return { inputTokens: input, outputTokens: output, cachedInputTokens, cacheWriteTokens };
}
