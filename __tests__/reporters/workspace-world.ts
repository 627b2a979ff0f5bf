/** Workspaces on the disk, as checkouts leave them. */
import { mkdtempSync } from 'node:fs';
import path from 'node:path';
import { putFiles } from '../support/local.ts';
import { makeFolder } from '../support/surroundings.ts';

export type Workspace = ReturnType<ReturnType<typeof workspaces>>;

/** Gives a function that makes folders in which files and checkouts can be made. */
export function workspaces() {
  const folders = makeFolder();
  return () => {
    const root = mkdtempSync(path.join(folders, 'workspace-'));
    /** Writes a file, with two lines unless a text is given, and returns its path. */
    const write = (file: string, text = 'one\ntwo\n') => path.join(putFiles(root, { [file]: text }), file);
    /** Makes folders the roots of repositories. */
    const checkout = (...names: readonly string[]) => {
      for (const name of names) write(path.join(name, '.git/HEAD'), 'ref: refs/heads/main\n');
    };
    return { root, write, checkout };
  };
}
