/** The flags of the command line: the inputs that apply outside GitHub, and the flags that exist only here. */
import type { FlagSpec } from '../commands/flags.ts';
import { EXAMPLE_MODEL, INPUTS, type InputName, LOCAL_INPUTS, type LocalName } from '../config/inputs.ts';

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
  'working-directory': {
    group: 'Task',
    value: 'FOLDER',
    help: 'The folder where the agent starts, inside the current one.',
  },
  base: {
    group: 'Task',
    value: 'REF',
    help: 'A branch, tag or commit: the change is the diff since the merge base with it, without untracked files.',
  },
  schema: {
    group: 'Verdict',
    value: 'SCHEMA',
    help: 'JSON Schema of the verdict: inline, a path, or verdict, code-review, security-review or test-report.',
  },
  gate: {
    group: 'Verdict',
    value: 'GATE',
    help: "What must hold for exit code 0: a boolean property, a JSON Schema, off, or auto (the preset's own).",
  },
  'min-coverage': { group: 'Verdict', value: 'SHARE' },
  grounding: { group: 'Verdict', value: 'WORD' },
  'force-output': { group: 'Verdict', kind: 'boolean', value: '' },
  model: {
    group: 'Model',
    value: 'NAME',
    short: ['m'],
    help: `The model to ask, for example ${EXAMPLE_MODEL}.`,
  },
  provider: { group: 'Model', value: 'NAME' },
  'base-url': { group: 'Model', value: 'URL' },
  headers: {
    group: 'Model',
    kind: 'list',
    value: 'LINE',
    help: 'A Name: value that goes with every request to the model, for gateways. One that is secret goes into the variable STRUCTURED_AGENT_HEADERS.',
  },
  'max-output-tokens': { group: 'Model', value: 'N' },
  'reasoning-effort': { group: 'Model', value: 'WORD' },
  'max-turns': { group: 'Limits', value: 'N', aliases: ['max-session-turns'] },
  'timeout-minutes': { group: 'Limits', value: 'N' },
  'max-total-tokens': { group: 'Limits', value: 'N' },
  'max-cost-usd': { group: 'Limits', value: 'N' },
  tools: { group: 'Tools and sandbox', kind: 'list', value: 'NAMES', aliases: ['core-tools'] },
  'exclude-tools': { group: 'Tools and sandbox', kind: 'list', value: 'NAMES' },
  sandbox: { group: 'Tools and sandbox', value: 'WORD' },
  'shell-network': { group: 'Tools and sandbox', value: 'WORD' },
  'sandbox-read': {
    group: 'Tools and sandbox',
    kind: 'list',
    value: 'FOLDER',
    help: 'A further folder that the shell may read, as an absolute path.',
  },
  'pass-env': { group: 'Tools and sandbox', kind: 'list', value: 'NAMES' },
  replay: {
    group: 'Model',
    value: 'FILE',
    help: "A recording that plays the model's side: no key, no tokens and no judgement.",
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
  own(
    'results',
    'Output',
    'FOLDER',
    'A new or empty folder for the envelope, transcript, SARIF, patch and page of the run.',
  ),
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
export const REFUSED_FLAGS: ReadonlyMap<string, string> = new Map([
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
  ...['system-prompt', 'append-system-prompt'].map(
    (name) => [name, 'write what the agent must know into the task.'] as const,
  ),
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
