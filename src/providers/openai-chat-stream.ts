/** The chunks of a chat completion's stream, joined. */
import { isArray } from '../text/json.ts';
import type { Json, JsonObject } from '../types.ts';
import { called, chatUsage, firstChoice, type WholeChat } from './openai-chat-parts.ts';
import { objectOf, objectsOf, textOf } from './reading.ts';

/** Fields of a delta that arrive in pieces; of any other text field the last one counts. */
const pieces = new Set(['content', 'refusal', 'reasoning_content', 'reasoning', 'thinking']);

interface OpenCall {
  id: string;
  name: string;
  rawArguments: string;
  isRaw: boolean;
  native: Map<string, Json>;
  /** What stands in `native` under `function`. */
  fields: Map<string, Json>;
}

/** The calls of a stream so far, findable by what later chunks name them by: the last of an index, the first of an id. */
interface OpenCalls {
  readonly all: OpenCall[];
  readonly byIndex: Map<number, OpenCall>;
  readonly byId: Map<string, OpenCall>;
}

/** A message so far; what is a list in it stands in `lists` too, where it may grow. */
interface OpenMessage {
  readonly fields: Map<string, Json>;
  readonly lists: Map<string, Json[]>;
}

/** What the chunks of a whole stream add up to; linear in their length. */
export function joinedChat(chunks: readonly JsonObject[]): WholeChat {
  const message: OpenMessage = { fields: new Map(), lists: new Map() };
  const calls: OpenCalls = { all: [], byIndex: new Map(), byId: new Map() };
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
    message: Object.fromEntries(message.fields),
    calls: calls.all.map(({ fields, native, ...call }) => ({
      ...call,
      native: { ...Object.fromEntries(native), function: Object.fromEntries(fields) },
    })),
    ...last,
  };
}

/** Text in pieces is joined and lists grow; of anything else the last value counts, and null never does. */
function merge({ fields, lists }: OpenMessage, key: string, value: Json): void {
  const before = fields.get(key);
  if (value === null && before !== undefined) return;
  const list = lists.get(key);
  if (isArray(value) && list !== undefined && list === before) {
    for (const each of value) list.push(each);
  } else if (isArray(value)) {
    const opened = [...value];
    lists.set(key, opened);
    fields.set(key, opened);
  } else if (typeof before === 'string' && typeof value === 'string' && pieces.has(key)) {
    fields.set(key, before + value);
  } else fields.set(key, value);
}

function addCall(calls: OpenCalls, delta: JsonObject): void {
  const { function: given, index, ...rest } = delta;
  const { id, name } = called(delta);
  const call = openCall(calls, typeof index === 'number' ? index : null, id, name);
  for (const [key, value] of Object.entries(rest)) if (value !== null) call.native.set(key, value);
  const { arguments: piece, ...others } = objectOf(given);
  for (const [key, value] of Object.entries(others)) call.fields.set(key, value);
  if (typeof piece === 'string') call.rawArguments += piece;
  else if (piece !== undefined && piece !== null) call.isRaw = false;
}

/**
 * The call that a delta goes on with, or a new one. Servers leave `index` out, or `id` on later deltas, or count every
 * call as index 0: another id with a name of its own is another call.
 */
function openCall(calls: OpenCalls, index: number | null, id: string, name: string): OpenCall {
  const known = knownCall(calls, index, id, name);
  const another = id !== '' && known !== undefined && known.id !== '' && id !== known.id && name !== '';
  if (known !== undefined && !another) {
    if (known.id === '') identify(calls, known, id);
    known.name ||= name;
    return known;
  }
  const opened: OpenCall = {
    id: '',
    name,
    rawArguments: '',
    isRaw: true,
    native: new Map(),
    fields: new Map(),
  };
  calls.all.push(opened);
  if (index !== null) calls.byIndex.set(index, opened);
  identify(calls, opened, id);
  return opened;
}

function identify(calls: OpenCalls, call: OpenCall, id: string): void {
  call.id = id;
  if (id !== '' && !calls.byId.has(id)) calls.byId.set(id, call);
}

function knownCall(calls: OpenCalls, index: number | null, id: string, name: string): OpenCall | undefined {
  if (index !== null) return calls.byIndex.get(index);
  if (id !== '') return calls.byId.get(id);
  return name === '' ? calls.all.at(-1) : undefined;
}
