import { afterEach, describe, expect, it } from 'vitest';
import { type Bounds, exchange } from '../../src/github/api-exchange.ts';
import { type RawServer, startRawServer } from '../support/raw-server.ts';

const BOUNDS: Bounds = { fetch, signal: undefined, timeoutMs: 60_000, maxBytes: 100 };
let server: RawServer;
afterEach(() => server.close());

describe('exchange', () => {
  it('reads an answer to its end, whatever its status', async () => {
    server = await startRawServer((response) => {
      response.writeHead(418, { 'X-Thing': 'yes' });
      response.end('tea');
    });
    const { status, headers, body } = await exchange(server.url, { method: 'GET' }, BOUNDS);
    expect([status, headers['x-thing'], Buffer.from(body).toString()]).toEqual([418, 'yes', 'tea']);
  });

  it('takes no body that breaks off for a whole one', async () => {
    server = await startRawServer((response) => {
      response.writeHead(200, { 'content-length': '50' });
      response.write('half', () => response.destroy());
    });
    await expect(exchange(server.url, { method: 'GET' }, BOUNDS)).rejects.toThrow();
  });

  it('ends when the time is over, before the head and within the body', async () => {
    server = await startRawServer((response, { path }) => {
      if (path === '/body') response.writeHead(200).write('x');
    });
    for (const path of ['/head', '/body']) {
      const asked = exchange(server.url + path, { method: 'GET' }, { ...BOUNDS, timeoutMs: 50 });
      await expect(asked).rejects.toMatchObject({ name: 'TimeoutError' });
    }
  });

  it('ends with the signal, also with one that came before', async () => {
    server = await startRawServer(() => undefined);
    const stop = new AbortController();
    const asked = exchange(server.url, { method: 'GET' }, { ...BOUNDS, signal: stop.signal });
    stop.abort('SIGTERM');
    await expect(asked).rejects.toBe('SIGTERM');
    await expect(exchange(server.url, {}, { ...BOUNDS, signal: stop.signal })).rejects.toBe('SIGTERM');
  });

  it('follows a GET on the same server, twice at most, and nothing else', async () => {
    server = await startRawServer((response, { path }) => {
      response.writeHead(path === '/3' ? 200 : 302, { location: `/${Number(path.slice(1)) + 1}` }).end();
    });
    const statusOf = async (path: string, method: string) =>
      (await exchange(server.url + path, { method }, BOUNDS)).status;
    expect([
      await statusOf('/1', 'GET'),
      await statusOf('/0', 'GET'),
      await statusOf('/2', 'DELETE'),
    ]).toEqual([200, 302, 302]);
  });
});
