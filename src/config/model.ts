/** Which model is asked, where, and with whose key. */

import { InputError } from '../errors.ts';
import {
  checkBaseUrl,
  PROVIDERS,
  type ProviderName,
  parseBaseUrl,
  providerByName,
  registry,
} from '../providers/registry.ts';
import { type Door, KEY_VARIABLE, type Naming, namingAt } from '../text/naming.ts';
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
  /** How the user started the program; absent: by a workflow. */
  readonly door?: Door;
}

/** @throws InputError that names the input and the fix. */
export function parseModel(raw: RawInputs, world: ConfigWorld): ModelConfig {
  const model = raw.get('model');
  if (raw.has('replay')) return replayedModel(raw, model ?? '', namingAt(world.door ?? 'action'));
  if (model === undefined) {
    throw new InputError(
      'model',
      ({ give }) => `No model is given. ${give('model')}, for example claude-sonnet-4-5.`,
    );
  }
  const naming = namingAt(world.door ?? 'action');
  const url = readBaseUrl(raw);
  const [provider, providerReason] = chooseProvider(raw, model, url, naming);
  const baseUrl = checkBaseUrl(provider, url);
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
function replayedModel(raw: RawInputs, model: string, naming: Naming): ModelConfig {
  readBaseUrl(raw);
  const named = readChoice(raw, 'provider', PROVIDERS);
  return {
    provider: named ?? providerByName(model) ?? 'openai-compatible',
    providerReason: naming.noun('replay'),
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

function chooseProvider(
  raw: RawInputs,
  model: string,
  baseUrl: URL | null,
  { noun }: Naming,
): readonly [ProviderName, string] {
  const named = readChoice(raw, 'provider', PROVIDERS);
  if (named !== null) return [named, noun('provider')];
  const match = providerByName(model);
  if (match !== null) return [match, `the name of the model ${model}`];
  if (baseUrl !== null) return ['openai-compatible', noun('base-url')];
  throw new InputError(
    'provider',
    ({ name, give }) =>
      `No provider is known for the model ${JSON.stringify(model)}. ${give('provider')} (one of ${PROVIDERS.join(', ')}), or ${name('base-url')} for a compatible server.`,
  );
}

const FOUND = { missingKey: null };

/** What to do about a missing key, given the provider's usual variable. */
const KEY_ADVICE: Readonly<Record<Door, (variable: string) => string>> = {
  action: (variable) =>
    `Set api-key to a secret, for example api-key: \${{ secrets.${variable} }}, or set the variable ${variable}. A pull request from a fork gets no secrets.`,
  'command-line': (variable) => `Set the variable ${variable}, or ${KEY_VARIABLE} for any provider.`,
  library: (variable) => `Pass apiKey, or set the variable ${variable}.`,
};

function findKey(
  raw: RawInputs,
  provider: ProviderName,
  headers: Readonly<Record<string, string>>,
  world: ConfigWorld,
): Pick<ModelConfig, 'apiKey' | 'keySource' | 'missingKey'> {
  const given = raw.get('api-key');
  const { door, name, noun } = namingAt(world.door ?? 'action');
  if (given !== undefined)
    return {
      ...FOUND,
      apiKey: given,
      keySource: noun('api-key'),
    };
  // A key that the user sends in a header of their own: the vendor's does not go to a gateway beside it.
  if (CREDENTIAL_HEADERS.some((name) => Object.hasOwn(headers, name)))
    return { ...FOUND, apiKey: null, keySource: noun('headers') };
  const variable = registry[provider].keyVariable;
  if (variable === null)
    return { ...FOUND, apiKey: null, keySource: `no key (${name('api-key')} is not set)` };
  const found = world.environment[variable]?.trim();
  if (found !== undefined && found !== '')
    return { ...FOUND, apiKey: found, keySource: `the variable ${variable}` };
  const missingKey = `No key for provider ${provider}. ${KEY_ADVICE[door](variable)}`;
  return { apiKey: null, keySource: 'no key', missingKey };
}

function readBaseUrl(raw: RawInputs): URL | null {
  const text = raw.get('base-url');
  return text === undefined ? null : parseBaseUrl(text);
}
