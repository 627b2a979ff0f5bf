/** What the user meant: every input as a typed value, parsed once. The front door of this folder. */
import path from 'node:path';
import { InputError } from '../errors.ts';
import type { InputName, RawInputs } from './inputs.ts';
import { readBoolean, readChoice, readInteger, readList, readNames, readNumber } from './values.ts';

/** The providers that can be chosen. */
export const PROVIDERS = ['openai', 'anthropic', 'openai-compatible'] as const;
export type ProviderName = (typeof PROVIDERS)[number];

/** The tools that can be allowed. */
export const TOOLS = ['read_file', 'edit', 'shell'] as const;
export type ToolName = (typeof TOOLS)[number];

/** Where a model is asked. */
export interface ModelConfig {
  readonly provider: ProviderName;
  /** Why this provider: a clause for the log. */
  readonly providerReason: string;
  readonly model: string;
  readonly apiKey: string | null;
  /** Where the key came from, for messages: never the key. */
  readonly keySource: string;
  readonly baseUrl: string | null;
  readonly maxOutputTokens: number | null;
  readonly stream: 'auto' | 'on' | 'off';
}

/** Everything a run is told. */
export interface Config {
  /** The task itself, or the file that holds it (relative to the workspace). */
  readonly prompt: { readonly text: string } | { readonly file: string };
  /** As typed: inline JSON, `@path` or a preset. */
  readonly schema: string;
  /** As typed: `auto`, `none`, a property, inline JSON or `@path`. */
  readonly gate: string;
  readonly systemPrompt: string | null;
  readonly model: ModelConfig;
  readonly maxTurns: number | null;
  readonly timeoutMs: number;
  readonly maxTotalTokens: number | null;
  readonly maxCostUsd: number | null;
  readonly forceOutput: boolean;
  readonly tools: readonly ToolName[];
  readonly excludeTools: readonly string[];
  readonly shellTimeoutSeconds: number;
  readonly maxToolOutputBytes: number;
  readonly sandbox: 'required' | 'auto' | 'off';
  readonly shellNetwork: boolean;
  readonly sandboxRead: readonly string[];
  readonly workspaceAccess: 'in-place' | 'read-only';
  readonly passEnv: readonly string[];
  /** Relative to the workspace; `.` for the workspace itself. */
  readonly workingDirectory: string;
  readonly summary: boolean;
  readonly resultFile: string | null;
  readonly transcriptFile: string | null;
  readonly logLevel: 'summary' | 'full';
}

/** What the environment says beside the inputs. */
export interface ConfigWorld {
  readonly environment: Readonly<Record<string, string | undefined>>;
}

const KEY_VARIABLES: Readonly<Record<ProviderName, string | null>> = {
  openai: 'OPENAI_API_KEY',
  anthropic: 'ANTHROPIC_API_KEY',
  'openai-compatible': null,
};

/** How a model's name tells its provider; nothing else may: a key in the environment never chooses one. */
const MODEL_PREFIXES: readonly (readonly [prefix: RegExp, provider: ProviderName])[] = [
  [/^claude-/u, 'anthropic'],
  [/^(?:gpt-|chatgpt-|o[134](?:-|$))/u, 'openai'],
];

/**
 * Reads every input.
 * @throws InputError that names the input and the fix.
 */
export function parseConfig(raw: RawInputs, world: ConfigWorld): Config {
  const debug = world.environment['RUNNER_DEBUG'] === '1';
  return {
    prompt: parsePrompt(raw),
    schema: raw.get('schema') ?? 'verdict',
    gate: raw.get('gate') ?? 'auto',
    systemPrompt: raw.get('system-prompt') ?? null,
    model: parseModel(raw, world),
    ...parseLimits(raw),
    forceOutput: readBoolean(raw, 'force-output', true),
    ...parseTools(raw),
    shellTimeoutSeconds: readInteger(raw, 'shell-timeout-seconds', { min: 1, max: 600 }) ?? 120,
    maxToolOutputBytes: (readInteger(raw, 'max-tool-output-kb', { min: 1, max: 1024 }) ?? 25) * 1024,
    sandbox: readChoice(raw, 'sandbox', ['required', 'auto', 'off']) ?? 'required',
    shellNetwork: readChoice(raw, 'shell-network', ['off', 'on']) === 'on',
    sandboxRead: parseFolders(raw),
    workspaceAccess: readChoice(raw, 'workspace-access', ['in-place', 'read-only']) ?? 'in-place',
    passEnv: parsePassEnv(raw),
    workingDirectory: raw.get('working-directory') ?? '.',
    summary: readBoolean(raw, 'summary', true),
    resultFile: raw.get('result-file') ?? null,
    transcriptFile: raw.get('transcript-file') ?? null,
    logLevel: readChoice(raw, 'log-level', ['summary', 'full']) ?? (debug ? 'full' : 'summary'),
  };
}

function parsePrompt(raw: RawInputs): Config['prompt'] {
  const text = raw.get('prompt');
  const file = raw.get('prompt-file');
  if (text !== undefined && file !== undefined) {
    throw new InputError('prompt-file', 'Both prompt and prompt-file are given. Keep one of them.');
  }
  if (text !== undefined) return { text };
  if (file !== undefined) return { file };
  throw new InputError(
    'prompt',
    'No task is given. Set prompt to the task, or prompt-file to a file that holds it.',
  );
}

function parseModel(raw: RawInputs, world: ConfigWorld): ModelConfig {
  const model = raw.get('model');
  if (model === undefined) {
    throw new InputError('model', 'No model is given. Set model, for example model: claude-sonnet-4-5.');
  }
  const baseUrl = parseBaseUrl(raw);
  const [provider, providerReason] = chooseProvider(raw, model, baseUrl);
  if (provider === 'openai-compatible' && baseUrl === null) {
    throw new InputError(
      'base-url',
      'provider: openai-compatible needs base-url. Set it to the URL of the server, for example http://127.0.0.1:8000/v1.',
    );
  }
  return {
    provider,
    providerReason,
    model,
    ...findKey(raw, provider, world),
    baseUrl,
    maxOutputTokens: readInteger(raw, 'max-output-tokens', { min: 1 }),
    stream: readChoice(raw, 'stream', ['auto', 'on', 'off']) ?? 'auto',
  };
}

function chooseProvider(
  raw: RawInputs,
  model: string,
  baseUrl: string | null,
): readonly [ProviderName, string] {
  const named = readChoice(raw, 'provider', PROVIDERS);
  if (named !== null) return [named, 'the input provider'];
  const match = MODEL_PREFIXES.find(([prefix]) => prefix.test(model));
  if (match !== undefined) return [match[1], `the name of the model ${model}`];
  if (baseUrl !== null) return ['openai-compatible', 'the input base-url'];
  throw new InputError(
    'provider',
    `No provider is known for the model ${JSON.stringify(model)}. Set provider to one of ${PROVIDERS.join(', ')}, or set base-url for a compatible server.`,
  );
}

function findKey(
  raw: RawInputs,
  provider: ProviderName,
  world: ConfigWorld,
): Pick<ModelConfig, 'apiKey' | 'keySource'> {
  const given = raw.get('api-key');
  if (given !== undefined) return { apiKey: given, keySource: 'the input api-key' };
  const variable = KEY_VARIABLES[provider];
  if (variable === null) return { apiKey: null, keySource: 'no key (api-key is not set)' };
  const found = world.environment[variable]?.trim();
  if (found !== undefined && found !== '') return { apiKey: found, keySource: `the variable ${variable}` };
  throw new InputError(
    'api-key',
    `No key for provider ${provider}. Set api-key to a secret, for example api-key: \${{ secrets.${variable} }}, or set the variable ${variable}. ` +
      'A pull request from a fork gets no secrets.',
  );
}

function parseBaseUrl(raw: RawInputs): string | null {
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
  return text.replace(/\/+$/u, '');
}

function parseLimits(
  raw: RawInputs,
): Pick<Config, 'maxTurns' | 'timeoutMs' | 'maxTotalTokens' | 'maxCostUsd'> {
  const maxTurns = readInteger(raw, 'max-turns', { min: -1 }) ?? 30;
  const minutes = readNumber(raw, 'timeout-minutes', { above: 0, max: 35_000 }) ?? 10;
  return {
    maxTurns: maxTurns === -1 ? null : maxTurns,
    timeoutMs: Math.max(1, Math.round(minutes * 60_000)),
    maxTotalTokens: readInteger(raw, 'max-total-tokens', { min: 1 }),
    maxCostUsd: readNumber(raw, 'max-cost-usd', { above: 0 }),
  };
}

function parseTools(raw: RawInputs): Pick<Config, 'tools' | 'excludeTools'> {
  const removable = [...TOOLS, 'structured_output'] as const;
  const allowed = readNames(raw, 'tools', removable);
  const tools = allowed === null ? TOOLS : TOOLS.filter((tool) => allowed.includes(tool));
  return { tools, excludeTools: readNames(raw, 'exclude-tools', removable) ?? [] };
}

function parseFolders(raw: RawInputs): readonly string[] {
  const folders = readList(raw, 'sandbox-read');
  const relative = folders.find((folder) => !path.isAbsolute(folder));
  if (relative !== undefined) {
    throw new InputError(
      'sandbox-read',
      `sandbox-read names ${JSON.stringify(relative)}, which is not an absolute path. Write it from the root, for example /opt/tools.`,
    );
  }
  return folders;
}

/** Variables that would hand the shell what the sandbox keeps from it. */
const NEVER_PASSED = /^(?:INPUT_|ACTIONS_|GITHUB_(?:TOKEN|OUTPUT|ENV|PATH|STATE|STEP_SUMMARY)$)/iu;

function parsePassEnv(raw: RawInputs): readonly string[] {
  const names = readList(raw, 'pass-env', /[\s,]+/u);
  const malformed = names.find((name) => !/^[A-Za-z_][A-Za-z0-9_]*$/u.test(name));
  if (malformed !== undefined) {
    throw new InputError(
      'pass-env',
      `pass-env names ${JSON.stringify(malformed)}, which is not a variable's name. List names only, without values.`,
    );
  }
  const refused = names.find((name) => NEVER_PASSED.test(name));
  if (refused !== undefined) {
    throw new InputError(
      'pass-env',
      `pass-env names ${refused}, which the agent must never see. Take it out.`,
    );
  }
  return names;
}

/** The names of inputs, for messages about unknown ones. */
export type { InputName };
