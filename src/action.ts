/** The Action's entry: inputs → run → exit code. Builds the Action's world and its reporters. */
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import manifest from '../package.json' with { type: 'json' };
import { readActionInputs } from './config/action-inputs.ts';
import { type Config, parseConfig } from './config/config.ts';
import { requireReadableFolders, resolveOutputFile, resolveWorkingDirectory } from './config/paths.ts';
import { maxSchemaBytes, readTrustedFile } from './config/trusted-file.ts';
import { InputError } from './errors.ts';
import { isPrivileged, readSubject } from './github/event.ts';
import {
  findRunnerFiles,
  findSecrets,
  keepFiles,
  type RunnerFiles,
  requireOutputFile,
} from './github/runner.ts';
import { createLiveLog } from './reporters/live-log.ts';
import { createLog, type Log } from './reporters/log.ts';
import { stepOutputs, writeOutputs } from './reporters/outputs.ts';
import { writeResultFile } from './reporters/result-file.ts';
import { createSummary } from './reporters/summary.ts';
import { createTranscript } from './reporters/transcript.ts';
import { run } from './run.ts';
import type { EndListener, World } from './run-state.ts';
import { createSecrets, type Secrets } from './secrets.ts';

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
  const listen = catchEnds();
  try {
    return await judge(environment, secrets, log, listen);
  } catch (error) {
    // Before the run could begin: no folder to work in, most likely.
    const text = error instanceof Error ? error.message : String(error);
    log.error(`structured-agent could not start: ${text}`);
    return 1;
  }
}

async function judge(
  environment: NodeJS.ProcessEnv,
  secrets: Secrets,
  log: Log,
  listen: World['listen'],
): Promise<number> {
  const files = findRunnerFiles(environment);
  const { workspace, temp, problem } = await findFolders(environment);
  const results = path.join(temp, 'structured-agent', randomUUID());
  await mkdir(results, { recursive: true, mode: 0o700 });
  const patchFile = path.join(results, 'changes.patch');
  const setup = await readSetup(environment, files, { workspace, temp, results, problem });
  const { resultFile, transcriptFile } = setup;
  const serverUrl = environment['GITHUB_SERVER_URL'] || null;
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
    writePatch(patch) {
      writeFileSync(patchFile, patch, { mode: 0o600, flag: 'wx' });
      return patchFile;
    },
    restoreRunnerFiles: keepFiles(files.all),
    guarded: [path.dirname(fileURLToPath(import.meta.url)), ...files.all],
    privileged: isPrivileged(environment),
    readFile: (file) => readTrustedFile(file, { root: workspace, maxBytes: maxSchemaBytes }),
    resolveFolder: (folder) => resolveWorkingDirectory(folder, workspace),
    requireReadable: requireReadableFolders,
    now: () => performance.now(),
    listen,
    reporters: [
      createTranscript({ file: transcriptFile, secrets }),
      ...(setup.summary && files.summary !== null
        ? [{ ...createSummary({ file: files.summary, secrets, serverUrl }), retold: true }]
        : []),
      { ...createLiveLog({ log, level: setup.level }), retold: true },
    ],
    spareResultFile: path.join(results, 'result.json'),
    writeEnvelope: (report) => writeResultFile(report, secrets),
    writeOutputs(report) {
      const { outputs, warnings } = stepOutputs(report);
      for (const text of warnings) log.warning(text);
      if (files.output !== null) writeOutputs(files.output, outputs);
    },
    warn: (text) => log.warning(text, { title: 'structured-agent' }),
  };
  const { verdict } = await run(setup.config, world);
  // A run that never opened its sandbox has left its folder to nobody else; a leftover changes no verdict.
  await rm(world.runFolder, { recursive: true, force: true }).catch(() => undefined);
  return verdict.exitCode;
}

/** Parses the inputs and finds where files go; a wrong input is kept, so that the run can report it like any ending. */
async function readSetup(
  environment: NodeJS.ProcessEnv,
  files: RunnerFiles,
  folders: Folders & { readonly results: string },
): Promise<Setup> {
  const { workspace, temp, results, problem } = folders;
  const standard = {
    resultFile: path.join(results, 'result.json'),
    transcriptFile: path.join(results, 'transcript.jsonl'),
  };
  try {
    if (problem !== null) throw problem;
    const config = parseConfig(readActionInputs(environment), { environment });
    requireOutputFile(files);
    const place = (name: 'result-file' | 'transcript-file', file: string | null, otherwise: string) =>
      file === null ? otherwise : resolveOutputFile(name, file, workspace, [workspace, temp]);
    const resultFile = await place('result-file', config.resultFile, standard.resultFile);
    const transcriptFile = await place('transcript-file', config.transcriptFile, standard.transcriptFile);
    refuseCollisions({ 'result-file': resultFile, 'transcript-file': transcriptFile }, files);
    return {
      config: () => config,
      resultFile,
      transcriptFile,
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

/** Where the step works. */
interface Folders {
  readonly workspace: string;
  readonly temp: string;
  /** What is wrong with the runner's own folders; others stand in for them, so that the run can be reported. */
  readonly problem: InputError | null;
}

async function findFolders(environment: NodeJS.ProcessEnv): Promise<Folders> {
  const missing: string[] = [];
  const find = async (variable: string, otherwise: string): Promise<string> => {
    const real = await realpath(environment[variable] || otherwise).catch(() => null);
    if (real !== null) return real;
    missing.push(variable);
    return realpath(otherwise);
  };
  const workspace = await find('GITHUB_WORKSPACE', process.cwd());
  const temp = await find('RUNNER_TEMP', os.tmpdir());
  const [variable] = missing;
  if (variable === undefined) return { workspace, temp, problem: null };
  const problem = new InputError(
    null,
    `${variable} names a folder that is not there. Check the runner's set-up.`,
  );
  return { workspace, temp, problem };
}

/** @throws InputError where one file would be written over another, or over the runner's own. */
function refuseCollisions(
  named: Readonly<Record<'result-file' | 'transcript-file', string>>,
  files: RunnerFiles,
): void {
  if (named['result-file'] === named['transcript-file']) {
    throw new InputError(
      'transcript-file',
      'result-file and transcript-file name the same file. Give each its own.',
    );
  }
  for (const [name, file] of Object.entries(named)) {
    if (!files.all.includes(file)) continue;
    throw new InputError(name, `${name} names a file that the runner itself reads. Name another one.`);
  }
}

/**
 * Catches signals that ask to end, and errors that nothing caught, from now on and until the process leaves: both end
 * the run in its own order, and a signal in its last moments must not kill what is already decided. What comes before
 * anybody listens is told then.
 */
function catchEnds(): World['listen'] {
  const waiting: ((listener: EndListener) => void)[] = [];
  let told: EndListener | null = null;
  const tell = (what: (listener: EndListener) => void) => (told === null ? waiting.push(what) : what(told));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGBREAK'] as const) {
    process.on(signal, () => tell((listener) => listener.signal(signal)));
  }
  process.on('uncaughtException', (error) => tell((listener) => listener.crash(error)));
  process.on('unhandledRejection', (error) => tell((listener) => listener.crash(error)));
  return (listener) => {
    told = listener;
    for (const what of waiting.splice(0)) what(listener);
  };
}

/** Leaves once everything written to stdout has been taken: a pipe may be read late. */
function leave(exitCode: number): void {
  process.exitCode = exitCode;
  process.stdout.write('', () => process.exit(exitCode));
}

void main(process.env).then(leave);
