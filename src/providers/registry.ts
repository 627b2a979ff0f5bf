/** Every provider as a row of one table, and what is made from it: the endpoint, the headers, the adapter. */
import { InputError } from '../errors.ts';
import type { AdapterSettings, Provider } from './provider.ts';
import type { Dialect } from './schema/project.ts';

/** All that is particular to a provider, its adapter aside. */
interface ProviderRow {
  /** Its endpoint; null where every user has one of their own. */
  readonly baseUrl: string | null;
  /** What `base-url` looks like where it must be given; null where it need not be. */
  readonly baseUrlForm: string | null;
  /** Its hosts where every user has one of their own: an endpoint elsewhere is a gateway. */
  readonly hosts: RegExp | null;
  /** The query parameter that its endpoint may have, besides the path. */
  readonly queryParameter: string | null;
  /** The end of the path that the adapter adds itself, and that people copy with the URL. */
  readonly addedPath: RegExp | null;
  /** The environment variable that usually holds the key; null where a key is optional. */
  readonly keyVariable: string | null;
  /** The header that carries the key; `authorization` as a bearer token. */
  readonly keyHeader: 'authorization' | 'x-api-key' | 'api-key';
  /** The names of its models, where they identify it. */
  readonly models: RegExp | null;
  /** A model to begin with; an expression where no name is common to all users. */
  readonly exampleModel: string;
  /** The rules for the schemas of tools. */
  readonly dialect: Dialect;
  /** The field of chat completions that limits the output: the models of OpenAI refuse the older name. */
  readonly maxTokensField: 'max_tokens' | 'max_completion_tokens';
  /** Whether a gateway may offer chat completions only, so that `openai-compatible` would be right. */
  readonly needsResponsesApi: boolean;
  /** Its name in the price data; null where the host identifies the vendor. */
  readonly priceList: string | null;
  /** Loads the adapter, and its SDK only. */
  readonly load: () => Promise<(settings: AdapterSettings) => Provider>;
}

/** What most rows have. */
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
    exampleModel: 'gpt-5',
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
    exampleModel: 'claude-sonnet-4-5',
    dialect: 'anthropic',
    priceList: 'anthropic',
    load: async () => (await import('./anthropic.ts')).createAnthropic,
  },
  gemini: {
    ...defaults,
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
    keyVariable: 'GEMINI_API_KEY',
    models: /^gemini-/u,
    exampleModel: 'gemini-2.5-pro',
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
    exampleModel: '${{ vars.MODEL_NAME }}',
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
    exampleModel: '${{ vars.MODEL_NAME }}',
    dialect: 'compatible',
    priceList: null,
    load: async () => (await import('./openai-chat.ts')).createOpenAiChat,
  },
} satisfies Readonly<Record<string, ProviderRow>>;

export type ProviderName = keyof typeof table;

/** Every provider by its name. */
export const registry: Readonly<Record<ProviderName, ProviderRow>> = table;

/** The names of the providers that can be chosen. */
export const PROVIDERS: readonly ProviderName[] = Object.keys(table).filter(isProviderName);

function isProviderName(name: string): name is ProviderName {
  return Object.hasOwn(table, name);
}

/** The provider that the name of a model identifies, or null; a key in the environment never chooses one. */
export function providerByName(model: string): ProviderName | null {
  return PROVIDERS.find((name) => registry[name].models?.test(model)) ?? null;
}

/** The settings of a provider; nothing else decides where a request goes, least of all the environment. */
export interface ProviderSettings {
  readonly provider: ProviderName;
  readonly model: string;
  readonly apiKey: string | null;
  /** Where the key came from, such as `the input api-key`; named when it is refused. */
  readonly keySource: string;
  /** null for the vendor's own endpoint. */
  readonly baseUrl: string | null;
  /** null for the provider's default. */
  readonly maxOutputTokens: number | null;
  /** `auto`: on at a vendor's own endpoint, off at a base URL. */
  readonly stream: 'auto' | 'on' | 'off';
  /** Sent with every request beside our own; names and values are valid. */
  readonly headers: Readonly<Record<string, string>>;
  /** `bearer`: the key is sent as `Authorization: Bearer`, whatever header the provider uses. */
  readonly authScheme: 'provider' | 'bearer';
  /** Passed on unchanged in the provider's own field; null for the provider's default. */
  readonly reasoningEffort: string | null;
  /** The longest silence in a stream, in milliseconds. */
  readonly idleTimeoutMs: number;
  /** The pause before a request whose response broke off is repeated, in milliseconds; twice as long the next time. */
  readonly retryPauseMs: number;
  /** Sends requests, through proxies and with certificates. */
  readonly fetch: typeof fetch;
  readonly userAgent: string;
}

/** @throws InputError for a `base-url` that no provider takes. */
export function parseBaseUrl(text: string): URL {
  if (!URL.canParse(text)) {
    throw new InputError(
      'base-url',
      ({ name }) =>
        `${name('base-url')} is not a URL. Give the whole URL, for example https://gateway.example.com/v1.`,
    );
  }
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new InputError(
      'base-url',
      ({ name }) =>
        `${name('base-url')} begins with ${url.protocol} and must begin with https:// or http://. Give the whole URL, for example https://gateway.example.com/v1.`,
    );
  }
  if (url.username !== '' || url.password !== '') {
    throw new InputError(
      'base-url',
      ({ name }) => `${name('base-url')} holds a user name or password. Put the key into ${name('api-key')}.`,
    );
  }
  return url;
}

/**
 * The base URL as the provider takes it; null for the vendor's own endpoint.
 * @throws InputError where it is missing, or has a part that the provider does not take.
 */
export function checkBaseUrl(provider: ProviderName, url: URL | null): string | null {
  const { baseUrlForm, queryParameter } = registry[provider];
  if (url === null) {
    if (baseUrlForm === null) return null;
    throw new InputError(
      'base-url',
      ({ name, setting }) =>
        `${setting('provider', provider)} needs ${name('base-url')}. Set it to ${baseUrlForm}.`,
    );
  }
  if (url.hash !== '' || !isAllowedQuery(url, queryParameter)) {
    const part = url.hash === '' ? 'query' : 'fragment';
    const allowed = queryParameter === null ? '' : ` other than ?${queryParameter}=`;
    throw new InputError(
      'base-url',
      ({ name }) =>
        `${name('base-url')} holds a ${part}${allowed}. Take it out; a key goes into ${name('api-key')} or ${name('headers')}.`,
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
 * The provider for these settings.
 * @throws InputError for an invalid or missing base URL, and for a key that no header can carry.
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
const KEY_HEADERS: ReadonlySet<string> = new Set(['authorization', 'x-api-key', 'api-key']);

/** With names in lower case, as ours are, so that the user's value replaces ours instead of being sent beside it. */
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

/** Spaces around a key come from how secrets are pasted; inside, no header can carry them, and errors would show the key. */
function readKey({ apiKey, keySource }: ProviderSettings): string | null {
  const trimmed = apiKey?.trim() ?? '';
  if (trimmed === '') return null;
  if (/^[\x21-\x7e]+$/.test(trimmed)) return trimmed;
  throw new InputError(
    'api-key',
    `The key from ${keySource} holds blanks or characters that no key has: paste it again.`,
  );
}
