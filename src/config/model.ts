/** Parses the settings of the model: provider, endpoint and key. */

import { InputError } from '../errors.ts';
import {
  KEY_HEADERS,
  PROVIDERS,
  type ProviderName,
  parseBaseUrl,
  providerByName,
  registry,
  requireBaseUrl,
} from '../providers/registry.ts';
import type { Entry } from '../text/naming.ts';
import { EXAMPLE_MODEL, type InputName } from './inputs.ts';
import type { InputReader } from './values.ts';

/** Characters of the input `headers`; many servers accept no more than 8 to 64 KiB. */
const MAX_HEADERS = 64 * 1024;

export interface ModelConfig {
  readonly provider: ProviderName;
  /** Why this provider was chosen: a clause for the log. */
  readonly providerReason: string;
  readonly model: string;
  readonly apiKey: string | null;
  /** Where the key came from, for messages. Never the key itself. */
  readonly keySource: string;
  /** The message for a missing key that the provider needs; null otherwise. */
  readonly missingKey: string | null;
  readonly baseUrl: string | null;
  readonly maxOutputTokens: number | null;
  /** Headers that a gateway needs besides the key; names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly reasoningEffort: string | null;
}

export interface ConfigWorld {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** How the user started the program. Default: by a workflow. */
  readonly entry?: Entry;
  /** Whether the run is about a pull request from a fork, which gets no secrets. */
  readonly isFork?: boolean;
  readonly problems?: readonly InputError[];
}

type Reader = InputReader<InputName>;

/** Parses the settings of the model. If an invalid input leaves the provider open, it is `openai-compatible`. */
export function parseModel(reader: Reader, world: ConfigWorld): ModelConfig {
  const model = reader.text('model') ?? '';
  const baseUrl = reader.attempt(() => readBaseUrl(reader), null);
  const named = reader.choice('provider', PROVIDERS, null);
  const request: RequestOptions = {
    maxOutputTokens: reader.integer('max-output-tokens', { min: 1 }, null),
    reasoningEffort: reader.word('reasoning-effort'),
  };
  // A replay sends no request: given values are still checked, but none is required.
  if (reader.text('replay') !== null)
    return {
      provider: named ?? providerByName(model) ?? 'openai-compatible',
      providerReason: 'replay',
      model,
      apiKey: null,
      keySource: 'no key (the model is replayed)',
      missingKey: null,
      baseUrl: null,
      // On a pull request from a fork the secret in a header is empty.
      headers: {},
      ...request,
    };
  if (model === '')
    reader.add(new InputError('model', `No model is given. Name one, for example ${EXAMPLE_MODEL}.`));
  const headers = reader.attempt(() => readHeaders(reader), {});
  const chosen = chooseProvider(reader, named, model);
  const [provider, providerReason] = chosen ?? ['openai-compatible', 'nothing'];
  if (chosen !== null && !reader.hasProblem('base-url'))
    reader.attempt(() => requireBaseUrl(provider, baseUrl), undefined);
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

type RequestOptions = Pick<ModelConfig, 'maxOutputTokens' | 'reasoningEffort'>;

/** Chooses the provider and the reason for it; null when that depends on another input, which is invalid. */
function chooseProvider(
  reader: Reader,
  named: ProviderName | null,
  model: string,
): readonly [ProviderName, string] | null {
  if (reader.hasProblem('provider')) return null;
  if (named !== null) return [named, 'provider'];
  const match = providerByName(model);
  if (match !== null) return [match, `the name of the model ${model}`];
  if (reader.text('base-url') !== null) return ['openai-compatible', 'base-url'];
  if (model !== '')
    reader.add(
      new InputError(
        'provider',
        `No provider is known for the model ${JSON.stringify(model)}. Name one of ${PROVIDERS.join(', ')}, or set base-url for a compatible server.`,
      ),
    );
  return null;
}

/** What to do about a missing key, given the provider's usual variable. */
const KEY_ADVICE: Readonly<Record<Entry, (variable: string) => string>> = {
  action: (variable) =>
    `Set it to a secret, for example \${{ secrets.${variable} }}, or set the variable ${variable}.`,
  'command-line': (variable) => `Set this variable, or ${variable}.`,
  library: (variable) => `Pass it, or set the variable ${variable}.`,
};

const FORK_ADVICE =
  'This pull request comes from a fork, and GitHub gives its runs no secrets. Nothing is wrong with the workflow. Set on-missing-key to skip if the step may be green without a verdict.';

function findKey(
  reader: Reader,
  provider: ProviderName,
  headers: Readonly<Record<string, string>>,
  world: ConfigWorld,
): Pick<ModelConfig, 'apiKey' | 'keySource' | 'missingKey'> {
  const given = reader.text('api-key');
  if (given !== null) return { apiKey: given, keySource: 'api-key', missingKey: null };
  // An invalid header may have held the key.
  if (reader.hasProblem('headers')) return { apiKey: null, keySource: 'no key', missingKey: null };
  // The user sends a key in a custom header: the vendor's key must not be sent to a gateway along with it.
  if (Object.keys(headers).some((name) => KEY_HEADERS.has(name)))
    return { apiKey: null, keySource: 'headers', missingKey: null };
  const variable = registry[provider].keyVariable;
  if (variable === null) return { apiKey: null, keySource: 'no key (api-key is not set)', missingKey: null };
  const found = world.environment[variable]?.trim();
  if (found !== undefined && found !== '')
    return { apiKey: found, keySource: `the variable ${variable}`, missingKey: null };
  const advice = world.isFork === true ? FORK_ADVICE : KEY_ADVICE[world.entry ?? 'action'](variable);
  return { apiKey: null, keySource: 'no key', missingKey: `No key for the provider ${provider}. ${advice}` };
}

/** @throws InputError for a value that is not a usable URL */
function readBaseUrl(reader: Reader): string | null {
  const text = reader.text('base-url');
  return text === null ? null : parseBaseUrl(text);
}

/** Headers set by the connection or by the API's wire format (RFC 9110 and 9112), and those identifying this client. */
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
 * Parses the headers, with names in lower case; empty when none are given.
 * @throws InputError for more than 64 KiB, and otherwise one that names the line by its number; no error quotes a value
 */
export function readHeaders(reader: InputReader<'headers' | 'api-key'>): Readonly<Record<string, string>> {
  const text = reader.text('headers') ?? '';
  if (text.length > MAX_HEADERS) {
    throw new InputError(
      'headers',
      `They are longer than ${MAX_HEADERS / 1024} KiB. Give fewer or shorter headers.`,
    );
  }
  const lines = text.split(/\r?\n/u);
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

/** With two keys, the server would decide which one counts. */
function refuseTwoKeys(names: readonly string[], reader: InputReader<'headers' | 'api-key'>): void {
  const key = names.find((name) => KEY_HEADERS.has(name));
  if (key !== undefined && reader.text('api-key') !== null) {
    throw new InputError('headers', `The header ${key} and api-key both give a key. Keep one of them.`);
  }
}

function badLine(number: number, what: string): InputError {
  return new InputError('headers', `Line ${number} ${what}`);
}
