/** Server-sent events, as far as models' APIs use them: the text of each event's data. */
import { createParser } from 'eventsource-parser';

/** How many lines of a stream may be no field of an event; servers send none, and each costs an error object. */
const maxStrangeLines = 10_000;

/**
 * The data of each event of a stream, in order; comments, names, ids and empty events are left out. An event that no
 * blank line ends is handed on too: whoever reads it finds out whether it is whole.
 * Rejects with what reading the body rejects with, and where too many lines are none of an event.
 */
export async function* eventData(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void, void> {
  const decoder = new TextDecoder();
  let ready: string[] = [];
  let strange = 0;
  const parser = createParser({
    onError() {
      strange += 1;
      if (strange > maxStrangeLines) throw new Error('This is no stream of events.');
    },
    onEvent: ({ data }) => {
      if (data !== '') ready.push(data);
    },
  });
  for await (const chunk of body) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    const events = ready;
    ready = [];
    yield* events;
  }
  parser.feed(`${decoder.decode()}\n\n`);
  yield* ready;
}
