/** A run on the command line: the same core as the action, with its output on stdout and stderr. */
import path from 'node:path';
import { createReportPage } from '../commands/report/report-page.ts';
import type { RawInputs } from '../config/inputs.ts';
import { type Config, parseConfig } from '../config/parse-config.ts';
import { makeResultsFolder, resolveRecording } from '../config/paths.ts';
import { readTrustedFile } from '../config/workspace-file.ts';
import { InputError } from '../errors.ts';
import { writePrivateFile } from '../files/private-file.ts';
import { createRecordingFile } from '../replay/recording-file.ts';
import { writeResultFile } from '../reporters/envelope.ts';
import { RESULT_FILES } from '../reporters/outputs.ts';
import { createProgress } from '../reporters/progress.ts';
import type { Reporter } from '../reporters/report-types.ts';
import { createSarif } from '../reporters/sarif.ts';
import type { Sink } from '../reporters/sink.ts';
import { createLocator } from '../reporters/source-locations.ts';
import { createStdout } from '../reporters/stdout.ts';
import { terminalStyle } from '../reporters/terminal.ts';
import { createTranscript } from '../reporters/transcript.ts';
import { run } from '../run/run.ts';
import type { World } from '../run/world.ts';
import { READ } from '../text/limits.ts';
import type { RunCommand } from './args.ts';
import { readStdin, withStdin } from './stdin.ts';
import { createLocalWorld, currentFolder, localSecrets, VERSION } from './world.ts';

/** The wait for the first byte of stdin before a notice is printed. */
const STDIN_NOTICE_MS = 2_000;

export interface RunProcess {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly listen: World['listen'];
  readonly stdout: Sink;
  readonly stderr: Sink;
}

interface CliSetup {
  readonly config: Config;
  readonly problems: readonly Error[];
  /** The folder for the files that the run writes, and the file to record to; null for none. */
  readonly results: string | null;
  readonly record: string | null;
}

/** Runs to the end and returns the exit code. Invalid input is reported like any other ending. */
export async function runOnCommandLine(command: RunCommand, host: RunProcess): Promise<number> {
  const { environment, stdout: out, stderr } = host;
  const { outputFormat: format } = command.options;
  // For an invalid command line, one sentence is enough.
  const quiet = command.options.quiet || command.problems.length > 0;
  // Values of headers are masked as they are for the action's input.
  const secrets = localSecrets({ ...environment, INPUT_HEADERS: command.inputs.get('headers') });
  const { folder: workspace, problem } = currentFolder();
  const early = new AbortController();
  host.listen({ signal: (name) => early.abort(name), crash: (error) => early.abort(error) });
  const shows = process.stdout.isTTY === true && format === 'stream-json';
  const progress = createProgress({
    sink: stderr,
    style: terminalStyle({ environment, stderr: process.stderr, stdoutShows: shows }),
    quiet,
    level: environment['RUNNER_DEBUG'] === '1' ? 'full' : 'summary',
    secrets,
    now: () => performance.now(),
  });
  const { config, problems, results, record } = await readSetup(command, {
    environment,
    workspace,
    warn: progress.warn,
    stop: early.signal,
    isGone: problem !== null,
  });
  const stdout = createStdout({ sink: out, format, secrets, version: VERSION, cwd: workspace });
  const workingDirectory = command.inputs.get('working-directory') ?? '.';
  const world = await createLocalWorld({
    entry: 'command-line',
    environment,
    workspace,
    workingDirectory,
    secrets,
    listen(listener) {
      host.listen(listener);
      // A signal that arrived before anything ran ends the run before it starts.
      const { aborted, reason } = early.signal;
      if (aborted && typeof reason === 'string') listener.signal(reason);
      else if (aborted) listener.crash(reason);
    },
    results,
    ...(record === null ? {} : { recording: createRecordingFile(record) }),
    writePatch(bytes) {
      if (results === null) return null;
      const file = path.join(results, RESULT_FILES.patch);
      writePrivateFile(file, Buffer.from(bytes));
      return file;
    },
    reporters: [
      ...(results === null ? [] : createFileReporters(results, { workspace, workingDirectory, secrets })),
      stdout.reporter,
      progress.reporter,
    ],
    writeEnvelope: (report) => writeResultFile(report, secrets),
    writeOutputs: stdout.writeOutputs,
    warn: progress.warn,
  });
  const machine = problem === null ? world.problems : [problem];
  const report = await run(
    { config, problems: [...(command.isUnderstood ? machine : []), ...problems] },
    world,
  );
  await progress.conclude(report, results === null ? [] : [`results: ${results}`]);
  return report.verdict.exitCode;
}

interface FileReporterOptions {
  readonly workspace: string;
  readonly workingDirectory: string;
  readonly secrets: ReturnType<typeof localSecrets>;
}

/** The reporters that write to the results folder. */
function createFileReporters(
  results: string,
  { workspace, workingDirectory, secrets }: FileReporterOptions,
): readonly Reporter[] {
  // The folder is named at the end of the run: a line for each file says nothing more.
  const notify = () => undefined;
  return [
    createTranscript({ file: path.join(results, RESULT_FILES.transcript), secrets }),
    createReportPage({ file: path.join(results, RESULT_FILES.page), secrets, notify }),
    createSarif({
      file: path.join(results, RESULT_FILES.sarif),
      locate: createLocator({ workspace, workingDirectory, repositories: [] }),
      secrets,
      notify,
      version: VERSION,
      informationUri: null,
      category: 'cli',
      serverUrl: null,
    }),
  ];
}

interface SetupWorld {
  readonly environment: RunProcess['environment'];
  readonly workspace: string;
  readonly warn: (text: string) => void;
  /** Aborts the wait for stdin. */
  readonly stop: AbortSignal;
  /** Whether the current working directory no longer exists, so that no path can be resolved. */
  readonly isGone: boolean;
}

async function readSetup(command: RunCommand, world: SetupWorld): Promise<CliSetup> {
  const { environment, workspace, isGone } = world;
  const parse = (inputs: RawInputs, problems: readonly InputError[]) =>
    parseConfig(inputs, { environment, entry: 'command-line', problems });
  const nothing = { results: null, record: null };
  if (!command.isUnderstood) return { ...parse(command.inputs, []), problems: command.problems, ...nothing };
  const problems = [...command.problems];
  const note = (error: unknown) => {
    if (!(error instanceof InputError)) throw error;
    problems.push(error);
    return null;
  };
  const isWrong = problems.length > 0 || isGone;
  const inputs = isWrong ? withoutStdin(command) : await readTask(command, world).catch(note);
  const parsed = parse(inputs ?? command.inputs, problems);
  if (parsed.problems.length > 0 || isGone) return { ...parsed, ...nothing };
  // Nothing is made before everything else is known to be right.
  const { record, results } = command.options;
  const found: Error[] = [];
  const attempt = async (making: Promise<string>) =>
    making.catch((error: unknown) => {
      if (!(error instanceof InputError)) throw error;
      found.push(error);
      return null;
    });
  const file = record === null ? null : await attempt(resolveRecording(record, workspace));
  const folder = results === null ? null : await attempt(makeResultsFolder(results, workspace));
  return { config: parsed.config, problems: found, results: folder, record: file };
}

function readTask(command: RunCommand, { workspace, warn, stop }: SetupWorld): Promise<RawInputs> {
  return withStdin(command, {
    stdin: () =>
      readStdin(process.stdin, {
        maxBytes: READ.policy,
        noticeAfterMs: STDIN_NOTICE_MS,
        onWait: () => warn('waiting for stdin; redirect it if there is none: </dev/null'),
        signal: AbortSignal.any([AbortSignal.timeout(stdinPatience(command)), stop]),
      }),
    file: (file) => readTrustedFile(file, { root: workspace, outside: 'allowed', maxBytes: READ.policy }),
  });
}

/** For an invalid command line stdin is not read, and its absence is not a problem. */
function withoutStdin({ inputs, options }: RunCommand): RawInputs {
  return options.stdin === 'prompt' ? new Map([...inputs, ['prompt', 'stdin']]) : inputs;
}

/** Returns how long to wait for stdin, in milliseconds: as long as the run, whose own clock is not running yet. */
function stdinPatience({ inputs }: RunCommand): number {
  const minutes = Number(inputs.get('timeout-minutes') ?? 10);
  return Number.isFinite(minutes) && minutes > 0 ? Math.min(minutes * 60_000, 2 ** 31 - 1) : 600_000;
}
