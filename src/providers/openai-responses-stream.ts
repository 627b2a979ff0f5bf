/** The events of a response's stream, joined. */
import type { JsonObject } from '../types.ts';
import { objectOf, objectsOf, textOf } from './reading.ts';

/** An output item with the text of its arguments, where it is a call. */
export interface Item {
  readonly native: JsonObject;
  /** The arguments as the model wrote them; empty where there are none. */
  readonly rawArguments: string;
  /** Whether `rawArguments` is all there is. */
  readonly isRaw: boolean;
}

interface OpenItem {
  native: JsonObject;
  isDone: boolean;
  /** What came in pieces: a call's arguments, else prose. */
  pieces: string;
  /** The arguments as the events that end them repeat them. */
  readonly stated: Set<string>;
}

const lastEvents = new Set(['response.completed', 'response.incomplete', 'response.failed', 'error']);

const errorEvents = new Set(['response.failed', 'error']);

/** The event that ended a stream, or reported an error before it; null where it was cut. */
export function lastEvent(events: readonly JsonObject[]): JsonObject | null {
  const findLast = (types: ReadonlySet<string>) =>
    events.findLast((event) => types.has(textOf(event['type'])));
  return findLast(errorEvents) ?? findLast(lastEvents) ?? null;
}

/** What the events of a whole stream add up to. The SDK's own helper would parse the arguments with all leniency. */
export function joinedResponse(events: readonly JsonObject[]): {
  readonly response: JsonObject;
  readonly items: readonly Item[];
} {
  const open = new Map<number, OpenItem>();
  for (const event of events) addEvent(open, event);
  const response = objectOf(lastEvent(events)?.['response']);
  for (const { at, value } of objectsOf(response['output'])) {
    // Servers that end no item of their own hold it in the last event.
    if (open.get(at)?.isDone !== true) end(itemAt(open, at), value);
  }
  const inOrder = [...open].sort(([a], [b]) => a - b);
  return { response, items: inOrder.map(([, item]) => closed(item)) };
}

function itemAt(open: Map<number, OpenItem>, at: number): OpenItem {
  const known = open.get(at);
  if (known !== undefined) return known;
  const item = { native: {}, isDone: false, pieces: '', stated: new Set<string>() };
  open.set(at, item);
  return item;
}

function addEvent(open: Map<number, OpenItem>, event: JsonObject): void {
  const at = event['output_index'];
  if (typeof at !== 'number') return;
  switch (event['type']) {
    case 'response.output_item.added':
      itemAt(open, at).native = objectOf(event['item']);
      break;
    case 'response.output_text.delta':
    case 'response.function_call_arguments.delta':
      itemAt(open, at).pieces += textOf(event['delta']);
      break;
    case 'response.function_call_arguments.done':
      itemAt(open, at).stated.add(textOf(event['arguments']));
      break;
    case 'response.output_item.done':
      end(itemAt(open, at), objectOf(event['item']));
      break;
  }
}

function end(item: OpenItem, native: JsonObject): void {
  item.native = native;
  item.isDone = true;
  item.stated.add(textOf(native['arguments']));
}

function closed({ native, isDone, pieces, stated }: OpenItem): Item {
  if (native['type'] === 'function_call') {
    const given = native['arguments'];
    const said = new Set([pieces, ...stated].filter((text) => text !== ''));
    const [rawArguments = ''] = said;
    // Two versions of the arguments, arguments that nobody ended, and arguments that are no text: nobody knows them.
    const isText = typeof given === 'string' || given === undefined || given === null;
    return { native, rawArguments, isRaw: said.size < 2 && stated.size > 0 && isText };
  }
  if (isDone || pieces === '') return { native, rawArguments: '', isRaw: true };
  const content = [{ type: 'output_text', text: pieces, annotations: [] }];
  return { native: { ...native, content }, rawArguments: '', isRaw: true };
}
