/**
 * Sends requests through the environment's proxies, trusting its certificate authorities. This is the module other
 * folders import.
 */
import { NetworkError } from '../errors.ts';
import { certificateError, createSystemTrust, isUnknownAuthority } from './certificates.ts';
import { type Proxies, parseProxies } from './proxies.ts';

export { proxySecrets } from './proxies.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns a `fetch` that uses the proxies in HTTP_PROXY, HTTPS_PROXY and NO_PROXY (Node's own uses none unless started
 * with a flag), and trusts the system's authorities where Node's own list and NODE_EXTRA_CA_CERTS are not enough. Code
 * for either is loaded only when needed. Redirects are returned as responses and never followed: keys would be sent
 * along. Rejects with a NetworkError when a proxy or a certificate is the cause, and otherwise like `fetch`.
 * @throws InputError that names the variable, for an invalid proxy URL
 */
export function createFetch(environment: Environment): typeof fetch {
  const proxies = parseProxies(environment);
  const send = proxies === null ? fetch : lazyProxyFetch(proxies, environment);
  const trustSystem = createSystemTrust();
  return async (input, init) => {
    const options: RequestInit = { ...init, redirect: 'manual' };
    try {
      try {
        return await send(input, options);
      } catch (error) {
        // The handshake failed, so nothing has been sent yet.
        if (!isUnknownAuthority(error) || isSpent(input, init) || !(await trustSystem())) throw error;
        return await send(input, options);
      }
    } catch (error) {
      const { host } = new URL(input instanceof Request ? input.url : input);
      throw error instanceof NetworkError ? error : (certificateError(error, host, environment) ?? error);
    }
  };
}

/** Whether the body can be read only once, so that the request cannot be sent again. */
function isSpent(input: Parameters<typeof fetch>[0], init: RequestInit | undefined): boolean {
  return input instanceof Request || init?.body instanceof ReadableStream;
}

function lazyProxyFetch(proxies: Proxies, environment: Environment): typeof fetch {
  let loaded: Promise<typeof fetch> | null = null;
  return async (input, init) => {
    loaded ??= import('./proxy-fetch.ts').then(({ createProxyFetch }) =>
      createProxyFetch(proxies, { direct: fetch, environment }),
    );
    return (await loaded)(input, init);
  };
}

/** Returns one sentence for each setting in the environment that weakens all connections. */
export function networkWeaknesses(environment: Environment): readonly string[] {
  // Node checks for exactly this value.
  if (environment['NODE_TLS_REJECT_UNAUTHORIZED'] !== '0') return [];
  return [
    'NODE_TLS_REJECT_UNAUTHORIZED is 0: no certificate is checked, so that anybody between here and the model can read the key and write the verdict. Unset it, and name your authority in NODE_EXTRA_CA_CERTS.',
  ];
}
