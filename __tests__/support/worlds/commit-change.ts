/** A repository with a change. */
import { gitIn } from '../../sandbox/world.ts';
import { putFiles } from '../local.ts';

/**
 * Makes a folder a repository with a branch `main` of some files, and one with a commit on top of it that changes them.
 * @param after texts by path; null removes the file.
 */
export function commitChange(
  folder: string,
  before: Readonly<Record<string, string | Buffer>>,
  after: Readonly<Record<string, string | Buffer | null>>,
): { readonly before: string; readonly after: string } {
  const git = (...args: readonly string[]) => gitIn(folder, ...args);
  const write = (files: Readonly<Record<string, string | Buffer | null>>) => {
    for (const [name, text] of Object.entries(files)) {
      if (text === null) git('rm', '-q', name);
      else putFiles(folder, { [name]: text });
    }
    git('add', '-A');
    git('commit', '-q', '--allow-empty', '-m', 'more');
    return git('rev-parse', 'HEAD');
  };
  git('init', '-q', '-b', 'main');
  const first = write(before);
  git('checkout', '-q', '-b', 'topic');
  return { before: first, after: write(after) };
}
