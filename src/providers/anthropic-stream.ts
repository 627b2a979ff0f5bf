/** The events of a message's stream, joined. */
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
  rawInput: string;
}

/** What the events of a whole stream add up to. The SDK's own helper would complete cut JSON and merge equal keys. */
export function joinedMessage(events: readonly JsonObject[]): {
  readonly message: JsonObject;
  readonly blocks: readonly Block[];
} {
  const blocks = new Map<Json | undefined, OpenBlock>();
  let message: JsonObject = {};
  for (const event of events) {
    const delta = objectOf(event['delta']);
    if (event['type'] === 'message_start') message = objectOf(event['message']);
    if (event['type'] === 'content_block_start') {
      const fields = new Map(Object.entries(objectOf(event['content_block'])));
      blocks.set(event['index'], { fields, rawInput: '' });
    }
    if (event['type'] === 'content_block_delta') {
      const block = blocks.get(event['index']);
      if (block !== undefined) addDelta(block, delta);
    }
    if (event['type'] === 'message_delta') {
      const usage = { ...objectOf(message['usage']), ...known(objectOf(event['usage'])) };
      message = { ...message, ...known(delta), usage };
    }
  }
  return { message, blocks: [...blocks.values()].map(closed) };
}

/** Counts of a delta are cumulative; those it does not know are null. */
function known(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
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
    case 'citations_delta': {
      const citations = block.fields.get('citations');
      const citation = delta['citation'] ?? null;
      block.fields.set('citations', [...(Array.isArray(citations) ? citations : []), citation]);
      break;
    }
  }
}

function closed({ fields, rawInput }: OpenBlock): Block {
  const native = Object.fromEntries(fields);
  if (rawInput !== '')
    return { native: { ...native, input: replayableInput(rawInput) }, rawInput, isRaw: true };
  // An input that came whole with the block's start lost its text in the SDK.
  return { native, rawInput, isRaw: Object.keys(objectOf(native['input'])).length === 0 };
}
