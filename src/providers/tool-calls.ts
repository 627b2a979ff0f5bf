/** Reading answers of servers that may send anything: every field is asked for its type first. */
import { isArray, isDeeperThan, isObject, maxArguments, maxDepth } from '../text/json.ts';
import type { ArgumentStatus, Json, JsonObject, Message, StopReason, ToolCall } from '../types.ts';

/** A field's text; empty when it is missing or no string. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** A token count; null when it is missing or no count. */
export function countOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : null;
}

/** A field's object; empty when it is missing or something else. */
export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** Whether an answer tells an error, beside whatever else it holds; `"error": null` is none. */
export function saysError({ error }: JsonObject): boolean {
  return isObject(error) || (typeof error === 'string' && error !== '');
}

/** A field's elements that are objects, each with its place in the source. */
export function objectsOf(value: unknown): readonly { readonly at: number; readonly value: JsonObject }[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((each: unknown, at) => (isObject(each) ? [{ at, value: each }] : []));
}

/** A call as an answer holds it. */
export interface RawCall {
  /** Empty where the server gave none. */
  readonly id: string;
  readonly name: string;
  readonly rawArguments: string;
  /** Whether `rawArguments` is what the model wrote, not an object that lost its text on the way. */
  readonly isRaw: boolean;
}

/**
 * The calls of a turn with ids that are unique in the whole conversation: servers leave ids out, give two calls one id,
 * and start again from `call_0` each turn, while each call needs exactly one result.
 */
export function toolCalls(
  calls: readonly RawCall[],
  stopReason: StopReason,
  messages: readonly Message[],
): ToolCall[] {
  const turns = messages.filter((message) => message.role === 'assistant');
  const used = new Set(turns.flatMap((turn) => turn.toolCalls.map((call) => call.id)));
  // Where the search for a free copy ended: thousands of calls with one id would search their square.
  const copies = new Map<string, number>();
  return calls.map((call, n) => {
    const wanted = call.id === '' ? `call_${turns.length + 1}_${n + 1}` : call.id;
    let id = wanted;
    let copy = copies.get(wanted) ?? 2;
    for (; used.has(id); copy += 1) id = `${wanted}_${copy}`;
    copies.set(wanted, copy);
    used.add(id);
    const status = statusOf(call, stopReason);
    return { id, name: call.name, rawArguments: status === 'too_long' ? '' : call.rawArguments, status };
  });
}

/** A cut answer marks all of its calls: nobody knows which of them is whole. */
function statusOf(call: RawCall, stopReason: StopReason): ArgumentStatus {
  if (call.rawArguments.length > maxArguments) return 'too_long';
  if (stopReason === 'length' || stopReason === 'pause' || stopReason === 'refusal') return 'truncated';
  return call.isRaw ? 'complete' : 'malformed';
}

/**
 * The object that an argument text stands for, for a history that must be valid; `{}` where it is none, where it is
 * longer than anybody reads, and where it nests deeper: writing it out again would overflow the stack.
 */
export function replayableInput(rawArguments: string): JsonObject {
  if (rawArguments.length > maxArguments) return {};
  try {
    const value: Json = JSON.parse(rawArguments);
    return isDeeperThan(value, maxDepth) ? {} : objectOf(mended(value));
  } catch {
    return {};
  }
}

/** The same as text: what the model wrote, as long as every server can read it. */
export function replayableArguments(rawArguments: string): string {
  const input = replayableInput(rawArguments);
  if (Object.keys(input).length === 0) return '{}';
  return halfPair.test(rawArguments) ? JSON.stringify(input) : rawArguments;
}

/** What may be half of a surrogate pair in a JSON text: its escape, or the half itself. */
const halfPair = /\\u[dD][89a-fA-F]|\p{Surrogate}/u;

/** A value whose strings, names included, are well-formed. */
function mended(value: Json): Json {
  if (typeof value === 'string') return wellFormed(value);
  if (isArray(value)) return value.map(mended);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [wellFormed(key), mended(each)]));
}

/** A tool's name as histories may hold it: both APIs refuse one that a model made up with other characters. */
export function replayableName(name: string): string {
  return name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64) || 'unknown';
}

/** Text as JSON may hold it for both APIs, which refuse half of a surrogate pair. */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\uFFFD');
}

/** What a key was made into before, or is now: the same object goes out byte-identical, and is projected once. */
export function once<K extends object, V>(made: WeakMap<K, V>, key: K, make: (key: K) => V): V {
  const before = made.get(key);
  if (before !== undefined) return before;
  const value = make(key);
  made.set(key, value);
  return value;
}
