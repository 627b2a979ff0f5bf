/** Tool calls as the loop takes them, and as servers accept them in a history. */
import { isDeeperThan, objectOf } from '../text/json.ts';
import { JSON_TEXT } from '../text/limits.ts';
import type { Json, JsonObject, Message, ToolCall } from '../types.ts';

/** A tool call as in the answer, of any server. */
export type GivenCall = Readonly<Partial<Record<'id' | 'name' | 'arguments', unknown>>>;

/**
 * Returns the calls of a turn with ids that are unique in the whole conversation. Servers omit ids, use one id for two
 * calls, and start again from `call_0` each turn, but each call needs exactly one result.
 * @param isCut whether the answer was cut, so that it is unknown which of its calls are complete
 */
export function identify(
  calls: readonly GivenCall[],
  isCut: boolean,
  messages: readonly Message[],
): readonly ToolCall[] {
  const turns = messages.filter((message) => message.role === 'assistant');
  const used = new Set(turns.flatMap((turn) => turn.toolCalls.map((call) => call.id)));
  return calls.map((call, n) => {
    const wanted = String(call.id || `call_${turns.length + 1}_${n + 1}`);
    let id = wanted;
    for (let copy = 2; used.has(id); copy += 1) id = `${wanted}_${copy}`;
    used.add(id);
    const name = String(call.name ?? '').slice(0, JSON_TEXT.callName);
    // Some servers send an object, whose duplicate keys are lost.
    const text = typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments ?? {});
    if (text.length > JSON_TEXT.arguments) return { id, name, rawArguments: '', status: 'too_long' };
    return { id, name, rawArguments: text, status: isCut ? 'truncated' : 'complete' };
  });
}

/** A call as every server accepts it in a history: with a valid name, and an object as arguments. */
export interface ReplayableCall {
  readonly id: string;
  readonly name: string;
  readonly input: JsonObject;
  /** The arguments as text: that of the model if every server can parse it. */
  readonly arguments: string;
}

/** Makes a call replayable. Arguments that are not an object become `{}`. */
export function replayable({ id, name, rawArguments }: ToolCall): ReplayableCall {
  const input = parseInput(rawArguments);
  // Half a surrogate pair cannot be sent.
  const mayHoldHalf = /\\u[dD][89a-fA-F]/.test(rawArguments) || !rawArguments.isWellFormed();
  const isUsable = Object.keys(input).length > 0 && !mayHoldHalf;
  return {
    id,
    name: name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64) || 'unknown',
    input,
    arguments: isUsable ? rawArguments : JSON.stringify(input),
  };
}

/** Returns `{}` also for what is nested so deeply that serializing it again would overflow the stack. */
function parseInput(text: string): JsonObject {
  try {
    const value: Json = JSON.parse(text, (_, each) =>
      typeof each === 'string' ? each.toWellFormed() : each,
    );
    return isDeeperThan(value, JSON_TEXT.depth) ? {} : objectOf(value);
  } catch {
    return {};
  }
}
