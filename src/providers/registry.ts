/** Lists all providers in one table, and creates the endpoint, the headers and the adapter from it. */
import { InputError } from '../errors.ts';
import type { AdapterSettings, Provider } from './provider.ts';
import type { Dialect } from './wire-schema.ts';

/** The properties of a provider, apart from its adapter. */
interface ProviderRow {
  /** Its endpoint; null if every user has a different one. */
  readonly baseUrl: string | null;
  /** The form of a required `base-url`; null if it is optional. */
  readonly baseUrlForm: string | null;
  /** Returns the URL to which the SDK appends its own path. */
  readonly endpoint: (baseUrl: string) => string;
  /** The environment variable that usually contains the key; null if a key is optional. */
  readonly keyVariable: string | null;
  /** The header that carries the key; `authorization` as a bearer token. */
  readonly keyHeader: 'authorization' | 'x-api-key' | 'api-key';
  /** The names of its models, if they identify the provider. */
  readonly models: RegExp | null;
  readonly dialect: Dialect;
  /** The field of chat completions that limits the output; OpenAI's models reject the older name. */
  readonly maxTokensField: 'max_tokens' | 'max_completion_tokens';
  /** Its name in the price data; null if the host identifies the vendor. */
  readonly priceList: string | null;
  /** Loads the adapter, and only its SDK. */
  readonly load: () => Promise<(settings: AdapterSettings) => Provider>;
}

const defaults = {
  baseUrlForm: null,
  endpoint: (baseUrl: string) => baseUrl,
  keyHeader: 'authorization',
  models: null,
  maxTokensField: 'max_tokens',
} as const;

const table = {
  openai: {
    ...defaults,
    baseUrl: 'https://api.openai.com/v1',
    keyVariable: 'OPENAI_API_KEY',
    models: /^(?:gpt-|chatgpt-|o[134](?:-|$))/u,
    dialect: 'openai',
    priceList: 'openai',
    load: async () => (await import('./openai-responses.ts')).createOpenAiResponses,
  },
  anthropic: {
    ...defaults,
    baseUrl: 'https://api.anthropic.com',
    endpoint: (baseUrl) => baseUrl.replace(/\/v1$/u, ''),
    keyVariable: 'ANTHROPIC_API_KEY',
    keyHeader: 'x-api-key',
    models: /^claude-/u,
    dialect: 'anthropic',
    priceList: 'anthropic',
    load: async () => (await import('./anthropic.ts')).createAnthropic,
  },
  gemini: {
    ...defaults,
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
    keyVariable: 'GEMINI_API_KEY',
    models: /^gemini-/u,
    dialect: 'gemini',
    priceList: 'google',
    load: async () => (await import('./openai-chat.ts')).createOpenAiChat,
  },
  'azure-openai': {
    ...defaults,
    baseUrl: null,
    baseUrlForm: "your resource's endpoint, of the form https://NAME.openai.azure.com",
    endpoint: (baseUrl) => `${baseUrl.replace(/\/openai(?:\/v1)?$/u, '')}/openai/v1`,
    keyVariable: 'AZURE_OPENAI_API_KEY',
    keyHeader: 'api-key',
    dialect: 'openai',
    maxTokensField: 'max_completion_tokens',
    priceList: 'azure',
    load: async () => (await import('./openai-chat.ts')).createOpenAiChat,
  },
  'openai-compatible': {
    ...defaults,
    baseUrl: null,
    baseUrlForm: 'the URL of the server, for example http://127.0.0.1:8000/v1',
    keyVariable: null,
    dialect: 'compatible',
    priceList: null,
    load: async () => (await import('./openai-chat.ts')).createOpenAiChat,
  },
} satisfies Readonly<Record<string, ProviderRow>>;

export type ProviderName = keyof typeof table;

export const registry: Readonly<Record<ProviderName, ProviderRow>> = table;

export const PROVIDERS: readonly ProviderName[] = Object.keys(table).filter(isProviderName);

function isProviderName(name: string): name is ProviderName {
  return Object.hasOwn(table, name);
}

/**
 * Returns the provider that is identified by the name of a model, or null; a key in the environment never determines
 * it.
 */
export function providerByName(model: string): ProviderName | null {
  return PROVIDERS.find((name) => registry[name].models?.test(model)) ?? null;
}

/** The settings of a provider; they alone determine where a request is sent, never the environment. */
export interface ProviderSettings {
  readonly provider: ProviderName;
  readonly model: string;
  readonly apiKey: string | null;
  /** Where the key came from, such as `the input api-key`; mentioned if the key is rejected. */
  readonly keySource: string;
  /** As `parseBaseUrl` returns it; null for the vendor's own endpoint. */
  readonly baseUrl: string | null;
  /** null for the provider's default. */
  readonly maxOutputTokens: number | null;
  /** Sent with every request in addition to our own, which they replace; names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Passed unchanged in the provider's own field; null for the provider's default. */
  readonly reasoningEffort: string | null;
  /** Maximum silence in a stream, in milliseconds. */
  readonly idleTimeoutMs: number;
  /** The pause before a request whose response broke off is repeated, in milliseconds; doubled for the next retry. */
  readonly retryPauseMs: number;
  /** Sends requests, with support for proxies and certificates. */
  readonly fetch: typeof fetch;
  readonly userAgent: string;
}

/**
 * Returns a base URL without slashes at its end.
 * @throws InputError if it is not the whole URL of a server, and nothing else.
 */
export function parseBaseUrl(text: string): string {
  const problem = (what: string) => new InputError('base-url', what);
  const example = 'Give the whole URL, for example https://gateway.example.com/v1.';
  if (!URL.canParse(text)) throw problem(`It is not a URL. ${example}`);
  const { protocol, origin, pathname, username, password, search, hash } = new URL(text);
  if (protocol !== 'http:' && protocol !== 'https:')
    throw problem(`It begins with ${protocol} and must begin with https:// or http://. ${example}`);
  if (username !== '' || password !== '')
    throw problem('It holds a user name or password. Put the key into api-key.');
  if (search !== '' || hash !== '')
    throw problem('It holds a query or fragment. Take it out. A key belongs in api-key or headers.');
  return `${origin}${pathname.replace(/(?<!\/)\/+$/u, '')}`;
}

/** @throws InputError if the provider needs a base URL and there is none. */
export function requireBaseUrl(provider: ProviderName, baseUrl: string | null): void {
  const { baseUrlForm } = registry[provider];
  if (baseUrl === null && baseUrlForm !== null)
    throw new InputError('base-url', `The provider ${provider} needs it. Set it to ${baseUrlForm}.`);
}

/**
 * Creates the provider for these settings.
 * @throws InputError for a missing base URL, and for a key that is not valid in a header.
 */
export async function createProvider(settings: ProviderSettings): Promise<Provider> {
  const adapter = adapterSettings(settings);
  const createAdapter = await registry[settings.provider].load();
  return createAdapter(adapter);
}

function adapterSettings(settings: ProviderSettings): AdapterSettings {
  const { apiKey: _, userAgent, ...others } = settings;
  const row = registry[settings.provider];
  requireBaseUrl(settings.provider, settings.baseUrl);
  const baseUrl = row.endpoint(settings.baseUrl ?? row.baseUrl ?? '');
  const { host } = new URL(baseUrl);
  const key = readKey(settings);
  const bearer = row.keyHeader === 'authorization' ? 'Bearer ' : '';
  return {
    ...others,
    baseUrl,
    host,
    isVendor: row.baseUrl !== null && new URL(row.baseUrl).host === host,
    hasKey: key !== null || Object.keys(settings.headers).some((name) => KEY_HEADERS.has(name)),
    dialect: row.dialect,
    maxTokensField: row.maxTokensField,
    headers: {
      'user-agent': userAgent,
      ...(key === null ? {} : { [row.keyHeader]: `${bearer}${key}` }),
      ...settings.headers,
    },
  };
}

/** Headers that may carry the key to a gateway. */
export const KEY_HEADERS: ReadonlySet<string> = new Set(['authorization', 'x-api-key', 'api-key']);

/**
 * Trims white space around a key, which comes from pasting secrets. Inside the key it is not valid in a header, and
 * errors would show the key.
 */
function readKey({ apiKey, keySource }: ProviderSettings): string | null {
  const trimmed = apiKey?.trim() ?? '';
  if (trimmed === '') return null;
  if (/^[\x21-\x7e]+$/.test(trimmed)) return trimmed;
  throw new InputError(
    'api-key',
    `The key from ${keySource} holds blanks or characters that no key has. Paste it again.`,
  );
}
