/** What lies in a git folder and is not git's own: keys, tokens, helpers' stores. Commands do not get to see it. */
import { lstat, realpath } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { readBoundedText } from '../../files/read-bounded.ts';
import { includedPaths } from './git-config.ts';
import { isInside } from './path-policy.ts';

/** A file or a folder that is hidden. */
export interface HiddenEntry {
  readonly path: string;
  readonly kind: 'file' | 'directory';
}

/** What a look into a folder says of one name. */
export interface NamedEntry {
  readonly name: string;
  isFile(): boolean;
  isDirectory(): boolean;
}

/** The longest config that is read, in bytes. */
export const MAX_CONFIG_BYTES = 1024 * 1024;
/** So many configs are followed at most; git itself stops at ten that include each other. */
const MAX_INCLUDES = 100;

/** Files that git keeps right in its folder (gitrepository-layout(5)), and what it leaves there while it merges or bisects. */
const OWN_FILES =
  /^(?:config|config\.worktree|index|packed-refs|shallow|description|commondir|gitdir|locked|gc\.log|sharedindex\.[0-9a-f]+|HEAD|[A-Z_]+_(?:HEAD|MSG|EDITMSG)|MERGE_(?:MODE|RR)|AUTO_MERGE|BISECT_(?:LOG|NAMES|START|TERMS|RUN|EXPECTED_REV|ANCESTORS_OK))$/u;
/** Folders of git, of git-lfs and of git-annex. */
const OWN_FOLDERS = new Set(
  `objects refs reftable logs info hooks branches remotes modules worktrees rr-cache rebase-apply rebase-merge sequencer
  lfs annex`.split(/\s+/u),
);
/** The files that links in the working tree lead to; beside them git-annex keeps credentials. */
const ANNEX_OWN = new Set(['objects']);

/** What is in a git folder and is not git's own, by its names alone: an allow-list, since tools keep keys in any file there. */
export function findForeign(
  folder: string,
  entries: readonly NamedEntry[],
  annex: readonly NamedEntry[],
): readonly HiddenEntry[] {
  return [
    ...foreignOf(folder, entries, (entry) =>
      entry.isDirectory() ? OWN_FOLDERS.has(entry.name) : OWN_FILES.test(entry.name),
    ),
    ...foreignOf(join(folder, 'annex'), annex, (entry) => ANNEX_OWN.has(entry.name)),
  ];
}

function foreignOf(
  folder: string,
  entries: readonly NamedEntry[],
  isOwn: (entry: NamedEntry) => boolean,
): readonly HiddenEntry[] {
  return entries
    .filter((entry) => !isOwn(entry))
    .flatMap((entry): readonly HiddenEntry[] => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return [{ path, kind: 'directory' }];
      // Nothing can be mounted over a link, and what it leads to lies elsewhere.
      return entry.isFile() ? [{ path, kind: 'file' }] : [];
    });
}

/** The files within these git folders that their configs include, directly or by way of another one. */
export async function findIncluded(
  configs: readonly string[],
  gitFolders: readonly string[],
): Promise<readonly HiddenEntry[]> {
  const found = new Set<string>();
  const queue = [...configs];
  for (const config of queue) {
    const text = readBoundedText(config, MAX_CONFIG_BYTES) ?? '';
    for (const included of includedPaths(text)) {
      const path = await plainFile(resolve(config, '..', included), gitFolders);
      if (path === null || found.has(path) || configs.includes(path)) continue;
      if (found.size === MAX_INCLUDES) return hiddenFiles(found);
      found.add(path);
      queue.push(path);
    }
  }
  return hiddenFiles(found);
}

function hiddenFiles(paths: ReadonlySet<string>): readonly HiddenEntry[] {
  return [...paths].map((path) => ({ path, kind: 'file' }));
}

/** The real path of a regular file in one of the folders; null for everything else. */
async function plainFile(path: string, folders: readonly string[]): Promise<string | null> {
  try {
    const real = await realpath(path);
    const isWithin = folders.some((folder) => isInside(real, folder));
    return isWithin && (await lstat(real)).isFile() ? real : null;
  } catch {
    return null;
  }
}
