import { describe, expect, it } from 'vitest';
import { createTransport, maxRetryAfterSeconds } from '../../src/providers/transport.ts';
import { startRawServer } from '../support/raw-server.ts';

async function waitAsked(headers: Record<string, string>): Promise<string | null> {
  const server = await startRawServer((response) => response.writeHead(429, headers).end('{"error":{}}'));
  try {
    const response = await createTransport({})(server.url, { method: 'POST', body: '{}' });
    expect(response.headers.get('retry-after-ms')).toBeNull();
    return response.headers.get('retry-after');
  } finally {
    await server.close();
  }
}

describe('createTransport', () => {
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
  ])('of %j a retry waits %s seconds', async (headers, expected) => {
    expect(await waitAsked(headers)).toBe(expected);
  });
});
