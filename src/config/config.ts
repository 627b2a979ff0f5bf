/** What the user meant: every input as a typed value, parsed once. The front door of this folder. */
import path from 'node:path';
import { InputError } from '../errors.ts';
import type { RawInputs } from './inputs.ts';
import { type ConfigWorld, type ModelConfig, parseModel } from './model.ts';
import { type Reporting, readReporting } from './reporting.ts';
import { readTools, type ToolLists } from './tools.ts';
import {
  createInputError,
  readBoolean,
  readChoice,
  readInteger,
  readList,
  readName,
  readNumber,
  readSigningKey,
} from './values.ts';

/** Everything a run is told. */
export interface Config extends Reporting, ToolLists {
  /** The task itself, or the file that holds it (relative to the workspace). */
  readonly prompt: { readonly text: string } | { readonly file: string };
  /** As typed: inline JSON, a path or a preset. */
  readonly schema: string;
  /** As typed: `auto`, `none`, a property, inline JSON or a path. */
  readonly gate: string;
  readonly systemPrompt: string | null;
  readonly model: ModelConfig;
  readonly maxTurns: number | null;
  readonly timeoutMs: number;
  readonly maxTotalTokens: number | null;
  readonly maxCostUsd: number | null;
  readonly forceOutput: boolean;
  readonly shellTimeoutSeconds: number;
  readonly maxToolOutputBytes: number;
  readonly sandbox: 'required' | 'auto' | 'off';
  readonly shellNetwork: boolean;
  readonly sandboxRead: readonly string[];
  readonly workspaceAccess: 'scratch' | 'in-place' | 'read-only';
  readonly passEnv: readonly string[];
  /** Relative to the workspace; `.` for the workspace itself. */
  readonly workingDirectory: string;
  readonly context: 'auto' | 'none';
  /** Names of this leg and this vote; null where the workflow gives none. */
  readonly leg: string | null;
  readonly vote: string | null;
  readonly signingKey: string | null;
  /** The folder of earlier envelopes, as typed; null where nothing is to be reused. */
  readonly reuseFrom: string | null;
  /** Relative to the workspace; empty for the whole checkout. */
  readonly subjectPaths: readonly string[];
  readonly refresh: boolean;
  readonly trustedFiles: 'workspace' | 'base';
  readonly onMissingKey: 'fail' | 'skip';
  readonly transcriptFile: string | null;
  readonly reportFile: string | null;
  /** The recording that answers in the model's place, as typed; null for a real run. */
  readonly replay: string | null;
}

/**
 * Reads every input.
 * @throws InputError that names the input and the fix.
 */
export function parseConfig(raw: RawInputs, world: ConfigWorld): Config {
  const config: Config = {
    prompt: parsePrompt(raw),
    schema: raw.get('schema') ?? 'verdict',
    gate: raw.get('gate') ?? 'auto',
    systemPrompt: raw.get('system-prompt') ?? null,
    model: parseModel(raw, world),
    ...parseLimits(raw),
    forceOutput: readBoolean(raw, 'force-output', true),
    ...readTools(raw),
    shellTimeoutSeconds: readInteger(raw, 'shell-timeout-seconds', { min: 1, max: 600 }) ?? 120,
    maxToolOutputBytes: (readInteger(raw, 'max-tool-output-kb', { min: 1, max: 1024 }) ?? 25) * 1024,
    sandbox: readChoice(raw, 'sandbox', ['required', 'auto', 'off']) ?? 'required',
    shellNetwork: readChoice(raw, 'shell-network', ['off', 'on']) === 'on',
    sandboxRead: parseFolders(raw),
    workspaceAccess: readChoice(raw, 'workspace-access', ['scratch', 'in-place', 'read-only']) ?? 'scratch',
    passEnv: parsePassEnv(raw),
    workingDirectory: raw.get('working-directory') ?? '.',
    context: readChoice(raw, 'context', ['auto', 'none']) ?? 'auto',
    leg: readName(raw, 'leg', 200),
    vote: readName(raw, 'vote', 200),
    signingKey: readSigningKey(raw),
    reuseFrom: raw.get('reuse-from') ?? null,
    subjectPaths: readList(raw, 'subject-paths'),
    refresh: readBoolean(raw, 'refresh', false),
    trustedFiles: readChoice(raw, 'trusted-files', ['workspace', 'base']) ?? 'workspace',
    onMissingKey: readChoice(raw, 'on-missing-key', ['fail', 'skip']) ?? 'fail',
    ...readReporting(raw, world.environment),
    transcriptFile: raw.get('transcript-file') ?? null,
    reportFile: raw.get('report-file') ?? null,
    replay: raw.get('replay') ?? null,
  };
  // Last: what is wrong beside it is wrong with a key, too.
  if (config.model.missingKey !== null && config.onMissingKey === 'fail')
    throw new InputError('api-key', config.model.missingKey);
  return config;
}

/** What says whose verdict this is: kept where other inputs are wrong, so that the envelope of that ending is not a stranger's. */
export type Identity = Pick<Config, 'leg' | 'vote' | 'signingKey'>;

/** Reads it alone, straight from the runner's variables; null for what cannot be read. */
export function readIdentity(environment: Readonly<Record<string, string | undefined>>): Identity {
  const names = ['leg', 'vote', 'signing-key'] as const;
  const typed = names.map(
    (name) => [name, environment[`INPUT_${name.toUpperCase()}`]?.trim() ?? ''] as const,
  );
  const raw = new Map(typed.filter(([, text]) => text !== ''));
  return {
    leg: orNull(() => readName(raw, 'leg', 200)),
    vote: orNull(() => readName(raw, 'vote', 200)),
    signingKey: orNull(() => readSigningKey(raw)),
  };
}

function orNull<T>(read: () => T | null): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}

function parsePrompt(raw: RawInputs): Config['prompt'] {
  const text = raw.get('prompt');
  const file = raw.get('prompt-file');
  if (text !== undefined && file !== undefined) {
    throw new InputError(
      'prompt-file',
      ({ name }) => `${name('prompt')} and ${name('prompt-file')} are both given. Keep one of them.`,
    );
  }
  if (text !== undefined) return { text };
  if (file !== undefined) return { file };
  throw new InputError('prompt', ({ door, name, give }) => {
    const file = door === 'library' ? '' : `, or ${name('prompt-file')} to a file that holds it`;
    return `No task is given. ${give('prompt')}${door === 'library' ? ': the task' : ' to the task'}${file}.`;
  });
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

function parseFolders(raw: RawInputs): readonly string[] {
  const folders = readList(raw, 'sandbox-read');
  const relative = folders.find((folder) => !path.isAbsolute(folder));
  if (relative !== undefined) {
    throw createInputError(
      'sandbox-read',
      `names ${JSON.stringify(relative)}, which is not an absolute path. Write it from the root, for example /opt/tools.`,
    );
  }
  return folders;
}

/** Variables that would hand the shell what the sandbox keeps from it. */
const NEVER_PASSED =
  /^(?:INPUT_|ACTIONS_|STRUCTURED_AGENT_|GITHUB_(?:TOKEN|OUTPUT|ENV|PATH|STATE|STEP_SUMMARY)$|(?:RUNNER_TEMP|HOME|TMPDIR)$)/iu;

function parsePassEnv(raw: RawInputs): readonly string[] {
  const names = readList(raw, 'pass-env', /[\s,]+/u);
  const malformed = names.find((name) => !/^[A-Za-z_][A-Za-z0-9_]*$/u.test(name));
  if (malformed !== undefined) {
    throw createInputError(
      'pass-env',
      `names ${JSON.stringify(malformed)}, which is not a variable's name. List names only, without values.`,
    );
  }
  const refused = names.find((name) => NEVER_PASSED.test(name));
  if (refused !== undefined) {
    throw createInputError('pass-env', `names ${refused}, which the agent must never see. Take it out.`);
  }
  return names;
}
