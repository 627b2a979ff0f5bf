/** Checkouts as actions/checkout leaves them, with commits that have the same names on every machine. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const ENVIRONMENT = {
  ...process.env,
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_DATE: '2026-01-01T00:00:00Z',
  GIT_COMMITTER_DATE: '2026-01-01T00:00:00Z',
};

/** Git in a folder, without the machine's own settings. */
export function gitIn(cwd: string) {
  const identity = ['-c', 'user.name=x', '-c', 'user.email=x@example.com'];
  return (...args: readonly string[]) =>
    execFileSync('git', [...identity, ...args], {
      cwd,
      encoding: 'utf8',
      env: ENVIRONMENT,
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
}

/** The commits of a pull request: its base, what was its head before, its head, and GitHub's merge of the head. */
export interface Commits {
  readonly base: string;
  readonly older: string;
  readonly head: string;
  readonly merge: string;
}

/** Makes them in a new repository. */
export function makeCommits(root: string): Commits {
  mkdirSync(root, { recursive: true });
  const git = gitIn(root);
  const commit = (text: string) => {
    git('commit', '-q', '--allow-empty', '-m', text);
    return git('rev-parse', 'HEAD');
  };
  git('init', '-q', '-b', 'main');
  const base = commit('base');
  git('checkout', '-q', '-b', 'topic');
  const older = commit('older');
  const head = commit('head');
  git('checkout', '-q', '--detach', 'main');
  git('merge', '-q', '--no-ff', '-m', 'merge', 'topic');
  return { base, older, head, merge: git('rev-parse', 'HEAD') };
}

const kept = mkdtempSync(path.join(os.tmpdir(), 'checkout-'));
process.on('exit', () => rmSync(kept, { recursive: true, force: true }));
/** The commits that `checkOut` knows. */
export const COMMITS: Commits = makeCommits(kept);

/** Puts a checkout of one of the commits into a folder, on no branch. */
export function checkOut(folder: string, commit: string): void {
  cpSync(path.join(kept, '.git'), path.join(folder, '.git'), { recursive: true });
  gitIn(folder)('checkout', '-q', '--detach', commit);
}
