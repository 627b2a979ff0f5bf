/** The table of inputs, from which action.yml, docs/reference.md, the flags and the options of the library are made. */
import { PROVIDERS, type ProviderName } from '../providers/registry.ts';
import { joinWithOr, suggest } from '../text/messages.ts';

/** The model that descriptions, messages and written workflows give as an example. Documents and examples name the same. */
export const EXAMPLE_MODEL = 'claude-sonnet-5-5';

export interface Input {
  readonly name: string;
  /** The value that the runner passes by default; empty means absent. */
  readonly default: string;
  /** At most 20 words, for action.yml, docs/reference.md and `--help`. */
  readonly description: string;
  /** Whether the input applies to workflows only, or is also a flag of the command line and an option of the library. */
  readonly where: 'everywhere' | 'github';
  /** Whether its flag may be given several times. */
  readonly kind?: 'list';
  /** Other names of its flag. */
  readonly also?: readonly string[];
}

const LIST = { kind: 'list' } as const;

/** The inputs that most workflows need, in the order of the documentation. */
export const MAIN_INPUTS = [
  input('prompt', 'The task for the agent. Give either prompt or prompt-file.', '', { also: ['p'] }),
  input('prompt-file', 'A file that holds the task: a path in the workspace, or @owner/repo/path@ref.'),
  input(
    'schema',
    'JSON Schema of the verdict: inline, a path, @owner/repo/path@ref, or verdict, code-review, security-review, test-report.',
    'verdict',
    { also: ['json-schema'] },
  ),
  input(
    'gate',
    'What must hold for success: a boolean property, a JSON Schema (inline, path, @owner/repo/path@ref), off, or auto.',
    'auto',
  ),
  input('model', `The model to ask, for example ${EXAMPLE_MODEL}. Required, unless replay is given.`, '', {
    also: ['m'],
  }),
  input('api-key', "The provider's key. Without it: the provider's variable, such as ANTHROPIC_API_KEY."),
  input(
    'provider',
    `${joinWithOr(PROVIDERS)}. By default it follows from the model's name or from base-url.`,
  ),
  input('max-turns', 'The most model calls; 0 ends the run at once, -1 means no limit.', '30', {
    also: ['max-session-turns'],
  }),
  input('timeout-minutes', 'The most minutes for the whole run. Fractions are allowed.', '10'),
  input('max-cost-usd', 'The most US dollars, checked before each call. The model needs a known price.'),
  gitHubInput(
    'comment',
    'Whether to comment on the pull request: off, always or on-failure. Needs the permission pull-requests: write.',
    'off',
  ),
  input('working-directory', 'The folder where the agent starts. Coverage counts the files below it.'),
  input(
    'sandbox',
    'required (without a sandbox the run ends with 44), auto (then only files are read) or off (trusted repositories only).',
    'required',
  ),
  input('shell-network', "Whether the agent's shell has a network: off or on.", 'off'),
  input(
    'pass-env',
    'Names of environment variables that the shell may see, separated by commas or lines.',
    '',
    LIST,
  ),
  gitHubInput(
    'github-token',
    'For context, trusted files, comment and status only. The agent never sees it.',
    '${{ github.token }}',
  ),
];

/** The other inputs, which the documentation marks as advanced. */
export const ADVANCED_INPUTS = [
  input('base-url', "The API's URL, for gateways and other servers, such as http://127.0.0.1:11434/v1."),
  input(
    'headers',
    'More headers for each request, one "Name: value" a line. An Authorization line counts as the key.',
    '',
    LIST,
  ),
  input('max-output-tokens', "The most tokens of one answer. Without it: the provider's limit."),
  input('reasoning-effort', "How much the model thinks, in the provider's own word, for example high."),
  input('max-total-tokens', 'The most tokens, input and output together. For models without a known price.'),
  input(
    'tools',
    'The tools that the agent may use. structured_output is always there.',
    'read_file, edit, shell',
    { ...LIST, also: ['core-tools'] },
  ),
  input('exclude-tools', 'Tools to take away. Without structured_output the run cannot succeed.', '', LIST),
  input(
    'force-output',
    'Whether a plain-text answer is followed by one request that forces the tool call.',
    'true',
  ),
  input('sandbox-read', 'More folders that the shell may read, one absolute path a line.', '', LIST),
  gitHubInput(
    'trusted-files',
    "Where schema, gate and prompt-file are read: workspace, or base (the pull request's base branch).",
    'workspace',
  ),
  input(
    'min-coverage',
    'The share of changed files that the model must see before it may pass: 0 to 1, off or auto.',
    'auto',
  ),
  input(
    'grounding',
    'Whether quotes of findings are looked up in the files: off, mark, require or auto.',
    'auto',
  ),
  gitHubInput(
    'on-missing-key',
    'fail, or skip: the step is green, and nothing is judged. For forks.',
    'fail',
  ),
  gitHubInput(
    'comment-key',
    'Comments with the same key are one comment, updated in place.',
    '${{ github.workflow }} / ${{ github.job }} / ${{ toJSON(matrix) }} / ${{ github.action }}',
  ),
  gitHubInput(
    'commit-status',
    'The name of a commit status for the verdict. Needs the permission statuses: write.',
  ),
  gitHubInput('summary', 'Whether to write a job summary.', 'true'),
  gitHubInput('leg', 'The name of this part of a matrix, for the merge action. A leg writes no annotations.'),
  gitHubInput('vote', 'The name or number of this vote, if a leg is judged more than once.'),
  gitHubInput(
    'signing-key',
    'A secret of at least 32 characters that signs the envelope for the merge action.',
  ),
  input('replay', "A recording that plays the model's side: no key, no tokens and no judgement."),
];

/** All inputs of the action, in the order of the documentation. An input without an effect is not listed. */
export const INPUTS = [...MAIN_INPUTS, ...ADVANCED_INPUTS];

/** An input of the command line and the library only: on GitHub, the event knows its value. */
const BASE = input(
  'base',
  'A branch, tag or commit: the change is the diff since the merge base with it, without untracked files.',
);

/** The options of the library. All but the key are flags of the command line. */
export const LOCAL_INPUTS = [...INPUTS.filter(({ where }) => where === 'everywhere'), BASE];

export type InputName = (typeof INPUTS)[number]['name'] | (typeof BASE)['name'];

/** A JSON Schema, draft-07 or 2020-12. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** The inputs as options of the library, except `schema`, whose type is that of the payload. */
export interface InputOptions {
  readonly prompt: string;
  /** A JSON Schema (an object, inline JSON or a path), the name of a boolean property, or `off` (the default). */
  readonly gate?: JsonSchema | string;
  /** A share of changed files from 0 to 1, `off`, or `auto` (the default). */
  readonly minCoverage?: number | string;
  readonly grounding?: 'auto' | 'off' | 'mark' | 'require';
  readonly model: string;
  readonly provider?: ProviderName;
  readonly apiKey?: string;
  readonly baseUrl?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly maxOutputTokens?: number;
  readonly reasoningEffort?: string;
  readonly maxTurns?: number;
  readonly timeoutMinutes?: number;
  readonly maxTotalTokens?: number;
  readonly maxCostUsd?: number;
  readonly forceOutput?: boolean;
  /** `read_file`, `edit`, `shell`, or another agent's name for one of them, for example `bash`. */
  readonly tools?: readonly string[];
  /** The same names, plus `structured_output`; without that tool no payload can be delivered. */
  readonly excludeTools?: readonly string[];
  readonly sandbox?: 'required' | 'auto' | 'off';
  readonly shellNetwork?: boolean;
  readonly sandboxRead?: readonly string[];
  readonly passEnv?: readonly string[];
  /** The folder that the agent starts in, inside the workspace. */
  readonly workingDirectory?: string;
  /** A branch, tag or commit: the change is the diff since the merge base with it, without untracked files. */
  readonly base?: string;
  /** A recording that plays the model's side. */
  readonly replay?: string;
}

/** The given value of each input, trimmed; absent when blank. */
export type RawInputs = ReadonlyMap<InputName, string>;

/** Returns the inputs in `names` that an unknown name was probably meant to be, the most likely first. */
export function meantInputs(name: string, names: readonly string[]): readonly string[] {
  const kebab = name
    .slice(0, 100)
    .toLowerCase()
    .replaceAll(/[\s_]+/gu, '-');
  // anthropic_api_key, openai-api-key: one input holds the key for every provider.
  return /(?:^|-)api-key$/u.test(kebab) && names.includes('api-key') ? ['api-key'] : suggest(name, names);
}

function input<const N extends string>(
  name: N,
  description: string,
  defaultValue = '',
  flag: Pick<Input, 'kind' | 'also'> = {},
) {
  return { name, description, default: defaultValue, where: 'everywhere', ...flag } as const;
}

/** An input that applies only to workflows, pull requests or runners, and so is not a flag. */
export function gitHubInput<const N extends string>(name: N, description: string, defaultValue = '') {
  return { ...input(name, description, defaultValue), where: 'github' as const };
}
