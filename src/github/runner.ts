/** The file-command files of a step. */
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns the files through which this step communicates with the runner: those for outputs and the summary, which are
 * null if the runner does not set them, and all of them. Only this process may write to them while the agent runs.
 */
export function findRunnerFiles(environment: Environment) {
  const file = (name: string): string | null => environment[name] || null;
  const output = file('GITHUB_OUTPUT');
  const summary = file('GITHUB_STEP_SUMMARY');
  const all = [output, summary, file('GITHUB_ENV'), file('GITHUB_PATH'), file('GITHUB_STATE')];
  return { output, summary, all: all.filter((each) => each !== null) };
}

/** Saves the current content of files; the returned function gives it back to them, whatever is there by then. */
export function keepFiles(files: readonly string[]): () => void {
  const existing = files.filter((file) => statSync(file, { throwIfNoEntry: false })?.isFile());
  const kept = existing.map((file) => [file, readFileSync(file)] as const);
  return () => {
    for (const [file, bytes] of kept) {
      rmSync(file, { recursive: true, force: true });
      writeFileSync(file, bytes);
    }
  };
}
