/** The part of GitHub's runner: gives the bundle its environment, passes its log on, reads what it left. */
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { parseOutputFile } from '../../__tests__/support/fakes/runner/runner.ts';

/** The committed bundle. */
export const BUNDLE = path.join(import.meta.dirname, '../../dist/index.js');

/** What a step is run with. */
export interface Step {
  /** Another entry than the action of the committed bundle, such as that of the merge. */
  readonly bundle?: string;
  /** The checkout, absolute. */
  readonly workspace: string;
  /** A new folder for RUNNER_TEMP and the runner's own files, outside the workspace. */
  readonly folder: string;
  /** The commit that is judged. */
  readonly sha: string;
  readonly inputs: Readonly<Record<string, string>>;
  /** The caller's variables, of which only PATH and HOME are passed on. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Called with each line of the raw log as it comes. */
  readonly onLine: (line: string) => void;
  /** Milliseconds for which the log is left unread, as a busy runner may do; 0 by default. */
  readonly readAfterMs?: number;
  /** Further variables of the runner. */
  readonly extra?: Readonly<Record<string, string>>;
}

/** What a step left. */
export interface StepResult {
  /** null if a signal ended it. */
  readonly exitCode: number | null;
  readonly outputs: ReadonlyMap<string, string>;
  /** The job summary, Markdown. */
  readonly summary: string;
}

/** A step that was started. */
export interface RunningStep {
  /** Sends a signal, if it has not ended. */
  readonly kill: (signal: NodeJS.Signals) => void;
  readonly done: Promise<StepResult>;
}

/** Starts the bundle once, as the runner would. */
export function startStep(step: Step): RunningStep {
  const temp = path.join(step.folder, 'temp');
  const commands = path.join(temp, '_runner_file_commands');
  mkdirSync(commands, { recursive: true });
  const fileFor = (name: string, text = '') => {
    const file = path.join(commands, name);
    writeFileSync(file, text);
    return file;
  };
  const output = fileFor('set_output');
  const summary = fileFor('step_summary');
  const inputs = Object.entries(step.inputs).map(([name, value]) => [`INPUT_${name.toUpperCase()}`, value]);
  const child = spawn(process.execPath, [step.bundle ?? BUNDLE], {
    cwd: step.workspace,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: `${path.dirname(process.execPath)}${path.delimiter}${step.environment['PATH'] ?? ''}`,
      HOME: step.environment['HOME'] ?? temp,
      LANG: 'C.UTF-8',
      CI: 'true',
      GITHUB_ACTIONS: 'true',
      GITHUB_WORKSPACE: step.workspace,
      GITHUB_REPOSITORY: 'example/cart',
      GITHUB_SHA: step.sha,
      GITHUB_REF: 'refs/heads/main',
      GITHUB_EVENT_NAME: 'push',
      GITHUB_EVENT_PATH: fileFor('event.json', '{}'),
      GITHUB_SERVER_URL: 'https://github.com',
      GITHUB_RUN_ID: '1',
      GITHUB_RUN_ATTEMPT: '1',
      GITHUB_WORKFLOW: 'demo',
      GITHUB_JOB: 'verdict',
      GITHUB_ACTION: 'review',
      GITHUB_OUTPUT: output,
      GITHUB_STEP_SUMMARY: summary,
      GITHUB_ENV: fileFor('set_env'),
      GITHUB_PATH: fileFor('add_path'),
      GITHUB_STATE: fileFor('save_state'),
      RUNNER_TEMP: temp,
      RUNNER_OS: process.platform === 'darwin' ? 'macOS' : 'Linux',
      ...step.extra,
      ...Object.fromEntries(inputs),
    },
  });
  setTimeout(() => {
    for (const stream of [child.stdout, child.stderr])
      createInterface({ input: stream }).on('line', step.onLine);
  }, step.readAfterMs ?? 0);
  const closed = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const done = closed.then((exitCode) => ({
    exitCode,
    outputs: parseOutputFile(readFileSync(output, 'utf8')),
    summary: readFileSync(summary, 'utf8'),
  }));
  return { kill: (signal) => void child.kill(signal), done };
}
