/**
 * Determines which paths of this machine are hidden from commands. In the sandbox, commands run as the runner's own
 * user, so file permissions do not protect that user's files from them: whatever only that user may read has to be
 * hidden by path.
 */
import { spawn } from 'node:child_process';
import { lstat, readdir, readlink, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { SandboxError } from '../../errors.ts';
import { readBoundedText } from '../../files/read-bounded.ts';
import { parseOrUndefined } from '../../text/json.ts';
import { MOUNTS, READ, SEARCH, WAIT } from '../../text/limits.ts';
import { quote } from '../../text/messages.ts';
import { pathFolders, toolFolders } from '../exec/environment.ts';
import { findHelper } from '../exec/host-program.ts';
import type { SandboxOptions } from '../sandbox.ts';
import { exists, isInside, realOrNull, realOrSame } from '../workspace/path-policy.ts';
import { agentOf } from './detect.ts';
import { listProcesses } from './host.ts';

/** Real paths that are hidden, except for what is deliberately shown inside them. */
export interface HiddenPaths {
  /** Folders that are empty in the sandbox. */
  readonly folders: readonly string[];
  /** The entries of `folders` that belong to a runner. */
  readonly runners: readonly string[];
  /** Files that other users may not read, in folders that stay visible; any of them may be removed at any time. */
  readonly privateFiles: readonly string[];
  /** Whether the search for paths that other users may not read or enter was completed. */
  readonly complete: boolean;
}

/** The value for runs without a sandbox. */
export const NOTHING_HIDDEN: HiddenPaths = {
  folders: [],
  runners: [],
  privateFiles: [],
  complete: true,
};

/** System folders with files of its users and services, or with other file systems. */
const HIDDEN_SYSTEM_FOLDERS = `/run /home /root /srv /mnt /media /var/tmp /var/log /var/spool /var/mail
  /var/crash`.split(/\s+/u);
/** Folders directly below the root that the system or a package manager created, and that programs need. */
const SYSTEM_NAMES = new Set(
  'bin boot dev etc gnu home lib lib32 lib64 libx32 lost+found nix opt proc root run sbin snap sys tmp usr var'.split(
    ' ',
  ),
);
/** Those of them that may hold private files of a user other than root. */
const SEARCHED_NAMES = new Set(['boot', 'etc', 'lost+found', 'opt', 'var']);
/** Folders that are never hidden as a whole, whatever they contain. */
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

/** @throws SandboxError if there are too many to hide them one by one. */
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
    // Not checked with stat: one may be the mount point of a server that does not answer.
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
  if (example !== undefined && count > MOUNTS.privatePaths) {
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

/**
 * Returns the user and groups of commands. If root starts them, commands keep none of this process's supplementary
 * groups; otherwise they keep all.
 */
async function readerOf(workspace: string): Promise<Reader> {
  const { uid, gid } = await agentOf(workspace);
  return {
    uid,
    gids: [...new Set([gid, ...(uid === process.getuid?.() ? (process.getgroups?.() ?? []) : [])])],
  };
}

/** Returns the unknown folders directly below the root, and those in which private files are searched for. */
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

/**
 * Returns the folders that directly hold many of these paths, if they are deep enough to belong to one user or service;
 * they are hidden as a whole.
 */
function findCrowded(paths: readonly string[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const path of paths) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
  const crowded = [...counts].filter(([, count]) => count > MOUNTS.inFolder).map(([folder]) => folder);
  return crowded.filter((folder) => canHide(folder) && folder.split('/').length > 3);
}

/**
 * Returns the folders whose contents are all hidden. No command needs them, and hiding the whole folder also hides
 * files that are created later, or removed and recreated while the mounts are made.
 */
async function findHolders(files: readonly string[], folders: readonly string[]): Promise<readonly string[]> {
  const closed = new Set([...files, ...folders]);
  const queue = [...closed];
  /** For each folder, the names that are not known to be hidden. */
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
      // Does not exist on this machine.
    }
  }
  return [...found];
}

/**
 * Leaves out empty folders that only root could fill, because each mount adds a fraction of a millisecond to every
 * command.
 */
async function withContent(folders: readonly string[]): Promise<readonly string[]> {
  const filled: string[] = [];
  for (const folder of folders) {
    const { uid, mode } = await stat(folder);
    const names = await readdir(folder).catch(() => ['unknown']);
    if (names.length > 0 || uid !== 0 || (mode & 0o022) !== 0) filled.push(folder);
  }
  return filled;
}

/** Files in the root folder of a runner: its registration, key and program. */
const MARKERS = ['.runner', '.credentials', '.credentials_rsaparams', 'bin/Runner.Listener'];
const RUNNER_PROGRAMS = new Set(['Runner.Listener', 'Runner.Worker']);
/** Variables of a job that name a folder below the root or the work folder of the runner. */
const VARIABLES = ['RUNNER_TOOL_CACHE', 'RUNNER_WORKSPACE', 'GITHUB_ACTION_PATH'];

/**
 * Returns the real paths of the root and work folders of the runner that runs this job, and of other runners whose
 * processes this user can see. Their keys, logs and checkouts belong to the user that the agent's commands run as.
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
    // Inside the workspace, anyone may have created a file of such a name.
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

/**
 * Returns the programs of the running runners that this user can see; each runner of a machine has its own root folder.
 */
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

/** Returns the configured work folder of a runner (`--work`), which may be anywhere; null if it is not configured. */
function workFolderOf(root: string): string | null {
  const text = readBoundedText(join(root, '.runner'), READ.pointer) ?? '';
  const literal = /"workFolder"\s*:\s*("(?:[^"\\]|\\.)*")/u.exec(text)?.[1];
  if (literal === undefined) return null;
  const folder = parseOrUndefined(literal);
  return folder === undefined ? null : resolve(root, String(folder));
}

interface Reader {
  readonly uid: number;
  /** The primary group comes first. */
  readonly gids: readonly number[];
}

interface PrivateSearch {
  readonly starts: readonly string[];
  readonly skipped: readonly string[];
  readonly reader: Reader;
  /** Aborts the search; the result is then incomplete. */
  readonly signal: AbortSignal;
}

interface PrivatePaths {
  readonly folders: readonly string[];
  readonly files: readonly string[];
  readonly complete: boolean;
}

/** Searches with the system's `find`, which needs a tenth of a second; Node.js would need many times that. */
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
    ...['-maxdepth', String(SEARCH.privateDepth)],
    ...pruned(skipped),
    // Bit 1: others may enter the folder. A user who may not enter it cannot reach its contents, and cannot mount over
    // them.
    ...['-type', 'd', '!', '-perm', '-1', '-prune', '(', ...owners, ')', '-print0', '-o'],
    // Bit 4: others may read the file.
    ...['(', '-type', 'p', '-o', '-type', 'f', '-size', '+0c', ')', '!', '-perm', '-4'],
    ...['(', ...owners, ')', '-print0'],
  ];
  const { text, complete } = await run(find, args, WAIT.privateSearch, signal);
  const folders: string[] = [];
  const files: string[] = [];
  for (const path of text.split('\0').slice(0, -1)) {
    const stats = await lstat(path).catch(() => null);
    if (stats !== null) (stats.isDirectory() ? folders : files).push(path);
  }
  return { folders, files, complete };
}

interface OwnerOnlySearch extends Omit<PrivateSearch, 'starts' | 'reader'> {
  readonly folders: readonly string[];
  readonly uid: number;
}

/**
 * Finds non-empty files and pipes that belong to a user and that no other user may read, write or execute. Careful
 * tools keep credentials in files of mode 0600.
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
    ...['-maxdepth', String(SEARCH.toolchainDepth)],
    ...pruned(skipped),
    ...['(', '-type', 'p', '-o', '-type', 'f', '-size', '+0c', ')'],
    ...['-user', String(uid), '!', '-perm', '/077', '-print0'],
  ];
  const { text, complete } = await run(find, args, WAIT.toolchainSearch, signal);
  return { files: [...new Set(text.split('\0').slice(0, -1))], complete };
}

function pruned(paths: readonly string[]): readonly string[] {
  if (paths.length === 0) return [];
  const any = paths.flatMap((path, n) => [...(n === 0 ? [] : ['-o']), '-path', literal(path)]);
  return ['(', ...any, ')', '-prune', '-o'];
}

/** Escapes a path as a pattern of `find` that matches only this path. */
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
      if (size > READ.searchOutput) stop();
    });
    child.once('error', () => end(false));
    child.once('close', (code) => end(code === 0 || code === 1));
  });
}
