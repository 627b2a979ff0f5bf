/** The part of GitHub's runner: gives the bundle its environment, shows its log, reads what it left. */
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** The committed bundle. */
export const BUNDLE = fileURLToPath(new URL('../../dist/index.js', import.meta.url));

/** What a step is run with. */
export interface Step {
  /** Another entry of the bundle than the action's, such as that of the merge. */
  readonly bundle?: string;
  /** The checkout, absolute. */
  readonly workspace: string;
  /** A fresh folder for RUNNER_TEMP and the runner's own files; it must not lie in the workspace. */
  readonly folder: string;
  /** The commit that is judged. */
  readonly sha: string;
  readonly inputs: Readonly<Record<string, string>>;
  /** The caller's variables; of them only PATH and HOME are handed on. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Called with each line of the raw log as it comes. */
  readonly onLine: (line: string) => void;
  /** Leaves the log unread for so many milliseconds, as a busy runner may; 0 unless given. */
  readonly readAfterMs?: number;
  /** Variables of the runner beside its usual ones. */
  readonly extra?: Readonly<Record<string, string>>;
}

/** What a step left. */
export interface StepResult {
  /** null when a signal ended it. */
  readonly exitCode: number | null;
  readonly outputs: ReadonlyMap<string, string>;
  /** The job summary, Markdown. */
  readonly summary: string;
}

/** A step that was started. */
export interface RunningStep {
  /** undefined when it could not be started: then `done` rejects. */
  readonly pid: number | undefined;
  readonly done: Promise<StepResult>;
}

/** Starts the bundle once, as the runner would. */
export function startStep(step: Step): RunningStep {
  const files = createFiles(step.folder);
  const child = spawn(process.execPath, [step.bundle ?? BUNDLE], {
    cwd: step.workspace,
    env: stepEnvironment(step, files),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const read = () => {
    for (const stream of [child.stdout, child.stderr])
      createInterface({ input: stream }).on('line', step.onLine);
  };
  if (step.readAfterMs === undefined) read();
  else setTimeout(read, step.readAfterMs);
  const closed = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const done = closed.then((exitCode) => ({
    exitCode,
    outputs: readOutputs(readFileSync(files.output, 'utf8')),
    summary: readFileSync(files.summary, 'utf8'),
  }));
  return { pid: child.pid, done };
}

/** Runs the bundle once, as the runner would. */
export function runStep(step: Step): Promise<StepResult> {
  return startStep(step).done;
}

/** The entries of a file-command file: `name<<delimiter`, the value's lines, the delimiter; or `name=value`. */
export function readOutputs(text: string): ReadonlyMap<string, string> {
  const outputs = new Map<string, string>();
  const lines = text.split('\n');
  for (let at = 0; at < lines.length; at++) {
    const [, name, delimiter] = /^([^=]+?)<<(.+)$/u.exec(lines[at] ?? '') ?? [];
    if (name === undefined || delimiter === undefined) {
      const [, plain, value] = /^([^=]+)=(.*)$/u.exec(lines[at] ?? '') ?? [];
      if (plain !== undefined && value !== undefined) outputs.set(plain, value);
      continue;
    }
    const end = lines.indexOf(delimiter, at + 1);
    if (end === -1) throw new Error(`The output ${name} has no end.`);
    outputs.set(name, lines.slice(at + 1, end).join('\n'));
    at = end;
  }
  return outputs;
}

type Files = ReturnType<typeof createFiles>;

function createFiles(folder: string) {
  const commands = path.join(folder, 'temp', '_runner_file_commands');
  mkdirSync(commands, { recursive: true });
  const file = (name: string, text = '') => {
    const target = path.join(commands, name);
    writeFileSync(target, text);
    return target;
  };
  return {
    temp: path.join(folder, 'temp'),
    output: file('set_output'),
    summary: file('step_summary'),
    environment: file('set_env'),
    path: file('add_path'),
    state: file('save_state'),
    event: file('event.json', '{}'),
  };
}

function stepEnvironment(step: Step, files: Files): Record<string, string> {
  const inputs = Object.entries(step.inputs).map(
    ([name, value]) => [`INPUT_${name.toUpperCase()}`, value] as const,
  );
  const node = path.dirname(process.execPath);
  return {
    PATH: `${node}${path.delimiter}${step.environment['PATH'] ?? ''}`,
    HOME: step.environment['HOME'] ?? files.temp,
    LANG: 'C.UTF-8',
    CI: 'true',
    GITHUB_ACTIONS: 'true',
    GITHUB_WORKSPACE: step.workspace,
    GITHUB_REPOSITORY: 'example/cart',
    GITHUB_SHA: step.sha,
    GITHUB_REF: 'refs/heads/main',
    GITHUB_EVENT_NAME: 'push',
    GITHUB_EVENT_PATH: files.event,
    GITHUB_SERVER_URL: 'https://github.com',
    GITHUB_RUN_ID: '1',
    GITHUB_RUN_ATTEMPT: '1',
    GITHUB_WORKFLOW: 'demo',
    GITHUB_JOB: 'verdict',
    GITHUB_ACTION: 'review',
    GITHUB_OUTPUT: files.output,
    GITHUB_STEP_SUMMARY: files.summary,
    GITHUB_ENV: files.environment,
    GITHUB_PATH: files.path,
    GITHUB_STATE: files.state,
    RUNNER_TEMP: files.temp,
    RUNNER_OS: process.platform === 'darwin' ? 'macOS' : process.platform === 'win32' ? 'Windows' : 'Linux',
    ...step.extra,
    ...Object.fromEntries(inputs),
  };
}
