/** Which model is asked, where, and with whose key. */
import { InputError } from '../errors.ts';
import { PROVIDERS, type ProviderName, providerByName } from '../providers/provider.ts';
import { KEY_VARIABLE } from './cli-secrets.ts';
import { CREDENTIAL_HEADERS, readHeaders } from './headers.ts';
import type { RawInputs } from './inputs.ts';
import { readChoice, readInteger, readWord } from './values.ts';

/** Where a model is asked. */
export interface ModelConfig {
  readonly provider: ProviderName;
  /** Why this provider: a clause for the log. */
  readonly providerReason: string;
  readonly model: string;
  readonly apiKey: string | null;
  /** Where the key came from, for messages: never the key. */
  readonly keySource: string;
  /** The sentence that says so where there is no key and the provider needs one; null otherwise. */
  readonly missingKey: string | null;
  readonly baseUrl: string | null;
  readonly maxOutputTokens: number | null;
  readonly stream: 'auto' | 'on' | 'off';
  /** What a gateway asks for beside the key; names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly authScheme: 'provider' | 'bearer';
  readonly reasoningEffort: string | null;
}

/** What the environment says beside the inputs. */
export interface ConfigWorld {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Whether the user typed a command line, where a key comes from a variable only; absent: a workflow. */
  readonly commandLine?: boolean;
}

const KEY_VARIABLES: Readonly<Record<ProviderName, string | null>> = {
  openai: 'OPENAI_API_KEY',
  gemini: 'GEMINI_API_KEY',
  'azure-openai': 'AZURE_OPENAI_API_KEY',
  anthropic: 'ANTHROPIC_API_KEY',
  'openai-compatible': null,
};

/** What base-url looks like where there is no endpoint that everybody shares. */
const ENDPOINT_FORMS: Readonly<Record<ProviderName, string | null>> = {
  openai: null,
  anthropic: null,
  gemini: null,
  'azure-openai': "your resource's endpoint, of the form https://NAME.openai.azure.com",
  'openai-compatible': 'the URL of the server, for example http://127.0.0.1:8000/v1',
};

/** @throws InputError that names the input and the fix. */
export function parseModel(raw: RawInputs, world: ConfigWorld): ModelConfig {
  const model = raw.get('model');
  if (raw.has('replay')) return replayedModel(raw, model ?? '');
  if (model === undefined) {
    throw new InputError('model', 'No model is given. Set model, for example model: claude-sonnet-4-5.');
  }
  const url = parseBaseUrl(raw);
  const [provider, providerReason] = chooseProvider(raw, model, url);
  const baseUrl = requireEndpoint(provider, url);
  const headers = readHeaders(raw);
  return {
    provider,
    providerReason,
    model,
    ...findKey(raw, provider, headers, world),
    baseUrl,
    headers,
    ...readRequest(raw),
  };
}

/** A replay asks nobody: what is given is still checked, and nothing is demanded. */
function replayedModel(raw: RawInputs, model: string): ModelConfig {
  parseBaseUrl(raw);
  const named = readChoice(raw, 'provider', PROVIDERS);
  return {
    provider: named ?? providerByName(model) ?? 'openai-compatible',
    providerReason: 'the input replay',
    model,
    ...FOUND,
    apiKey: null,
    keySource: 'no key (the model is replayed)',
    baseUrl: null,
    // A header's secret is empty where a fork has none.
    headers: {},
    ...readRequest(raw),
  };
}

function readRequest(
  raw: RawInputs,
): Pick<ModelConfig, 'maxOutputTokens' | 'stream' | 'authScheme' | 'reasoningEffort'> {
  return {
    maxOutputTokens: readInteger(raw, 'max-output-tokens', { min: 1 }),
    stream: readChoice(raw, 'stream', ['auto', 'on', 'off']) ?? 'auto',
    authScheme: readChoice(raw, 'auth-scheme', ['provider', 'bearer']) ?? 'provider',
    reasoningEffort: readWord(raw, 'reasoning-effort'),
  };
}

function chooseProvider(raw: RawInputs, model: string, baseUrl: URL | null): readonly [ProviderName, string] {
  const named = readChoice(raw, 'provider', PROVIDERS);
  if (named !== null) return [named, 'the input provider'];
  const match = providerByName(model);
  if (match !== null) return [match, `the name of the model ${model}`];
  if (baseUrl !== null) return ['openai-compatible', 'the input base-url'];
  throw new InputError(
    'provider',
    `No provider is known for the model ${JSON.stringify(model)}. Set provider to one of ${PROVIDERS.join(', ')}, or set base-url for a compatible server.`,
  );
}

const FOUND = { missingKey: null };

function findKey(
  raw: RawInputs,
  provider: ProviderName,
  headers: Readonly<Record<string, string>>,
  world: ConfigWorld,
): Pick<ModelConfig, 'apiKey' | 'keySource' | 'missingKey'> {
  const given = raw.get('api-key');
  const isCommandLine = world.commandLine === true;
  if (given !== undefined)
    return {
      ...FOUND,
      apiKey: given,
      keySource: isCommandLine ? `the variable ${KEY_VARIABLE}` : 'the input api-key',
    };
  // A key that the user sends in a header of their own: the vendor's does not go to a gateway beside it.
  if (CREDENTIAL_HEADERS.some((name) => Object.hasOwn(headers, name)))
    return { ...FOUND, apiKey: null, keySource: 'the input headers' };
  const variable = KEY_VARIABLES[provider];
  if (variable === null) return { ...FOUND, apiKey: null, keySource: 'no key (api-key is not set)' };
  const found = world.environment[variable]?.trim();
  if (found !== undefined && found !== '')
    return { ...FOUND, apiKey: found, keySource: `the variable ${variable}` };
  if (isCommandLine) {
    const fix = `No key for provider ${provider}. Set the variable ${variable}, or ${KEY_VARIABLE} for any provider.`;
    return { apiKey: null, keySource: 'no key', missingKey: fix };
  }
  const missingKey =
    `No key for provider ${provider}. Set api-key to a secret, for example api-key: \${{ secrets.${variable} }}, or set the variable ${variable}. ` +
    'A pull request from a fork gets no secrets.';
  return { apiKey: null, keySource: 'no key', missingKey };
}

function parseBaseUrl(raw: RawInputs): URL | null {
  const text = raw.get('base-url');
  if (text === undefined) return null;
  if (!URL.canParse(text)) {
    throw new InputError(
      'base-url',
      'base-url is not a URL. Give the whole URL, for example https://gateway.example.com/v1.',
    );
  }
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new InputError(
      'base-url',
      `base-url begins with ${url.protocol} and must begin with https:// or http://. Give the whole URL, for example https://gateway.example.com/v1.`,
    );
  }
  if (url.username !== '' || url.password !== '') {
    throw new InputError('base-url', 'base-url holds a user name or password. Put the key into api-key.');
  }
  return url;
}

/** The base URL as the provider can be asked at it; null for a vendor's own. */
function requireEndpoint(provider: ProviderName, url: URL | null): string | null {
  const form = ENDPOINT_FORMS[provider];
  if (url === null) {
    if (form === null) return null;
    throw new InputError('base-url', `provider: ${provider} needs base-url. Set it to ${form}.`);
  }
  const isAzure = provider === 'azure-openai';
  const names = [...url.searchParams.keys()];
  if (url.hash !== '' || names.some((name) => !isAzure || name !== 'api-version')) {
    throw new InputError(
      'base-url',
      `base-url ${url.hash === '' ? 'holds a query' : 'holds a fragment'}${isAzure ? ' other than ?api-version=' : ''}. Take it out; a key goes into api-key or headers.`,
    );
  }
  return `${url.origin}${url.pathname.replace(/\/+$/u, '')}${url.search}`;
}
