/** Reads the proxies from the environment, by the rules of Node's http module. */
import { InputError } from '../errors.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** A proxy; its credentials are not part of its URL. */
export interface ProxyServer {
  /** The variable that names it. */
  readonly variable: string;
  /** Its URL, without user name and password. */
  readonly url: URL;
  /** The value of `Proxy-Authorization`; null when the variable contains no user name. */
  readonly authorization: string | null;
}

export interface Proxies {
  /** For `http:` targets. */
  readonly http: ProxyServer | null;
  /** For `https:` targets. */
  readonly https: ProxyServer | null;
  /** The value of `NO_PROXY`; empty when unset. */
  readonly bypass: string;
}

const NAMES = { http: ['http_proxy', 'HTTP_PROXY'], https: ['https_proxy', 'HTTPS_PROXY'] } as const;

/**
 * Reads the proxies; null when there is none. The lower-case variable takes precedence, and an empty value means none.
 * The two schemes are independent, as in curl, the runner's toolkit and Node's http module.
 * @throws InputError for an invalid proxy URL; it names the variable and never shows its value
 */
export function parseProxies(environment: Environment): Proxies | null {
  const [http, https] = [NAMES.http, NAMES.https].map((names) => {
    const variable = names.find((name) => (environment[name] ?? '').trim() !== '');
    return variable === undefined ? null : parseProxy(variable, (environment[variable] ?? '').trim());
  });
  if (!http && !https) return null;
  const bypass = environment['no_proxy'] || environment['NO_PROXY'] || '';
  return { http: http ?? null, https: https ?? null, bypass };
}

function parseProxy(variable: string, text: string): ProxyServer {
  // `host:port` without a scheme is common, and would be parsed as a scheme.
  const whole = /^[a-z][a-z0-9+.-]*:\/\//iu.test(text) ? text : `http://${text}`;
  // The URL parser silently drops line breaks.
  if (/[\s\p{Cc}]/u.test(whole) || !URL.canParse(whole)) throw invalid(variable, 'is not the URL of a proxy');
  const url = new URL(whole);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw invalid(variable, `names a proxy that speaks ${url.protocol.slice(0, -1)}, which is not supported`);
  }
  const authorization = basic(variable, url);
  url.username = '';
  url.password = '';
  return { variable, url, authorization };
}

function basic(variable: string, { username, password }: URL): string | null {
  if (username === '' && password === '') return null;
  try {
    const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    return `Basic ${Buffer.from(pair, 'utf8').toString('base64')}`;
  } catch {
    throw invalid(variable, 'holds a user name or password with a % that escapes nothing (write it as %25)');
  }
}

function invalid(variable: string, what: string): InputError {
  return new InputError(
    null,
    `The variable ${variable} ${what}. Set it to http://host:port or https://host:port, with user:password@ before the host where the proxy wants them, or unset it.`,
  );
}

/** Returns the parts of the proxy variables that must be masked, whether or not their URLs are valid. */
export function proxySecrets(environment: Environment): readonly string[] {
  const found = [...NAMES.http, ...NAMES.https].flatMap((variable) => {
    // Greedy: everything before the last @ may be an unescaped password.
    const pair = /^(?:[a-z][a-z0-9+.-]*:\/\/)?(.*)@/isu.exec((environment[variable] ?? '').trim())?.[1];
    if (pair === undefined) return [];
    const colon = pair.indexOf(':');
    const password = pair.slice(colon + 1);
    const plain = decoded(pair);
    return [pair, plain, password, decoded(password), Buffer.from(plain, 'utf8').toString('base64')];
  });
  return [...new Set(found)].filter((value) => value !== '');
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
