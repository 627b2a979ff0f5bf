/** Builds the text of `--help` from the table of flags. */
import { placeholder, spellings } from '../commands/flags.ts';
import { EXAMPLE_MODEL } from '../config/inputs.ts';
import { PROVIDERS, registry } from '../providers/registry.ts';
import { KEY_VARIABLE } from '../text/messages.ts';
import { COMMANDS, FLAGS, type Flag } from './args.ts';

const USAGE = `Usage: structured-agent [FLAGS] TASK
       structured-agent [FLAGS] -p TASK
       PROGRAM | structured-agent [FLAGS] [-p TASK]
       structured-agent COMMAND --help

Gives a task to an agent that can only answer in your JSON Schema, and tells by the exit code
whether its verdict passed. It works on the current folder; nothing is written unless asked.`;

const VARIABLES = {
  [KEY_VARIABLE]: "The provider's key, whichever the provider is. Never on the command line.",
  [PROVIDERS.flatMap((name) => registry[name].keyVariable ?? []).join(', ')]:
    "Without it: the chosen provider's.",
};

const EXIT_CODES = {
  0: 'A verdict was given, and the gate is met.',
  1: 'The gate is not met, or there is no verdict: plain text, a refusal, a failed provider.',
  44: 'The sandbox is required and absent.',
  52: 'The command line is invalid, incomplete or empty.',
  53: 'The turns are used up.',
  55: 'The time, the tokens or the money are used up.',
  130: 'Stopped by a signal.',
};

/** Returns the text for a command line without arguments, ending with a newline. */
export function usageText(): string {
  const example = `structured-agent --model ${EXAMPLE_MODEL} "Run the tests. Did they pass?"`;
  const hint = 'structured-agent --help lists every flag.';
  return `${[USAGE, section('Commands', COMMANDS), `For example:\n  ${example}`, hint].join('\n\n')}\n`;
}

/** Returns the complete help text, ending with a newline. */
export function helpText(): string {
  const flags = Object.entries(FLAGS).map(([title, rows]) =>
    section(title, Object.fromEntries(rows.map(describe))),
  );
  const lists = 'A value follows a space or an equals sign. A list may be given several times.';
  const last = [lists, section('Variables', VARIABLES), section('Exit codes', EXIT_CODES)];
  return `${[USAGE, section('Commands', COMMANDS), ...flags, ...last].join('\n\n')}\n`;
}

/** Returns the names of a flag, and its sentence with what else is known of it. */
function describe(flag: Flag): readonly [string, string] {
  const notes = [flag.kind === 'list' ? 'a list' : '', flag.default === '' ? '' : `default: ${flag.default}`];
  const given = notes.filter((note) => note !== '').join('; ');
  const names = `${spellings(flag).join(', ')} ${placeholder(flag)}`.trim();
  return [names, given === '' ? flag.description : `${flag.description} (${given})`];
}

function section(title: string, rows: Readonly<Record<string, string>>): string {
  const lines = Object.entries(rows).map(([left, right]) =>
    left.length < 10 ? `  ${left.padEnd(10)}${right}` : `  ${left}\n      ${right}`,
  );
  return [`${title}:`, ...lines].join('\n');
}
