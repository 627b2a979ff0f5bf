/** A connection through a proxy, by CONNECT: the proxy sees the target's host and port, and nothing of what is sent. */
import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import https, { type RequestOptions } from 'node:https';
import { isIP, type Socket } from 'node:net';
import { NetworkError } from '../errors.ts';
import { certificateError, codeOf } from './certificates.ts';
import type { ProxyServer } from './proxies.ts';

/** The longest that a proxy may take to open a connection, in milliseconds. */
export const TUNNEL_TIMEOUT_MS = 30_000;

/** Codes of a TLS handshake with something that answered in plain text. */
const NO_TLS: ReadonlySet<string> = new Set([
  'EPROTO',
  'ERR_SSL_PACKET_LENGTH_TOO_LONG',
  'ERR_SSL_WRONG_VERSION_NUMBER',
]);

/** The name to ask a host's certificate by: SNI takes no addresses, which are checked against the certificate all the same. */
export function serverName(host: string): string {
  return isIP(host) === 0 ? host : '';
}

/** A request to the proxy itself. */
export function askProxy(proxy: ProxyServer, options: RequestOptions): ClientRequest {
  const { url, authorization } = proxy;
  const own = authorization === null ? {} : { 'proxy-authorization': authorization };
  const isTls = url.protocol === 'https:';
  const host = url.hostname.replace(/^\[(.*)\]$/u, '$1');
  return (isTls ? https : http).request({
    host,
    // Node would take the name from the Host header, which is the target's.
    servername: serverName(host),
    port: url.port === '' ? (isTls ? 443 : 80) : Number(url.port),
    ...options,
    headers: { ...options.headers, ...own },
  });
}

/**
 * Opens a connection to a target, `host:port`.
 * @throws NetworkError that names the proxy, its variable and what to do.
 */
export function openTunnel(
  proxy: ProxyServer,
  target: string,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const request = askProxy(proxy, {
      method: 'CONNECT',
      path: target,
      headers: { host: target, 'proxy-connection': 'keep-alive', connection: 'keep-alive' },
      agent: false,
      timeout: TUNNEL_TIMEOUT_MS,
    });
    request.once('connect', (response: IncomingMessage, socket: Socket) => {
      const { statusCode = 0 } = response;
      if (statusCode < 200 || statusCode > 299) {
        socket.destroy();
        reject(refusal(proxy, statusCode, target));
        return;
      }
      socket.setTimeout(0);
      resolve(socket);
    });
    request.once('timeout', () => request.destroy(silence(proxy)));
    request.once('error', (error) =>
      reject(error instanceof NetworkError ? error : unreachable(proxy, error, environment)),
    );
    request.end();
  });
}

/** How messages name a proxy: its host and port, and where that was said. */
function named({ url, variable }: ProxyServer): string {
  return `The proxy ${url.host} (${variable})`;
}

/** What a proxy's refusal says to a person. */
export function refusal(proxy: ProxyServer, status: number, target: string): NetworkError {
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

/** What a connection to the proxy that failed says to a person. */
export function unreachable(
  proxy: ProxyServer,
  error: unknown,
  environment: Readonly<Record<string, string | undefined>>,
): NetworkError {
  const certificate = certificateError(error, `the proxy ${proxy.url.host} (${proxy.variable})`, environment);
  if (certificate !== null) return certificate;
  const code = codeOf(error);
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
    `${named(proxy)} did not answer within ${TUNNEL_TIMEOUT_MS / 1000} seconds. Run again later, and check ${proxy.variable}.`,
    { code: 'ETIMEDOUT', passing: true },
  );
}
