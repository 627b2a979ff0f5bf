/** How requests leave this machine: through the environment's proxies, trusting its authorities. What other folders import. */
import { NetworkError } from '../errors.ts';
import { certificateError, createSystemTrust, isUnknownAuthority } from './certificates.ts';
import { type Proxies, parseProxies } from './proxies.ts';

export { proxySecrets } from './proxies.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * A `fetch` through the proxies that HTTP_PROXY, HTTPS_PROXY and NO_PROXY name (Node's own knows none unless it was
 * started so), and trusting the system's authorities where Node's own list and NODE_EXTRA_CA_CERTS were not enough.
 * Nothing is loaded for either before it is needed. Redirects are answers and never followed: keys would travel with them.
 * Rejects with a NetworkError where a proxy or a certificate is at fault, else as fetch does.
 * @throws InputError that names the variable, for a URL that is no proxy's.
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
        // Nothing was sent yet: the handshake failed.
        if (!isUnknownAuthority(error) || isSpent(input, init) || !(await trustSystem())) throw error;
        return await send(input, options);
      }
    } catch (error) {
      const { host } = new URL(input instanceof Request ? input.url : input);
      throw error instanceof NetworkError ? error : (certificateError(error, host, environment) ?? error);
    }
  };
}

/** Whether a body can be read but once. */
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

/** What the environment weakens for every connection, one sentence each. */
export function networkWeaknesses(environment: Environment): readonly string[] {
  // Node's own rule: this value and no other.
  if (environment['NODE_TLS_REJECT_UNAUTHORIZED'] !== '0') return [];
  return [
    'NODE_TLS_REJECT_UNAUTHORIZED is 0: no certificate is checked, so that anybody between here and the model can read the key and write the verdict. Unset it, and name your authority in NODE_EXTRA_CA_CERTS.',
  ];
}
