/** The chunks of a chat completion's stream, joined. */
import { isArray } from '../json.ts';
import type { Json, JsonObject } from '../types.ts';
import { called, chatUsage, firstChoice, type WholeChat } from './openai-chat-parts.ts';
import { objectOf, objectsOf, textOf } from './reading.ts';

/** Fields of a delta that arrive in pieces; of any other text field the last one counts. */
const pieces = new Set(['content', 'refusal', 'reasoning_content', 'reasoning', 'thinking']);

interface OpenCall {
  readonly index: number | null;
  id: string;
  name: string;
  rawArguments: string;
  isRaw: boolean;
  native: Map<string, Json>;
}

/** What the chunks of a whole stream add up to. */
export function joinedChat(chunks: readonly JsonObject[]): WholeChat {
  const message = new Map<string, Json>();
  const calls: OpenCall[] = [];
  const last = { finishReason: '', usage: chatUsage(null), model: '' };
  for (const chunk of chunks) {
    const choice = firstChoice(chunk);
    last.finishReason = textOf(choice['finish_reason']) || last.finishReason;
    last.usage = chatUsage(chunk['usage']) ?? last.usage;
    last.model = textOf(chunk['model']) || last.model;
    const { tool_calls, ...delta } = objectOf(choice['delta'] ?? choice['message']);
    for (const [key, value] of Object.entries(delta)) merge(message, key, value);
    for (const { value } of objectsOf(tool_calls)) addCall(calls, value);
  }
  return {
    message: Object.fromEntries(message),
    calls: calls.map((call) => ({ ...call, native: Object.fromEntries(call.native) })),
    ...last,
  };
}

function merge(message: Map<string, Json>, key: string, value: Json): void {
  const before = message.get(key);
  if (value === null && before !== undefined) return;
  if (typeof before === 'string' && typeof value === 'string' && pieces.has(key))
    message.set(key, before + value);
  else if (before !== undefined && isArray(before) && isArray(value)) message.set(key, [...before, ...value]);
  else message.set(key, value);
}

function addCall(calls: OpenCall[], delta: JsonObject): void {
  const { function: given, index, ...rest } = delta;
  const { id, name } = called(delta);
  const call = openCall(calls, typeof index === 'number' ? index : null, id, name);
  for (const [key, value] of Object.entries(rest)) if (value !== null) call.native.set(key, value);
  const { arguments: piece, ...others } = objectOf(given);
  call.native.set('function', { ...objectOf(call.native.get('function')), ...others });
  if (typeof piece === 'string') call.rawArguments += piece;
  else if (piece !== undefined && piece !== null) call.isRaw = false;
}

/**
 * The call that a delta goes on with, or a new one. Servers leave `index` out, or `id` on later deltas, or count every
 * call as index 0: another id with a name of its own is another call.
 */
function openCall(calls: OpenCall[], index: number | null, id: string, name: string): OpenCall {
  const known = knownCall(calls, index, id, name);
  const another = id !== '' && known !== undefined && known.id !== '' && id !== known.id && name !== '';
  if (known !== undefined && !another) {
    known.id ||= id;
    known.name ||= name;
    return known;
  }
  const opened: OpenCall = { index, id, name, rawArguments: '', isRaw: true, native: new Map() };
  calls.push(opened);
  return opened;
}

function knownCall(
  calls: readonly OpenCall[],
  index: number | null,
  id: string,
  name: string,
): OpenCall | undefined {
  if (index !== null) return calls.findLast((call) => call.index === index);
  if (id !== '') return calls.find((call) => call.id === id);
  return name === '' ? calls.at(-1) : undefined;
}
