/** Builds the text of `--help` from the table of flags. */

import { EXAMPLE_MODEL } from '../config/inputs.ts';
import { KEY_VARIABLE } from '../text/naming.ts';
import { COMMANDS, type CommandName, FLAGS, type Flag, GROUPS, HEADERS_VARIABLE } from './flags.ts';

/** The maximum line width, in columns. */
const WIDTH = 98;
/** The column at which descriptions start. */
const COLUMN = 32;

const USAGE = `Usage: structured-agent [FLAGS] TASK
       structured-agent [FLAGS] -p TASK
       COMMAND | structured-agent [FLAGS] [-p TASK]

Gives a task to an agent that can only answer in your JSON Schema, and tells by the exit code
whether its verdict passed. It works on the current folder; nothing is written unless asked.`;

const EXAMPLE = `Give a task and a model, for example:
  structured-agent --model ${EXAMPLE_MODEL} "Run the tests. Did they pass?"

structured-agent --help lists every flag.`;

const COMMAND_HELP: Readonly<Record<CommandName, string>> = {
  check: 'Checks a schema, a gate and workflow files; asks no model.',
  init: 'Writes a workflow and a schema to begin with.',
  report: 'Makes a page of a results folder.',
};

const VARIABLES: readonly (readonly [string, string])[] = [
  [KEY_VARIABLE, "The provider's key, whichever the provider is. Never on the command line."],
  [
    'OPENAI_API_KEY, …',
    "Without it: ANTHROPIC_API_KEY, AZURE_OPENAI_API_KEY, GEMINI_API_KEY or OPENAI_API_KEY, whichever is the chosen provider's.",
  ],
  [HEADERS_VARIABLE, 'Headers for gateways, one Name: value a line.'],
];

const EXIT_CODES: readonly (readonly [string, string])[] = [
  ['0', 'A verdict was given, and the gate is met.'],
  ['1', 'The gate is not met, or there is no verdict: plain text, a refusal, a failed provider.'],
  ['44', 'The sandbox is required and absent.'],
  ['52', 'The command line is invalid, incomplete or empty.'],
  ['53', 'The turns are used up.'],
  ['55', 'The time, the tokens or the money are used up.'],
  ['130', 'Stopped by a signal.'],
];

const INTRODUCTION = 'A flag is written --name value or --name=value. A list may be given several times.';

/** Returns the short usage text for a command line without arguments, ending with a newline. */
export function usageText(): string {
  return `${[USAGE, commands(), EXAMPLE].join('\n\n')}\n`;
}

/** Returns the complete help text, ending with a newline. */
export function helpText(): string {
  const groups = GROUPS.map((group) =>
    section(
      group,
      FLAGS.filter((flag) => flag.group === group).map((flag) => [spelling(flag), sentence(flag)]),
    ),
  );
  return [
    USAGE,
    commands(),
    ...groups,
    wrap(INTRODUCTION, WIDTH).join('\n'),
    section('Variables', VARIABLES),
    section('Exit codes', EXIT_CODES),
  ]
    .join('\n\n')
    .concat('\n');
}

function commands(): string {
  return section('Commands', [
    ...COMMANDS.map((command) => [command, COMMAND_HELP[command]] as const),
    ['help COMMAND', 'The flags of a command.'],
  ]);
}

function spelling(flag: Flag): string {
  const short = flag.short.map((letter) => `-${letter}, `).join('');
  // The `--no-` form is useful only where the default is true.
  const name = flag.kind === 'boolean' && flag.default === 'true' ? `--[no-]${flag.name}` : `--${flag.name}`;
  return `${short}${name}${flag.value === '' ? '' : ` ${flag.value}`}`;
}

function sentence(flag: Flag): string {
  const notes = [
    ...(flag.kind === 'list' && flag.input !== null ? ['a list'] : []),
    ...(flag.aliases.length === 0 ? [] : [`also ${flag.aliases.map((name) => `--${name}`).join(', ')}`]),
    ...(flag.default === '' ? [] : [`default: ${flag.default}`]),
  ];
  return notes.length === 0 ? flag.help : `${flag.help} (${notes.join('; ')})`;
}

function section(title: string, rows: readonly (readonly [string, string])[]): string {
  const lines = rows.flatMap(([left, right]) => {
    const [head = '', ...more] = wrap(right, WIDTH - COLUMN);
    const start = `  ${left}`;
    const fits = start.length < COLUMN - 1;
    return [
      ...(fits ? [start.padEnd(COLUMN) + head] : [start, ' '.repeat(COLUMN) + head]),
      ...more.map((line) => ' '.repeat(COLUMN) + line),
    ];
  });
  return [`${title}:`, ...lines].join('\n');
}

/** Wraps a text at spaces into lines of at most `width` columns. A longer word gets a line of its own. */
function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
