/**
 * An HTTP proxy on loopback with CONNECT tunnels and absolute-form requests. It resolves names itself, as a company's
 * proxy does: hosts outside its table cannot be reached. It records everything that it receives.
 */
import http, { type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import https from 'node:https';
import net, { type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { listen } from '../local.ts';
import type { Identity } from './certificates.ts';

/** The options of a proxy. */
export interface ProxyOptions {
  /** The URL of a loopback server for each target `host:port`. */
  readonly hosts: Readonly<Record<string, string>>;
  /** The required `user:password`. */
  readonly credentials?: string;
  /** Responds to every request with this status. */
  readonly status?: number;
  /** Closes every CONNECT without a response. */
  readonly hangUp?: boolean;
  /** Uses TLS for its clients. */
  readonly identity?: Identity;
}

/** A request as the proxy saw it. */
export interface ProxiedRequest {
  readonly method: string;
  /** `host:port` of a CONNECT, else the whole URL. */
  readonly target: string;
  readonly headers: http.IncomingHttpHeaders;
}

/** A running proxy. */
export interface ProxyServer {
  readonly url: string;
  readonly host: string;
  readonly requests: readonly ProxiedRequest[];
  /** Every byte that clients sent, the tunnels' included, as Latin-1. */
  seen(): string;
  close(): Promise<void>;
}

/** Starts a proxy on a free loopback port. */
export async function startProxy(options: ProxyOptions): Promise<ProxyServer> {
  const requests: ProxiedRequest[] = [];
  const sockets = new Set<Duplex>();
  const bytes: string[] = [];
  const { credentials, status, identity } = options;
  const note = (request: IncomingMessage) => {
    const { method = '', url: target = '', headers, rawHeaders } = request;
    requests.push({ method, target, headers });
    bytes.push(`${method} ${target}\r\n${rawHeaders.join('\r\n')}\r\n`);
  };
  /** The status of a rejection; null for an allowed request. */
  const refusal = ({ headers }: IncomingMessage): number | null => {
    const wanted = `Basic ${Buffer.from(credentials ?? '').toString('base64')}`;
    if (credentials !== undefined && headers['proxy-authorization'] !== wanted) return 407;
    return status ?? null;
  };
  const serve = (request: IncomingMessage, response: ServerResponse) => {
    note(request);
    const target = URL.canParse(request.url ?? '') ? new URL(request.url ?? '') : null;
    const place = target === null ? undefined : options.hosts[target.host];
    const refused = refusal(request) ?? (target === null ? 400 : place === undefined ? 502 : null);
    if (refused !== null || target === null || place === undefined) {
      response.writeHead(refused ?? 502, { 'proxy-authenticate': 'Basic', 'content-type': 'text/html' });
      response.end('<html>the proxy</html>');
      return;
    }
    const { 'proxy-authorization': _, ...headers } = request.headers;
    const { method = '' } = request;
    const onward = http.request(`${place}${target.pathname}${target.search}`, { method, headers });
    onward.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    request.on('data', (chunk: Buffer) => bytes.push(chunk.toString('latin1')));
    request.pipe(onward);
  };
  const server: Server =
    identity === undefined ? http.createServer(serve) : https.createServer(identity, serve);
  server.on('connection', (socket: Socket) => sockets.add(socket));
  server.on('connect', (request: IncomingMessage, client: Duplex) => {
    note(request);
    client.on('error', () => undefined);
    if (options.hangUp) return void client.destroy();
    const place = options.hosts[request.url ?? ''];
    const refused = refusal(request) ?? (place === undefined ? 502 : null);
    if (refused !== null || place === undefined)
      return void client.end(`HTTP/1.1 ${refused} No\r\ncontent-length: 0\r\n\r\n`);
    const { hostname, port } = new URL(place);
    const onward = net.connect(Number(port), hostname);
    sockets.add(onward);
    onward.on('error', () => client.destroy());
    onward.on('connect', () => client.write('HTTP/1.1 200 Connection established\r\n\r\n'));
    client.on('data', (chunk: Buffer) => bytes.push(chunk.toString('latin1')));
    client.on('close', () => onward.destroy());
    onward.on('close', () => client.destroy());
    client.pipe(onward).pipe(client);
  });
  const port = await listen(server);
  return {
    url: `${identity === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    host: `127.0.0.1:${port}`,
    requests,
    seen: () => bytes.join(''),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
