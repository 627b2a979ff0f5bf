/** Checkouts as created by actions/checkout. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { gitIn } from '../../sandbox/world.ts';

const kept = mkdtempSync(path.join(os.tmpdir(), 'checkout-'));
process.on('exit', () => rmSync(kept, { recursive: true, force: true }));
/** The commits of a pull request: its base, its head, and GitHub's merge commit. */
export const COMMITS = makeCommits();

function makeCommits() {
  const git = (...args: readonly string[]) => gitIn(kept, ...args);
  const commit = (text: string) => {
    git('commit', '-q', '--allow-empty', '-m', text);
    return git('rev-parse', 'HEAD');
  };
  git('init', '-q', '-b', 'main', '--template=');
  const base = commit('base');
  git('checkout', '-q', '-b', 'topic');
  const head = commit('head');
  git('checkout', '-q', '--detach', 'main');
  git('merge', '-q', '--no-ff', '-m', 'merge', 'topic');
  return { base, head, merge: git('rev-parse', 'HEAD') };
}

/** Creates a checkout of one of the commits with a detached HEAD. */
export function checkOut(folder: string, commit: string): void {
  cpSync(path.join(kept, '.git'), path.join(folder, '.git'), { recursive: true });
  gitIn(folder, 'checkout', '-q', '--detach', commit);
}
