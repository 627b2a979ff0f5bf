/** Lists all providers in one table, and creates the endpoint, the headers and the adapter from it. */
import { InputError } from '../errors.ts';
import type { AdapterSettings, Provider } from './provider.ts';
import type { Dialect } from './schema/project.ts';

/** The properties of a provider, apart from its adapter. */
interface ProviderRow {
  /** Its endpoint; null if every user has a different one. */
  readonly baseUrl: string | null;
  /** The form of a required `base-url`; null if it is optional. */
  readonly baseUrlForm: string | null;
  /** Its hosts, if every user has a different endpoint: an endpoint elsewhere is a gateway. */
  readonly hosts: RegExp | null;
  /** The query parameter that its endpoint may have in addition to the path. */
  readonly queryParameter: string | null;
  /** The end of the path that the adapter adds itself, and that people copy along with the URL. */
  readonly addedPath: RegExp | null;
  /** The environment variable that usually contains the key; null if a key is optional. */
  readonly keyVariable: string | null;
  /** The header that carries the key; `authorization` as a bearer token. */
  readonly keyHeader: 'authorization' | 'x-api-key' | 'api-key';
  /** The names of its models, if they identify the provider. */
  readonly models: RegExp | null;
  readonly dialect: Dialect;
  /** The field of chat completions that limits the output; OpenAI's models reject the older name. */
  readonly maxTokensField: 'max_tokens' | 'max_completion_tokens';
  /** Whether a gateway may only offer chat completions, so that `openai-compatible` would be the right provider. */
  readonly needsResponsesApi: boolean;
  /** Its name in the price data; null if the host identifies the vendor. */
  readonly priceList: string | null;
  /** Loads the adapter, and only its SDK. */
  readonly load: () => Promise<(settings: AdapterSettings) => Provider>;
}

const defaults = {
  baseUrlForm: null,
  hosts: null,
  queryParameter: null,
  addedPath: null,
  keyHeader: 'authorization',
  models: null,
  maxTokensField: 'max_tokens',
  needsResponsesApi: false,
} as const;

const table = {
  openai: {
    ...defaults,
    baseUrl: 'https://api.openai.com/v1',
    keyVariable: 'OPENAI_API_KEY',
    models: /^(?:gpt-|chatgpt-|o[134](?:-|$))/u,
    dialect: 'openai',
    needsResponsesApi: true,
    priceList: 'openai',
    load: async () => (await import('./openai-responses.ts')).createOpenAiResponses,
  },
  anthropic: {
    ...defaults,
    baseUrl: 'https://api.anthropic.com',
    addedPath: /\/v1\/?$/u,
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
    hosts: /\.(?:openai|cognitiveservices|services\.ai)\.azure\.(?:com|us|cn)$/u,
    queryParameter: 'api-version',
    keyVariable: 'AZURE_OPENAI_API_KEY',
    keyHeader: 'api-key',
    dialect: 'openai',
    maxTokensField: 'max_completion_tokens',
    priceList: 'azure',
    load: async () => (await import('./openai-chat.ts')).createAzureOpenAi,
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
  /** null for the vendor's own endpoint. */
  readonly baseUrl: string | null;
  /** null for the provider's default. */
  readonly maxOutputTokens: number | null;
  /** `auto`: on for the vendor's own endpoint, off for a base URL. */
  readonly stream: 'auto' | 'on' | 'off';
  /** Sent with every request in addition to our own; names and values must be valid. */
  readonly headers: Readonly<Record<string, string>>;
  /** `bearer`: sends the key as `Authorization: Bearer`, whatever header the provider uses. */
  readonly authScheme: 'provider' | 'bearer';
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

/** @throws InputError for a `base-url` that no provider accepts. */
export function parseBaseUrl(text: string): URL {
  if (!URL.canParse(text)) {
    throw new InputError(
      'base-url',
      'It is not a URL. Give the whole URL, for example https://gateway.example.com/v1.',
    );
  }
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new InputError(
      'base-url',
      `It begins with ${url.protocol} and must begin with https:// or http://. Give the whole URL, for example https://gateway.example.com/v1.`,
    );
  }
  if (url.username !== '' || url.password !== '') {
    throw new InputError('base-url', 'It holds a user name or password. Put the key into api-key.');
  }
  return url;
}

/**
 * Returns the base URL in the form that the provider requires; null for the vendor's own endpoint.
 * @throws InputError if it is missing, or has a part that the provider does not accept.
 */
export function checkBaseUrl(provider: ProviderName, url: URL | null): string | null {
  const { baseUrlForm, queryParameter } = registry[provider];
  if (url === null) {
    if (baseUrlForm === null) return null;
    throw new InputError('base-url', `The provider ${provider} needs it. Set it to ${baseUrlForm}.`);
  }
  if (url.hash !== '' || !isAllowedQuery(url, queryParameter)) {
    const part = url.hash === '' ? 'query' : 'fragment';
    const allowed = queryParameter === null ? '' : ` other than ?${queryParameter}=`;
    throw new InputError(
      'base-url',
      `It holds a ${part}${allowed}. Take it out. A key belongs in api-key or headers.`,
    );
  }
  return `${url.origin}${withoutSlashes(url.pathname)}${url.search}`;
}

function isAllowedQuery({ search }: URL, parameter: string | null): boolean {
  if (search === '') return true;
  const [name, value = '', ...more] = search.slice(1).split('=');
  return name === parameter && more.length === 0 && /^[\w.-]+$/u.test(value);
}

function withoutSlashes(text: string): string {
  return text.replace(/(?<!\/)\/+$/u, '');
}

/**
 * Creates the provider for these settings.
 * @throws InputError for an invalid or missing base URL, and for a key that is not valid in a header.
 */
export async function createProvider(settings: ProviderSettings): Promise<Provider> {
  const adapter = adapterSettings(settings);
  const createAdapter = await registry[settings.provider].load();
  return createAdapter(adapter);
}

function adapterSettings(settings: ProviderSettings): AdapterSettings {
  const { provider, model, keySource, maxOutputTokens, reasoningEffort, idleTimeoutMs } = settings;
  const row = registry[provider];
  const url = resolveEndpoint(settings);
  const hasDefaultHost = row.baseUrl !== null && new URL(row.baseUrl).host === url.host;
  const isVendor = hasDefaultHost || row.hosts?.test(url.host) === true;
  const apiKey = readKey(settings);
  return {
    provider,
    model,
    baseUrl: withoutSlashes(url.href),
    dialect: row.dialect,
    maxTokensField: row.maxTokensField,
    maxOutputTokens,
    stream: settings.stream === 'auto' ? isVendor : settings.stream === 'on',
    reasoningEffort,
    idleTimeoutMs,
    retryPauseMs: settings.retryPauseMs,
    headers: {
      'user-agent': settings.userAgent,
      ...(apiKey === null ? {} : keyHeader(settings, apiKey)),
      ...withLowerCaseNames(settings.headers),
    },
    fetch: settings.fetch,
    failureContext: {
      model,
      keySource,
      hasKey:
        apiKey !== null || Object.keys(settings.headers).some((name) => KEY_HEADERS.has(name.toLowerCase())),
      host: url.host,
      hasDefaultHost,
      chatHint: row.needsResponsesApi && !isVendor,
    },
  };
}

function resolveEndpoint({ provider, baseUrl }: ProviderSettings): URL {
  const row = registry[provider];
  const given = checkBaseUrl(provider, baseUrl === null ? null : parseBaseUrl(baseUrl));
  const url = new URL(given ?? row.baseUrl ?? '');
  if (row.addedPath !== null) url.pathname = url.pathname.replace(row.addedPath, '');
  return url;
}

/** Headers that may carry the key to a gateway. */
export const KEY_HEADERS: ReadonlySet<string> = new Set(['authorization', 'x-api-key', 'api-key']);

/**
 * Converts names to lower case, like our own, so that the user's value replaces ours instead of being sent in addition.
 */
function withLowerCaseNames(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function keyHeader(
  { provider, authScheme }: ProviderSettings,
  key: string,
): Readonly<Record<string, string>> {
  const header = authScheme === 'bearer' ? 'authorization' : registry[provider].keyHeader;
  return { [header]: header === 'authorization' ? `Bearer ${key}` : key };
}

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
