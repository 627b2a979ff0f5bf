import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readEventData } from '../../src/providers/request.ts';

/** What the events of a text hold when its bytes arrive in chunks that end at these places. */
async function dataOf(text: string, cuts: readonly number[] = []): Promise<string[]> {
  const bytes = new TextEncoder().encode(text);
  const ends = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  const chunks = ends.map((end, n) => bytes.slice(ends[n - 1] ?? 0, end));
  const data: string[] = [];
  for await (const each of readEventData(ReadableStream.from(chunks))) data.push(each);
  return data;
}

describe('readEventData', () => {
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
  ])('of %j is %j', async (text, expected) => {
    expect(await dataOf(text)).toEqual(expected);
  });

  it('is the same however the bytes are cut', async () => {
    const piece = fc.constantFrom(
      'data: ',
      'data:{"a":1}',
      'é👋',
      ': c',
      '\n',
      '\r',
      '\r\n',
      '\n\n',
      'event: e',
    );
    const text = fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join(''));
    await fc.assert(
      fc.asyncProperty(text, fc.array(fc.nat(400), { maxLength: 12 }), async (sample, cuts) => {
        expect(await dataOf(sample, cuts)).toEqual(await dataOf(sample));
      }),
      { numRuns: 300 },
    );
  });

  it('reads a line of many pieces in linear time', async () => {
    const piece = new Uint8Array(1024).fill(0x78);
    async function* pieces() {
      yield new TextEncoder().encode('data: ');
      for (let n = 0; n < 20_000; n += 1) yield piece;
    }
    let length = 0;
    for await (const data of readEventData(ReadableStream.from(pieces()))) length += data.length;
    expect(length).toBe(20_000 * 1024);
  });

  it('fails where too many lines are no field, without an error object for each', async () => {
    await expect(dataOf(`${'x\n'.repeat(10_000)}data: a\n\n`)).resolves.toEqual(['a']);
    await expect(dataOf('x\n'.repeat(10_001))).rejects.toThrow('not an event stream');
  });

  it('fails as reading fails, behind what came before', async () => {
    const error = new Error('cut');
    async function* broken() {
      yield new TextEncoder().encode('data: a\n\ndata: b');
      throw error;
    }
    const data: string[] = [];
    const work = (async () => {
      for await (const each of readEventData(ReadableStream.from(broken()))) data.push(each);
    })();
    await expect(work).rejects.toBe(error);
    expect(data).toEqual(['a']);
  });
});
