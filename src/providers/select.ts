/** Makes the provider that was asked for, and loads its SDK only. */
import { InputError } from '../errors.ts';
import type { Provider, ProviderName } from './provider.ts';
import type { AdapterSettings, ProviderSettings } from './settings.ts';

/** Where each provider's own endpoint is; null where every user has one of their own. */
const vendorUrls: Readonly<Record<ProviderName, string | null>> = {
  openai: 'https://api.openai.com/v1',
  anthropic: 'https://api.anthropic.com',
  gemini: 'https://generativelanguage.googleapis.com/v1beta/openai',
  'azure-openai': null,
  'openai-compatible': null,
};

/**
 * The provider behind the settings.
 * @throws InputError for a base URL that is none, or is missing, and for a key that no header can carry.
 */
export async function createProvider(settings: ProviderSettings): Promise<Provider> {
  const adapter = adapterSettings(settings);
  switch (settings.provider) {
    case 'openai':
    case 'gemini':
    case 'azure-openai':
    case 'openai-compatible': {
      const { createOpenAiChat } = await import('./openai-chat.ts');
      return createOpenAiChat(adapter);
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
  const isVendor = url.host === vendorHost(provider);
  return {
    provider,
    model,
    baseUrl: url.href.replace(/\/+$/, ''),
    isVendor,
    maxOutputTokens,
    stream: settings.stream === 'auto' ? isVendor : settings.stream === 'on',
    reasoningEffort,
    idleTimeoutMs,
    headers: {
      'user-agent': settings.userAgent,
      ...(apiKey === null ? {} : authorization(settings, apiKey)),
      ...settings.headers,
    },
    fetch: settings.fetch,
    failureContext: { model, keySource, hasKey: apiKey !== null, host: url.host },
  };
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

function vendorHost(provider: ProviderName): string | null {
  const url = vendorUrls[provider];
  return url === null ? null : new URL(url).host;
}

function endpoint({ provider, baseUrl }: ProviderSettings): URL {
  if (baseUrl === null && provider === 'openai-compatible') {
    throw new InputError(
      'base-url',
      'An openai-compatible provider needs `base-url`, such as http://localhost:8000/v1.',
    );
  }
  const text = baseUrl ?? vendorUrls[provider] ?? '';
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new InputError(
      'base-url',
      '`base-url` must be a whole http or https URL, such as https://host.example/v1.',
    );
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new InputError(
      'base-url',
      '`base-url` must hold no user name, password, query or fragment; keys go into `api-key`.',
    );
  }
  // Anthropic's paths begin with /v1 themselves, and people copy the URL with it.
  if (provider === 'anthropic') url.pathname = url.pathname.replace(/\/v1\/?$/, '');
  return url;
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
