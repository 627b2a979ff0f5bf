import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { ProviderError } from '../../src/errors.ts';
import { createTransport, maxRetryAfterSeconds } from '../../src/providers/transport.ts';
import { READ } from '../../src/text/limits.ts';
import { asking, providerAt, wires } from '../support/fakes/model/wires.ts';
import { startRawServer } from '../support/fakes/raw-server.ts';

async function waitAsked(headers: Record<string, string>): Promise<string | null> {
  const server = await startRawServer((response) => response.writeHead(429, headers).end('{"error":{}}'));
  try {
    const response = await createTransport(fetch, {})(server.url, { method: 'POST', body: '{}' });
    expect(response.headers.get('retry-after-ms')).toBeNull();
    return response.headers.get('retry-after');
  } finally {
    await server.close();
  }
}

describe('createTransport', () => {
  it.each([
    [304, 304],
    [999, 599],
  ])('treats status %i as a response, not as a lost connection', async (status, expected) => {
    const server = await startRawServer((response) => response.writeHead(status).end());
    try {
      const response = await createTransport(fetch, {})(server.url, { method: 'POST', body: '{}' });
      expect(response.status).toBe(expected);
    } finally {
      await server.close();
    }
  });

  const date = 'Sat, 21 Nov 2026 12:00:00 GMT';

  it.each<[Record<string, string>, string | null]>([
    [{ 'retry-after': '7' }, '7'],
    [{ 'retry-after': '0.5' }, '0.5'],
    [{ 'retry-after': '86400' }, String(maxRetryAfterSeconds)],
    [{ 'retry-after': '1e300' }, String(maxRetryAfterSeconds)],
    [{ 'retry-after': '-5' }, null],
    [{ 'retry-after': 'soon' }, null],
    [{ 'retry-after-ms': '250', 'retry-after': '9' }, '0.25'],
    [{ 'retry-after-ms': '99999999' }, String(maxRetryAfterSeconds)],
    [{ date, 'retry-after': 'Sat, 21 Nov 2026 12:00:20 GMT' }, '20'],
    [{ date, 'retry-after': 'Sun, 22 Nov 2026 12:00:00 GMT' }, String(maxRetryAfterSeconds)],
    [{ date, 'retry-after': 'Sat, 21 Nov 2026 11:00:00 GMT' }, null],
  ])('with the headers %j waits %s seconds before a retry', async (headers, expected) => {
    expect(await waitAsked(headers)).toBe(expected);
  });
});

/** Writes a text repeatedly, as fast as it is read, until `bytes` are sent or the connection is closed. */
function flood(response: ServerResponse, text: string, bytes: number): { readonly sent: () => number } {
  const piece = Buffer.from(text.repeat(Math.ceil((64 * 1024) / text.length)));
  let sent = 0;
  const more = () => {
    while (sent < bytes && !response.destroyed) {
      sent += piece.length;
      if (!response.write(piece)) return void response.once('drain', more);
    }
    response.end();
  };
  more();
  return { sent: () => sent };
}

describe('a response without an end', () => {
  const far = 4 * READ.modelResponse;

  for (const wire of wires) {
    it.each([
      [
        'a stream',
        200,
        'text/event-stream',
        `data: {"type":"ping","x":"${'x'.repeat(2_000)}"}\n\n`,
        '64 MiB',
      ],
      ['a body', 200, 'application/json', ' ', '64 MiB'],
      ['an error response', 400, 'application/json', 'a', '256 KiB'],
      ['an error response that allows a retry', 529, 'application/json', 'a', '256 KiB'],
    ])(`${wire.name}: %s is cut off and not retried`, async (_, status, type, text, limit) => {
      const floods: { readonly sent: () => number }[] = [];
      const server = await startRawServer((response) => {
        response.writeHead(status, { 'content-type': type, 'retry-after': '0.01' });
        floods.push(flood(response, text, far));
      });
      try {
        const provider = await providerAt(wire, server.url);
        const error = await provider.complete(asking()).catch((thrown: unknown) => thrown);
        expect(error).toBeInstanceOf(ProviderError);
        expect(error).toMatchObject({
          failure: 'error',
          status,
          message: `${new URL(server.url).host} answered ${status} with more than ${limit}: that is no completion. Check \`base-url\`, and any proxy or gateway between this machine and the API.`,
        });
        expect(floods.map(({ sent }) => sent() < far)).toEqual([true]);
      } finally {
        await server.close();
      }
    });
  }

  it('is read completely up to the limit', async () => {
    const body = 'x'.repeat(READ.modelError);
    const server = await startRawServer((response) => response.writeHead(500).end(body));
    try {
      const response = await createTransport(fetch, {})(server.url, { method: 'POST', body: '{}' });
      expect([response.status, await response.text()]).toEqual([500, body]);
    } finally {
      await server.close();
    }
  });
});
