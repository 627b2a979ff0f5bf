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
import { EXAMPLE_MODEL, type InputName } from './inputs.ts';
import { type InputReader, matching } from './values.ts';

export interface ModelConfig {
  readonly provider: ProviderName;
  /** Why this provider was chosen: a clause for the log. */
  readonly providerReason: string;
  readonly model: string;
  readonly apiKey: string | null;
  /** Where the key came from, for messages; empty if there is none. Never the key itself. */
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
  /** Whether the run is about a pull request from a fork, which gets no secrets. */
  readonly isFork?: boolean;
  readonly problems?: readonly InputError[];
}

type Reader = InputReader<InputName>;

const WORD = /^[a-z]{1,32}$/u;

/** Parses the settings of the model. If an invalid input leaves the provider open, it is `openai-compatible`. */
export function parseModel(reader: Reader, world: ConfigWorld): ModelConfig {
  const model = reader.text('model') ?? '';
  const url = reader.text('base-url');
  const baseUrl = url === null ? null : reader.attempt(() => parseBaseUrl(url), null);
  const named = reader.choice('provider', PROVIDERS, null);
  const request = {
    model,
    maxOutputTokens: reader.integer('max-output-tokens', { min: 1 }, null),
    reasoningEffort: reader.read('reasoning-effort', null, matching(WORD), 'one word in lower case'),
  };
  // A replay sends no request: given values are still checked, but none is required.
  if (reader.text('replay') !== null) {
    const provider = named ?? providerByName(model) ?? 'openai-compatible';
    // On a pull request from a fork the secret in a header is empty.
    return { ...request, provider, providerReason: 'replay', ...NO_KEY, baseUrl: null, headers: {} };
  }
  if (model === '')
    reader.add(new InputError('model', `No model is given. Name one, for example ${EXAMPLE_MODEL}.`));
  const headers = reader.attempt(() => readHeaders(reader), {});
  const chosen = chooseProvider(reader, named, model);
  const [provider, providerReason] = chosen ?? ['openai-compatible', 'nothing'];
  if (chosen !== null && !reader.hasProblem('base-url'))
    reader.attempt(() => requireBaseUrl(provider, baseUrl), undefined);
  const key = findKey(reader, provider, headers, world);
  return { ...request, provider, providerReason, ...key, baseUrl, headers };
}

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
  const names = PROVIDERS.join(', ');
  const why = `No provider is known for the model ${JSON.stringify(model)}. Name one of ${names}, or set base-url for a compatible server.`;
  if (model !== '') reader.add(new InputError('provider', why));
  return null;
}

const NO_KEY = { apiKey: null, keySource: '', missingKey: null } as const;
const FORK_ADVICE =
  'This pull request comes from a fork, and GitHub gives its runs no secrets. Nothing is wrong with the workflow. Set on-missing-key to skip if the step may be green without a verdict.';

function findKey(
  reader: Reader,
  provider: ProviderName,
  headers: Readonly<Record<string, string>>,
  world: ConfigWorld,
): Pick<ModelConfig, 'apiKey' | 'keySource' | 'missingKey'> {
  const given = reader.text('api-key');
  if (given !== null) return { ...NO_KEY, apiKey: given, keySource: 'api-key' };
  // An invalid header may have held the key.
  if (reader.hasProblem('headers')) return NO_KEY;
  // The user sends a key in a custom header: the vendor's key must not be sent to a gateway along with it.
  if (Object.keys(headers).some((name) => KEY_HEADERS.has(name))) return { ...NO_KEY, keySource: 'headers' };
  const variable = registry[provider].keyVariable;
  if (variable === null) return NO_KEY;
  const found = world.environment[variable]?.trim();
  if (found) return { ...NO_KEY, apiKey: found, keySource: `the variable ${variable}` };
  const secret = `in a workflow to \${{ secrets.${variable} }}`;
  const advice = world.isFork === true ? FORK_ADVICE : `Set it (${secret}), or the variable ${variable}.`;
  return { ...NO_KEY, missingKey: `No key for the provider ${provider}. ${advice}` };
}

/**
 * Parses the headers, with names in lower case; empty when none are given.
 * @throws InputError that names the line by its number, and quotes no value
 */
function readHeaders(reader: Reader): Readonly<Record<string, string>> {
  const text = reader.text('headers') ?? '';
  const refuse = (what: string) => new InputError('headers', what);
  const headers = new Map<string, string>();
  for (const [at, line] of text.split(/\r?\n/u).entries()) {
    if (line.trim() === '') continue;
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(0, colon)).trim().toLowerCase();
    const value = line.slice(colon + 1).trim();
    if (value === '' || !/^[!#$%&'*+.^_`|~0-9a-z-]+$/u.test(name) || !/^[\t\x20-\x7e]+$/u.test(value))
      throw refuse(
        `Line ${at + 1} is not a name, a colon and a value in printable ASCII. If a secret gives the value, check that it is set.`,
      );
    if (headers.has(name)) throw refuse(`Line ${at + 1} gives ${name} a second time. Keep one of them.`);
    headers.set(name, value);
  }
  const key = [...headers.keys()].find((name) => KEY_HEADERS.has(name));
  // With two keys, the server would decide which one counts.
  if (key !== undefined && reader.text('api-key') !== null)
    throw refuse(`The header ${key} and api-key both give a key. Keep one of them.`);
  return Object.fromEntries(headers);
}
