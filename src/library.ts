/** The library: one call, one schema, one typed result. The same core as the action and the command line. */

import { stat } from 'node:fs/promises';
import { createLocalWorld, currentFolder, localSecrets } from './cli/world.ts';
import { parseConfig } from './config/config.ts';
import { inputsOf, schemaValidator, secretOptions } from './config/library-options.ts';
import { InputError } from './errors.ts';
import { envelope } from './reporters/envelope.ts';
import type { Report, RunEvent } from './reporters/report-types.ts';
import { type RunInputs, run } from './run/run.ts';
import type { World } from './run/world.ts';
import { quote } from './text/messages.ts';
import type { Conclusion, GateResult, JsonObject, Reason, Usage } from './types.ts';

/** A JSON Schema, draft-07 or 2020-12. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * A schema object of Zod (4.2 or newer) or any other library that gives its JSON Schema by the Standard JSON Schema
 * interface. Its own `validate` judges a payload after the JSON Schema, refinements included; what it returns is discarded,
 * and a schema that would change the payload is refused.
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

/** What a run is told; each name is that of the input, in camelCase, and means the same. */
export interface RunOptions<Payload> {
  readonly prompt: string;
  /** A string is inline JSON, the path of a `.json` file, or the name of a preset. */
  readonly schema: JsonSchema | TypedSchema<Payload> | string;
  /**
   * A JSON Schema for the payload (an object, inline JSON, or the path of a `.json` file), the name of a boolean property,
   * or `none`, which is what it is unless given.
   */
  readonly gate?: JsonSchema | string;
  readonly model: string;
  readonly provider?: 'openai' | 'anthropic' | 'gemini' | 'azure-openai' | 'openai-compatible';
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
  /** `read_file`, `edit`, `shell`, or what another agent calls one of them, for example `bash`. */
  readonly tools?: readonly string[];
  /** The same names, and `structured_output`, without which no payload can be delivered. */
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
  /**
   * Hears of each event while the run goes on; no event carries an argument of `structured_output`, or of a
   * tool that was not offered. Nothing else in them is masked: what the prompt or a file that was read holds is there.
   */
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
  given: RunOptions<Payload>,
): Promise<RunResult<Payload>> {
  // What plain JavaScript passes is no object of options at times: that is a wrong option, reported like any other.
  const passed: unknown = given;
  const isObject = typeof passed === 'object' && passed !== null && !Array.isArray(passed);
  const options: Partial<RunOptions<Payload>> = isObject ? given : {};
  const environment = options.environment ?? process.env;
  // A key and headers that come as options are masked as those of variables are.
  const secrets = localSecrets({ ...environment, ...secretOptions(options) });
  const here = currentFolder();
  const kept: { patch: Uint8Array | null } = { patch: null };
  const over = new AbortController();
  const world = await createLocalWorld({
    entry: 'library',
    environment,
    secrets,
    workspace: options.workspace ?? here.folder,
    workingDirectory: options.workingDirectory ?? '.',
    validate: schemaValidator(options.schema),
    resultFile: null,
    transcriptFile: null,
    writePatch(patch) {
      kept.patch = patch;
      return null;
    },
    listen: listener(options.signal, over.signal),
    reporters: hearing(options.onEvent),
    writeEnvelope: () => undefined,
    writeOutputs: () => undefined,
    warn(text) {
      try {
        options.onWarning?.(secrets.mask(text));
      } catch {
        // Whoever listens has a bug, but the run is not theirs to end.
      }
    },
  });
  try {
    const given = options.workspace;
    const problem = given === undefined ? here.problem : await workspaceProblem(given, world.workspace);
    const { config, problems } = parseOptions(options, environment);
    const machine = [...world.problems, ...(problem === null ? [] : [problem])];
    const report = await run(
      { config, problems: [...machine, ...(isObject ? problems : [NO_OPTIONS])] },
      world,
    );
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
    over.abort();
  }
}

/** Reads the options. What throws while it is read is an ending like any other, so that the caller gets one kind of error. */
function parseOptions(options: object, environment: NodeJS.ProcessEnv): RunInputs {
  try {
    const { raw, problems } = inputsOf(options);
    return parseConfig(raw, { environment, entry: 'library', problems });
  } catch (cause) {
    const { config } = parseConfig(new Map(), { environment, entry: 'library' });
    return { config, problems: [cause instanceof Error ? cause : new Error(String(cause))] };
  }
}

const NO_OPTIONS = new InputError(
  null,
  'runStructuredAgent takes an object of options. Pass { prompt, schema, model }.',
);

/** What is wrong with the option `workspace`; null for a folder. */
async function workspaceProblem(given: string, real: string): Promise<InputError | null> {
  const isFolder = await stat(real).then(
    (found) => found.isDirectory(),
    () => false,
  );
  return isFolder
    ? null
    : new InputError('workspace', `workspace is ${quote(given)}, which is not a folder. Check the path.`);
}

/** An `async` listener that rejects must not end the process, and is no more to the run than one that throws. */
function hearing(onEvent: ((event: RunEvent) => unknown) | undefined): World['reporters'] {
  if (onEvent === undefined) return [];
  return [
    {
      name: 'onEvent',
      event(event) {
        const heard = onEvent(event);
        if (heard instanceof Promise) heard.catch(() => undefined);
      },
    },
  ];
}

/** @param over aborted when the run is over: a signal that outlives many runs must not keep them all. */
function listener(signal: AbortSignal | undefined, over: AbortSignal): World['listen'] {
  return (end) => {
    if (signal === undefined) return;
    const stop = () => end.signal('AbortSignal');
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true, signal: over });
  };
}
