/** The setup of an action step: the runner's folders, the configuration, and the paths of files to write. */
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { access, mkdir, mkdtemp, realpath, statfs } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { type Config, parseConfig } from '../config/parse-config.ts';
import { resolveOutputFile } from '../config/paths.ts';
import type { Reporting } from '../config/reporting.ts';
import type { Parsed } from '../config/values.ts';
import { InputError } from '../errors.ts';
import { type RunnerFiles, requireOutputFile } from '../github/runner.ts';
import { createFetch } from '../network/network.ts';
import { readActionInputs } from './raw-inputs.ts';

export interface Setup<C> {
  /** An invalid input has its default value; the verdict is then reported on this machine only. */
  readonly config: C;
  readonly problems: readonly Error[];
  /** `fetch` through the proxies and with the certificate authorities of this machine. */
  readonly fetch: typeof fetch;
  readonly resultFile: string;
  readonly transcriptFile: string | null;
  readonly reportFile: string | null;
  readonly sarifFile: string | null;
}

/** The settings that every step's configuration has. */
export type Known = Reporting &
  Pick<Config, 'workingDirectory' | 'trustedFiles' | 'transcriptFile' | 'reportFile' | 'leg' | 'vote'>;

/**
 * Parses the inputs of a run and resolves the paths of files to write. Problems are collected, to be reported like any
 * ending.
 */
export function readSetup(
  environment: NodeJS.ProcessEnv,
  files: RunnerFiles,
  folders: Folders,
): Promise<Setup<Config>> {
  const transcriptFile = path.join(folders.results, 'transcript.jsonl');
  const { raw, problems } = readActionInputs();
  return readStepSetup(
    parseConfig(raw, { environment, problems }),
    transcriptFile,
    environment,
    files,
    folders,
  );
}

/** How a run with invalid inputs is reported: nothing is sent, and nothing is left out of the local reports. */
const LOCAL_REPORTING = {
  summary: true,
  comment: 'never',
  commitStatus: null,
  githubToken: null,
  logLevel: 'summary',
} as const;

/** The same for parsed inputs. `transcriptFile` is the default path of the transcript. */
export async function readStepSetup<C extends Known>(
  { config, problems: wrong }: Parsed<C>,
  transcriptFile: string | null,
  environment: NodeJS.ProcessEnv,
  files: RunnerFiles,
  folders: Folders,
): Promise<Setup<C>> {
  const usual = {
    'result-file': path.join(folders.results, 'result.json'),
    'transcript-file': transcriptFile,
    'report-file': null,
    'sarif-file': null,
  };
  const problems: Error[] = folders.problem === null ? [...wrong] : [folders.problem, ...wrong];
  const attempt = <T>(task: () => T): T | null => {
    try {
      return task();
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      problems.push(error);
      return null;
    }
  };
  const send = attempt(() => createFetch(environment));
  attempt(() => requireOutputFile(files));
  const named = {
    'result-file': config.resultFile ?? usual['result-file'],
    'transcript-file': config.transcriptFile ?? usual['transcript-file'],
    'report-file': config.reportFile,
    'sarif-file': config.sarifFile,
  };
  const placed = folders.problem === null ? await placeFiles(named, folders, files, problems) : usual;
  const isWrong = problems.length > 0;
  const places = isWrong ? usual : placed;
  return {
    config: isWrong ? { ...config, ...LOCAL_REPORTING } : config,
    problems,
    fetch: send ?? fetch,
    resultFile: places['result-file'] ?? usual['result-file'],
    transcriptFile: places['transcript-file'],
    reportFile: places['report-file'],
    sarifFile: places['sarif-file'],
  };
}

/** The minimum free space for starting a run, in bytes: 1 MiB for the files it writes. */
const LEAST_BYTES = 1024 ** 2;

export interface Folders {
  readonly workspace: string;
  readonly temp: string;
  /** A new folder below `temp` for the files that the run writes. */
  readonly results: string;
  /** The problem with the runner's own folders; other folders replace them, so that the run can be reported. */
  readonly problem: InputError | null;
}

export async function findFolders(environment: NodeJS.ProcessEnv): Promise<Folders> {
  const missing: string[] = [];
  const find = async (variable: string, otherwise: string): Promise<string> => {
    const real = await realpath(environment[variable] || otherwise).catch(() => null);
    if (real !== null) return real;
    missing.push(variable);
    return realpath(otherwise);
  };
  const workspace = await find('GITHUB_WORKSPACE', process.cwd());
  const wanted = await find('RUNNER_TEMP', os.tmpdir());
  const writable = await access(wanted, constants.W_OK).then(
    () => true,
    () => false,
  );
  const usual = writable && (await hasSpace(wanted)) ? await makeResults(wanted).catch(() => null) : null;
  const temp = usual === null ? await realpath(os.tmpdir()) : wanted;
  const results = usual ?? (await makeResults(temp));
  const problems = missing.map((variable) => `${variable} names a folder that is not there.`);
  if (!writable) problems.push('RUNNER_TEMP names a folder that cannot be written to.');
  else if (usual === null)
    problems.push(
      'RUNNER_TEMP has no space left: 1 MiB is needed at least, and that of a copy of the workspace.',
    );
  if (temp === workspace) problems.push('RUNNER_TEMP is the workspace itself.');
  const problem =
    problems[0] === undefined ? null : new InputError(null, `${problems[0]} Check the runner's set-up.`);
  return { workspace, temp, results, problem };
}

/** Whether there is space for the results; a file system that does not say so is believed to have some. */
async function hasSpace(folder: string): Promise<boolean> {
  const { blocks, bavail, bsize } = await statfs(folder).catch(() => ({ blocks: 0, bavail: 0, bsize: 0 }));
  return blocks === 0 || bavail * bsize >= LEAST_BYTES;
}

/** Creates a new results folder; uses another name if the usual parent is another user's, such as a container's. */
async function makeResults(temp: string): Promise<string> {
  const usual = path.join(temp, 'structured-agent', randomUUID());
  try {
    await mkdir(usual, { recursive: true, mode: 0o700 });
    return usual;
  } catch {
    return mkdtemp(path.join(temp, 'structured-agent-'));
  }
}

const FILE_INPUTS = ['result-file', 'transcript-file', 'report-file', 'sarif-file'] as const;
type Named = Readonly<Record<(typeof FILE_INPUTS)[number], string | null>>;

/**
 * Resolves the paths of files to write, absolute and real; null for a path outside workspace and RUNNER_TEMP, or
 * already in use.
 */
async function placeFiles(
  named: Named,
  { workspace, temp }: Folders,
  files: RunnerFiles,
  problems: Error[],
): Promise<Named> {
  const places: Record<keyof Named, string | null> = { ...named };
  const seen = new Map<string, string>();
  for (const name of FILE_INPUTS) {
    const typed = named[name];
    if (typed === null) continue;
    try {
      const file = await resolveOutputFile(name, typed, workspace, [workspace, temp]);
      const other = seen.get(file);
      if (other !== undefined)
        throw new InputError(name, `${other} and ${name} name the same file. Give each its own.`);
      if (files.all.includes(file))
        throw new InputError(name, `${name} names a file that the runner itself reads. Name another one.`);
      seen.set(file, name);
      places[name] = file;
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      problems.push(error);
    }
  }
  return places;
}
