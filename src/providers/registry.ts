/** Lists all providers in one table, and creates the endpoint, the headers and the adapter from it. */
import { InputError } from '../errors.ts';
import type { AdapterSettings, Provider } from './provider.ts';
import type { Dialect } from './wire-schema.ts';

interface ProviderRow {
  /** Its endpoint; null if every user has a different one. */
  readonly baseUrl: string | null;
  /** The form of a `base-url` that is required. */
  readonly baseUrlForm: string;
  /** Returns the URL to which the SDK appends its own path. */
  readonly endpoint: (baseUrl: string) => string;
  /** The environment variable that usually contains the key; null if a key is optional. */
  readonly keyVariable: string | null;
  /** The header that carries the key; `authorization` as a bearer token. */
  readonly keyHeader: 'authorization' | 'x-api-key' | 'api-key';
  /** The names of its models, if they identify the provider. */
  readonly models: RegExp | null;
  readonly dialect: Dialect;
  /** Its name in the price data; null if the host identifies the vendor. */
  readonly priceList: string | null;
  /** Imports the adapter, and only its SDK. */
  readonly load: () => Promise<(settings: AdapterSettings) => Provider>;
}

const compatible: ProviderRow = {
  baseUrl: null,
  baseUrlForm: 'the URL of the server, for example http://127.0.0.1:8000/v1',
  endpoint: (baseUrl) => baseUrl,
  keyVariable: null,
  keyHeader: 'authorization',
  models: null,
  dialect: 'compatible',
  priceList: null,
  load: async () => (await import('./openai-chat.ts')).createOpenAiChat,
};

/** Creates a row, of a type that does not name the adapters: the types of the package would need theirs. */
const createRow = (row: Partial<ProviderRow>): ProviderRow => ({ ...compatible, ...row });

const rows = {
  openai: createRow({
    baseUrl: 'https://api.openai.com/v1',
    keyVariable: 'OPENAI_API_KEY',
    models: /^(?:gpt-|chatgpt-|o[134](?:-|$))/u,
    dialect: 'openai',
    priceList: 'openai',
    load: async () => (await import('./openai-responses.ts')).createOpenAiResponses,
  }),
  anthropic: createRow({
    baseUrl: 'https://api.anthropic.com',
    endpoint: (baseUrl) => baseUrl.replace(/\/v1$/u, ''),
    keyVariable: 'ANTHROPIC_API_KEY',
    keyHeader: 'x-api-key',
    models: /^claude-/u,
    dialect: 'anthropic',
    priceList: 'anthropic',
    load: async () => (await import('./anthropic.ts')).createAnthropic,
  }),
  gemini: createRow({
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
    keyVariable: 'GEMINI_API_KEY',
    models: /^gemini-/u,
    dialect: 'gemini',
    priceList: 'google',
  }),
  'azure-openai': createRow({
    baseUrlForm: "your resource's endpoint, of the form https://NAME.openai.azure.com",
    endpoint: (baseUrl) => `${baseUrl.replace(/\/openai(?:\/v1)?$/u, '')}/openai/v1`,
    keyVariable: 'AZURE_OPENAI_API_KEY',
    keyHeader: 'api-key',
    dialect: 'openai',
    priceList: 'azure',
  }),
  'openai-compatible': compatible,
};

export type ProviderName = keyof typeof rows;

export const registry: Readonly<Record<ProviderName, ProviderRow>> = rows;

/** The settings of a provider, from which those of its adapter are made. */
export interface ProviderSettings
  extends Omit<AdapterSettings, 'provider' | 'keySource' | 'baseUrl' | 'host' | 'dialect'> {
  readonly provider: ProviderName;
  readonly apiKey: string | null;
  readonly keySource: string;
  /** As `parseBaseUrl` returns it; null for the vendor's own endpoint. */
  readonly baseUrl: string | null;
  readonly userAgent: string;
}

export const PROVIDERS = Object.keys(registry) as readonly ProviderName[];

/** Returns the provider that the name of a model identifies, or null; a key in the environment never does. */
export function providerByName(model: string): ProviderName | null {
  return PROVIDERS.find((name) => registry[name].models?.test(model)) ?? null;
}

/** Returns a base URL without slashes at its end. @throws InputError if it is not the URL of a server and nothing else */
export function parseBaseUrl(text: string): string {
  const problem = (what: string) => new InputError('base-url', what);
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw problem('It is not a URL of a server. Give one such as https://gateway.example.com/v1.');
  const { origin, pathname, username, password, search, hash } = url;
  if (`${username}${password}${search}${hash}` !== '')
    throw problem('It holds a user name, password, query or fragment. A key belongs in api-key or headers.');
  return `${origin}${pathname.replace(/(?<!\/)\/+$/u, '')}`;
}

/** Returns the given base URL or the vendor's. @throws InputError if there is neither. */
export function requireBaseUrl(provider: ProviderName, given: string | null): string {
  const { baseUrl, baseUrlForm } = registry[provider];
  const found = given ?? baseUrl;
  if (found !== null) return found;
  throw new InputError('base-url', `The provider ${provider} needs it. Set it to ${baseUrlForm}.`);
}

/** Headers that may carry the key to a gateway. */
export const KEY_HEADERS: ReadonlySet<string> = new Set(['authorization', 'x-api-key', 'api-key']);

/** @throws InputError for a missing base URL, and for a key that is not valid in a header */
export async function createProvider(settings: ProviderSettings): Promise<Provider> {
  const { provider, apiKey, keySource, userAgent, headers, ...others } = settings;
  const { keyHeader, endpoint, load, dialect } = registry[provider];
  const baseUrl = endpoint(requireBaseUrl(provider, settings.baseUrl));
  // White space around a key comes from pasting. Inside it is not valid, and errors would show the key.
  const key = (apiKey ?? '').trim();
  if (!/^[\x21-\x7e]*$/.test(key)) {
    const sentence = `The key from ${keySource} holds blanks or characters that no key has. Paste it again.`;
    throw new InputError('api-key', sentence);
  }
  const bearer = keyHeader === 'authorization' ? 'Bearer ' : '';
  const sent = { ...(key === '' ? {} : { [keyHeader]: `${bearer}${key}` }), ...headers };
  const adapter: AdapterSettings = {
    ...{ ...others, provider, baseUrl, dialect },
    host: new URL(baseUrl).host,
    keySource: Object.keys(sent).some((name) => KEY_HEADERS.has(name)) ? keySource : null,
    headers: { 'user-agent': userAgent, ...sent },
  };
  return (await load())(adapter);
}
