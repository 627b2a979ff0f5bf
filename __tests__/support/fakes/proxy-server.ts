/**
 * An HTTP proxy on loopback with CONNECT tunnels and absolute-form requests. It resolves names itself, as a company's
 * proxy does: hosts outside its table cannot be reached. It records everything that it receives.
 */
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import https from 'node:https';
import net from 'node:net';
import type { Duplex } from 'node:stream';
import { serve } from '../local.ts';
import type { Identity } from './certificates.ts';

export interface ProxyOptions {
  /** The URL of a loopback server for each target `host:port`. */
  readonly hosts: Readonly<Record<string, string>>;
  /** The required `user:password`. */
  readonly credentials?: string;
  /** Answers every request with this status, or hangs up. */
  readonly refusal?: number | 'hangs up';
  /** Uses TLS for its clients. */
  readonly identity?: Identity;
}

/** Starts a proxy on a free loopback port. */
export async function startProxy(options: ProxyOptions) {
  const { hosts, credentials, refusal, identity } = options;
  const requests: string[] = [];
  const bytes: string[] = [];
  const note = (chunk: Buffer) => bytes.push(chunk.toString('latin1'));
  /** Returns where to send a request, or the status that refuses it. */
  const route = ({ method, url = '', headers, rawHeaders }: IncomingMessage): URL | number => {
    requests.push(`${method} ${url}`);
    bytes.push(`${method} ${url}\r\n${rawHeaders.join('\r\n')}\r\n`);
    const wanted = `Basic ${Buffer.from(credentials ?? '').toString('base64')}`;
    if (credentials !== undefined && headers['proxy-authorization'] !== wanted) return 407;
    if (typeof refusal === 'number') return refusal;
    const place = hosts[method === 'CONNECT' ? url : new URL(url).host];
    return place === undefined ? 502 : new URL(place);
  };
  const forward = (request: IncomingMessage, response: ServerResponse) => {
    const place = route(request);
    if (typeof place === 'number') return void response.writeHead(place).end('<html>the proxy</html>');
    const { 'proxy-authorization': _, ...headers } = request.headers;
    const { pathname, search } = new URL(request.url ?? '');
    const onward = http.request(new URL(pathname + search, place), { method: request.method, headers });
    onward.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    request.on('data', note).pipe(onward);
  };
  const server = identity === undefined ? http.createServer(forward) : https.createServer(identity, forward);
  server.on('connect', (request: IncomingMessage, client: Duplex) => {
    const place = route(request);
    client.on('error', () => undefined);
    if (refusal === 'hangs up') return void client.destroy();
    if (typeof place === 'number')
      return void client.end(`HTTP/1.1 ${place} No\r\ncontent-length: 0\r\n\r\n`);
    const onward = net.connect(Number(place.port), place.hostname);
    onward.on('error', () => client.destroy());
    onward.on('connect', () => client.write('HTTP/1.1 200 Connection established\r\n\r\n'));
    onward.on('close', () => client.destroy());
    client.on('close', () => onward.destroy());
    client.on('data', note).pipe(onward).pipe(client);
  });
  const { port, close } = await serve(server);
  const host = `${identity === undefined ? '127.0.0.1' : 'localhost'}:${port}`;
  return {
    url: `${identity === undefined ? 'http' : 'https'}://${host}`,
    host,
    /** The method and target of each request: `host:port` of a CONNECT, else the whole URL. */
    requests: requests as readonly string[],
    /** Every byte that clients sent, the tunnels' included, as Latin-1. */
    seen: () => bytes.join(''),
    close,
  };
}
