/** What goes back to the Responses API of an answer of its own. */
import { isObject } from '../text/json.ts';
import type { JsonObject } from '../types.ts';
import type { Item } from './openai-responses-stream.ts';
import { objectsOf, replayableArguments, replayableName, textOf } from './reading.ts';

/** What a completion's message carries for its own replay. */
export interface ResponsesNative {
  readonly responsesOutput: readonly JsonObject[];
}

/** Whether an opaque native part was made here. */
export function isResponsesNative(native: unknown): native is ResponsesNative {
  return isObject(native) && Array.isArray(native['responsesOutput']);
}

/**
 * The items of a turn for the history, as they came; calls with their final ids, and arguments that can be read.
 * Items of other kinds belong to tools that were not offered, and may ask for a result that nobody has.
 */
export function replayed(items: readonly Item[], ids: ReadonlyMap<Item, string>): readonly JsonObject[] {
  const kept: JsonObject[] = [];
  let hasLost = false;
  // From the end: reasoning stands before what it led to, and is refused alone.
  for (const item of items.toReversed()) {
    const isKept = isReplayable(item.native, kept.length > 0);
    if (isKept) kept.unshift(replayedItem(item, ids.get(item)));
    hasLost ||= !isKept && item.native['type'] === 'reasoning';
  }
  // An id names an item together with the reasoning before it: without that it is refused.
  return hasLost ? kept.map(withoutId) : kept;
}

function isReplayable(native: JsonObject, hasFollower: boolean): boolean {
  switch (native['type']) {
    case 'function_call':
      return true;
    case 'message':
      return objectsOf(native['content']).length > 0;
    case 'reasoning': {
      // Without its content it is a mere name of what the server did not store.
      const hasContent =
        textOf(native['encrypted_content']) !== '' || objectsOf(native['content']).length > 0;
      return hasContent && hasFollower;
    }
    default:
      return false;
  }
}

function replayedItem({ native, rawArguments }: Item, id: string | undefined): JsonObject {
  if (id === undefined) return native;
  const name = replayableName(textOf(native['name']));
  return { ...native, call_id: id, name, arguments: replayableArguments(rawArguments) };
}

function withoutId(native: JsonObject): JsonObject {
  if (native['type'] === 'reasoning') return native;
  const { id: _, ...rest } = native;
  return rest;
}
