/** Sends requests through the proxies of this process's environment, and trusts the system's authorities, too. */
import tls from 'node:tls';
import { getProxyUrl } from '@actions/http-client/lib/proxy';
import type undici from 'undici';
import type { Dispatcher } from 'undici';
import { causeCode, NetworkError } from '../errors.ts';

const PROXY_VARIABLES = ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY'];

/**
 * Returns a `fetch` that uses the proxies in HTTP_PROXY, HTTPS_PROXY and NO_PROXY, as GitHub's toolkit reads them from
 * the process (Node's own fetch uses none unless started with a flag). If a certificate is not accepted, it asks again
 * with the system's authorities; nothing is set for the whole process. undici is loaded only if it is needed for either.
 * Redirects are returned and never followed: keys would be sent along. Rejects with a NetworkError if a proxy or a
 * certificate is the cause, and otherwise like `fetch`.
 */
export function createFetch(): typeof fetch {
  const agents = new Map<string, Dispatcher>();
  let authorities: tls.SecureContext | null = null;
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const proxy = getProxyUrl(url) ?? null;
    for (;;) {
      const trusted = authorities;
      try {
        if (proxy === null && trusted === null)
          return await fetch(input, { ...init, redirect: 'manual', ...patientAgent() });
        const { default: library } = await import('undici');
        const key = `${proxy?.href} ${trusted !== null}`;
        const agent = agents.get(key) ?? createAgent(library, proxy, trusted);
        agents.set(key, agent);
        return await fetchBy(library, agent, input, init);
      } catch (error) {
        if (init?.signal?.aborted) throw error;
        if (trusted !== null || !isCertificateError(error)) throw explain(error, url, proxy);
        // The handshake failed, so nothing has been sent yet.
        authorities ??= trustSystem();
      }
    }
  };
}

/** A model on a small machine may need more than undici's five minutes for an answer. */
const NO_TIMEOUTS = { headersTimeout: 0, bodyTimeout: 0 } as const;

/** Returns the option of Node's `fetch` that takes the timeouts from the agent of the process, as undici keeps it. */
function patientAgent(): Pick<RequestInit, 'dispatcher'> {
  const agent: RequestInit['dispatcher'] = Reflect.get(globalThis, Symbol.for('undici.globalDispatcher.1'));
  if (agent?.compose === undefined) return {};
  return {
    dispatcher: agent.compose(
      (dispatch) => (options, handler) => dispatch({ ...options, ...NO_TIMEOUTS }, handler),
    ),
  };
}

/** Reads the system's store, which takes a tenth of a second. Node's list holds those of NODE_EXTRA_CA_CERTS. */
function trustSystem(): tls.SecureContext {
  const ca = [...tls.getCACertificates('default'), ...tls.getCACertificates('system')];
  return tls.createSecureContext({ ca });
}

function createAgent(
  { Agent, Pool, ProxyAgent }: typeof undici,
  proxy: URL | null,
  secureContext: tls.SecureContext | null,
): Dispatcher {
  const connect = secureContext === null ? {} : { secureContext };
  if (proxy === null) return new Agent({ connect, ...NO_TIMEOUTS });
  class TunnelPool extends Pool {
    override async connect(options: Dispatcher.ConnectOptions): Promise<Dispatcher.ConnectData> {
      const answer = await super.connect(options).catch((error: unknown) => {
        // undici would try again without end after an error with this code.
        throw causeCode(error) === 'UND_ERR_SOCKET' ? new Error('The proxy hung up.') : error;
      });
      if (answer.statusCode === 200) return answer;
      answer.socket.destroy();
      throw new Error(`The proxy opened no tunnel (${answer.statusCode})`);
    }
  }
  // The toolkit's URL gives both decoded.
  const { username, password } = proxy;
  const token = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  return new ProxyAgent({
    uri: proxy.href,
    ...NO_TIMEOUTS,
    ...(username === '' && password === '' ? {} : { token }),
    // Many proxies allow tunnels to port 443 only: what is sent without TLS is sent to the proxy itself.
    proxyTunnel: false,
    requestTls: connect,
    proxyTls: connect,
    clientFactory: (origin, options) => new TunnelPool(origin, options),
  });
}

/** Sends a request with undici's own `fetch`: Node's does not take agents of another version. */
async function fetchBy(
  library: typeof undici,
  dispatcher: Dispatcher,
  ...[input, init]: Parameters<typeof fetch>
): Promise<Response> {
  const request = new Request(input, init);
  const reply = await library.fetch(request.url, {
    method: request.method,
    headers: Object.fromEntries(request.headers),
    body: request.body === null ? null : Buffer.from(await request.arrayBuffer()),
    // The caller's own: that of a request no longer follows it once the request is garbage.
    signal: init?.signal ?? request.signal,
    redirect: 'manual',
    dispatcher,
  });
  const body = reply.body as ReadableStream<Uint8Array> | null;
  return new Response(body, {
    status: reply.status,
    statusText: reply.statusText,
    headers: [...reply.headers],
  });
}

function isCertificateError(error: unknown): boolean {
  return /CERT|^UNABLE_TO_VERIFY/u.test(causeCode(error) ?? '');
}

function explain(error: unknown, { host }: URL, proxy: URL | null): unknown {
  const code = causeCode(error);
  if (isCertificateError(error)) {
    const message = `A certificate on the way to ${host} was not accepted (${code}). If an authority of your own signed it, name the authority's PEM file in NODE_EXTRA_CA_CERTS.`;
    return new NetworkError(message, { passing: false, cause: error });
  }
  if (proxy === null) return error;
  // As the pool above says it, and undici itself if a request without TLS lacks a password.
  const status = /\((\d{3})\)/u.exec(error instanceof Error ? String(error.cause) : '')?.[1];
  const message = `The request went through the proxy ${proxy.host} and failed (${status ?? code ?? 'no answer'}). Check HTTPS_PROXY, HTTP_PROXY and NO_PROXY.`;
  return new NetworkError(message, { passing: !status?.startsWith('4'), cause: error });
}

/** Returns the user names and passwords in the proxy variables, as they are written and as they are sent. */
export function proxySecrets(environment: Readonly<NodeJS.ProcessEnv>): readonly string[] {
  const found = PROXY_VARIABLES.flatMap((variable) => {
    // Everything before the last @ may be a password.
    const pair = /^(?:[a-z][a-z0-9+.-]*:\/\/)?(.*)@/isu.exec((environment[variable] ?? '').trim())?.[1];
    if (pair === undefined) return [];
    const password = pair.slice(pair.indexOf(':') + 1);
    const plain = decode(pair);
    return [pair, plain, password, decode(password), Buffer.from(plain).toString('base64')];
  });
  return [...new Set(found)].filter((value) => value !== '');
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
