/** Tool calls as the loop takes them, and as servers accept them in a history. */
import { isDeeperThan, isObject } from '../text/json.ts';
import { JSON_TEXT } from '../text/limits.ts';
import type { ArgumentStatus, Json, JsonObject, Message, StopReason, ToolCall } from '../types.ts';

/** Returns the object in a field; empty if it is missing or not an object. */
export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** A tool call as in the answer, of any server. */
interface GivenCall {
  readonly id?: string | null | undefined;
  readonly name?: string | null | undefined;
  readonly arguments?: unknown;
}

/**
 * Returns the calls of a turn with ids that are unique in the whole conversation. Servers omit ids, use one id for two
 * calls, and start again from `call_0` each turn, but each call needs exactly one result.
 */
export function toolCalls(
  calls: readonly GivenCall[],
  stopReason: StopReason,
  messages: readonly Message[],
): ToolCall[] {
  const turns = messages.filter((message) => message.role === 'assistant');
  const used = new Set(turns.flatMap((turn) => turn.toolCalls.map((call) => call.id)));
  return calls.map((call, n) => {
    const wanted = call.id || `call_${turns.length + 1}_${n + 1}`;
    let id = wanted;
    for (let copy = 2; used.has(id); copy += 1) id = `${wanted}_${copy}`;
    used.add(id);
    const name = (call.name ?? '').slice(0, JSON_TEXT.callName);
    const text = textOf(call.arguments);
    const status = statusOf(text, stopReason);
    return { id, name, rawArguments: status === 'too_long' ? '' : text, status };
  });
}

/** Returns the text of arguments. Some servers send an object, whose duplicate keys are lost. */
function textOf(given: unknown): string {
  return typeof given === 'string' ? given : JSON.stringify(given ?? {});
}

/** If a response was cut, all of its calls are marked, because it is unknown which of them are complete. */
function statusOf(rawArguments: string, stopReason: StopReason): ArgumentStatus {
  if (rawArguments.length > JSON_TEXT.arguments) return 'too_long';
  return stopReason === 'length' || stopReason === 'pause' || stopReason === 'refusal'
    ? 'truncated'
    : 'complete';
}

/**
 * Parses arguments into an object for the history, which must be valid. Returns `{}` if the text is not an object, is
 * longer than the limit, or is nested so deeply that serializing it again would overflow the stack.
 */
export function replayableInput(rawArguments: string): JsonObject {
  if (rawArguments.length > JSON_TEXT.arguments) return {};
  try {
    // Half a surrogate pair cannot be sent.
    const value: Json = JSON.parse(rawArguments, (_, each) =>
      typeof each === 'string' ? each.toWellFormed() : each,
    );
    return isDeeperThan(value, JSON_TEXT.depth) ? {} : objectOf(value);
  } catch {
    return {};
  }
}

/** Does the same, but returns text: that of the model if every server can parse it. */
export function replayableArguments(rawArguments: string): string {
  const input = replayableInput(rawArguments);
  const mayHoldHalf = /\\u[dD][89a-fA-F]/.test(rawArguments) || !rawArguments.isWellFormed();
  return mayHoldHalf || Object.keys(input).length === 0 ? JSON.stringify(input) : rawArguments;
}

/** Returns a tool name that is valid in a history: the APIs reject invented names with other characters. */
export function replayableName(name: string): string {
  return name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64) || 'unknown';
}
