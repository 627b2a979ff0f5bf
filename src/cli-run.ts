/** A run on the command line: the same core as the action, told on stdout and stderr. */
import { writeFileSync } from 'node:fs';
import { access, constants, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import type { RunCommand } from './config/cli-args.ts';
import { withStdin } from './config/cli-prompt.ts';
import { readStdin } from './config/cli-stdin.ts';
import { type Config, parseConfig } from './config/config.ts';
import { maxSchemaBytes, readTrustedFile } from './config/trusted-file.ts';
import { InputError } from './errors.ts';
import { createLocalWorld, localSecrets, VERSION } from './local-world.ts';
import { createReportPage } from './report/report-page.ts';
import { createPlaces } from './reporters/places.ts';
import { createProgress } from './reporters/progress.ts';
import { createRecordingFile } from './reporters/recording-file.ts';
import { writeResultFile } from './reporters/result-file.ts';
import { createSarif } from './reporters/sarif.ts';
import type { Sink } from './reporters/sink.ts';
import { createStdout } from './reporters/stdout.ts';
import { terminalStyle } from './reporters/terminal.ts';
import { createTranscript } from './reporters/transcript.ts';
import { run } from './run.ts';
import type { World } from './run-state.ts';
import { removeFolder } from './sandbox/run-folder.ts';
import type { Reporter } from './types.ts';

/** What a run needs of its process. */
export interface RunProcess {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly listen: World['listen'];
  readonly stdout: Sink;
  readonly stderr: Sink;
}

/** What was typed, or why it cannot be meant; and where files go. */
interface CliSetup {
  readonly config: () => Config;
  readonly files: Readonly<Record<FileName, string | null>>;
}

type FileName = 'result' | 'transcript' | 'report' | 'sarif' | 'patch' | 'record';

const NO_FILES = { result: null, transcript: null, report: null, sarif: null, patch: null, record: null };
/** Stdin without a byte for so long, in milliseconds, is asked after. */
const STDIN_NOTICE_MS = 2_000;

/**
 * Runs to the end and gives the exit code; what was typed wrong is an ending like any other.
 * @param refusal why the line was refused; then nothing runs, and that is told.
 */
export async function runOnCommandLine(
  command: RunCommand,
  host: RunProcess,
  refusal: InputError | null = null,
): Promise<number> {
  const { environment, stdout: out, stderr } = host;
  const { outputFormat: format, quiet } = command.options;
  // The values of headers are masked as those of the action's input are.
  const secrets = localSecrets({ ...environment, INPUT_HEADERS: command.inputs.get('headers') });
  const workspace = process.cwd();
  const shows = process.stdout.isTTY === true && format === 'stream-json';
  const progress = createProgress({
    sink: stderr,
    style: terminalStyle({ environment, stderr: process.stderr, stdoutShows: shows }),
    quiet,
    secrets,
    now: () => performance.now(),
  });
  const setup =
    refusal === null
      ? await readSetup(command, environment, workspace, progress.warn)
      : { config: refuse(refusal), files: NO_FILES };
  const stdout = createStdout({ sink: out, format, secrets, version: VERSION, cwd: workspace });
  const { result, transcript, patch, record } = setup.files;
  const world = await createLocalWorld({
    environment,
    workspace,
    secrets,
    listen: host.listen,
    resultFile: result,
    transcriptFile: transcript,
    ...(record === null ? {} : { recording: createRecordingFile(record) }),
    writePatch(bytes) {
      if (patch !== null) writeFileSync(patch, bytes, { mode: 0o600 });
      return patch;
    },
    reporters: [...onDisk(setup, workspace, secrets), stdout.reporter, progress.reporter],
    writeEnvelope: (report) => {
      if (result !== null) writeResultFile(report, secrets);
    },
    writeOutputs: stdout.writeOutputs,
    warn: progress.warn,
  });
  const report = await run(setup.config, world);
  await progress.conclude(report);
  await removeFolder(world.runFolder, report.verdict.exitCode === 130 ? 1_000 : 5_000);
  return report.verdict.exitCode;
}

/** What the user asked to be written. */
function onDisk(
  { files }: CliSetup,
  workspace: string,
  secrets: ReturnType<typeof localSecrets>,
): readonly Reporter[] {
  const { transcript, report, sarif } = files;
  return [
    ...(transcript === null ? [] : [createTranscript({ file: transcript, secrets })]),
    ...(report === null ? [] : [createReportPage({ file: report, secrets })]),
    ...(sarif === null
      ? []
      : [
          createSarif({
            file: sarif,
            locate: createPlaces({ workspace, workingDirectory: '.', repositories: [] }),
            secrets,
            tell: () => undefined,
            version: VERSION,
            informationUri: null,
            category: 'cli',
            serverUrl: null,
          }),
        ]),
  ];
}

function refuse(error: unknown): () => Config {
  return () => {
    throw error;
  };
}

async function readSetup(
  command: RunCommand,
  environment: RunProcess['environment'],
  workspace: string,
  warn: (text: string) => void,
): Promise<CliSetup> {
  try {
    const inputs = await withStdin(command, {
      stdin: () =>
        readStdin(process.stdin, {
          maxBytes: maxSchemaBytes,
          noticeAfterMs: STDIN_NOTICE_MS,
          onWait: () => warn('waiting for stdin; redirect it where there is none: </dev/null'),
          signal: AbortSignal.timeout(stdinPatience(command)),
        }),
      file: (file) =>
        readTrustedFile(path.resolve(workspace, file), { root: null, maxBytes: maxSchemaBytes }),
    });
    const config = parseConfig(inputs, { environment, commandLine: true });
    const place = (name: string, file: string | null) =>
      file === null ? null : writableFile(name, path.resolve(workspace, file));
    const files = {
      result: await place('result-file', config.resultFile),
      transcript: await place('transcript-file', config.transcriptFile),
      report: await place('report-file', config.reportFile),
      sarif: await place('sarif-file', config.sarifFile),
      patch: await place('patch-file', command.options.patchFile),
      record: await place('record', command.options.record),
    };
    return { config: () => config, files };
  } catch (error) {
    return { config: refuse(error), files: NO_FILES };
  }
}

/** The run's own clock does not tick yet. */
function stdinPatience({ inputs }: RunCommand): number {
  const minutes = Number(inputs.get('timeout-minutes') ?? 10);
  return Number.isFinite(minutes) && minutes > 0 ? Math.min(minutes * 60_000, 2 ** 31 - 1) : 600_000;
}

/** The user's own machine: any place will do that can be written. @throws InputError for one that cannot. */
async function writableFile(name: string, file: string): Promise<string> {
  const folder = await realpath(path.dirname(file)).catch(() => null);
  const writable =
    folder !== null &&
    (await access(folder, constants.W_OK).then(
      () => true,
      () => false,
    ));
  if (folder === null || !writable)
    throw new InputError(
      name,
      `--${name} is ${JSON.stringify(file)}, whose folder is not there or cannot be written.`,
    );
  const real = path.join(folder, path.basename(file));
  const standing = await stat(real).catch(() => null);
  if (standing !== null && !standing.isFile())
    throw new InputError(name, `--${name} is ${JSON.stringify(file)}, which is there and no regular file.`);
  return real;
}
