/**
 * What of this machine a command must not see. In the sandbox it runs as the runner's own user, so that the permissions
 * of files hold nothing back from it: what only that user may read has to be hidden by its place.
 */
import { spawn } from 'node:child_process';
import { lstat, readdir, readlink, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { SandboxError } from '../../errors.ts';
import { readBoundedText } from '../../files/read-bounded.ts';
import { quote } from '../../text/messages.ts';
import { pathFolders, toolFolders } from '../exec/environment.ts';
import { findHelper } from '../exec/host-program.ts';
import type { SandboxOptions } from '../sandbox.ts';
import { exists, isInside, realOrNull, realOrSame } from '../workspace/path-policy.ts';
import { agentOf } from './detect.ts';
import { listProcesses } from './host.ts';

/** Real paths that are not seen, but for what is shown in them on purpose. */
export interface HiddenPaths {
  /** Folders that are empty in the sandbox. */
  readonly folders: readonly string[];
  /** Those of `folders` that belong to a runner. */
  readonly runners: readonly string[];
  /** Files that other users may not read, in folders that stay visible; any of them may go away. */
  readonly privateFiles: readonly string[];
  /** Whether the search for what other users may not read or enter came to its end. */
  readonly complete: boolean;
}

/** What is hidden where there is no sandbox. */
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

/** What a runner's root folder holds: its registration, its key, its program. */
const MARKERS = ['.runner', '.credentials', '.credentials_rsaparams', 'bin/Runner.Listener'];
const RUNNER_PROGRAMS = new Set(['Runner.Listener', 'Runner.Worker']);
/** Variables of a job that name a folder below the runner's root or its work folder. */
const VARIABLES = ['RUNNER_TOOL_CACHE', 'RUNNER_WORKSPACE', 'GITHUB_ACTION_PATH'];

/**
 * The real paths of the roots and work folders of the runner that runs this job, and of the others whose processes this
 * user can see: their keys, their logs, and the checkouts of their jobs belong to the user that the agent's commands run as.
 */
async function findRunnerFolders({
  workspace,
  runnerTemp,
  environment,
}: SandboxOptions): Promise<readonly string[]> {
  const named = [runnerTemp, ...VARIABLES.map((name) => environment[name])];
  const starts = [...named, process.execPath, process.argv[1], ...(await runningPrograms())];
  const roots = new Set<string>();
  for (const start of [workspace, ...starts]) {
    const real = start === undefined || start === '' ? null : await realOrNull(start);
    if (real === null) continue;
    // Inside the workspace anybody may have put a file of such a name.
    for (const root of await rootsAbove(isInside(real, workspace) ? dirname(workspace) : real))
      roots.add(root);
  }
  const works = [...roots].map(workFolderOf);
  const temp = await realOrNull(runnerTemp);
  if (temp !== null && basename(temp) === '_temp') works.push(dirname(temp));
  const runnerWorkspace = environment['RUNNER_WORKSPACE'];
  if (runnerWorkspace !== undefined && runnerWorkspace !== '') works.push(dirname(runnerWorkspace));
  const real = await Promise.all(works.map((work) => (work === null ? null : realOrNull(work))));
  return [...new Set([...roots, ...real.filter((work) => work !== null)])];
}

/** The programs of runners that run now, as far as this user can see them: each runner of a machine has a root of its own. */
async function runningPrograms(): Promise<readonly string[]> {
  const programs = await Promise.all(
    (await listProcesses()).map((pid) => readlink(`/proc/${pid}/exe`).catch(() => '')),
  );
  return programs.filter((program) => RUNNER_PROGRAMS.has(basename(program)));
}

async function rootsAbove(path: string): Promise<readonly string[]> {
  const roots: string[] = [];
  for (let at = path; ; at = dirname(at)) {
    const marks = await Promise.all(MARKERS.map((name) => exists(join(at, name))));
    if (marks.includes(true)) roots.push(at);
    if (at === dirname(at)) return roots;
  }
}

/** The folder that the runner is configured to work in (`--work`), which may lie anywhere; null where it does not say. */
function workFolderOf(root: string): string | null {
  const text = readBoundedText(join(root, '.runner'), 65_536) ?? '';
  const literal = /"workFolder"\s*:\s*("(?:[^"\\]|\\.)*")/u.exec(text)?.[1];
  if (literal === undefined) return null;
  try {
    return resolve(root, String(JSON.parse(literal)));
  } catch {
    return null;
  }
}

/** Who would read the files. */
interface Reader {
  readonly uid: number;
  /** The primary group first. */
  readonly gids: readonly number[];
}

/** Where is looked. */
interface PrivateSearch {
  readonly starts: readonly string[];
  /** Not looked into. */
  readonly skipped: readonly string[];
  readonly reader: Reader;
  /** Ends the search: what was found until then is incomplete. */
  readonly signal: AbortSignal;
}

/** What was found, real paths. */
interface PrivatePaths {
  readonly folders: readonly string[];
  readonly files: readonly string[];
  /** Whether the search came to its end. */
  readonly complete: boolean;
}

/** How many folders deep is looked: `/opt/a/b/c/d/file` is still found. */
export const SEARCH_DEPTH = 5;
const SEARCH_MS = 10_000;
/** How deep in the folder of a toolchain: `.tool/a/b/file` is still found. */
const TOOLCHAIN_DEPTH = 3;
const TOOLCHAIN_SEARCH_MS = 5_000;
const MAX_BYTES = 1024 ** 2;

/** Looks with the system's own `find`, which needs a tenth of a second where Node would need many. */
export async function findPrivatePaths({
  starts,
  skipped,
  reader,
  signal,
}: PrivateSearch): Promise<PrivatePaths> {
  const find = await findHelper(['find']);
  if (find === null) return { folders: [], files: [], complete: false };
  const owners = [`-user ${reader.uid}`, ...reader.gids.map((gid) => `-group ${gid}`)]
    .join(' -o ')
    .split(' ');
  const args = [
    ...starts,
    ...['-maxdepth', String(SEARCH_DEPTH)],
    ...pruned(skipped),
    // Bit 1: others may enter a folder. Who may not enter one cannot reach what is in it, and mounts nothing there.
    ...['-type', 'd', '!', '-perm', '-1', '-prune', '(', ...owners, ')', '-print0', '-o'],
    // Bit 4: others may read a file.
    ...['(', '-type', 'p', '-o', '-type', 'f', '-size', '+0c', ')', '!', '-perm', '-4'],
    ...['(', ...owners, ')', '-print0'],
  ];
  const { text, complete } = await run(find, args, SEARCH_MS, signal);
  const folders: string[] = [];
  const files: string[] = [];
  for (const path of text.split('\0').slice(0, -1)) {
    const stats = await lstat(path).catch(() => null);
    if (stats !== null) (stats.isDirectory() ? folders : files).push(path);
  }
  return { folders, files, complete };
}

/** Where is looked for files of one user's alone. */
interface OwnerOnlySearch extends Omit<PrivateSearch, 'starts' | 'reader'> {
  readonly folders: readonly string[];
  readonly uid: number;
}

/**
 * Finds the files with content, and the pipes, that belong to a user and that nobody else may read, write or execute:
 * tools that know better keep credentials in files of the mode 0600.
 */
export async function findOwnerOnlyFiles({
  folders,
  skipped,
  uid,
  signal,
}: OwnerOnlySearch): Promise<Pick<PrivatePaths, 'files' | 'complete'>> {
  if (folders.length === 0) return { files: [], complete: true };
  const find = await findHelper(['find']);
  if (find === null) return { files: [], complete: false };
  const args = [
    ...folders,
    ...['-maxdepth', String(TOOLCHAIN_DEPTH)],
    ...pruned(skipped),
    ...['(', '-type', 'p', '-o', '-type', 'f', '-size', '+0c', ')'],
    ...['-user', String(uid), '!', '-perm', '/077', '-print0'],
  ];
  const { text, complete } = await run(find, args, TOOLCHAIN_SEARCH_MS, signal);
  return { files: [...new Set(text.split('\0').slice(0, -1))], complete };
}

function pruned(paths: readonly string[]): readonly string[] {
  if (paths.length === 0) return [];
  const any = paths.flatMap((path, n) => [...(n === 0 ? [] : ['-o']), '-path', literal(path)]);
  return ['(', ...any, ')', '-prune', '-o'];
}

/** A pattern of `find` that fits this path alone. */
function literal(path: string): string {
  return path.replace(/[\\*?[\]]/gu, '\\$&');
}

/**
 * Runs `find`; what it listed until it was stopped counts, also where it cannot be killed because a server does not
 * answer. Folders that may not be entered make it end with 1.
 */
function run(
  file: string,
  args: readonly string[],
  withinMs: number,
  signal: AbortSignal,
): Promise<{ text: string; complete: boolean }> {
  if (signal.aborted) return Promise.resolve({ text: '', complete: false });
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const child = spawn(file, args, {
      cwd: '/',
      env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const end = (complete: boolean) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
      resolve({ text: Buffer.concat(chunks).toString('utf8'), complete });
    };
    const stop = () => {
      child.kill('SIGKILL');
      // Not when it ends: what waits for a server that does not answer cannot be killed.
      end(false);
    };
    const timer = setTimeout(stop, withinMs);
    signal.addEventListener('abort', stop);
    child.stdout.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size > MAX_BYTES) stop();
    });
    child.once('error', () => end(false));
    child.once('close', (code) => end(code === 0 || code === 1));
  });
}
