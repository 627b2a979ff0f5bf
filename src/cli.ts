/** The command line's entry: parses argv, runs the command and sets the exit code. */
import { type CliCommand, type CommandName, parseCliArgs } from './cli/args.ts';
import { localSecrets, VERSION } from './cli/world.ts';
import type { CommandIo } from './commands/flags.ts';
import { InputError, messageFor } from './errors.ts';
import { lossOf } from './reporters/stdout.ts';
import { type EndListener, releaseSignals, trapSignals } from './run/signals.ts';
import type { World } from './run/world.ts';
import { DISPLAY } from './text/limits.ts';
import { inertLine, sanitize } from './text/sanitize.ts';

/** How long a stderr that is not being read is waited for at the end. */
const STDERR_MS = 1_000;

type RunSubcommand = (argv: readonly string[], io: CommandIo) => Promise<number>;

/** The commands that ask no model. */
const SUBCOMMANDS: Readonly<Record<CommandName, () => Promise<RunSubcommand>>> = {
  check: async () => (await import('./commands/check/check.ts')).runCheck,
  init: async () => (await import('./commands/init/init.ts')).runInit,
  report: async () => (await import('./commands/report/report.ts')).runReport,
};

/** Runs the command line and resolves to the exit code; never rejects. */
async function main(argv: readonly string[], environment: NodeJS.ProcessEnv): Promise<number> {
  const fail = (error: unknown) => explain(error, environment);
  const trap = trapSignals();
  let running: EndListener;
  const listen: World['listen'] = (listener) => {
    running = listener;
    trap(listener);
  };
  // Until a run listens there is nothing to clean up.
  listen({
    signal(name) {
      fail(new Error(`Cancelled by ${name}.`));
      process.exit(130);
    },
    crash: (error) => process.exit(fail(error)),
  });
  // A run that cannot deliver its result ends, so that it costs nothing more. It is not thrown: after a recursive
  // readdir, Node loses what is thrown in a tick.
  process.stdout.on('error', (error) => running.crash(lossOf(error)));
  // Nobody reads the progress.
  process.stderr.on('error', () => undefined);
  try {
    return await execute(parseCliArgs(argv, environment), { environment, listen });
  } catch (error) {
    return fail(error);
  }
}

/** Prints an error, which may name a file, quote a value or hold a key, and returns the exit code. */
function explain(error: unknown, environment: NodeJS.ProcessEnv): number {
  const text = sanitize(messageFor(error, 'command-line'), localSecrets(environment));
  process.stderr.write(`structured-agent: ${inertLine(text, DISPLAY.message)}\n`);
  return error instanceof InputError ? 52 : 1;
}

async function execute(command: CliCommand, world: Pick<World, 'environment' | 'listen'>): Promise<number> {
  const { stdout, stderr } = process;
  let code = 0;
  switch (command.kind) {
    case 'run':
      return (await import('./cli/run.ts')).runOnCommandLine(command, world);
    case 'usage':
      stderr.write((await import('./cli/help.ts')).usageText());
      return 52;
    case 'help':
      stdout.write((await import('./cli/help.ts')).helpText());
      break;
    case 'version':
      stdout.write(`${VERSION}\n`);
      break;
    default: {
      releaseSignals();
      const runSubcommand = await SUBCOMMANDS[command.kind]();
      code = await runSubcommand(command.rest, { cwd: process.cwd(), stdout, stderr });
    }
  }
  await new Promise((resolve) => stdout.write('', resolve));
  return code;
}

/** Exits once stderr has been flushed, or after a timeout. stdout has been flushed before. */
function leave(exitCode: number): void {
  process.exitCode = exitCode;
  const exit = () => process.exit(exitCode);
  process.stderr.write('', exit);
  setTimeout(exit, STDERR_MS);
}

// A process that has nothing left to wait for ends at once, and must not look green.
process.exitCode = 1;
void main(process.argv.slice(2), process.env).then(leave);
