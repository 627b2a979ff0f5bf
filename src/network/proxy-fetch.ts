/** A `fetch` through a proxy, over Node's http client: its own fetch can be given none on every Node 24. */
import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import https from 'node:https';
import { isIP } from 'node:net';
import { Duplex, pipeline, Readable, type Transform } from 'node:stream';
import tls from 'node:tls';
import { constants, createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { NetworkError } from '../errors.ts';
import { createBypass } from './bypass.ts';
import type { Proxies, ProxyServer } from './proxies.ts';
import { askProxy, openTunnel, refusal, serverName, unreachable } from './tunnel.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** What the proxied fetch works with. */
export interface ProxyFetchWorld {
  /** For hosts that no proxy stands before. */
  readonly direct: typeof fetch;
  readonly environment: Environment;
}

/**
 * `fetch` with each request through the proxy of its scheme: `https:` in a tunnel, `http:` by the absolute form of
 * RFC 9112, for proxies open tunnels to few ports. Redirects are not followed, whatever the request says.
 */
export function createProxyFetch(proxies: Proxies, { direct, environment }: ProxyFetchWorld): typeof fetch {
  const isDirect = createBypass(proxies.bypass);
  const tunnels = proxies.https === null ? false : tunnelAgent(proxies.https, environment);
  const toProxy = proxies.http?.url.protocol === 'https:' ? new https.Agent(KEPT) : new http.Agent(KEPT);
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const proxy = url.protocol === 'https:' ? proxies.https : proxies.http;
    if (proxy === null || isDirect(url)) return direct(input, init);
    const request = new Request(input, init);
    // The caller's own signal where there is one: a request's copy stops following it once the request is collected.
    const signal = init?.signal ?? request.signal;
    signal.throwIfAborted();
    const body = request.body === null ? null : Buffer.from(await request.arrayBuffer());
    const options = {
      method: request.method,
      headers: { 'accept-encoding': 'identity', ...Object.fromEntries(request.headers), host: url.host },
      signal,
    };
    if (url.protocol === 'https:') {
      return answer(https.request(url, { ...options, agent: tunnels }), body, signal, failed);
    }
    const sent = askProxy(proxy, { ...options, agent: toProxy, path: absoluteForm(url) });
    const explain = (error: Error) => unreachable(proxy, error, environment);
    return accepted(await answer(sent, body, signal, explain), proxy, url);
  };
}

/**
 * Connections are kept for the next request, but not for long: what stands in between forgets a silent one without a
 * word while a command runs for minutes, and whatever is sent on it then is lost. In milliseconds, as long as Node's
 * own fetch keeps them.
 */
const KEPT = { keepAlive: true, timeout: 4_000 } as const;

/** What a request line says to a proxy. */
function absoluteForm({ origin, pathname, search }: URL): string {
  return `${origin}${pathname}${search}`;
}

/** An answer that is not the proxy's own way of asking who we are. */
async function accepted(response: Response, proxy: ProxyServer, url: URL): Promise<Response> {
  if (response.status !== 407) return response;
  await response.body?.cancel();
  throw refusal(proxy, 407, url.host);
}

/** An agent whose connections are tunnels; those that are whole are used again. */
function tunnelAgent(proxy: ProxyServer, environment: Environment): https.Agent {
  const agent = new https.Agent(KEPT);
  agent.createConnection = ({ host, port }, callback) => {
    const name = host ?? '';
    const target = `${isIP(name) === 6 ? `[${name}]` : name}:${port ?? 443}`;
    openTunnel(proxy, target, environment).then(
      (socket) => {
        const servername = serverName(name);
        callback?.(null, tls.connect({ socket, host: name, servername, ALPNProtocols: ['http/1.1'] }));
      },
      (error: Error) => callback?.(error, new Duplex()),
    );
    return undefined;
  };
  return agent;
}

/** Sends a request and gives its answer as soon as its head is there. */
function answer(
  sent: ClientRequest,
  body: Buffer | null,
  signal: AbortSignal,
  explain: (error: Error) => Error,
): Promise<Response> {
  return new Promise((resolve, reject) => {
    sent.once('response', (incoming) => {
      try {
        resolve(toResponse(incoming));
      } catch (error) {
        // A status that no answer may have.
        sent.destroy();
        reject(new TypeError('fetch failed', { cause: error }));
      }
    });
    sent.on('error', (error) => reject(signal.aborted ? signal.reason : explain(error)));
    sent.end(body ?? undefined);
  });
}

/** What fetch makes of an error of the connection behind a proxy; the proxy's own say what they are. */
function failed(error: Error): Error {
  return error instanceof NetworkError ? error : new TypeError('fetch failed', { cause: error });
}

/** Statuses whose answers have no body, by the Fetch standard. */
const BODILESS = [204, 205, 304];

function toResponse(incoming: IncomingMessage): Response {
  const { statusCode: status = 0, statusMessage: statusText = '' } = incoming;
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(incoming.headersDistinct))
    for (const value of values) headers.append(name, value);
  if (BODILESS.includes(status)) {
    incoming.resume();
    return new Response(null, { status, statusText, headers });
  }
  return new Response(Readable.toWeb(decoded(incoming)), { status, statusText, headers });
}

/** What arrives, unpacked: no encoding was asked for, but not every gateway listens. */
function decoded(incoming: IncomingMessage): Readable {
  // Each part is handed on as it comes, and an end that was cut off is told by the connection.
  const flush = { flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH };
  const brotli = {
    flush: constants.BROTLI_OPERATION_FLUSH,
    finishFlush: constants.BROTLI_OPERATION_FLUSH,
  };
  const through = (decoder: Transform) => pipeline(incoming, decoder, () => undefined);
  switch (incoming.headers['content-encoding']?.trim().toLowerCase()) {
    case 'gzip':
    case 'x-gzip':
      return through(createGunzip(flush));
    case 'deflate':
      return through(createInflate(flush));
    case 'br':
      return through(createBrotliDecompress(brotli));
    default:
      return incoming;
  }
}
