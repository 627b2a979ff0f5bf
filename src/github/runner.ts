/** The file-command files of a step. */
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';

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

/** Saves the current content of files; the returned function gives it back to them, whatever is there by then. */
export function keepFiles(files: readonly string[]): () => void {
  const kept = files.filter(isFile).map((file) => [file, readFileSync(file)] as const);
  return () => {
    for (const [file, bytes] of kept) {
      rmSync(file, { recursive: true, force: true });
      writeFileSync(file, bytes);
    }
  };
}

function isFile(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isFile() === true;
}
