/** Server-sent events, as far as models' APIs use them: the text of each event's data. */
import { createParser } from 'eventsource-parser';

/**
 * The data of each event of a stream, in order; comments, names, ids and empty events are left out. An event that no
 * blank line ends is handed on too: whoever reads it finds out whether it is whole.
 * Rejects with what reading the body rejects with.
 */
export async function* eventData(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void, void> {
  const decoder = new TextDecoder();
  let ready: string[] = [];
  const parser = createParser({
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
