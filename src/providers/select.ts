/** Makes the provider that was asked for, and loads its SDK only. */
import { InputError } from '../errors.ts';
import type { Provider } from './provider.ts';
import type { AdapterSettings, ProviderSettings } from './settings.ts';

const vendorUrls = { openai: 'https://api.openai.com/v1', anthropic: 'https://api.anthropic.com' };

/**
 * The provider behind the settings.
 * @throws InputError for a base URL that is none, or is missing, and for a key that no header can carry.
 */
export async function createProvider(settings: ProviderSettings): Promise<Provider> {
  const adapter = adapterSettings(settings);
  switch (settings.provider) {
    case 'openai':
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
  const { provider, model, keySource, maxOutputTokens, userAgent } = settings;
  const url = endpoint(settings);
  const apiKey = key(settings);
  const isVendor = url.host === hostOf(provider);
  return {
    provider,
    model,
    apiKey,
    baseUrl: url.href.replace(/\/+$/, ''),
    isVendor,
    maxOutputTokens,
    stream: settings.stream === 'auto' ? isVendor : settings.stream === 'on',
    userAgent,
    failureContext: { model, keySource, hasKey: apiKey !== null, host: url.host },
  };
}

function hostOf(provider: ProviderSettings['provider']): string {
  return new URL(vendorUrls[provider === 'anthropic' ? 'anthropic' : 'openai']).host;
}

function endpoint({ provider, baseUrl }: ProviderSettings): URL {
  if (baseUrl === null && provider === 'openai-compatible') {
    throw new InputError(
      'base-url',
      'An openai-compatible provider needs `base-url`, such as http://localhost:8000/v1.',
    );
  }
  const text = baseUrl ?? (provider === 'openai-compatible' ? '' : vendorUrls[provider]);
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
