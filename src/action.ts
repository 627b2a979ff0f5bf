/** The Action's entry: inputs → run → exit code. Builds the Action's world and its reporters. */
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import manifest from '../package.json' with { type: 'json' };
import { readActionInputs } from './config/action-inputs.ts';
import { type Config, parseConfig } from './config/config.ts';
import { resolveOutputFile, resolveWorkingDirectory } from './config/paths.ts';
import { maxSchemaBytes, readTrustedFile } from './config/trusted-file.ts';
import { isPrivileged, readSubject } from './github/event.ts';
import { findRunnerFiles, findSecrets, type RunnerFiles, requireOutputFile } from './github/runner.ts';
import { createLiveLog } from './reporters/live-log.ts';
import { createLog, type Log } from './reporters/log.ts';
import { stepOutputs, writeOutputs } from './reporters/outputs.ts';
import { writeResultFile } from './reporters/result-file.ts';
import { createSummary } from './reporters/summary.ts';
import { createTranscript } from './reporters/transcript.ts';
import { run } from './run.ts';
import type { EndListener, World } from './run-state.ts';
import { createSecrets, type Secrets } from './secrets.ts';
import type { Report } from './types.ts';

/** What was typed, or why it cannot be meant; and where files go either way. */
interface Setup {
  readonly config: () => Config;
  readonly resultFile: string;
  readonly transcriptFile: string;
  readonly summary: boolean;
  readonly level: Config['logLevel'];
}

/** Runs the action and gives the exit code; never rejects. */
async function main(environment: NodeJS.ProcessEnv): Promise<number> {
  const secrets = createSecrets();
  const log = createLog({ write: (text) => process.stdout.write(text), secrets, token: randomUUID });
  for (const value of findSecrets(environment)) {
    secrets.add(value);
    log.mask(value);
  }
  try {
    return await judge(environment, secrets, log);
  } catch (error) {
    // Before the run could begin: no folder to work in, most likely.
    const text = error instanceof Error ? error.message : String(error);
    log.error(`structured-agent could not start: ${text}`);
    return 1;
  }
}

async function judge(environment: NodeJS.ProcessEnv, secrets: Secrets, log: Log): Promise<number> {
  const files = findRunnerFiles(environment);
  const temp = await realpath(environment['RUNNER_TEMP'] ?? os.tmpdir());
  const workspace = await realpath(environment['GITHUB_WORKSPACE'] ?? process.cwd());
  const results = path.join(temp, 'structured-agent', randomUUID());
  await mkdir(results, { recursive: true, mode: 0o700 });
  const setup = await readSetup(environment, files, { workspace, temp, results });
  const { resultFile, transcriptFile } = setup;
  const world: World = {
    environment,
    version: manifest.version,
    secrets,
    subject: readSubject(environment),
    workspace,
    home: environment['HOME'] ?? os.homedir(),
    temp,
    runFolder: await mkdtemp(path.join(temp, 'structured-agent-run-')),
    resultFile,
    transcriptFile,
    patchFile: path.join(results, 'changes.patch'),
    guarded: [path.dirname(fileURLToPath(import.meta.url)), ...files.all],
    privileged: isPrivileged(environment),
    readFile: (file) => readTrustedFile(file, { root: workspace, maxBytes: maxSchemaBytes }),
    resolveFolder: (folder) => resolveWorkingDirectory(folder, workspace),
    rememberWorkspace: async (folder) =>
      (await import('./github/git.ts')).rememberWorkspace(workspace, folder),
    now: () => performance.now(),
    listen,
    reporters: [
      createTranscript({ file: transcriptFile, secrets }),
      ...(setup.summary && files.summary !== null
        ? [
            createSummary({
              file: files.summary,
              secrets,
              serverUrl: environment['GITHUB_SERVER_URL'] || null,
            }),
          ]
        : []),
      createLiveLog({ log, level: setup.level }),
    ],
    publish: async (report) => publish(report, files.output, secrets, log),
    warn: (text) => log.warning(text),
  };
  const { verdict } = await run(setup.config, world);
  // A run that never opened its sandbox has left it to nobody else.
  await rm(world.runFolder, { recursive: true, force: true });
  return verdict.exitCode;
}

/** Parses the inputs and finds where files go; a wrong input is kept, so that the run can report it like any ending. */
async function readSetup(
  environment: NodeJS.ProcessEnv,
  files: RunnerFiles,
  folders: { readonly workspace: string; readonly temp: string; readonly results: string },
): Promise<Setup> {
  const { workspace, temp, results } = folders;
  const standard = {
    resultFile: path.join(results, 'result.json'),
    transcriptFile: path.join(results, 'transcript.jsonl'),
  };
  try {
    const config = parseConfig(readActionInputs(environment), { environment });
    requireOutputFile(files);
    const place = (name: 'result-file' | 'transcript-file', file: string | null, otherwise: string) =>
      file === null ? otherwise : resolveOutputFile(name, file, workspace, [workspace, temp]);
    return {
      config: () => config,
      resultFile: await place('result-file', config.resultFile, standard.resultFile),
      transcriptFile: await place('transcript-file', config.transcriptFile, standard.transcriptFile),
      summary: config.summary,
      level: config.logLevel,
    };
  } catch (error) {
    const config = () => {
      throw error;
    };
    return { ...standard, config, summary: true, level: 'summary' };
  }
}

/** The envelope, and then the outputs, last of all. */
function publish(report: Report, outputFile: string | null, secrets: Secrets, log: Log): void {
  const { outputs, warnings } = stepOutputs(report);
  for (const text of warnings) log.warning(text);
  writeResultFile(report, secrets);
  if (outputFile !== null) writeOutputs(outputFile, outputs);
}

/**
 * Signals that ask to end, and errors that nothing caught: both end the run in its own order, with outputs. They are
 * caught until the process leaves: a signal in its last moments must not kill what is already written and decided.
 */
function listen(listener: EndListener): void {
  const signals = ['SIGINT', 'SIGTERM', 'SIGBREAK'] as const;
  for (const signal of signals) process.on(signal, () => listener.signal(signal));
  process.on('uncaughtException', (error) => listener.crash(error));
  process.on('unhandledRejection', (error) => listener.crash(error));
}

/** Leaves once everything written to stdout has been taken: a pipe may be read late. */
function leave(exitCode: number): void {
  process.exitCode = exitCode;
  process.stdout.write('', () => process.exit(exitCode));
}

void main(process.env).then(leave);
