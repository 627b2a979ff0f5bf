/** The setup of an action step: the runner's folders, the configuration, and the network. */
import { accessSync, constants, mkdtempSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { type Config, parseConfig } from '../config/parse-config.ts';
import type { Reporting } from '../config/reporting.ts';
import type { Parsed } from '../config/values.ts';
import { InputError } from '../errors.ts';
import { isFromFork, readEvent } from '../github/event.ts';
import { type RunnerFiles, requireOutputFile } from '../github/runner.ts';
import { createFetch } from '../network/network.ts';
import { readActionInputs } from './raw-inputs.ts';

export interface Setup<C> {
  /** An invalid input has its default value. */
  readonly config: C;
  readonly problems: readonly Error[];
  /** `fetch` through the proxies and with the certificate authorities of this machine. */
  readonly fetch: typeof fetch;
}

/** The settings that every step's configuration has. */
export type StepConfig = Reporting & Pick<Config, 'workingDirectory' | 'trustedFiles' | 'leg'>;

/** Parses the inputs of a run. Problems are collected, to be reported like any ending. */
export function readSetup(environment: NodeJS.ProcessEnv, files: RunnerFiles): Setup<Config> {
  const { raw, problems } = readActionInputs();
  const isFork = isFromFork(readEvent(environment));
  return readStepSetup(parseConfig(raw, { environment, isFork, problems }), files);
}

/** The same for parsed inputs. */
export function readStepSetup<C extends StepConfig>(
  { config, problems: wrong }: Parsed<C>,
  files: RunnerFiles,
): Setup<C> {
  const problems: Error[] = [...wrong];
  try {
    requireOutputFile(files);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    problems.push(error);
  }
  return { config, problems, fetch: createFetch() };
}

/** The folders of a step; absolute, real paths. */
export interface Folders {
  readonly workspace: string;
  /** RUNNER_TEMP. */
  readonly temp: string;
  /** A new private folder below `temp` for the files that the run writes. */
  readonly results: string;
}

/** @throws InputError for a runner without these folders: nothing can be reported there */
export function findFolders(environment: NodeJS.ProcessEnv): Folders {
  const workspace = findFolder('GITHUB_WORKSPACE', environment);
  const temp = findFolder('RUNNER_TEMP', environment);
  return { workspace, temp, results: mkdtempSync(path.join(temp, 'structured-agent-')) };
}

function findFolder(variable: string, environment: NodeJS.ProcessEnv): string {
  try {
    const folder = realpathSync.native(environment[variable] ?? '');
    accessSync(folder, constants.W_OK);
    return folder;
  } catch (cause) {
    const why = `${variable} must name a folder that can be written to. Check how the runner is set up.`;
    throw new InputError(null, why, { cause });
  }
}
