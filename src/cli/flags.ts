/** The flags of the command line: the inputs that apply outside GitHub, and the flags that exist only here. */
import type { FlagSpec } from '../commands/parse-flags.ts';
import { INPUTS, type InputName, LOCAL_INPUTS, type LocalName } from '../config/inputs.ts';

/** The environment variable for headers, one `Name: value` per line. */
export const HEADERS_VARIABLE = 'STRUCTURED_AGENT_HEADERS';

/** The headings of `--help`, in order. */
export const GROUPS = ['Task', 'Verdict', 'Model', 'Limits', 'Tools and sandbox', 'Output'] as const;

/** The commands other than a run. Each has its own arguments and `--help`. */
export const COMMANDS = ['check', 'init', 'report'] as const;
export type CommandName = (typeof COMMANDS)[number];

export interface Flag extends FlagSpec {
  /** The input that it sets; null for a flag that exists only on the command line. */
  readonly input: InputName | null;
  readonly group: (typeof GROUPS)[number];
  readonly kind: 'text' | 'list' | 'boolean';
  /** One sentence for `--help`; `value` is empty for a boolean. */
  readonly help: string;
  /** The default shown in `--help`; empty when there is none. */
  readonly default: string;
}

/** The properties of a flag that the table of inputs does not have. */
type Shape = Pick<Flag, 'group' | 'value'> & Partial<Pick<Flag, 'kind' | 'short' | 'aliases' | 'help'>>;

/** `help` is set only where the description of the input mentions the runner. */
const SHAPES: Readonly<Record<Exclude<LocalName, 'api-key'>, Shape>> = {
  prompt: {
    group: 'Task',
    value: 'TEXT',
    short: ['p'],
    help: 'The task for the agent. The words that belong to no flag are the task, too.',
  },
  'prompt-file': { group: 'Task', value: 'FILE', help: 'A file that holds the task.' },
  'system-prompt': { group: 'Task', value: 'TEXT' },
  'working-directory': {
    group: 'Task',
    value: 'FOLDER',
    help: 'The folder where the agent starts, inside the current one.',
  },
  base: {
    group: 'Task',
    value: 'REF',
    help: 'A branch, tag or commit: the agent gets the diff of what changed since the merge base with it, with what is uncommitted, without untracked files (git add -N makes git see them).',
  },
  schema: {
    group: 'Verdict',
    value: 'SCHEMA',
    help: 'JSON Schema of the verdict: inline JSON, the path of a file (./path, a path that ends in .json, or @path), or the name of a preset (verdict, code-review, security-review or test-report).',
  },
  gate: {
    group: 'Verdict',
    value: 'GATE',
    help: "What must hold for exit code 0: a JSON Schema for the payload (inline or a path), the name of a boolean property, none, or auto (the preset's own gate, no gate for a schema of your own).",
  },
  'min-coverage': { group: 'Verdict', value: 'SHARE' },
  grounding: { group: 'Verdict', value: 'WORD' },
  'force-output': { group: 'Verdict', kind: 'boolean', value: '' },
  model: {
    group: 'Model',
    value: 'NAME',
    short: ['m'],
    help: 'The model to ask, for example claude-sonnet-4-5.',
  },
  provider: { group: 'Model', value: 'NAME' },
  'base-url': { group: 'Model', value: 'URL' },
  headers: {
    group: 'Model',
    kind: 'list',
    value: 'LINE',
    help: 'A Name: value that goes with every request to the model, for gateways. One that is secret goes into the variable STRUCTURED_AGENT_HEADERS.',
  },
  'auth-scheme': { group: 'Model', value: 'WORD' },
  'max-output-tokens': { group: 'Model', value: 'N' },
  'reasoning-effort': { group: 'Model', value: 'WORD' },
  stream: { group: 'Model', value: 'WORD' },
  'max-turns': { group: 'Limits', value: 'N', aliases: ['max-session-turns'] },
  'timeout-minutes': { group: 'Limits', value: 'N' },
  'max-total-tokens': { group: 'Limits', value: 'N' },
  'max-cost-usd': { group: 'Limits', value: 'N' },
  tools: { group: 'Tools and sandbox', kind: 'list', value: 'NAMES', aliases: ['core-tools'] },
  'exclude-tools': { group: 'Tools and sandbox', kind: 'list', value: 'NAMES' },
  'shell-timeout-seconds': { group: 'Tools and sandbox', value: 'N' },
  'max-tool-output-kb': { group: 'Tools and sandbox', value: 'N' },
  sandbox: { group: 'Tools and sandbox', value: 'WORD' },
  'shell-network': { group: 'Tools and sandbox', value: 'WORD' },
  'sandbox-read': {
    group: 'Tools and sandbox',
    kind: 'list',
    value: 'FOLDER',
    help: 'A further folder that the shell may read, as an absolute path.',
  },
  'workspace-access': {
    group: 'Tools and sandbox',
    value: 'WORD',
    help: 'scratch (the agent works in a layer over the current folder that is thrown away; --patch-file keeps what it changed), in-place (it may change the current folder) or read-only. With --sandbox off nothing holds the shell to any of them.',
  },
  'pass-env': { group: 'Tools and sandbox', kind: 'list', value: 'NAMES' },
  'sarif-file': { group: 'Output', value: 'FILE', help: 'Where the findings are written as SARIF 2.1.0.' },
  'result-file': { group: 'Output', value: 'FILE', help: 'Where the result envelope is written.' },
  'transcript-file': {
    group: 'Output',
    value: 'FILE',
    help: 'Where the redacted transcript is written.',
  },
  'report-file': {
    group: 'Output',
    value: 'FILE',
    help: 'Where the transcript is written as one web page.',
  },
  replay: {
    group: 'Model',
    value: 'FILE',
    help: 'A recording that answers in the place of the model: no key, no tokens, and no judgement. Tools, gate and exit code are real.',
  },
  'log-level': {
    group: 'Output',
    value: 'WORD',
    help: 'summary, or full to see tool output and prose, too.',
  },
};

const OWN: readonly Flag[] = [
  own('json-schema', 'Verdict', 'SCHEMA', 'The same as --schema.'),
  own('bare', 'Tools and sandbox', '', 'Accepted, and always so: nothing of this machine is discovered.'),
  {
    ...own(
      'output-format',
      'Output',
      'FORMAT',
      "What stdout gets: text (the payload), json (an array of messages, the result last), stream-json (one message a line) or object (the result alone). json_schema='SCHEMA' sets the schema.",
    ),
    kind: 'list',
    default: 'text',
    short: ['o', 'f'],
  },
  { ...own('quiet', 'Output', '', 'No progress on stderr.'), short: ['q'] },
  own('patch-file', 'Output', 'FILE', 'Where the changes of the agent are written as a patch.'),
  own(
    'record',
    'Output',
    'FILE',
    "Where the model's side of the run is written for --replay. It holds the payload.",
  ),
  own('input-format', 'Task', 'FORMAT', 'The format of stdin: text is the only one.'),
  { ...own('help', 'Output', '', 'This text.'), short: ['h'] },
  { ...own('version', 'Output', '', 'The version.'), short: ['v'] },
];

/** All flags, in the order of the table of inputs. */
export const FLAGS: readonly Flag[] = [
  ...[...INPUTS, ...LOCAL_INPUTS].flatMap((input) => fromInput(input)),
  ...OWN,
];

/** Flags of related tools, and secrets, that are not accepted here, with the reason; each follows "NAME: ". */
export const REFUSED: ReadonlyMap<string, string> = new Map([
  ...['prompt-interactive', 'i'].map(
    (name) =>
      [
        name,
        'a run asks once and ends with one verdict; there is no interactive mode to go on in. Write -p and the task.',
      ] as const,
  ),
  ...['acp', 'experimental-acp'].map(
    (name) =>
      [
        name,
        'that protocol is a loop of its own, which the one verdict of a run cannot end. Leave it out, and write -p and the task.',
      ] as const,
  ),
  ...['yolo', 'y', 'approval-mode'].map(
    (name) =>
      [
        name,
        'no permission is asked for before a tool runs; the sandbox contains it instead. Leave it out (see --sandbox).',
      ] as const,
  ),
  ...['continue', 'c', 'resume', 'r'].map(
    (name) => [name, 'every run is a new one; none can be taken up again. Leave it out.'] as const,
  ),
  ['append-system-prompt', '--system-prompt is added to the built-in text already. Write that.'],
  ['max-wall-time', 'the limit of time is --timeout-minutes, in minutes. Write that.'],
]);

function fromInput(input: (typeof INPUTS | typeof LOCAL_INPUTS)[number]): readonly Flag[] {
  const { name, where } = input;
  if (where === 'github' || name === 'api-key') return [];
  return [
    {
      name,
      input: name,
      kind: 'text',
      help: input.description,
      default: input.default,
      short: [],
      aliases: [],
      ...SHAPES[name],
    },
  ];
}

function own(name: string, group: Flag['group'], value: string, help: string): Flag {
  const kind = value === '' ? 'boolean' : 'text';
  return { name, input: null, group, kind, value, help, default: '', short: [], aliases: [] };
}
