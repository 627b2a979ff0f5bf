/** Workspaces on the disk, as checkouts leave them. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach } from 'vitest';
import { createLocator } from '../../src/reporters/source-locations.ts';

/** A folder in which files and checkouts can be made. */
export interface Workspace {
  readonly root: string;
  write(file: string, text: string): string;
  /** Makes a directory a checkout whose `origin` is the given URL; without one it has no remote. */
  checkout(folder: string, url?: string): void;
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
    const write = (file: string, text: string) => {
      const full = path.join(root, file);
      mkdirSync(path.dirname(full), { recursive: true });
      writeFileSync(full, text);
      return full;
    };
    return {
      root,
      write,
      checkout(folder, url) {
        write(path.join(folder, '.git/HEAD'), 'ref: refs/heads/main\n');
        const remote = url === undefined ? '' : `[remote "origin"]\n\turl = ${url}\n\tfetch = +refs/*\n`;
        write(path.join(folder, '.git/config'), `[core]\n\tbare = false\n${remote}`);
      },
    };
  };
}

/** The working directory of the agent and the names of the repository. */
interface LocatorOptions {
  readonly from?: string;
  readonly names?: readonly string[];
  readonly changed?: ReadonlySet<string>;
}

/** Resolves locations in a workspace, by path and numbers. */
export function locator(
  { root }: Workspace,
  { from = '.', names = ['octo/demo'], changed }: LocatorOptions = {},
) {
  const options = { workspace: root, workingDirectory: from, repositories: names };
  const locate = createLocator(changed === undefined ? options : { ...options, changed });
  return (
    written: string,
    line: number | null = null,
    endLine: number | null = null,
    column: number | null = null,
  ) => locate({ path: written, line, endLine, column });
}
