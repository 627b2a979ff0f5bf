/** What the action was given: the runner's folders, the configuration, and where files go. */
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { access, mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { type Config, parseConfig } from '../config/config.ts';
import { resolveOutputFile } from '../config/paths.ts';
import type { Reporting } from '../config/reporting.ts';
import { InputError } from '../errors.ts';
import { type RunnerFiles, requireOutputFile } from '../github/runner.ts';
import { type MergeConfig, parseMergeConfig } from '../merge/config.ts';
import { createFetch } from '../network/network.ts';
import { readActionInputs, readMergeInputs } from './inputs.ts';
import type { Telling } from './reporters.ts';

/** What was typed, or why it cannot be meant; and where files go either way. */
export interface Setup<C> extends Telling {
  readonly config: () => C;
  /** The configuration; null where it could not be read. */
  readonly known: (C & Known) | null;
  /** How requests leave this machine. */
  readonly fetch: typeof fetch;
  readonly resultFile: string;
}

/** What is asked of the configuration of a run and of a merge alike. */
type Known = NonNullable<Telling['known']> &
  Reporting &
  Pick<Config, 'trustedFiles' | 'transcriptFile' | 'reportFile'>;

/** Parses the inputs of a run and finds where files go; a wrong input is kept, so that it can be reported like any ending. */
export function readSetup(
  environment: NodeJS.ProcessEnv,
  files: RunnerFiles,
  folders: Folders,
): Promise<Setup<Config>> {
  const transcriptFile = path.join(folders.results, 'transcript.jsonl');
  const parse = () => parseConfig(readActionInputs(environment), { environment });
  return setUp(parse, transcriptFile, environment, files, folders);
}

/** The same of a merge, which has no transcript and no folder to work in, and is no leg itself. */
export function readMergeSetup(
  environment: NodeJS.ProcessEnv,
  files: RunnerFiles,
  folders: Folders,
): Promise<Setup<MergeConfig>> {
  const parse = () => ({
    ...parseMergeConfig(readMergeInputs(environment), environment),
    transcriptFile: null,
    reportFile: null,
    workingDirectory: '.',
    trustedFiles: 'workspace' as const,
    leg: null,
    vote: null,
  });
  return setUp(parse, null, environment, files, folders);
}

async function setUp<C extends Known>(
  parse: () => C,
  transcriptFile: string | null,
  environment: NodeJS.ProcessEnv,
  files: RunnerFiles,
  folders: Folders,
): Promise<Setup<C>> {
  const resultFile = path.join(folders.results, 'result.json');
  try {
    if (folders.problem !== null) throw folders.problem;
    const config = parse();
    const send = createFetch(environment);
    requireOutputFile(files);
    const named = {
      'result-file': config.resultFile ?? resultFile,
      'transcript-file': config.transcriptFile ?? transcriptFile,
      'report-file': config.reportFile,
      'sarif-file': config.sarifFile,
    };
    const places = await placeFiles(named, folders, files);
    return {
      config: () => config,
      known: config,
      fetch: send,
      resultFile: places['result-file'] ?? resultFile,
      transcriptFile: places['transcript-file'],
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
    const standard = { resultFile, transcriptFile, reportFile: null, sarifFile: null };
    return { ...standard, config, known: null, fetch, summary: true, level: 'summary' };
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
const FILE_INPUTS = ['result-file', 'transcript-file', 'report-file', 'sarif-file'] as const;
type Named = Readonly<Record<(typeof FILE_INPUTS)[number], string | null>>;

/**
 * Where files are written, absolute and real.
 * @throws InputError for one outside workspace and RUNNER_TEMP, one over another, or over the runner's own.
 */
async function placeFiles(named: Named, { workspace, temp }: Folders, files: RunnerFiles): Promise<Named> {
  const places = { ...named };
  const seen = new Map<string, string>();
  for (const name of FILE_INPUTS) {
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
