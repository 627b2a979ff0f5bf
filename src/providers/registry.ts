/** Makes the provider that was chosen, and loads its SDK only. */
import { InputError } from '../errors.ts';
import type { Wording } from '../text/naming.ts';
import type { AdapterSettings, Provider, ProviderName } from './provider.ts';

/** The settings of a provider; nothing else, least of all the environment, decides where a request goes. */
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
  /** Sent with every request beside our own; names and values that a request may carry. */
  readonly headers: Readonly<Record<string, string>>;
  /** `bearer`: the key goes out as `Authorization: Bearer`, whatever the provider's own way is. */
  readonly authScheme: 'provider' | 'bearer';
  /** Passed on as it is, in the provider's own field; null for the provider's default. */
  readonly reasoningEffort: string | null;
  /** The longest silence in a streamed answer, in milliseconds. */
  readonly idleTimeoutMs: number;
  /** Before an answer that broke off is asked for again, in milliseconds; twice as long the next time. */
  readonly retryPauseMs: number;
  /** How requests leave this machine: through its proxies, trusting its authorities. */
  readonly fetch: typeof fetch;
  readonly userAgent: string;
}

/** Where each provider's own endpoint is; null where every user has one of their own. */
const vendorUrls: Readonly<Record<ProviderName, string | null>> = {
  openai: 'https://api.openai.com/v1',
  anthropic: 'https://api.anthropic.com',
  gemini: 'https://generativelanguage.googleapis.com/v1beta/openai',
  'azure-openai': null,
  'openai-compatible': null,
};

const missingUrls: Readonly<Partial<Record<ProviderName, Wording>>> = {
  'openai-compatible': ({ name }) =>
    `An openai-compatible provider needs \`${name('base-url')}\`, such as http://localhost:8000/v1.`,
  'azure-openai': ({ name }) =>
    `Azure OpenAI needs \`${name('base-url')}\`, the endpoint of your resource, such as https://my-resource.openai.azure.com; \`${name('model')}\` is the name of the deployment.`,
};

/** Hosts of Azure's own endpoints; the rest of the name is the user's. */
const azureHost = /\.(openai|cognitiveservices|services\.ai)\.azure\.(com|us|cn)$/;

/**
 * The provider behind the settings.
 * @throws InputError for a base URL that is none, or is missing, and for a key that no header can carry.
 */
export async function createProvider(settings: ProviderSettings): Promise<Provider> {
  const adapter = adapterSettings(settings);
  switch (settings.provider) {
    case 'openai': {
      const { createOpenAiResponses } = await import('./openai-responses.ts');
      return createOpenAiResponses(adapter);
    }
    case 'gemini':
    case 'openai-compatible': {
      const { createOpenAiChat } = await import('./openai-chat.ts');
      return createOpenAiChat(adapter);
    }
    case 'azure-openai': {
      const { createAzureOpenAi } = await import('./openai-chat.ts');
      return createAzureOpenAi(adapter);
    }
    case 'anthropic': {
      const { createAnthropic } = await import('./anthropic.ts');
      return createAnthropic(adapter);
    }
  }
}

function adapterSettings(settings: ProviderSettings): AdapterSettings {
  const { provider, model, keySource, maxOutputTokens, reasoningEffort, idleTimeoutMs } = settings;
  const url = endpoint(settings);
  const apiKey = key(settings);
  const isVendor = isVendorHost(provider, url);
  return {
    provider,
    model,
    baseUrl: url.href.replace(/(?<!\/)\/+$/, ''),
    isVendor,
    maxOutputTokens,
    stream: settings.stream === 'auto' ? isVendor : settings.stream === 'on',
    reasoningEffort,
    idleTimeoutMs,
    retryPauseMs: settings.retryPauseMs,
    headers: {
      'user-agent': settings.userAgent,
      ...(apiKey === null ? {} : authorization(settings, apiKey)),
      ...lowerCased(settings.headers),
    },
    fetch: settings.fetch,
    failureContext: {
      model,
      keySource,
      hasKey:
        apiKey !== null || Object.keys(settings.headers).some((name) => KEY_HEADERS.has(name.toLowerCase())),
      host: url.host,
      chatHint: provider === 'openai' && !isVendor,
    },
  };
}

/** Headers by which a gateway may be given the key instead. */
const KEY_HEADERS: ReadonlySet<string> = new Set(['authorization', 'x-api-key', 'api-key']);

/** Under names in lower case, as ours are: the user's own value replaces ours instead of standing beside it. */
function lowerCased(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/** The header that carries the key. */
function authorization(
  { provider, authScheme }: ProviderSettings,
  key: string,
): Readonly<Record<string, string>> {
  if (authScheme === 'provider' && provider === 'anthropic') return { 'x-api-key': key };
  if (authScheme === 'provider' && provider === 'azure-openai') return { 'api-key': key };
  return { authorization: `Bearer ${key}` };
}

function isVendorHost(provider: ProviderName, { host }: URL): boolean {
  if (provider === 'azure-openai') return azureHost.test(host);
  const url = vendorUrls[provider];
  return url !== null && new URL(url).host === host;
}

function endpoint({ provider, baseUrl }: ProviderSettings): URL {
  const text = baseUrl ?? vendorUrls[provider] ?? '';
  const missing = missingUrls[provider];
  if (baseUrl === null && missing !== undefined) throw new InputError('base-url', missing);
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new InputError(
      'base-url',
      ({ name }) =>
        `\`${name('base-url')}\` must be a whole http or https URL, such as https://host.example/v1.`,
    );
  }
  if (url.username !== '' || url.password !== '' || url.hash !== '' || !isQuery(provider, url)) {
    const version = provider === 'azure-openai' ? ' other than `api-version`' : '';
    throw new InputError(
      'base-url',
      ({ name }) =>
        `\`${name('base-url')}\` must hold no user name, password, fragment or query${version}; keys go into \`${name('api-key')}\`.`,
    );
  }
  // Anthropic's paths begin with /v1 themselves, and people copy the URL with it.
  if (provider === 'anthropic') url.pathname = url.pathname.replace(/\/v1\/?$/, '');
  return url;
}

/** Whether the URL has no query, or the one that Azure's URLs have. */
function isQuery(provider: ProviderName, url: URL): boolean {
  if (url.search === '') return true;
  return provider === 'azure-openai' && /^\?api-version=[\w.-]+$/.test(url.search);
}

/** Blanks around a key come from how secrets are pasted; inside, no header can carry them, and errors would show the key. */
function key({ apiKey, keySource }: ProviderSettings): string | null {
  const trimmed = apiKey?.trim() ?? '';
  if (trimmed === '') return null;
  if (/^[\x21-\x7e]+$/.test(trimmed)) return trimmed;
  throw new InputError(
    'api-key',
    `The key from ${keySource} holds blanks or characters that no key has: paste it again.`,
  );
}
