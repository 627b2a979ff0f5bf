/** Reads responses of servers that may send anything: the type of every field is checked first. */
import { isArray, isDeeperThan, isObject } from '../text/json.ts';
import { JSON_TEXT } from '../text/limits.ts';
import type { ArgumentStatus, Json, JsonObject, Message, StopReason, ToolCall } from '../types.ts';

/** Returns the text of a field; empty if it is missing or not a string. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Returns a token count; null if it is missing or not a count. */
export function countOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : null;
}

/** Returns the object in a field; empty if it is missing or not an object. */
export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** Whether a response reports an error, whatever else it contains; `"error": null` does not count. */
export function saysError({ error }: JsonObject): boolean {
  return isObject(error) || (typeof error === 'string' && error !== '');
}

/** Returns the elements of a field that are objects, each with its index in the source. */
export function objectsOf(value: unknown): readonly { readonly at: number; readonly value: JsonObject }[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((each: unknown, at) => (isObject(each) ? [{ at, value: each }] : []));
}

/** A tool call as in the response. */
export interface RawCall {
  /** Empty if the server sent none. */
  readonly id: string;
  readonly name: string;
  readonly rawArguments: string;
  /** Whether `rawArguments` is the original text of the model rather than a parsed object that was serialized again. */
  readonly isRaw: boolean;
}

/**
 * Returns the calls of a turn with ids that are unique in the whole conversation. Servers omit ids, use one id for two
 * calls, and start again from `call_0` each turn, but each call needs exactly one result.
 */
export function toolCalls(
  calls: readonly RawCall[],
  stopReason: StopReason,
  messages: readonly Message[],
): ToolCall[] {
  const turns = messages.filter((message) => message.role === 'assistant');
  const used = new Set(turns.flatMap((turn) => turn.toolCalls.map((call) => call.id)));
  // Where the last search for an unused id ended; otherwise thousands of calls with one id would take quadratic time.
  const copies = new Map<string, number>();
  return calls.map((call, n) => {
    const wanted = call.id === '' ? `call_${turns.length + 1}_${n + 1}` : call.id;
    let id = wanted;
    let copy = copies.get(wanted) ?? 2;
    for (; used.has(id); copy += 1) id = `${wanted}_${copy}`;
    copies.set(wanted, copy);
    used.add(id);
    const status = statusOf(call, stopReason);
    const name = call.name.slice(0, JSON_TEXT.callName);
    return { id, name, rawArguments: status === 'too_long' ? '' : call.rawArguments, status };
  });
}

/** If a response was cut, all of its calls are marked, because it is unknown which of them are complete. */
function statusOf(call: RawCall, stopReason: StopReason): ArgumentStatus {
  if (call.rawArguments.length > JSON_TEXT.arguments) return 'too_long';
  if (stopReason === 'length' || stopReason === 'pause' || stopReason === 'refusal') return 'truncated';
  return call.isRaw ? 'complete' : 'malformed';
}

/**
 * Parses the arguments into an object for the history, which must be valid. Returns `{}` if the text is not an object,
 * is longer than the limit, or is nested so deeply that serializing it again would overflow the stack.
 */
export function replayableInput(rawArguments: string): JsonObject {
  if (rawArguments.length > JSON_TEXT.arguments) return {};
  try {
    const value: Json = JSON.parse(rawArguments);
    return isDeeperThan(value, JSON_TEXT.depth) ? {} : objectOf(toWellFormed(value));
  } catch {
    return {};
  }
}

/** Does the same, but returns text: the original text of the model if every server can parse it. */
export function replayableArguments(rawArguments: string): string {
  const input = replayableInput(rawArguments);
  if (Object.keys(input).length === 0) return '{}';
  return halfPair.test(rawArguments) ? JSON.stringify(input) : rawArguments;
}

/** Matches what may be half of a surrogate pair in a JSON text: its escape, or the code unit itself. */
const halfPair = /\\u[dD][89a-fA-F]|\p{Surrogate}/u;

/** Returns a value in which all strings, including property names, are well-formed. */
function toWellFormed(value: Json): Json {
  if (typeof value === 'string') return wellFormed(value);
  if (isArray(value)) return value.map(toWellFormed);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [wellFormed(key), toWellFormed(each)]),
  );
}

/** Returns a tool name that is valid in a history: both APIs reject invented names with other characters. */
export function replayableName(name: string): string {
  return name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64) || 'unknown';
}

/** Replaces halves of surrogate pairs, which both APIs reject in JSON. */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\uFFFD');
}

/** Returns the cached value for a key, or creates it: the same object is sent byte-identical, and is projected once. */
export function once<K extends object, V>(made: WeakMap<K, V>, key: K, make: (key: K) => V): V {
  const before = made.get(key);
  if (before !== undefined) return before;
  const value = make(key);
  made.set(key, value);
  return value;
}
