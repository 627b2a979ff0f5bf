/** The command line's entry: parses argv, runs the command and sets the exit code. */

import { isatty } from 'node:tty';
import { type CliCommand, parseCliArgs } from './cli/args.ts';
import { currentFolder, localSecrets, VERSION } from './cli/world.ts';
import { InputError, messageFor } from './errors.ts';
import { createSink } from './reporters/sink.ts';
import { type EndListener, releaseSignals, trapSignals } from './run/signals.ts';
import type { World } from './run/world.ts';
import { DISPLAY } from './text/limits.ts';
import { cleanText, inertLine } from './text/sanitize.ts';

/** How long a stderr that is not being read is waited for at the end. */
const STDERR_MS = 1_000;

/** Runs the command line and resolves to the exit code; never rejects. */
async function main(argv: readonly string[], environment: NodeJS.ProcessEnv): Promise<number> {
  const catching = trapSignals();
  let running: EndListener | null = null;
  // Until a run listens there is nothing to clean up.
  catching({
    signal: (name) => {
      console.error(`structured-agent: Cancelled by ${name}.`);
      process.exit(130);
    },
    crash: (error) => {
      const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
      console.error(harmless(text, environment));
      process.exit(1);
    },
  });
  const listen: World['listen'] = (listener) => {
    running = listener;
    catching(listener);
  };
  // When the reader of stdout is gone the run cannot deliver its result: end it, so that it costs nothing more.
  const lost = (error: InputError) => running?.crash(error);
  const stdout = createSink({ name: 'stdout', fd: 1, stream: () => process.stdout, lost });
  const stderr = createSink({ name: 'stderr', fd: 2, stream: () => process.stderr });
  const print = async (text: string): Promise<number> => {
    stdout.write(text);
    await stdout.flush();
    return 0;
  };
  const world = { environment, listen, stdout, stderr, print };
  try {
    // `isatty(0)` instead of `process.stdin`, which would open a stream that may never be read.
    const command = parseCliArgs(argv, { stdinIsTerminal: isatty(0), environment });
    return await execute(command, world);
  } catch (error) {
    const text = messageFor(error, 'command-line');
    stderr.write(`structured-agent: ${inertLine(harmless(text, environment), DISPLAY.message)}\n`);
    return error instanceof InputError ? 52 : 1;
  }
}

/** Masks and sanitizes a text that no other code has cleaned: it may name a file, quote a value or hold a key. */
function harmless(text: string, environment: NodeJS.ProcessEnv): string {
  const { mask } = localSecrets(environment);
  return mask(cleanText(mask(text)));
}

/** Returns the current working directory. @throws InputError when it no longer exists */
function standing(): string {
  const { folder, problem } = currentFolder();
  if (problem !== null) throw problem;
  return folder;
}

interface CliWorld {
  readonly environment: NodeJS.ProcessEnv;
  readonly listen: ReturnType<typeof trapSignals>;
  readonly stdout: ReturnType<typeof createSink>;
  readonly stderr: ReturnType<typeof createSink>;
  readonly print: (text: string) => Promise<number>;
}

async function execute(command: CliCommand, world: CliWorld): Promise<number> {
  switch (command.kind) {
    case 'help':
      return world.print(command.text);
    case 'usage':
      world.stderr.write(command.text);
      return 52;
    case 'version':
      return world.print(`${VERSION}\n`);
    case 'run': {
      const { runOnCommandLine } = await import('./cli/run.ts');
      return runOnCommandLine(command, world);
    }
    case 'check': {
      releaseSignals();
      const { runCheck } = await import('./commands/check/check.ts');
      return delivered(await runCheck(command.rest, ioOf(world)), world);
    }
    case 'init': {
      const { runInit } = await import('./commands/init/init.ts');
      return delivered(await runInit(command.rest, ioOf(world)), world);
    }
    case 'report': {
      releaseSignals();
      const { runReport } = await import('./commands/report/report.ts');
      return delivered(await runReport(command.rest, ioOf(world)), world);
    }
  }
}

function ioOf({ stdout, stderr }: CliWorld) {
  return { cwd: standing(), stdout, stderr };
}

/** Returns the exit code after stdout has been flushed. @throws InputError when the flush fails */
async function delivered(code: number, { stdout }: CliWorld): Promise<number> {
  await stdout.flush();
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
