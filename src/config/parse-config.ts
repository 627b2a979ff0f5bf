/** Parses every input once into a typed value. This is the module other folders import. */
import { InputError } from '../errors.ts';
import type { MinCoverage } from '../evidence/review.ts';
import { joinWithOr, suggest } from '../text/messages.ts';
import { TOOL_NAMES, type ToolName } from '../tools/toolbox.ts';
import type { InputName, RawInputs } from './inputs.ts';
import { type ConfigWorld, type ModelConfig, parseModel } from './model.ts';
import { type Reporting, readReporting } from './reporting.ts';
import { createReader, type InputReader, MAX_LEG_NAME, matching, type Parsed } from './values.ts';

export interface Config extends Reporting {
  /** The prompt text, or the file that contains it (relative to the workspace) and what stands before its text. */
  readonly prompt: { readonly text: string } | { readonly file: string; readonly before?: string };
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
  readonly trustedFiles: 'workspace' | 'base';
  readonly onMissingKey: 'fail' | 'skip';
  /** The recording that replaces the model, as typed; null for a live run. */
  readonly replay: string | null;
}

type Reader = InputReader<InputName>;

/** Separates names in a list. */
const WORDS = /[\s,]+/u;
/** Not what git could take for an option, and not several lines. */
const REF = /^[^-\p{Cc}][^\p{Cc}]{0,4095}$/u;
/** The name of a variable, except those that would give the shell what the sandbox withholds from it. */
const VARIABLE =
  /^(?!INPUT_|ACTIONS_|STRUCTURED_AGENT_|GITHUB_(?:TOKEN|OUTPUT|ENV|PATH|STATE|STEP_SUMMARY)$|(?:RUNNER_TEMP|HOME|TMPDIR)$)[a-z_]\w*$/iu;
const A_VARIABLE = 'the name of a variable that the shell may see.';
/** The accepted names of each tool in lower case: our own, and those that other agents use. */
const TOOL_ALIASES = {
  read_file: ['read_file', 'read', 'readfile', 'readfiletool'],
  edit: ['edit', 'replace', 'edittool'],
  shell: ['shell', 'bash', 'run_shell_command', 'shelltool'],
  structured_output: ['structured_output', 'struct_output', 'structuredoutput'],
};
const TOOLS = Object.keys(TOOL_ALIASES);

export function parseConfig(raw: RawInputs, world: ConfigWorld): Parsed<Config> {
  const reader = createReader(raw, world.problems);
  const allowed: readonly string[] = reader.list('tools', WORDS, parseTool, notATool);
  const maxTurns = reader.integer('max-turns', { min: -1 }, 30);
  const minutes = reader.number('timeout-minutes', { above: 0, max: 35_000 }, 10);
  const config: Config = {
    prompt: parsePrompt(reader),
    schema: reader.text('schema') ?? 'verdict',
    gate: reader.text('gate') ?? 'auto',
    minCoverage: reader.read('min-coverage', 'auto', parseShare, 'a share from 0 to 1, off or auto'),
    grounding: reader.choice('grounding', ['auto', 'off', 'mark', 'require'], 'auto'),
    model: parseModel(reader, world),
    maxTurns: maxTurns === -1 ? null : maxTurns,
    timeoutMs: Math.max(1, Math.round(minutes * 60_000)),
    maxTotalTokens: reader.integer('max-total-tokens', { min: 1 }, null),
    maxCostUsd: reader.number('max-cost-usd', { above: 0 }, null),
    forceOutput: reader.boolean('force-output', true),
    tools: TOOL_NAMES.filter((tool) => reader.text('tools') === null || allowed.includes(tool)),
    excludeTools: reader.list('exclude-tools', WORDS, parseTool, notATool),
    sandbox: reader.choice('sandbox', ['required', 'auto', 'off'], 'required'),
    shellNetwork: reader.choice('shell-network', ['off', 'on'], 'off') === 'on',
    sandboxRead: reader.list('sandbox-read', /\r?\n/u, matching(/^\//u), () => 'absolute, like /opt/tools.'),
    passEnv: reader.list('pass-env', WORDS, matching(VARIABLE), () => A_VARIABLE),
    workingDirectory: reader.text('working-directory') ?? '.',
    base: reader.read('base', null, matching(REF), 'a branch, tag or commit that git knows'),
    leg: reader.line('leg', MAX_LEG_NAME),
    vote: reader.line('vote', MAX_LEG_NAME),
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
    reader.add(new InputError('prompt', 'No task is given. Write it, or name a file with prompt-file.'));
  return { text: text ?? '' };
}

function parseShare(text: string): MinCoverage | undefined {
  const word = text.toLowerCase();
  if (word === 'auto' || word === 'off') return word;
  const share = /^(?:\d(?:\.\d{0,9})?|\.\d{1,9})$/u.test(text) ? Number(text) : Number.NaN;
  return share >= 0 && share <= 1 ? share : undefined;
}

function notATool(text: string): string {
  const near = suggest(text, TOOLS);
  return near.length > 0 ? `a tool. Did you mean ${joinWithOr(near)}?` : `a tool. Use ${joinWithOr(TOOLS)}.`;
}

function parseTool(text: string): string | undefined {
  return Object.entries(TOOL_ALIASES).find(([, names]) => names.includes(text.toLowerCase()))?.[0];
}
