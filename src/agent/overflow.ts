/** What gives way when a conversation is too long for its model: the oldest large tool results, and nothing else. */
import type { Message, ToolResult } from '../types.ts';
import { DROPPED } from './prompt.ts';

/** Results that are longer than this many characters are worth dropping: some times the length of what is left in their place. */
export const largeResult = 4 * DROPPED.length;

/** A conversation that became shorter. */
export interface Shortened {
  /** As many messages as before, in their order; those that did not change are the same objects. */
  readonly messages: readonly Message[];
  /** Results that were dropped this time, at least one. */
  readonly dropped: number;
  /** By how many characters the conversation became shorter. */
  readonly characters: number;
}

/**
 * Drops the oldest large results, at least half of what is large: a few rounds take a conversation of any length to what
 * cannot be dropped. Every call keeps its result, which then is one sentence. The newest batch gives way only where
 * nothing else is large. null where nothing is.
 */
export function shortened(messages: readonly Message[]): Shortened | null {
  const goes = oldestHalf(largeResults(messages));
  if (goes.size === 0) return null;
  let characters = 0;
  const short = messages.map((message) => {
    if (message.role !== 'tool' || !message.results.some((result) => goes.has(result))) return message;
    const results = message.results.map((result) => {
      if (!goes.has(result)) return result;
      characters += result.content.length - DROPPED.length;
      return { ...result, content: DROPPED };
    });
    return { ...message, results };
  });
  return { messages: short, dropped: goes.size, characters };
}

/** Large results in the order of the conversation; those of the newest batch only where there are no others. */
function largeResults(messages: readonly Message[]): readonly ToolResult[] {
  const batches = messages.flatMap((message) => (message.role === 'tool' ? [message.results] : []));
  const isLarge = ({ content }: ToolResult) => content.length > largeResult;
  const older = batches.slice(0, -1).flat().filter(isLarge);
  return older.length > 0 ? older : (batches.at(-1) ?? []).filter(isLarge);
}

/** The first of them, until they hold half of the characters of all. */
function oldestHalf(results: readonly ToolResult[]): ReadonlySet<ToolResult> {
  const goes = new Set<ToolResult>();
  let left = results.reduce((sum, { content }) => sum + content.length, 0) / 2;
  for (const result of results) {
    if (left <= 0) break;
    goes.add(result);
    left -= result.content.length;
  }
  return goes;
}
