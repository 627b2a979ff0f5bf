/** The events of a message's stream, joined. */
import { isArray } from '../text/json.ts';
import type { Json, JsonObject } from '../types.ts';
import { objectOf, replayableInput, textOf } from './reading.ts';

/** A content block with the text of its input, where it has one. */
export interface Block {
  readonly native: JsonObject;
  /** The input's text as the model wrote it; empty where there is none. */
  readonly rawInput: string;
  /** Whether `rawInput` is all there is. */
  readonly isRaw: boolean;
}

interface OpenBlock {
  readonly fields: Map<string, Json>;
  readonly citations: Json[];
  /** The event that began it. */
  readonly start: JsonObject;
  rawInput: string;
}

/** The text at a path of an event; null where there is none. */
type RawText = (event: JsonObject, path: readonly (string | number)[]) => string | null;

/** What the events of a whole stream add up to. The SDK's own helper would complete cut JSON and merge equal keys. */
export function joinedMessage(
  events: readonly JsonObject[],
  raw: RawText = () => null,
): {
  readonly message: JsonObject;
  readonly blocks: readonly Block[];
} {
  const blocks = new Map<Json | undefined, OpenBlock>();
  let message = new Map<string, Json>();
  let usage = new Map<string, Json>();
  for (const event of events) {
    const delta = objectOf(event['delta']);
    if (event['type'] === 'message_start') {
      message = new Map(Object.entries(objectOf(event['message'])));
      usage = new Map(Object.entries(objectOf(message.get('usage'))));
    }
    if (event['type'] === 'content_block_start') {
      const fields = new Map(Object.entries(objectOf(event['content_block'])));
      blocks.set(event['index'], { fields, citations: [], start: event, rawInput: '' });
    }
    if (event['type'] === 'content_block_delta') {
      const block = blocks.get(event['index']);
      if (block !== undefined) addDelta(block, delta);
    }
    if (event['type'] === 'message_delta') {
      for (const [key, value] of known(delta)) message.set(key, value);
      for (const [key, value] of known(objectOf(event['usage']))) usage.set(key, value);
    }
  }
  message.set('usage', Object.fromEntries(usage));
  return {
    message: Object.fromEntries(message),
    blocks: [...blocks.values()].map((block) => closed(block, raw)),
  };
}

/** Counts of a delta are cumulative; those it does not know are null. */
function known(fields: JsonObject): readonly (readonly [string, Json])[] {
  return Object.entries(fields).filter(([, value]) => value !== null);
}

function addDelta(block: OpenBlock, delta: JsonObject): void {
  const append = (key: string, value: Json | undefined) =>
    block.fields.set(key, textOf(block.fields.get(key)) + textOf(value));
  switch (delta['type']) {
    case 'text_delta':
      append('text', delta['text']);
      break;
    case 'thinking_delta':
      append('thinking', delta['thinking']);
      break;
    case 'signature_delta':
      append('signature', delta['signature']);
      break;
    case 'input_json_delta':
      block.rawInput += textOf(delta['partial_json']);
      break;
    case 'citations_delta':
      block.citations.push(delta['citation'] ?? null);
      break;
  }
}

function closed({ fields, citations, start, rawInput }: OpenBlock, raw: RawText): Block {
  if (citations.length > 0) {
    const before = fields.get('citations');
    fields.set('citations', [...(before !== undefined && isArray(before) ? before : []), ...citations]);
  }
  const native = Object.fromEntries(fields);
  if (rawInput !== '')
    return { native: { ...native, input: replayableInput(rawInput) }, rawInput, isRaw: true };
  if (Object.keys(objectOf(native['input'])).length === 0) return { native, rawInput, isRaw: true };
  // Some compatible servers send the whole input with the block's start: what counts is its text there.
  const whole = raw(start, ['content_block', 'input']);
  return { native, rawInput: whole ?? '', isRaw: whole !== null };
}
