/** What the action was given: the runner's folders, the configuration, and where files go. */
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { access, mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { readActionInputs } from './config/action-inputs.ts';
import { type Config, parseConfig } from './config/config.ts';
import { resolveOutputFile } from './config/paths.ts';
import { InputError } from './errors.ts';
import { type RunnerFiles, requireOutputFile } from './github/runner.ts';
import { createFetch } from './network/network.ts';

/** What was typed, or why it cannot be meant; and where files go either way. */
export interface Setup {
  readonly config: () => Config;
  /** The configuration; null where it could not be read. */
  readonly known: Config | null;
  /** How requests leave this machine. */
  readonly fetch: typeof fetch;
  readonly resultFile: string;
  readonly transcriptFile: string;
  readonly reportFile: string | null;
  readonly sarifFile: string | null;
  readonly summary: boolean;
  readonly level: Config['logLevel'];
}

/** Parses the inputs and finds where files go; a wrong input is kept, so that the run can report it like any ending. */
export async function readSetup(
  environment: NodeJS.ProcessEnv,
  files: RunnerFiles,
  folders: Folders,
): Promise<Setup> {
  const { results, problem } = folders;
  const standard = {
    resultFile: path.join(results, 'result.json'),
    transcriptFile: path.join(results, 'transcript.jsonl'),
  };
  try {
    if (problem !== null) throw problem;
    const config = parseConfig(readActionInputs(environment), { environment });
    const send = createFetch(environment);
    requireOutputFile(files);
    const named = {
      'result-file': config.resultFile ?? standard.resultFile,
      'transcript-file': config.transcriptFile ?? standard.transcriptFile,
      'report-file': config.reportFile,
      'sarif-file': config.sarifFile,
    };
    const places = await placeFiles(named, folders, files);
    return {
      config: () => config,
      known: config,
      fetch: send,
      resultFile: places['result-file'] ?? standard.resultFile,
      transcriptFile: places['transcript-file'] ?? standard.transcriptFile,
      reportFile: places['report-file'],
      sarifFile: places['sarif-file'],
      summary: config.summary,
      level: config.logLevel,
    };
  } catch (error) {
    const config = () => {
      throw error;
    };
    // Nothing is asked any more.
    return {
      ...standard,
      config,
      known: null,
      fetch,
      reportFile: null,
      sarifFile: null,
      summary: true,
      level: 'summary',
    };
  }
}

/** Kept free of the disk for the run's own end, in bytes, whatever the agent fills it with: 1 MiB. */
const RESERVED_BYTES = 1024 ** 2;

/** Where the step works. */
export interface Folders {
  readonly workspace: string;
  readonly temp: string;
  /** A fresh folder below `temp` for what the run leaves. */
  readonly results: string;
  /** Gives the space back that was kept for the envelope. */
  readonly makeRoom: () => Promise<void>;
  /** What is wrong with the runner's own folders; others stand in for them, so that the run can be reported. */
  readonly problem: InputError | null;
}

/** Finds the runner's folders, and makes one for the results. */
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
  const kept = writable ? await reserve(wanted) : null;
  const temp = kept === null ? await realpath(os.tmpdir()) : wanted;
  const results = kept ?? (await makeResults(temp));
  const problems = missing.map((variable) => `${variable} names a folder that is not there.`);
  if (!writable) problems.push('RUNNER_TEMP names a folder that cannot be written to.');
  else if (kept === null)
    problems.push(
      'RUNNER_TEMP has no space left: 1 MiB is needed at least, and that of a copy of the workspace.',
    );
  if (temp === workspace) problems.push('RUNNER_TEMP is the workspace itself.');
  const problem =
    problems[0] === undefined ? null : new InputError(null, `${problems[0]} Check the runner's set-up.`);
  const makeRoom = () => rm(path.join(results, RESERVE), { force: true });
  return { workspace, temp, results, makeRoom, problem };
}

const RESERVE = '.reserved';

/** Makes the folder for the results with some space kept in it; null where there is none. */
async function reserve(temp: string): Promise<string | null> {
  try {
    const results = await makeResults(temp);
    const file = path.join(results, RESERVE);
    try {
      await writeFile(file, Buffer.alloc(RESERVED_BYTES), { mode: 0o600, flag: 'wx' });
      return results;
    } catch {
      await rm(results, { recursive: true, force: true });
      return null;
    }
  } catch {
    return null;
  }
}

/** A fresh folder of ours; beside the usual place where another user (of a container, say) has made that one. */
async function makeResults(temp: string): Promise<string> {
  const usual = path.join(temp, 'structured-agent', randomUUID());
  try {
    await mkdir(usual, { recursive: true, mode: 0o700 });
    return usual;
  } catch {
    return mkdtemp(path.join(temp, 'structured-agent-'));
  }
}

/** Inputs that name a file to write. */
type FileInput = 'result-file' | 'transcript-file' | 'report-file' | 'sarif-file';

/**
 * Where files are written, absolute and real.
 * @throws InputError for one outside workspace and RUNNER_TEMP, one over another, or over the runner's own.
 */
export async function placeFiles<N extends FileInput>(
  named: Readonly<Record<N, string | null>>,
  { workspace, temp }: Folders,
  files: RunnerFiles,
): Promise<Readonly<Record<N, string | null>>> {
  const places: Record<N, string | null> = { ...named };
  const seen = new Map<string, string>();
  for (const name of namesOf(named)) {
    const typed = named[name];
    if (typed === null) continue;
    const file = await resolveOutputFile(name, typed, workspace, [workspace, temp]);
    const other = seen.get(file);
    if (other !== undefined)
      throw new InputError(name, `${other} and ${name} name the same file. Give each its own.`);
    if (files.all.includes(file))
      throw new InputError(name, `${name} names a file that the runner itself reads. Name another one.`);
    seen.set(file, name);
    places[name] = file;
  }
  return places;
}

function namesOf<N extends string>(named: Readonly<Record<N, unknown>>): readonly N[] {
  const names: N[] = [];
  for (const name in named) names.push(name);
  return names;
}
