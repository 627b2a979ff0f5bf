/**
 * The library: `runStructuredAgent` takes a schema and returns a typed payload. It runs the same core as the action and
 * the command line.
 */

import { createMachine, localSecrets } from './cli/world.ts';
import type { InputOptions, JsonSchema } from './config/inputs.ts';
import { inputsOf, schemaValidator } from './config/library-options.ts';
import { parseConfig } from './config/parse-config.ts';
import { envelope } from './reporters/envelope.ts';
import type { Report, RunEvent } from './reporters/report-types.ts';
import { run } from './run/run.ts';
import type { World } from './run/world.ts';
import type { Conclusion, GateResult, JsonObject, Reason, Usage } from './types.ts';

export type { JsonSchema, Reason, RunEvent, Usage };

/**
 * A schema object of Zod (4.2 or newer), or of any other library that exports its JSON Schema through the Standard JSON
 * Schema interface. Its own `validate`, including refinements, runs on a payload after the JSON Schema check. The value
 * it returns is discarded, and a schema that would transform the payload is refused.
 */
export interface TypedSchema<Payload> {
  readonly '~standard': {
    readonly types?: { readonly input: Payload } | undefined;
    readonly validate?: (value: unknown) => unknown;
    readonly jsonSchema: {
      input(options: { readonly target: 'draft-07' }): Record<string, unknown>;
      output?(options: { readonly target: 'draft-07' }): Record<string, unknown>;
    };
  };
}

/** The options of a run. Each has the name of the action's input in camelCase, and the same meaning. */
export interface RunOptions<Payload> extends InputOptions {
  /** A string is inline JSON, the path of a `.json` file, or the name of a preset. */
  readonly schema: JsonSchema | TypedSchema<Payload> | string;
  /** The folder that the agent works on. Default: the current working directory of the process. */
  readonly workspace?: string;
  /** Cancels the run as a signal would, with reason `cancelled`. */
  readonly signal?: AbortSignal;
  /**
   * Called with each event during the run. No event carries the arguments of `structured_output` or of a tool that was
   * not offered. Nothing else in an event is masked: it may hold what the prompt or a file contains.
   */
  readonly onEvent?: (event: RunEvent) => void;
  /** Called with warnings that are not events of the run. */
  readonly onWarning?: (text: string) => void;
  /** Environment variables for keys and `passEnv`; the proxies are those of the process. Default: `process.env`. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/** The result of a successful run. */
export interface RunResult<Payload> {
  /** The payload exactly as it was validated. */
  readonly payload: Payload;
  readonly gate: GateResult['status'];
  readonly turns: number;
  readonly usage: Usage;
  /** In US dollars; null when the price of the model is unknown. */
  readonly costUsd: number | null;
  readonly durationMs: number;
  readonly model: string;
  /** null when unknown. */
  readonly changedFiles: number | null;
  /** The agent's changes as a git patch; null when there are none, or when they are unknown. */
  readonly patch: Uint8Array | null;
  /** The complete result of the run, as documented under *Envelope*. */
  readonly envelope: Readonly<Record<string, unknown>>;
}

/** Thrown for every ending but success; holds the reason and the exit code that the command line would return. */
export class StructuredAgentError extends Error {
  override readonly name = 'StructuredAgentError';
  readonly conclusion: Conclusion;
  readonly reason: Reason;
  readonly exitCode: number;
  /** The accepted payload when the gate is not met or a signal arrived after acceptance; null otherwise. */
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
 * Runs the agent until it delivers a payload that the schema accepts and the gate passes.
 * @throws StructuredAgentError for every other ending, including invalid options. It throws nothing else.
 */
export async function runStructuredAgent<Payload = JsonObject>(
  runOptions: RunOptions<Payload>,
): Promise<RunResult<Payload>> {
  // A caller in JavaScript may pass nothing at all, and gets the problems with the options like any other.
  const options: Partial<RunOptions<Payload>> = Object(runOptions);
  const { environment = process.env, workspace = '.', workingDirectory = '.' } = options;
  const { signal, onEvent, onWarning } = options;
  const { raw, problems: wrong } = inputsOf(options);
  const { config, problems } = parseConfig(raw, { environment, problems: wrong });
  // Keys and headers passed as options are masked like those in environment variables.
  const given = { 'INPUT_API-KEY': raw.get('api-key'), INPUT_HEADERS: raw.get('headers') };
  const secrets = localSecrets({ ...environment, ...given });
  // Aborted when the run is over: a signal that outlives many runs must not retain them all.
  const over = new AbortController();
  const { machine, problems: missing } = await createMachine(environment, workspace, workingDirectory);
  const listening = { name: 'onEvent', event: (event: RunEvent) => callListener(() => onEvent?.(event)) };
  const world: World = {
    ...machine,
    entry: 'library',
    secrets,
    validate: schemaValidator(options.schema),
    results: null,
    listen(end) {
      const stop = () => end.signal('AbortSignal');
      if (signal?.aborted) stop();
      else signal?.addEventListener('abort', stop, { once: true, signal: over.signal });
    },
    openReporters: async () => [listening],
    warn: (text) => callListener(() => onWarning?.(secrets.mask(text))),
  };
  try {
    const report = await run({ config, problems: [...missing, ...problems] }, world);
    const whole = envelope(report, secrets.mask);
    const { verdict, payload, gate } = report;
    if (verdict.conclusion !== 'success' || payload === null) throw new StructuredAgentError(report, whole);
    return {
      // Safe: the contract has validated the payload against the schema that provides the type.
      payload: payload as Payload,
      gate: gate?.status ?? 'none',
      turns: report.turnCount,
      usage: report.usage,
      costUsd: report.costUsd,
      durationMs: report.durationMs,
      model: report.model,
      changedFiles: report.changedFiles,
      patch: report.patch ?? null,
      envelope: whole,
    };
  } finally {
    over.abort();
  }
}

/** Calls a listener. One that throws or rejects is a bug of the caller, and ends neither the run nor the process. */
async function callListener(call: () => unknown): Promise<void> {
  try {
    await call();
  } catch {
    // Nothing here depends on it.
  }
}
