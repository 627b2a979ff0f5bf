/**
 * What of this machine a command must not see. Behind the wall it runs as the runner's own user, so that the permissions
 * of files hold nothing back from it: what only that user may read has to be hidden by its place.
 */

import { readdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { SandboxError } from '../../errors.ts';
import { quote } from '../../text/messages.ts';
import { pathFolders, toolFolders } from '../exec/environment.ts';
import type { SandboxOptions } from '../sandbox.ts';
import { isInside } from '../workspace/path-policy.ts';
import { realOrSame } from '../workspace/real-paths.ts';
import { agentOf } from './detect.ts';
import { findPrivatePaths, type Reader } from './private-paths.ts';
import { findRunnerFolders } from './runner-folders.ts';

/** Real paths that are not seen, but for what is shown in them on purpose. */
export interface HiddenPaths {
  /** Folders that are empty behind the wall. */
  readonly folders: readonly string[];
  /** Those of `folders` that belong to a runner. */
  readonly runners: readonly string[];
  /** Files that other users may not read, in folders that stay visible; any of them may go away. */
  readonly privateFiles: readonly string[];
  /** Whether the search for what other users may not read or enter came to its end. */
  readonly complete: boolean;
}

/** What is hidden where there is no wall. */
export const NOTHING_HIDDEN: HiddenPaths = {
  folders: [],
  runners: [],
  privateFiles: [],
  complete: true,
};

/** Folders of the system that hold the files of its users and services, or other file systems. */
const HIDDEN_SYSTEM_FOLDERS = `/run /home /root /srv /mnt /media /var/tmp /var/log /var/spool /var/mail
  /var/crash`.split(/\s+/u);
/** Folders below the root that the system or a package manager made, and that programs need. */
const SYSTEM_NAMES = new Set(
  'bin boot dev etc gnu home lib lib32 lib64 libx32 lost+found nix opt proc root run sbin snap sys tmp usr var'.split(
    ' ',
  ),
);
/** Which of them may hold private files of a user that is not root. */
const SEARCHED_NAMES = new Set(['boot', 'etc', 'lost+found', 'opt', 'var']);
/** Never hidden whole, whatever lies there. */
const ALWAYS_SEEN = new Set([
  '/',
  '/tmp',
  '/usr',
  '/usr/bin',
  '/usr/lib',
  '/usr/local',
  '/etc',
  '/var',
  '/var/lib',
]);

/** The most private paths that are closed one by one: each costs every command half a millisecond. */
const MAX_PRIVATE = 200;
/** A folder with more private paths than this is hidden. */
const MAX_IN_FOLDER = 20;

/**
 * Looks at the machine.
 * @throws SandboxError where there is too much to hide.
 */
export async function findHiddenPaths(options: SandboxOptions, signal: AbortSignal): Promise<HiddenPaths> {
  const { workspace, environment } = options;
  const path = pathFolders(environment['PATH']);
  const tools = toolFolders(environment);
  const [home, temp] = [await realOrSame(options.home), await realOrSame(options.runnerTemp)];
  const runners = (await findRunnerFolders(options)).filter((folder) => canHide(folder));
  if (options.platform !== 'linux') return { ...NOTHING_HIDDEN, folders: runners, runners };
  const top = await readTop(path, tools);
  const folders = [
    ...(await existing([home, temp, ...runners])),
    ...(await withContent(await existing(HIDDEN_SYSTEM_FOLDERS))),
    // Not looked at: one may be a file system of a server that does not answer.
    ...top.unknown,
  ];
  const found = await findPrivatePaths({
    starts: await Promise.all([...top.searched, '/usr/local'].map(realOrSame)),
    skipped: [...folders, workspace, options.runFolder, ...options.readable],
    reader: await readerOf(workspace),
    signal,
  });
  const crowded = findCrowded([...found.files, ...found.folders]);
  const isApartOf = (holders: readonly string[]) => (one: string) =>
    !holders.some((folder) => isInside(one, folder));
  const apart = found.folders.filter((one) => isApartOf(crowded)(one) && !tools.includes(one));
  const closed = [...folders, ...crowded, ...apart];
  const holders = [...crowded, ...(await findHolders(found.files, closed))];
  const privateFiles = found.files.filter(isApartOf(holders));
  const privateFolders = apart.filter(isApartOf(holders));
  const [example] = [...privateFiles, ...privateFolders];
  const count = privateFiles.length + privateFolders.length;
  if (example !== undefined && count > MAX_PRIVATE) {
    throw new SandboxError(
      `${count} files and folders outside the home folders can be read by the user of this step and not by every user (${quote(example)} is one): too many to close them to the agent. Run the step as a user that owns no such files.`,
    );
  }
  return {
    folders: [...new Set([...folders, ...holders, ...privateFolders])],
    runners,
    privateFiles,
    complete: found.complete,
  };
}

/** As root, or by its hand, commands keep none of this process's other groups; else they keep all. */
async function readerOf(workspace: string): Promise<Reader> {
  const { uid, gid } = await agentOf(workspace);
  return {
    uid,
    gids: [...new Set([gid, ...(uid === process.getuid?.() ? (process.getgroups?.() ?? []) : [])])],
  };
}

/** The folders right below the root that are nobody's known, and what below the root is looked into. */
async function readTop(
  path: readonly string[],
  tools: readonly string[],
): Promise<{ readonly unknown: readonly string[]; readonly searched: readonly string[] }> {
  const toolchains = [
    ...tools,
    ...path.filter((folder) => /^(?:bin|sbin|shims)$/u.test(basename(folder))).map(dirname),
  ];
  const unknown: string[] = [];
  const searched: string[] = [];
  for (const entry of await readdir('/', { withFileTypes: true })) {
    const at = join('/', entry.name);
    if (entry.isFile() || SEARCHED_NAMES.has(entry.name)) searched.push(at);
    else if (!entry.isDirectory() || SYSTEM_NAMES.has(entry.name)) continue;
    else if (toolchains.includes(at)) searched.push(at);
    else unknown.push(at);
  }
  return { unknown, searched };
}

/** The folders that hold many of these paths, where they lie deep enough to be somebody's own: they are hidden whole. */
function findCrowded(paths: readonly string[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const path of paths) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
  const crowded = [...counts].filter(([, count]) => count > MAX_IN_FOLDER).map(([folder]) => folder);
  return crowded.filter((folder) => canHide(folder) && folder.split('/').length > 3);
}

/**
 * The folders in which all that lies is hidden: no command needs them, and hidden whole they hide what is made in them
 * later, or goes away and comes back while the mounts are made.
 */
async function findHolders(files: readonly string[], folders: readonly string[]): Promise<readonly string[]> {
  const closed = new Set([...files, ...folders]);
  const queue = [...closed];
  /** What of a folder is not known to be hidden. */
  const open = new Map<string, Set<string>>();
  const holders: string[] = [];
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    const folder = dirname(path);
    if (closed.has(folder) || !canHide(folder)) continue;
    const names = open.get(folder) ?? new Set(await readdir(folder).catch(() => ['']));
    open.set(folder, names);
    names.delete(basename(path));
    if (names.size > 0) continue;
    holders.push(folder);
    closed.add(folder);
    queue.push(folder);
  }
  return holders;
}

function canHide(folder: string): boolean {
  return (
    !ALWAYS_SEEN.has(folder) && !['/etc/', '/usr/bin/', '/usr/lib/'].some((root) => folder.startsWith(root))
  );
}

async function existing(paths: readonly string[]): Promise<readonly string[]> {
  const found = new Set<string>();
  for (const path of paths) {
    try {
      if ((await stat(path)).isDirectory()) found.add(await realpath(path));
    } catch {
      // Not on this machine.
    }
  }
  return [...found];
}

/** Without those that are empty, and that root alone could fill: each mount costs every command some of a millisecond. */
async function withContent(folders: readonly string[]): Promise<readonly string[]> {
  const filled: string[] = [];
  for (const folder of folders) {
    const { uid, mode } = await stat(folder);
    const names = await readdir(folder).catch(() => ['unknown']);
    if (names.length > 0 || uid !== 0 || (mode & 0o022) !== 0) filled.push(folder);
  }
  return filled;
}
