/** The table of inputs, from which action.yml, docs/reference.md and the command line's flags are generated. */
import { suggest } from '../text/messages.ts';

export interface Input {
  readonly name: string;
  /** The value that the runner passes by default; empty means absent. */
  readonly default: string;
  /** One sentence for action.yml and docs/reference.md. */
  readonly description: string;
  /**
   * Whether the input applies on GitHub, elsewhere (`local`), or both. Those that apply elsewhere are flags of the command
   * line and options of the library.
   */
  readonly where: 'everywhere' | 'github' | 'local';
}

/** All inputs of the action, in the order of the documentation. An input without an effect is not listed. */
export const INPUTS = [
  input('prompt', 'The task for the agent. Exactly one of prompt and prompt-file is required.'),
  input('prompt-file', 'A file in the workspace that holds the task.'),
  input(
    'schema',
    'JSON Schema of the verdict: inline JSON, the path of a file in the workspace (./path, a path that ends in .json, or @path), @owner/repo/path@ref for one of another repository, or the name of a preset (verdict, code-review, security-review or test-report).',
    'verdict',
  ),
  input(
    'gate',
    "What must hold for the step to succeed: a JSON Schema for the payload (inline, a path or @owner/repo/path@ref, as for schema), the name of a boolean property, none, or auto (the preset's own gate, no gate for a schema of your own).",
    'auto',
  ),
  input(
    'min-coverage',
    'How much of the change must have been shown to the model before a payload that meets the gate is taken: a share of the changed files (1, 0.9), off, or auto (1 for code-review and security-review where the change is known, else off). Below it the run ends with the reason unsupported.',
    'auto',
  ),
  input(
    'grounding',
    'Whether findings are looked up in the files: off, mark (findings that are not proven are marked), require (they go back to the model once), or auto (require for verdict, code-review and security-review, mark for a schema of your own whose findings have path and quote).',
    'auto',
  ),
  input('system-prompt', 'Text added to the built-in system prompt.'),
  input(
    'provider',
    'openai, anthropic, gemini, azure-openai or openai-compatible. Without it the provider follows from the model name (claude-, gpt-, chatgpt-, o1, o3, o4, gemini-), else openai-compatible where base-url is given.',
  ),
  input('model', 'The model to ask, for example claude-sonnet-4-5. Required, unless replay is given.'),
  input(
    'api-key',
    "The provider's key. Without it: the variable OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY or AZURE_OPENAI_API_KEY, whichever is the chosen provider's. Optional for openai-compatible.",
  ),
  input(
    'base-url',
    'The URL of the API, for gateways and compatible servers, for example http://127.0.0.1:11434/v1. Required for openai-compatible, and for azure-openai: https://NAME.openai.azure.com, with ?api-version= where it must be one in particular.',
  ),
  input(
    'headers',
    'More headers for every request to the model, for gateways: one Name: value a line. Values are masked like secrets, plain words and page addresses aside. Authorization, X-Api-Key and Api-Key stand in for api-key.',
  ),
  input(
    'auth-scheme',
    "How the key is sent: provider (the provider's own header) or bearer (Authorization: Bearer, for gateways and the tokens of clouds).",
    'provider',
  ),
  input(
    'max-output-tokens',
    'The most tokens the model may write in one turn. Without it: what the provider allows.',
  ),
  input(
    'reasoning-effort',
    "How much the model thinks, in the provider's own word, for example low, medium or high; passed on as it is. Without it: the provider's default.",
  ),
  input('stream', 'Whether answers are streamed: auto (on for the vendors themselves), on or off.', 'auto'),
  input('max-turns', 'The most model calls, inclusive; 0 ends the run at once, -1 means no limit.', '30'),
  input('timeout-minutes', 'The most minutes for the whole run; fractions are allowed.', '10'),
  input('max-total-tokens', 'The most tokens, read and written together, checked after every turn.'),
  input('max-cost-usd', 'The most US dollars, checked after every turn. Needs a model with a known price.'),
  input(
    'force-output',
    'Whether a turn of plain text is answered by one more ask with the tool choice forced.',
    'true',
  ),
  input(
    'tools',
    'The tools the agent may use, separated by commas; names of other agents, such as bash or read, are understood. structured_output is always there.',
    'read_file, edit, shell',
  ),
  input(
    'exclude-tools',
    'Tools to take away, separated by commas. Without structured_output the run cannot deliver a verdict.',
  ),
  input(
    'shell-timeout-seconds',
    'The most seconds for one command, unless the model asks for more (at most 600).',
    '120',
  ),
  input('max-tool-output-kb', 'The most KiB of one tool result that the model sees.', '25'),
  input(
    'sandbox',
    'required (no sandbox ends the run with exit 44), auto (no sandbox means no shell) or off (trusted repositories only).',
    'required',
  ),
  input('shell-network', 'Whether commands in the shell have a network: off or on.', 'off'),
  input('sandbox-read', 'More folders that the shell may read, one absolute path a line.'),
  input(
    'workspace-access',
    'scratch (the agent works in a layer over the checkout that is thrown away; what it changed is kept as a patch), in-place (it may change the workspace) or read-only. With sandbox: off nothing holds the shell to any of them.',
    'scratch',
  ),
  input(
    'pass-env',
    'Names of variables that the shell may see, separated by commas or lines. A value that is or holds a known secret is withheld.',
  ),
  input('working-directory', 'The folder where the agent starts, inside the workspace.'),
  gitHubInput(
    'context',
    'On pull requests, merge groups and pushes, whether changed files and diff (of a pull request also title and description) are given to the agent as files in /tmp/context: auto or none.',
    'auto',
  ),
  gitHubInput(
    'leg',
    'The name of this leg, where a matrix judges many and one job merges their verdicts (see the action in merge/): recorded in the envelope, and part of the default comment-key and of the SARIF category.',
  ),
  gitHubInput(
    'vote',
    'The name or number of this vote, where a leg is judged more than once: recorded like leg.',
  ),
  gitHubInput(
    'signing-key',
    'A secret of at least 32 characters that signs the envelope (HMAC-SHA256), so that merge and reuse-from take no envelope that was made without it.',
  ),
  gitHubInput(
    'reuse-from',
    'A folder of earlier envelopes, as actions/download-artifact lays them out, in RUNNER_TEMP; in the workspace only with a signing-key. Where one of them judged the same files by the same prompt, schema, model and version, its payload is taken and no model is asked; the gate is evaluated anew.',
  ),
  gitHubInput(
    'subject-paths',
    'The files and folders that this run judges, one a line, inside the workspace: an earlier verdict is taken only where what git sees in them is the same. Without it: the whole checkout.',
  ),
  gitHubInput('refresh', 'Whether the model is asked although reuse-from holds a verdict.', 'false'),
  gitHubInput(
    'trusted-files',
    'Where the files of schema, gate and prompt-file are read: workspace, or base (the tip of the branch that the pull request goes into, so that the change cannot edit its own policy).',
    'workspace',
  ),
  gitHubInput(
    'on-missing-key',
    'fail, or skip: without a key nothing is judged, the conclusion is skipped and the step is green. For forks, where the verdict is advice only.',
    'fail',
  ),
  gitHubInput('summary', 'Whether to write a job summary.', 'true'),
  gitHubInput(
    'comment',
    'Whether to comment on the pull request: never, always, or on-failure (anything but success; an existing comment is kept up to date). Needs the permission pull-requests: write.',
    'never',
  ),
  gitHubInput(
    'comment-key',
    'Comments with the same key are one, updated in place. By default one for each workflow, job, matrix leg and step.',
    '${{ github.workflow }} / ${{ github.job }} / ${{ toJSON(matrix) }} / ${{ github.action }}',
  ),
  gitHubInput(
    'annotations',
    'Whether findings become annotations on the changed files: findings or none.',
    'findings',
  ),
  input(
    'sarif-file',
    'Where the findings are written as SARIF 2.1.0, in the workspace or RUNNER_TEMP, for github/codeql-action/upload-sarif. Without it: nowhere.',
  ),
  gitHubInput(
    'commit-status',
    'The name of a commit status that carries the verdict, on the head commit. Needs the permission statuses: write. Without it: none.',
  ),
  gitHubInput(
    'github-token',
    'For the context, trusted files, the comment and the status, nothing else; the agent never sees it.',
    '${{ github.token }}',
  ),
  input(
    'result-file',
    'Where the result envelope is written, in the workspace or RUNNER_TEMP. Without it: a file under RUNNER_TEMP.',
  ),
  input(
    'transcript-file',
    'Where the redacted transcript is written, in the workspace or RUNNER_TEMP. Without it: a file under RUNNER_TEMP.',
  ),
  input(
    'report-file',
    'Where the transcript is written as one self-contained web page, in the workspace or RUNNER_TEMP, for upload as an artifact. Without it: nowhere.',
  ),
  input(
    'replay',
    'A recording in the workspace that answers in the place of the model, to try a workflow: no key, no tokens, and no judgement. Tools, gate and outputs are real. Refused on triggers that run with the rights of the repository. Without it: the model answers.',
  ),
  input(
    'log-level',
    'summary, or full to see tool output and prose in folded groups. Without it: summary, full when the runner debugs.',
  ),
] as const satisfies readonly Input[];

/** Inputs of the command line and the library only: on GitHub, the event knows their value. */
export const LOCAL_INPUTS = [
  localInput(
    'base',
    'A branch, tag or commit that the change is judged against. The change is what `git diff --merge-base` shows for it: the commits since the merge base and what is uncommitted, without untracked files (`git add -N` makes git see them).',
  ),
] as const satisfies readonly Input[];

export type InputName = (typeof INPUTS)[number]['name'] | (typeof LOCAL_INPUTS)[number]['name'];

/** The names of the inputs that apply outside GitHub. */
export type LocalName =
  | Extract<(typeof INPUTS)[number], { readonly where: 'everywhere' }>['name']
  | (typeof LOCAL_INPUTS)[number]['name'];

/** The given value of each input, trimmed; absent when blank. */
export type RawInputs = ReadonlyMap<InputName, string>;

/** Inputs of other actions, in kebab-case, and the equivalent input here. */
const OTHER_ACTIONS: Readonly<Record<string, InputName>> = {
  'claude-code-oauth-token': 'api-key',
  'custom-headers': 'headers',
  'custom-instructions': 'system-prompt',
  'direct-prompt': 'prompt',
  'disallowed-tools': 'exclude-tools',
  'allowed-tools': 'tools',
  effort: 'reasoning-effort',
  endpoint: 'base-url',
  'json-schema': 'schema',
  'max-completion-tokens': 'max-output-tokens',
  'max-tokens': 'max-output-tokens',
  'output-file': 'result-file',
  'output-schema': 'schema',
  'output-schema-file': 'schema',
  'responses-api-endpoint': 'base-url',
  'use-sticky-comment': 'comment',
};

/** Returns the inputs in `names` that an unknown name was probably meant to be, the most likely first. */
export function meantInputs(name: string, names: readonly string[]): readonly string[] {
  const kebab = name
    .slice(0, 100)
    .toLowerCase()
    .replaceAll(/[\s_]+/gu, '-');
  const other = Object.hasOwn(OTHER_ACTIONS, kebab) ? OTHER_ACTIONS[kebab] : undefined;
  // anthropic_api_key, openai-api-key: one input holds the key for every provider.
  const known = /(?:^|-)api-key$/u.test(kebab) ? 'api-key' : other;
  return known !== undefined && names.includes(known) ? [known] : suggest(name, names);
}

function input<const N extends string>(name: N, description: string, defaultValue = '') {
  return { name, description, default: defaultValue, where: 'everywhere' } as const;
}

/** An input that applies only to workflows, pull requests or runners, and so is not a flag. */
function gitHubInput<const N extends string>(name: N, description: string, defaultValue = '') {
  return { name, description, default: defaultValue, where: 'github' } as const;
}

/** An input whose value is known from the event on GitHub. */
function localInput<const N extends string>(name: N, description: string) {
  return { name, description, default: '', where: 'local' } as const;
}
