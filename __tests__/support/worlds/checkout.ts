/** Checkouts as created by actions/checkout, with the same commit ids on every machine. */
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

/** Runs git in a directory without the settings of the machine. */
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

/** The commits of a pull request: its base, its previous head, its head, and GitHub's merge commit. */
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

/** Creates a checkout of one of the commits with a detached HEAD. */
export function checkOut(folder: string, commit: string): void {
  cpSync(path.join(kept, '.git'), path.join(folder, '.git'), { recursive: true });
  gitIn(folder)('checkout', '-q', '--detach', commit);
}
