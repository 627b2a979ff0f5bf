import { execFileSync } from 'node:child_process';
import { type CliCommand, type CliWorld, parseCliArgs, type RunCommand } from '../../src/cli/args.ts';
import { InputError } from '../../src/errors.ts';

/** A terminal and an empty environment. */
export const TERMINAL: CliWorld = { stdinIsTerminal: true, environment: {} };
/** The same with stdin from a pipe. */
export const PIPED: CliWorld = { stdinIsTerminal: false, environment: {} };

/** The arguments that a shell passes to the program for a command line. */
export function argumentsOf(line: string): readonly string[] {
  const script = `structured-agent() { printf '%s\\0' "$@"; }\n${line}`;
  const output = execFileSync('bash', ['-c', script], { encoding: 'utf8' });
  return output.split('\0').slice(0, -1);
}

/** Parses arguments that must be a run. A model is added, because every run needs one. */
export function parseRun(argv: readonly string[], world: CliWorld = TERMINAL): RunCommand {
  const command: CliCommand = parseCliArgs(['--model=m', ...argv], world);
  if (command.kind !== 'run') throw new Error(`not a run: ${command.kind}`);
  return command;
}

/** The inputs of a run as an object, without the added model. */
export function inputsOf(argv: readonly string[], world: CliWorld = TERMINAL): Record<string, string> {
  const { model, ...inputs } = Object.fromEntries(parseRun(argv, world).inputs);
  return inputs;
}

/** The messages of the problems with arguments. */
export function refusals(argv: readonly string[], world: CliWorld = TERMINAL): readonly string[] {
  try {
    const command = parseCliArgs(argv, world);
    return command.kind === 'run' ? command.problems.map(({ message }) => message) : [];
  } catch (error) {
    if (error instanceof InputError) return [error.message];
    throw error;
  }
}

/** The first of these messages. */
export function refusal(argv: readonly string[], world: CliWorld = TERMINAL): string {
  const [first] = refusals(argv, world);
  if (first === undefined) throw new Error('accepted');
  return first;
}
