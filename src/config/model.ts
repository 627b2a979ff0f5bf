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
import { type Entry, KEY_VARIABLE, type Naming, namingFor } from '../text/naming.ts';
import type { InputName } from './inputs.ts';
import type { InputReader } from './values.ts';

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
  readonly entry?: Entry;
  /** What was found to be wrong when the inputs were collected. */
  readonly problems?: readonly InputError[];
}

type Reader = InputReader<InputName>;

/** Reads where the model is asked. Where a wrong input leaves the provider open, it is `openai-compatible`. */
export function parseModel(reader: Reader, world: ConfigWorld): ModelConfig {
  const naming = namingFor(world.entry ?? 'action');
  const model = reader.text('model') ?? '';
  const url = reader.attempt(() => readBaseUrl(reader), null);
  const named = reader.choice('provider', PROVIDERS, null);
  const request: RequestOptions = {
    maxOutputTokens: reader.integer('max-output-tokens', { min: 1 }, null),
    stream: reader.choice('stream', ['auto', 'on', 'off'], 'auto'),
    authScheme: reader.choice('auth-scheme', ['provider', 'bearer'], 'provider'),
    reasoningEffort: reader.word('reasoning-effort'),
  };
  // A replay asks nobody: what is given is still checked, and nothing is demanded.
  if (reader.text('replay') !== null)
    return {
      provider: named ?? providerByName(model) ?? 'openai-compatible',
      providerReason: naming.noun('replay'),
      model,
      apiKey: null,
      keySource: 'no key (the model is replayed)',
      missingKey: null,
      baseUrl: null,
      // A header's secret is empty where a fork has none.
      headers: {},
      ...request,
    };
  if (model === '')
    reader.add(
      new InputError(
        'model',
        ({ give }) => `No model is given. ${give('model')}, for example claude-sonnet-4-5.`,
      ),
    );
  const headers = reader.attempt(() => readHeaders(reader), {});
  const chosen = chooseProvider(reader, named, model, naming);
  const [provider, providerReason] = chosen ?? ['openai-compatible', 'nothing'];
  const isEndpointKnown = chosen !== null && !reader.hasProblem('base-url');
  const baseUrl = isEndpointKnown ? reader.attempt(() => checkBaseUrl(provider, url), null) : null;
  return {
    provider,
    providerReason,
    model,
    ...findKey(reader, provider, headers, world),
    baseUrl,
    headers,
    ...request,
  };
}

type RequestOptions = Pick<ModelConfig, 'maxOutputTokens' | 'stream' | 'authScheme' | 'reasoningEffort'>;

/** The provider, and why it is this one; null where another input that is wrong would have to say so. */
function chooseProvider(
  reader: Reader,
  named: ProviderName | null,
  model: string,
  { noun }: Naming,
): readonly [ProviderName, string] | null {
  if (reader.hasProblem('provider')) return null;
  if (named !== null) return [named, noun('provider')];
  const match = providerByName(model);
  if (match !== null) return [match, `the name of the model ${model}`];
  if (reader.text('base-url') !== null) return ['openai-compatible', noun('base-url')];
  if (model !== '')
    reader.add(
      new InputError(
        'provider',
        ({ name, give }) =>
          `No provider is known for the model ${JSON.stringify(model)}. ${give('provider')} (one of ${PROVIDERS.join(', ')}), or ${name('base-url')} for a compatible server.`,
      ),
    );
  return null;
}

/** What to do about a missing key, given the provider's usual variable. */
const KEY_ADVICE: Readonly<Record<Entry, (variable: string) => string>> = {
  action: (variable) =>
    `Set api-key to a secret, for example api-key: \${{ secrets.${variable} }}, or set the variable ${variable}. A pull request from a fork gets no secrets.`,
  'command-line': (variable) => `Set the variable ${variable}, or ${KEY_VARIABLE} for any provider.`,
  library: (variable) => `Pass apiKey, or set the variable ${variable}.`,
};

function findKey(
  reader: Reader,
  provider: ProviderName,
  headers: Readonly<Record<string, string>>,
  world: ConfigWorld,
): Pick<ModelConfig, 'apiKey' | 'keySource' | 'missingKey'> {
  const given = reader.text('api-key');
  const { entry, name, noun } = namingFor(world.entry ?? 'action');
  if (given !== null) return { apiKey: given, keySource: noun('api-key'), missingKey: null };
  // Whether one of these would have held the key is not known.
  if (reader.hasProblem('headers')) return { apiKey: null, keySource: 'no key', missingKey: null };
  // A key that the user sends in a header of their own: the vendor's does not go to a gateway beside it.
  if (CREDENTIAL_HEADERS.some((name) => Object.hasOwn(headers, name)))
    return { apiKey: null, keySource: noun('headers'), missingKey: null };
  const variable = registry[provider].keyVariable;
  if (variable === null)
    return { apiKey: null, keySource: `no key (${name('api-key')} is not set)`, missingKey: null };
  const found = world.environment[variable]?.trim();
  if (found !== undefined && found !== '')
    return { apiKey: found, keySource: `the variable ${variable}`, missingKey: null };
  const missingKey = `No key for provider ${provider}. ${KEY_ADVICE[entry](variable)}`;
  return { apiKey: null, keySource: 'no key', missingKey };
}

/** @throws InputError for what is no URL that can be asked. */
function readBaseUrl(reader: Reader): URL | null {
  const text = reader.text('base-url');
  return text === null ? null : parseBaseUrl(text);
}

/** The names that carry a key; each takes the place of the input api-key. */
const CREDENTIAL_HEADERS = ['authorization', 'x-api-key', 'api-key'] as const;

/** What the connection or the API's own wire format decides, by RFC 9110 and 9112; and who we are. */
const RESERVED = new Set([
  'accept',
  'accept-encoding',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
]);

/**
 * The headers by their names in lower case; empty where none are given.
 * @throws InputError that names the line by its number; no error ever shows a value.
 */
export function readHeaders(reader: InputReader<'headers' | 'api-key'>): Readonly<Record<string, string>> {
  const lines = (reader.text('headers') ?? '').split(/\r?\n/u);
  const headers = new Map<string, string>();
  for (const [at, line] of lines.entries()) {
    if (line.trim() === '') continue;
    const [name, value] = readLine(line, at + 1);
    if (headers.has(name)) throw badLine(at + 1, `gives ${name} a second time. Keep one of them.`);
    headers.set(name, value);
  }
  refuseTwoKeys([...headers.keys()], reader);
  return Object.fromEntries(headers);
}

function readLine(line: string, number: number): readonly [name: string, value: string] {
  const colon = line.indexOf(':');
  if (colon === -1) throw badLine(number, 'has no colon. Write it as Name: value.');
  const name = line.slice(0, colon).trim().toLowerCase();
  const value = line.slice(colon + 1).trim();
  if (!/^[!#$%&'*+.^_`|~0-9a-z-]+$/u.test(name)) {
    throw badLine(number, 'does not begin with the name of a header. Write it as Name: value.');
  }
  if (name.startsWith('proxy-')) {
    throw badLine(
      number,
      `names ${name}, which is the proxy's. Write a user name and password into the URL in HTTPS_PROXY or HTTP_PROXY.`,
    );
  }
  if (RESERVED.has(name)) throw badLine(number, `names ${name}, which is not yours to set. Take it out.`);
  if (value === '') {
    throw badLine(number, `gives ${name} no value. Give one (is its secret set?), or take the line out.`);
  }
  if (!/^[\t\x20-\x7e]+$/u.test(value)) {
    throw badLine(
      number,
      `gives ${name} a value with a character that no header can carry. Use printable ASCII.`,
    );
  }
  return [name, value];
}

/** Two keys would leave it to the server which one it reads. */
function refuseTwoKeys(names: readonly string[], reader: InputReader<'headers' | 'api-key'>): void {
  const keys = names.filter((name) => CREDENTIAL_HEADERS.some((each) => each === name));
  if (keys[0] === undefined) return;
  if (reader.text('api-key') !== null) {
    throw new InputError(
      'headers',
      ({ name, setting }) =>
        `Both ${name('api-key')} and the header ${keys[0]} in ${name('headers')} give a key. Keep one of them; ${setting('auth-scheme', 'bearer')} sends ${name('api-key')} as Authorization.`,
    );
  }
}

function badLine(number: number, what: string): InputError {
  return new InputError('headers', ({ name }) => `Line ${number} of ${name('headers')} ${what}`);
}
