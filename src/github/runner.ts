/** What the runner gives a step beside its inputs: file-command files and secrets in the environment. */
import { rmSync, statSync, writeFileSync } from 'node:fs';
import { InputError } from '../errors.ts';
import { readBounded } from '../files/read-bounded.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The files through which this step talks to the runner. */
export interface RunnerFiles {
  /** Step outputs; null where the runner named none. */
  readonly output: string | null;
  /** The job summary; null where the runner named none. */
  readonly summary: string | null;
  /** All of this step's file-command files: nobody but us may write them while the agent runs. */
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
 * The file for the step outputs, before a model is asked: a verdict that cannot be handed on is worth nothing.
 * @throws InputError when the runner gave none, or what it gave is no file.
 */
export function requireOutputFile(files: RunnerFiles): void {
  if (files.output === null) {
    throw new InputError(
      null,
      'GITHUB_OUTPUT is not set, so the outputs have nowhere to go. Run this as a step of a workflow.',
    );
  }
  if (!statSync(files.output, { throwIfNoEntry: false })?.isFile()) {
    throw new InputError(
      null,
      'The file that GITHUB_OUTPUT names is no regular file, so the outputs have nowhere to go.',
    );
  }
}

/** The runner itself takes 1 MiB of a step. */
const MAX_KEPT_BYTES = 64 * 1024 ** 2;

/** Remembers what is in files now; the function that it returns puts it back where it has changed. */
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
  const read = readBounded(file, { maxBytes: MAX_KEPT_BYTES, links: 'follow' });
  return read.ok ? read.bytes : null;
}

/** Variables that hold keys and tokens by their usual names, whichever provider is chosen. */
const SECRET_VARIABLES =
  /^(?:INPUT_API-KEY|INPUT_GITHUB-TOKEN|INPUT_SIGNING-KEY|[A-Z0-9_]*_API_KEY|ACTIONS_RUNTIME_TOKEN|ACTIONS_ID_TOKEN_REQUEST_TOKEN|(?:GITHUB|GH)_TOKEN|ANTHROPIC_AUTH_TOKEN|AWS_SECRET_ACCESS_KEY|AWS_SESSION_TOKEN|NODE_AUTH_TOKEN|NPM_TOKEN)$/iu;

/** Values of the environment that must be masked wherever they turn up; those of headers even where the input is wrong. */
export function findSecrets(environment: Environment): readonly string[] {
  const values = Object.entries(environment)
    .filter(([name]) => SECRET_VARIABLES.test(name))
    .flatMap(([, value = '']) => [value, value.trim()]);
  const headers = Object.entries(environment)
    .filter(([name]) => name.toUpperCase() === 'INPUT_HEADERS')
    .flatMap(([, value = '']) => value.split(/[\r\n]+/u).flatMap(headerSecrets));
  return [...new Set([...values, ...headers])].filter((value) => value !== '');
}

/** The value in a line of headers, and what comes behind its scheme, as in `Bearer x`; all of a line that has no name. */
function headerSecrets(line: string): readonly string[] {
  const value = (/^[^:]+:(.*)$/u.exec(line.trim())?.[1] ?? line).trim();
  const credentials = /^[A-Za-z][\w-]*\s+(\S.*)$/u.exec(value)?.[1] ?? '';
  return [value, credentials].filter((text) => !isPlain(text));
}

/**
 * A short word or the address of a page (`x-provider: openai`, `HTTP-Referer: https://…`) is no secret: masked, it would
 * put holes into sentences, drop job outputs and keep payloads that name it from being published.
 */
function isPlain(text: string): boolean {
  if (/^[a-z]{1,12}$/iu.test(text)) return true;
  return URL.canParse(text) && /^https?:$/u.test(new URL(text).protocol) && new URL(text).search === '';
}
