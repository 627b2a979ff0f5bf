/**
 * A `fetch` through a proxy, using undici: not every Node 24 can pass a proxy to its own fetch. Loaded only behind a
 * proxy.
 */
import { isIP } from 'node:net';
import undici from 'undici';
import { causeCode, NetworkError } from '../errors.ts';
import { WAIT } from '../text/limits.ts';
import { createBypass } from './bypass.ts';
import { certificateError } from './certificates.ts';
import type { Proxies, ProxyServer } from './proxies.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface ProxyFetchWorld {
  /** For hosts that bypass the proxies. */
  readonly direct: typeof fetch;
  readonly environment: Environment;
}

/** Error codes of a TLS handshake with a server that answered in plain text. */
const NO_TLS: ReadonlySet<string> = new Set([
  'EPROTO',
  'ERR_SSL_PACKET_LENGTH_TOO_LONG',
  'ERR_SSL_WRONG_VERSION_NUMBER',
]);

/** Statuses whose responses have no body, by the Fetch standard. */
const BODILESS = [204, 205, 304];

/**
 * Returns a `fetch` that sends each request through the proxy for its scheme: `https:` through a tunnel, `http:` in the
 * absolute form of RFC 9112, because proxies allow tunnels to few ports only; to a proxy that speaks TLS itself,
 * through a tunnel as well. undici's EnvHttpProxyAgent is not used: it prints a warning that it is experimental, falls
 * back to the other scheme's proxy, and its NO_PROXY supports neither subdomains nor ranges. Redirects are not
 * followed, whatever the request says.
 */
export function createProxyFetch(proxies: Proxies, { direct, environment }: ProxyFetchWorld): typeof fetch {
  const isDirect = createBypass(proxies.bypass);
  const agents = {
    http: proxies.http && createAgent(proxies.http, environment),
    https: proxies.https && createAgent(proxies.https, environment),
  };
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const scheme = url.protocol === 'https:' ? 'https' : 'http';
    const [proxy, dispatcher] = [proxies[scheme], agents[scheme]];
    if (proxy === null || dispatcher === null || isDirect(url)) return direct(input, init);
    const request = new Request(input, init);
    // Prefer the caller's own signal: the copy in a request stops following it once the request is garbage-collected.
    const signal = init?.signal ?? request.signal;
    signal.throwIfAborted();
    const body = request.body === null ? null : Buffer.from(await request.arrayBuffer());
    const { method, headers } = request;
    try {
      const sent = {
        method,
        headers: Object.fromEntries(headers),
        body,
        signal,
        dispatcher,
        redirect: 'manual',
      } as const;
      return toResponse(await undici.fetch(url, sent));
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw explain(error, proxy, url, environment);
    }
  };
}

/** Converts undici's response, which is not an instance of Node's `Response`. */
function toResponse({ status, statusText, headers, body }: undici.Response): Response {
  const kept = BODILESS.includes(status) ? null : (body as ReadableStream<Uint8Array> | null);
  return new Response(kept, { status, statusText, headers: [...headers] });
}

function createAgent(proxy: ProxyServer, environment: Environment): undici.ProxyAgent {
  /** The connections to the proxy through which tunnels are opened. */
  class TunnelPool extends undici.Pool {
    override async connect(
      options: undici.Dispatcher.ConnectOptions,
    ): Promise<undici.Dispatcher.ConnectData> {
      const target = options.path;
      const data = await super.connect(options).catch((error: unknown) => {
        throw unreachable(proxy, error, environment);
      });
      if (data.statusCode >= 200 && data.statusCode <= 299) return { ...data, statusCode: 200 };
      data.socket.on('error', () => undefined).destroy();
      throw refusal(proxy, data.statusCode, target);
    }
  }
  return new undici.ProxyAgent({
    uri: proxy.url.href,
    ...(proxy.authorization === null ? {} : { token: proxy.authorization }),
    proxyTunnel: false,
    clientFactory: (origin, options: { connect?: undici.buildConnector.connector }) =>
      new TunnelPool(origin, {
        connect: (to, done) =>
          options.connect?.({ ...to, servername: serverName(to.servername ?? '') }, done),
        headersTimeout: WAIT.tunnel,
      }),
  });
}

/** Returns the server name for TLS. SNI does not allow addresses; they are still checked against the certificate. */
function serverName(host: string): string {
  return isIP(host.replace(/^\[(.*)\]$/u, '$1')) === 0 ? host : '';
}

/** Explains a failed request: failures of the proxy get a sentence, those behind it are reported as fetch does. */
function explain(error: unknown, proxy: ProxyServer, url: URL, environment: Environment): unknown {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth += 1)
    if (cause instanceof NetworkError) return cause;
  if (url.protocol === 'https:') return error;
  const cause = error instanceof Error ? error.cause : undefined;
  // undici's error message when the proxy refuses to open a tunnel.
  if (cause instanceof Error && cause.message.endsWith('(407)')) return refusal(proxy, 407, url.host);
  return unreachable(proxy, error, environment);
}

/** How messages name a proxy: its host and port, and the variable that sets it. */
function named({ url, variable }: ProxyServer): string {
  return `The proxy ${url.host} (${variable})`;
}

function refusal(proxy: ProxyServer, status: number, target: string): NetworkError {
  const { variable, authorization } = proxy;
  const details = { code: null, passing: status >= 500 };
  if (status === 407) {
    const what =
      authorization === null
        ? `wants a user name and password (407): write them into ${variable}, as in http://user:password@host:port`
        : `did not accept the user name and password in ${variable} (407): check them; characters such as @ : / are written as %40 %3A %2F`;
    return new NetworkError(`${named(proxy)} ${what}.`, details);
  }
  const what =
    status >= 500
      ? `could not reach ${target} (${status}): run again later, and check the host's name`
      : `refused to connect to ${target} (${status}): have it allowed there, or name it in NO_PROXY where it can be reached directly`;
  return new NetworkError(`${named(proxy)} ${what}.`, details);
}

function unreachable(proxy: ProxyServer, error: unknown, environment: Environment): NetworkError {
  // undici retries forever if a connection fails with this code of its own.
  const code = causeCode(error) === 'UND_ERR_SOCKET' ? 'ECONNRESET' : causeCode(error);
  if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_CONNECT_TIMEOUT') return silence(proxy);
  const certificate = certificateError(error, `the proxy ${proxy.url.host} (${proxy.variable})`, environment);
  if (certificate !== null) return certificate;
  const what =
    proxy.url.protocol === 'https:' && NO_TLS.has(code ?? '')
      ? `does not speak TLS (${code}): write http:// before its name`
      : `cannot be reached${code === null ? '' : ` (${code})`}: check ${proxy.variable}, or name the host in NO_PROXY where it can be reached directly`;
  return new NetworkError(`${named(proxy)} ${what}.`, {
    code,
    passing: true,
    cause: error,
  });
}

function silence(proxy: ProxyServer): NetworkError {
  return new NetworkError(
    `${named(proxy)} did not answer within ${WAIT.tunnel / 1000} seconds. Run again later, and check ${proxy.variable}.`,
    { code: 'ETIMEDOUT', passing: true },
  );
}
