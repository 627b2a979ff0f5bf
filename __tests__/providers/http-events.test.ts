import { Stream as AnthropicStream } from '@anthropic-ai/sdk/core/streaming';
import fc from 'fast-check';
import { Stream as OpenAiStream } from 'openai/core/streaming';
import { describe, expect, it } from 'vitest';
import { doneType, normalizeEvents } from '../../src/providers/transport.ts';

/** The data of the events of a stream. */
async function textsOf(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  texts: string[] = [],
): Promise<string[]> {
  await new Response(body.pipeThrough(normalizeEvents((text) => texts.push(text)))).text();
  return texts;
}

/** The data of the events of a text whose bytes arrive in chunks with these ends. */
async function dataOf(text: string, cuts: readonly number[] = []): Promise<string[]> {
  const bytes = new TextEncoder().encode(text);
  const ends = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  const chunks = ends.map((end, n) => bytes.slice(ends[n - 1] ?? 0, end));
  return textsOf(ReadableStream.from(chunks));
}

describe('normalizeEvents', () => {
  it.each([
    ['data: a\n\ndata: b\n\n', ['a', 'b']],
    ['data:a\r\n\r\ndata:  b\r\rdata: c\n\n', ['a', ' b', 'c']],
    ['data: a\ndata: b\n\n', ['a\nb']],
    ['event: x\nid: 1\nretry: 5\n: comment\ndata: a\n\n', ['a']],
    [': ping\n\n: ping\n\nevent: ping\n\ndata: a\n\n\n\n', ['a']],
    ['\uFEFFdata: a\n\n', ['a']],
    ['data: a\n\ndata: b', ['a', 'b']],
    ['data: a\n\ndata: b\n', ['a', 'b']],
    ['database: a\n\ndata\n\n', []],
    ['', []],
  ])('reads %j as %j', async (text, expected) => {
    expect(await dataOf(text)).toEqual(expected);
  });

  it('gives the same events wherever the chunks end', async () => {
    const pieces = ['data: ', 'data:{"a":1}', 'é👋', ': c', '\n', '\r', '\r\n', '\n\n', 'event: e'];
    const piece = fc.constantFrom(...pieces);
    const text = fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join(''));
    await fc.assert(
      fc.asyncProperty(text, fc.array(fc.nat(400), { maxLength: 12 }), async (sample, cuts) => {
        expect(await dataOf(sample, cuts)).toEqual(await dataOf(sample));
      }),
      { numRuns: 300 },
    );
  });
});

describe.each([
  ['openai', OpenAiStream],
  ['Anthropic', AnthropicStream],
] as const)('the stream decoder of the %s SDK', (_, stream) => {
  const read = async (texts: readonly string[], announced: string[] = []) => {
    const pieces = ReadableStream.from(texts.map((text) => new TextEncoder().encode(text)));
    const body = pieces.pipeThrough(normalizeEvents((text) => announced.push(text)));
    const events: unknown[] = [];
    for await (const event of stream.fromSSEResponse(new Response(body), new AbortController()))
      events.push(event);
    return { events, announced: announced.map((text): unknown => JSON.parse(text)) };
  };

  it.each([
    ['without names', 'data: {"a":1}\n\ndata: {"a":2}\n\n', [{ a: 1 }, { a: 2 }]],
    [
      'with any names',
      'event: ping\ndata: {"a":1}\n\nevent: thread.x\ndata: {"a":2}\n\n',
      [{ a: 1 }, { a: 2 }],
    ],
    ['on several lines', 'data: {\ndata: "a":1}\r\n\r\n', [{ a: 1 }]],
    ['without a blank line at the end', 'data: {"a":1}\n\ndata: {"a":2}', [{ a: 1 }, { a: 2 }]],
    ['with an end', 'data: {"a":1}\n\ndata: [DONE]\n\n', [{ a: 1 }, { type: doneType }]],
    ['of null', 'data: null\n\ndata: []\n\n', [null, []]],
  ])('yields each event: %s', async (__, text, expected) => {
    const { events, announced } = await read([text]);
    expect([events, announced]).toEqual([expected, expected]);
  });
});
