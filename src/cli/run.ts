/** A run on the command line: the same core as the action, with its output on stdout and stderr. */
import { realpath } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createReportPage } from '../commands/report/report-page.ts';
import type { RawInputs } from '../config/inputs.ts';
import { type Config, parseConfig } from '../config/parse-config.ts';
import { expandHome, resolveOwnFile } from '../config/paths.ts';
import { readTrustedFile } from '../config/workspace-file.ts';
import { pathHere } from '../contract/source.ts';
import { InputError } from '../errors.ts';
import { writePrivateFile } from '../files/private-file.ts';
import { createRecordingFile } from '../replay/recording-file.ts';
import { writeResultFile } from '../reporters/envelope.ts';
import { createProgress } from '../reporters/progress.ts';
import type { Report, Reporter } from '../reporters/report-types.ts';
import { createSarif } from '../reporters/sarif.ts';
import type { Sink } from '../reporters/sink.ts';
import { createLocator } from '../reporters/source-locations.ts';
import { createStdout } from '../reporters/stdout.ts';
import { terminalStyle } from '../reporters/terminal.ts';
import { createTranscript } from '../reporters/transcript.ts';
import { run } from '../run/run.ts';
import type { World } from '../run/world.ts';
import { READ, WAIT } from '../text/limits.ts';
import type { RunCommand } from './args.ts';
import { readStdin, withStdin } from './stdin.ts';
import { createLocalWorld, currentFolder, localSecrets, VERSION } from './world.ts';

export interface RunProcess {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly listen: World['listen'];
  readonly stdout: Sink;
  readonly stderr: Sink;
}

interface CliSetup {
  readonly config: Config;
  readonly problems: readonly Error[];
  readonly files: Readonly<Record<FileName, string | null>>;
}

type FileName = 'result' | 'transcript' | 'report' | 'sarif' | 'patch' | 'record';

const NO_FILES = { result: null, transcript: null, report: null, sarif: null, patch: null, record: null };

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
    level: command.inputs.get('log-level') === 'full' ? 'full' : 'summary',
    secrets,
    now: () => performance.now(),
  });
  const setup = await readSetup(command, {
    ...{ environment, workspace, warn: progress.warn, stop: early.signal },
    isGone: problem !== null,
  });
  const stdout = createStdout({ sink: out, format, secrets, version: VERSION, cwd: workspace });
  const { result, transcript, patch, record } = setup.files;
  const written: Written = new Map();
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
    resultFile: result,
    transcriptFile: transcript,
    ...(record === null ? {} : { recording: createRecordingFile(record) }),
    writePatch(bytes) {
      // The agent may have created a link there: the path is replaced, and links are not followed.
      if (patch !== null) writePrivateFile(patch, Buffer.from(bytes));
      return patch;
    },
    reporters: [
      ...onDisk(setup, { workspace, workingDirectory, secrets, written }),
      stdout.reporter,
      progress.reporter,
    ],
    writeEnvelope: (report) => {
      if (result !== null) writeResultFile(report, secrets);
    },
    writeOutputs: stdout.writeOutputs,
    warn: progress.warn,
  });
  const machine = problem === null ? world.problems : [problem];
  const report = await run(
    { config: setup.config, problems: [...(command.isUnderstood ? machine : []), ...setup.problems] },
    world,
  );
  if (patch !== null && report.patchFile === null) written.set('patch', noPatch(report));
  await progress.conclude(report, [...written.values()]);
  return report.verdict.exitCode;
}

/** A line for each requested file that the report itself does not mention, updated by each attempt to write it. */
type Written = Map<'report' | 'sarif' | 'patch', string>;

/** Returns why a requested patch was not written. */
function noPatch({ changedFiles, turnCount }: Report): string {
  if (changedFiles === 0) return 'no patch: the agent changed nothing';
  return `no patch: ${turnCount === 0 ? 'the model was not asked' : 'it is not known what the agent changed'}`;
}

interface DiskOptions {
  readonly workspace: string;
  readonly workingDirectory: string;
  readonly secrets: ReturnType<typeof localSecrets>;
  readonly written: Written;
}

function onDisk(
  { files }: CliSetup,
  { workspace, workingDirectory, secrets, written }: DiskOptions,
): readonly Reporter[] {
  const { transcript, report, sarif } = files;
  return [
    ...(transcript === null ? [] : [createTranscript({ file: transcript, secrets })]),
    ...(report === null
      ? []
      : [createReportPage({ file: report, secrets, notify: (text) => written.set('report', text) })]),
    ...(sarif === null
      ? []
      : [
          createSarif({
            file: sarif,
            locate: createLocator({ workspace, workingDirectory, repositories: [] }),
            secrets,
            notify: (text) => written.set('sarif', text),
            version: VERSION,
            informationUri: null,
            category: 'cli',
            serverUrl: null,
          }),
        ]),
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
  if (!command.isUnderstood)
    return { ...parse(command.inputs, []), problems: command.problems, files: NO_FILES };
  const noted: Error[] = [];
  const note = (error: unknown) => {
    if (!(error instanceof Error)) throw error;
    noted.push(error);
    return null;
  };
  const isWrong = command.problems.length > 0 || isGone;
  const inputs = isWrong ? withoutStdin(command) : await readTask(command, world).catch(note);
  const earlier = noted.filter((error) => error instanceof InputError);
  const { config, problems: wrong } = parse(inputs ?? command.inputs, [...command.problems, ...earlier]);
  const place = async (name: string, file: string | null) =>
    file === null || isGone ? null : resolveOwnFile(name, file, workspace).catch(note);
  const files = {
    result: await place('result-file', config.resultFile),
    transcript: await place('transcript-file', config.transcriptFile),
    report: await place('report-file', config.reportFile),
    sarif: await place('sarif-file', config.sarifFile),
    patch: await place('patch-file', command.options.patchFile),
    record: await place('record', command.options.record),
  };
  const home = environment['HOME'] ?? os.homedir();
  await refuseCollisions(files, sourcesOf(config, workspace, home)).catch(note);
  const problems = [...wrong, ...noted.filter((error) => !earlier.some((each) => each === error))];
  return { config, problems, files: problems.length === 0 ? files : NO_FILES };
}

function readTask(command: RunCommand, { workspace, warn, stop }: SetupWorld): Promise<RawInputs> {
  return withStdin(command, {
    stdin: () =>
      readStdin(process.stdin, {
        maxBytes: READ.policy,
        noticeAfterMs: WAIT.stdinNotice,
        onWait: () => warn('waiting for stdin; redirect it where there is none: </dev/null'),
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

/** The files that a run reads, by the names of their flags. */
function sourcesOf(config: Config, workspace: string, home: string): ReadonlyMap<string, string> {
  const sources = {
    schema: pathHere(config.schema),
    gate: pathHere(config.gate),
    'prompt-file': 'file' in config.prompt ? config.prompt.file : null,
    replay: config.replay,
  };
  return new Map(
    Object.entries(sources).flatMap(([name, file]) =>
      file === null ? [] : [[name, path.resolve(workspace, expandHome(file, home))] as const],
    ),
  );
}

/** @throws InputError when an output file would overwrite another one or an input of the run */
async function refuseCollisions(
  files: CliSetup['files'],
  sources: ReadonlyMap<string, string>,
): Promise<void> {
  const seen = new Map<string, string>();
  const real = (file: string) => realpath(file).catch(() => file);
  for (const [name, file] of sources) seen.set(await real(file), name);
  for (const [name, file] of Object.entries(files)) {
    if (file === null) continue;
    const flag = name === 'record' ? name : `${name}-file`;
    const other = seen.get(await real(file));
    if (other !== undefined)
      throw new InputError(flag, `--${other} and --${flag} name the same file. Give each its own.`);
    seen.set(await real(file), flag);
  }
}
