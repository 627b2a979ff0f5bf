/** The figures of a run: token counts, and coverage as a share. */
import type { Coverage, JsonObject, Usage } from '../types.ts';
import { readCount } from './json.ts';

/** The usage before the first response. */
export const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, cacheWriteTokens: 0 };

export function addUsage(one: Usage, other: Usage): Usage {
  return {
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    cachedInputTokens: one.cachedInputTokens + other.cachedInputTokens,
    cacheWriteTokens: one.cacheWriteTokens + other.cacheWriteTokens,
  };
}

/** Reads token counts in the envelope's format. */
export function readUsage(usage: JsonObject): Usage {
  const tokens = (field: string) => Math.round(readCount(usage, field) ?? 0);
  return {
    inputTokens: tokens('input_tokens'),
    outputTokens: tokens('output_tokens'),
    cachedInputTokens: tokens('cached_input_tokens'),
    cacheWriteTokens: tokens('cache_write_tokens'),
  };
}

/** Returns the share of the required files that was shown, 1 if there are none; null if it is not known. */
export function coverageShare({ status, files }: Coverage): number | null {
  if (status === 'unknown' || (status === 'partial' && files.changed === 0)) return null;
  return files.required === 0 ? 1 : files.shown / files.required;
}
