/** The library: one call, one schema, one typed result. The same core as the action and the command line. */
import { parseConfig } from './config/config.ts';
import { INPUTS, type InputName } from './config/inputs.ts';
import { InputError } from './errors.ts';
import { createLocalWorld, localSecrets } from './local-world.ts';
import { envelope } from './reporters/envelope.ts';
import { run } from './run.ts';
import type { World } from './run-state.ts';
import { removeFolder } from './sandbox/run-folder.ts';
import type { Conclusion, GateResult, JsonObject, Reason, Report, RunEvent, Usage } from './types.ts';

/** A JSON Schema, draft-07 or 2020-12. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * A schema object of Zod (4.2 or newer) or any other library that tells its JSON Schema by the Standard JSON Schema
 * interface. What it transforms is not run: the result has the type of its *input*, which is what the model gives.
 */
export interface TypedSchema<Payload> {
  readonly '~standard': {
    readonly types?: { readonly input: Payload } | undefined;
    readonly jsonSchema: { input(options: { readonly target: 'draft-07' }): Record<string, unknown> };
  };
}

/** What a run is told; each name is that of the input, in camelCase, and means the same. */
export interface RunOptions<Payload> {
  readonly prompt: string;
  readonly schema: JsonSchema | TypedSchema<Payload>;
  /** A JSON Schema for the payload, the name of a boolean property, or `none`, which is what it is unless given. */
  readonly gate?: JsonSchema | string;
  readonly model: string;
  readonly provider?: string;
  readonly apiKey?: string;
  readonly baseUrl?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly authScheme?: 'provider' | 'bearer';
  readonly systemPrompt?: string;
  readonly maxOutputTokens?: number;
  readonly reasoningEffort?: string;
  readonly stream?: 'auto' | 'on' | 'off';
  readonly maxTurns?: number;
  readonly timeoutMinutes?: number;
  readonly maxTotalTokens?: number;
  readonly maxCostUsd?: number;
  readonly forceOutput?: boolean;
  readonly tools?: readonly ('read_file' | 'edit' | 'shell')[];
  readonly excludeTools?: readonly string[];
  readonly shellTimeoutSeconds?: number;
  readonly maxToolOutputKb?: number;
  readonly sandbox?: 'required' | 'auto' | 'off';
  readonly shellNetwork?: boolean;
  readonly sandboxRead?: readonly string[];
  readonly workspaceAccess?: 'scratch' | 'in-place' | 'read-only';
  readonly passEnv?: readonly string[];
  /** The folder that the agent works on; the process's own unless given. */
  readonly workspace?: string;
  /** Where it starts, inside the workspace. */
  readonly workingDirectory?: string;
  /** Plays the model's side from a recording: no key, no tokens. */
  readonly replay?: string;
  /** Ends the run as a signal would: reason `cancelled`. */
  readonly signal?: AbortSignal;
  /** Hears of each event while the run goes on; no event carries an argument of `structured_output`. */
  readonly onEvent?: (event: RunEvent) => void;
  /** Hears of what is wrong beside the run. */
  readonly onWarning?: (text: string) => void;
  /** Variables for keys, proxies and `passEnv`; the process's own unless given. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/** What an accepted payload comes with. */
export interface RunResult<Payload> {
  /** Exactly what was validated. */
  readonly payload: Payload;
  readonly gate: GateResult['status'];
  readonly turns: number;
  readonly usage: Usage;
  /** US dollars; null when the model's price is not known. */
  readonly costUsd: number | null;
  readonly durationMs: number;
  readonly model: string;
  /** null when that is not known. */
  readonly changedFiles: number | null;
  /** What the agent changed, as a git patch; null where nothing was, or where that is not known. */
  readonly patch: Uint8Array | null;
  /** The whole run, as documented under *Envelope*. */
  readonly envelope: Readonly<Record<string, unknown>>;
}

/** Every ending but a success: why, and the exit code that the command line would have. */
export class StructuredAgentError extends Error {
  override readonly name = 'StructuredAgentError';
  readonly conclusion: Conclusion;
  readonly reason: Reason;
  readonly exitCode: number;
  /** The accepted payload where the gate is not met (or a signal came after it); null otherwise. */
  readonly payload: unknown;
  readonly envelope: Readonly<Record<string, unknown>>;

  constructor(report: Report, whole: Readonly<Record<string, unknown>>) {
    super(String(whole['error'] ?? report.verdict.error ?? report.verdict.reason));
    this.conclusion = report.verdict.conclusion;
    this.reason = report.verdict.reason;
    this.exitCode = report.verdict.exitCode;
    this.payload = report.payload;
    this.envelope = whole;
  }
}

/**
 * Runs the agent until it has delivered a payload that the schema accepts and the gate lets pass.
 * @throws StructuredAgentError for every other ending, wrong options among them; nothing else.
 */
export async function runStructuredAgent<Payload = JsonObject>(
  options: RunOptions<Payload>,
): Promise<RunResult<Payload>> {
  const environment = options.environment ?? process.env;
  const secrets = localSecrets(environment);
  const kept: { patch: Uint8Array | null } = { patch: null };
  const world = await createLocalWorld({
    environment,
    secrets,
    workspace: options.workspace ?? process.cwd(),
    resultFile: null,
    transcriptFile: null,
    writePatch(patch) {
      kept.patch = patch;
      return null;
    },
    listen: listener(options.signal),
    reporters: options.onEvent === undefined ? [] : [{ name: 'onEvent', event: options.onEvent }],
    writeEnvelope: () => undefined,
    writeOutputs: () => undefined,
    warn: (text) => options.onWarning?.(secrets.mask(text)),
  });
  try {
    const report = await run(() => parseConfig(inputsOf(options), { environment }), world);
    const whole = envelope(report, secrets.mask);
    const { verdict, payload, gate } = report;
    if (verdict.conclusion !== 'success' || payload === null) throw new StructuredAgentError(report, whole);
    return {
      // The contract has judged it by the very schema that gives the type.
      payload: payload as Payload,
      gate: gate?.status ?? 'none',
      turns: report.turnCount,
      usage: report.usage,
      costUsd: report.costUsd,
      durationMs: report.durationMs,
      model: report.model,
      changedFiles: report.changedFiles,
      patch: kept.patch,
      envelope: whole,
    };
  } finally {
    await removeFolder(world.runFolder, 5_000);
  }
}

function listener(signal: AbortSignal | undefined): World['listen'] {
  return (end) => {
    if (signal === undefined) return;
    const stop = () => end.signal('AbortSignal');
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  };
}

/** Options that are not inputs of the same name. */
const OWN = new Set(['signal', 'onEvent', 'onWarning', 'environment', 'workspace']);

/** The options as if they had been typed: one parser judges them all. @throws InputError */
function inputsOf<Payload>(options: RunOptions<Payload>): ReadonlyMap<InputName, string> {
  const raw = new Map<InputName, string>([['gate', 'none']]);
  for (const [key, value] of Object.entries(options)) {
    if (OWN.has(key) || value === undefined) continue;
    const kebab = key.replace(/[A-Z]/gu, (letter) => `-${letter.toLowerCase()}`);
    const name = INPUTS.find((input) => input.name === kebab)?.name;
    if (name === undefined) throw new InputError(null, `There is no option ${JSON.stringify(key)}.`);
    raw.set(name, name === 'schema' ? schemaText(value) : textOf(name, value));
  }
  return raw;
}

function schemaText(schema: unknown): string {
  if (typeof schema !== 'object' || schema === null)
    throw new InputError('schema', 'schema must be a JSON Schema as an object, or a schema of Zod.');
  if (!('~standard' in schema)) return JSON.stringify(schema);
  if (!isTyped(schema))
    throw new InputError(
      'schema',
      'schema is of a library that does not tell its JSON Schema. Zod does from 4.2 on; else convert it yourself.',
    );
  return JSON.stringify(schema['~standard'].jsonSchema.input({ target: 'draft-07' }));
}

function isTyped(schema: object): schema is TypedSchema<unknown> {
  const standard: unknown = Reflect.get(schema, '~standard');
  if (typeof standard !== 'object' || standard === null) return false;
  const told: unknown = Reflect.get(standard, 'jsonSchema');
  return typeof told === 'object' && told !== null && typeof Reflect.get(told, 'input') === 'function';
}

function textOf(name: InputName, value: unknown): string {
  if (name === 'shell-network') return value === true ? 'on' : 'off';
  if (Array.isArray(value)) return value.map(String).join('\n');
  if (name === 'headers' && typeof value === 'object' && value !== null)
    return Object.entries(value)
      .map(([header, text]) => `${header}: ${String(text)}`)
      .join('\n');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
