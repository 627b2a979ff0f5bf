/** Parses every input once into a typed value. This is the module other folders import. */
import path from 'node:path';
import { InputError } from '../errors.ts';
import { DISPLAY, MERGE } from '../text/limits.ts';
import { quote } from '../text/messages.ts';
import { STRUCTURED_OUTPUT_NAME, TOOL_NAMES, type ToolName } from '../tools/toolbox.ts';
import type { MinCoverage } from '../types.ts';
import type { InputName, RawInputs } from './inputs.ts';
import { type ConfigWorld, type ModelConfig, parseModel } from './model.ts';
import { type Reporting, readReporting } from './reporting.ts';
import { createReader, type InputReader, type Parsed, readSigningKey } from './values.ts';

export interface Config extends Reporting {
  /** The prompt text, or the file that contains it (relative to the workspace). */
  readonly prompt: { readonly text: string } | { readonly file: string };
  /** As typed: inline JSON, a path or a preset. */
  readonly schema: string;
  /** As typed: `auto`, `off`, a property, inline JSON or a path. */
  readonly gate: string;
  readonly minCoverage: MinCoverage;
  readonly grounding: 'auto' | 'off' | 'mark' | 'require';
  readonly model: ModelConfig;
  readonly maxTurns: number | null;
  readonly timeoutMs: number;
  readonly maxTotalTokens: number | null;
  readonly maxCostUsd: number | null;
  readonly forceOutput: boolean;
  readonly sandbox: 'required' | 'auto' | 'off';
  readonly shellNetwork: boolean;
  readonly sandboxRead: readonly string[];
  /** In the order of the documentation. */
  readonly tools: readonly ToolName[];
  /** May also contain `structured_output`. */
  readonly excludeTools: readonly string[];
  readonly passEnv: readonly string[];
  /** Relative to the workspace; `.` for the workspace itself. */
  readonly workingDirectory: string;
  /** The branch, tag or commit that the change is based on, as typed; null where GitHub's event knows it, or nobody. */
  readonly base: string | null;
  /** The name of this leg and of this vote; null when the workflow sets none. */
  readonly leg: string | null;
  readonly vote: string | null;
  readonly signingKey: string | null;
  readonly trustedFiles: 'workspace' | 'base';
  readonly onMissingKey: 'fail' | 'skip';
  /** The recording that replaces the model, as typed; null for a live run. */
  readonly replay: string | null;
}

type Reader = InputReader<InputName>;

export function parseConfig(raw: RawInputs, world: ConfigWorld): Parsed<Config> {
  const reader = createReader(raw, world.problems);
  const config: Config = {
    prompt: parsePrompt(reader),
    schema: reader.text('schema') ?? 'verdict',
    gate: reader.text('gate') ?? 'auto',
    minCoverage: reader.attempt(() => parseMinCoverage(reader), 'auto'),
    grounding: reader.choice('grounding', ['auto', 'off', 'mark', 'require'], 'auto'),
    model: parseModel(reader, world),
    ...parseLimits(reader),
    forceOutput: reader.boolean('force-output', true),
    tools: parseTools(reader),
    excludeTools: reader.attempt(() => readToolNames(reader, 'exclude-tools'), []),
    sandbox: reader.choice('sandbox', ['required', 'auto', 'off'], 'required'),
    shellNetwork: reader.choice('shell-network', ['off', 'on'], 'off') === 'on',
    sandboxRead: reader.attempt(() => parseFolders(reader), []),
    passEnv: reader.attempt(() => parsePassEnv(reader), []),
    workingDirectory: reader.text('working-directory') ?? '.',
    base: reader.attempt(() => parseBase(reader), null),
    leg: reader.line('leg', MERGE.name),
    vote: reader.line('vote', MERGE.name),
    signingKey: readSigningKey(reader),
    trustedFiles: reader.choice('trusted-files', ['workspace', 'base'], 'workspace'),
    onMissingKey: reader.choice('on-missing-key', ['fail', 'skip'], 'fail'),
    ...readReporting(reader),
    replay: reader.text('replay'),
  };
  if (config.model.missingKey !== null && config.onMissingKey === 'fail')
    reader.add(new InputError('api-key', config.model.missingKey));
  return { config, problems: reader.problems };
}

function parsePrompt(reader: Reader): Config['prompt'] {
  const text = reader.text('prompt');
  const file = reader.text('prompt-file');
  if (text !== null && file !== null)
    reader.add(new InputError('prompt-file', 'The task is also given by prompt. Keep one of them.'));
  if (text === null && file !== null) return { file };
  if (text === null && !reader.hasProblem('prompt-file'))
    reader.add(
      new InputError('prompt', 'No task is given. Write the task, or name a file with prompt-file.'),
    );
  return { text: text ?? '' };
}

/** @throws InputError for a text that is not a share */
function parseMinCoverage(reader: Reader): MinCoverage {
  const text = (reader.text('min-coverage') ?? 'auto').toLowerCase();
  if (text === 'auto' || text === 'off') return text;
  const share = /^(?:\d(?:\.\d{0,9})?|\.\d{1,9})$/u.test(text) ? Number(text) : Number.NaN;
  if (share >= 0 && share <= 1) return share;
  throw new InputError(
    'min-coverage',
    `${quote(text, DISPLAY.name)} is not auto, off or a share from 0 to 1, such as 0.9.`,
  );
}

function parseLimits(
  reader: Reader,
): Pick<Config, 'maxTurns' | 'timeoutMs' | 'maxTotalTokens' | 'maxCostUsd'> {
  const maxTurns = reader.integer('max-turns', { min: -1 }, 30);
  const minutes = reader.number('timeout-minutes', { above: 0, max: 35_000 }, 10);
  return {
    maxTurns: maxTurns === -1 ? null : maxTurns,
    timeoutMs: Math.max(1, Math.round(minutes * 60_000)),
    maxTotalTokens: reader.integer('max-total-tokens', { min: 1 }, null),
    maxCostUsd: reader.number('max-cost-usd', { above: 0 }, null),
  };
}

/** @throws InputError for what git could take for an option, or for several lines */
function parseBase(reader: Reader): string | null {
  const base = reader.text('base');
  if (base === null || (base.length <= DISPLAY.wholePath && /^[^-\p{Cc}][^\p{Cc}]*$/u.test(base)))
    return base;
  throw new InputError(
    'base',
    `${quote(base, DISPLAY.name)} is not a branch, tag or commit. Use one that git knows, for example main.`,
  );
}

/** Every accepted tool name in lower case: our own, and the names that other agents use for the same tools. */
const TOOL_ALIASES: ReadonlyMap<string, ToolName | typeof STRUCTURED_OUTPUT_NAME> = new Map([
  ['read_file', 'read_file'],
  ['read', 'read_file'],
  ['readfile', 'read_file'],
  ['readfiletool', 'read_file'],
  ['edit', 'edit'],
  ['replace', 'edit'],
  ['edittool', 'edit'],
  ['shell', 'shell'],
  ['bash', 'shell'],
  ['run_shell_command', 'shell'],
  ['shelltool', 'shell'],
  ['structured_output', STRUCTURED_OUTPUT_NAME],
  ['struct_output', STRUCTURED_OUTPUT_NAME],
  ['structuredoutput', STRUCTURED_OUTPUT_NAME],
]);

function parseTools(reader: Reader): readonly ToolName[] {
  if (reader.text('tools') === null) return TOOL_NAMES;
  const allowed: readonly string[] = reader.attempt(() => readToolNames(reader, 'tools'), []);
  return TOOL_NAMES.filter((tool) => allowed.includes(tool));
}

/** @throws InputError for a name that is not in the table */
function readToolNames(reader: Reader, input: 'tools' | 'exclude-tools'): readonly string[] {
  return reader.list(input, /[\s,]+/u).map((entry) => {
    const name = TOOL_ALIASES.get(entry.toLowerCase());
    if (name !== undefined) return name;
    throw new InputError(
      input,
      `${quote(entry, DISPLAY.name)} is not a tool. Use read_file, edit, shell or structured_output.`,
    );
  });
}

/** @throws InputError for a path that is not absolute */
function parseFolders(reader: Reader): readonly string[] {
  const folders = reader.list('sandbox-read');
  const relative = folders.find((folder) => !path.isAbsolute(folder));
  if (relative !== undefined) {
    throw new InputError(
      'sandbox-read',
      `${quote(relative, DISPLAY.wholePath)} is not an absolute path. Write it from the root, for example /opt/tools.`,
    );
  }
  return folders;
}

/** Variables that would give the shell what the sandbox withholds from it. */
const NEVER_PASSED =
  /^(?:INPUT_|ACTIONS_|STRUCTURED_AGENT_|GITHUB_(?:TOKEN|OUTPUT|ENV|PATH|STATE|STEP_SUMMARY)$|(?:RUNNER_TEMP|HOME|TMPDIR)$)/iu;

/** @throws InputError for an invalid name, and for a variable that is never passed */
function parsePassEnv(reader: Reader): readonly string[] {
  const names = reader.list('pass-env', /[\s,]+/u);
  const malformed = names.find((name) => !/^[A-Za-z_][A-Za-z0-9_]*$/u.test(name));
  if (malformed !== undefined) {
    throw new InputError(
      'pass-env',
      `${quote(malformed, DISPLAY.name)} is not the name of a variable. List names only, without values.`,
    );
  }
  const refused = names.find((name) => NEVER_PASSED.test(name));
  if (refused !== undefined) {
    throw new InputError('pass-env', `The agent must never see ${refused}. Take it out.`);
  }
  return names;
}
