/** Workspaces on the disk, as checkouts leave them. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach } from 'vitest';

/** A folder in which files and checkouts can be made. */
export interface Workspace {
  readonly root: string;
  /** Writes a file, with two lines unless a text is given, and returns its path. */
  write(file: string, text?: string): string;
  /** Makes folders the roots of repositories. */
  checkout(...folders: readonly string[]): void;
}

/** Gives a function that makes workspaces; they are removed after each test. */
export function workspaces(): () => Workspace {
  const made: string[] = [];
  afterEach(() => {
    for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
  });
  return () => {
    const root = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'places-')));
    made.push(root);
    const write = (file: string, text = 'one\ntwo\n') => {
      const full = path.join(root, file);
      mkdirSync(path.dirname(full), { recursive: true });
      writeFileSync(full, text);
      return full;
    };
    return {
      root,
      write,
      checkout(...folders) {
        for (const folder of folders) write(path.join(folder, '.git/HEAD'), 'ref: refs/heads/main\n');
      },
    };
  };
}
