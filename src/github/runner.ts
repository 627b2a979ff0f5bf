/** What the runner provides to a step besides its inputs: file-command files, and secrets in the environment. */
import { rmSync, statSync, writeFileSync } from 'node:fs';
import { InputError } from '../errors.ts';
import { readBounded } from '../files/read-bounded.ts';

/** Bytes of a file of the runner that is kept; the runner itself accepts 1 MiB per step. */
const MAX_RUNNER_FILE = 64 * 1024 ** 2;

type Environment = Readonly<Record<string, string | undefined>>;

/** The files through which this step communicates with the runner. */
export interface RunnerFiles {
  /** File for step outputs; null if not set by the runner. */
  readonly output: string | null;
  /** File for the job summary; null if not set by the runner. */
  readonly summary: string | null;
  /** All file-command files of this step; only this process may write to them while the agent runs. */
  readonly all: readonly string[];
}

/** Reads the runner's `GITHUB_*` file variables. */
export function findRunnerFiles(environment: Environment): RunnerFiles {
  const file = (name: string): string | null => environment[name] || null;
  const output = file('GITHUB_OUTPUT');
  const summary = file('GITHUB_STEP_SUMMARY');
  const all = [output, summary, file('GITHUB_ENV'), file('GITHUB_PATH'), file('GITHUB_STATE')];
  return { output, summary, all: all.filter((each) => each !== null) };
}

/**
 * Checks the file for step outputs before a model is called: a verdict that cannot be passed on is useless.
 * @throws InputError if the variable is not set or does not name a regular file.
 */
export function requireOutputFile(files: RunnerFiles): void {
  if (files.output !== null && statSync(files.output, { throwIfNoEntry: false })?.isFile()) return;
  const why = 'GITHUB_OUTPUT does not name a regular file, so the outputs have nowhere to go.';
  throw new InputError(null, `${why} Run this as a step of a workflow.`);
}

/** Saves the current content of files; the returned function restores files that have changed. */
export function keepFiles(files: readonly string[]): () => void {
  const kept = files.map((file) => [file, readOrNull(file)] as const);
  return () => {
    for (const [file, bytes] of kept) {
      if (bytes === null || readOrNull(file)?.equals(bytes) === true) continue;
      rmSync(file, { recursive: true, force: true });
      writeFileSync(file, bytes);
    }
  };
}

function readOrNull(file: string): Buffer | null {
  const read = readBounded(file, { maxBytes: MAX_RUNNER_FILE, links: 'follow' });
  return read.ok ? read.bytes : null;
}

/** Environment variables that usually contain keys and tokens, whichever provider is used. */
const SECRET_VARIABLES =
  /^(?:INPUT_API-KEY|INPUT_GITHUB-TOKEN|INPUT_SIGNING-KEY|[A-Z0-9_]*_API_KEY|ACTIONS_RUNTIME_TOKEN|ACTIONS_ID_TOKEN_REQUEST_TOKEN|(?:GITHUB|GH)_TOKEN|ANTHROPIC_AUTH_TOKEN|AWS_SECRET_ACCESS_KEY|AWS_SESSION_TOKEN|NODE_AUTH_TOKEN|NPM_TOKEN)$/iu;

/** Returns environment values that must be masked everywhere; those of headers even if the input is invalid. */
export function findSecrets(environment: Environment): readonly string[] {
  const values = Object.entries(environment).flatMap(([name, value = '']) => {
    if (SECRET_VARIABLES.test(name)) return [value, value.trim()];
    return name.toUpperCase() === 'INPUT_HEADERS' ? value.split(/[\r\n]+/u).flatMap(headerSecrets) : [];
  });
  return [...new Set(values)].filter((value) => value !== '');
}

/**
 * Returns the value of a header line, and the credentials after its scheme, as in `Bearer x`. Short words and URLs without
 * a query are not secrets (`x-provider: openai`, `HTTP-Referer: https://…`): to mask them would damage messages.
 */
function headerSecrets(line: string): readonly string[] {
  const value = line
    .trim()
    .replace(/^[^:]+:/u, '')
    .trim();
  const isPlain = /^(?:[a-z]{1,12}|https?:[^?@\s]*)$/iu;
  return [value, value.replace(/^\S+\s+/u, '')].filter((text) => !isPlain.test(text));
}
