/** The paths that users give: folders to start in, files to write, and files to read before the model is called. */
import { constants, existsSync, realpathSync } from 'node:fs';
import { access, lstat, mkdir, readdir, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { InputError, messageOf } from '../errors.ts';
import { decodeUtf8, type ReadFailure, readBounded } from '../files/read-bounded.ts';
import { isInside } from '../files/real-paths.ts';
import { isClosedPath } from '../text/file-names.ts';
import { READ } from '../text/limits.ts';
import { quote } from '../text/messages.ts';
import type { Reading } from '../types.ts';

/** Every sandbox has its own, and their contents depend on the process that reads them. */
const KERNEL_FOLDERS: readonly string[] = ['/proc', '/dev', '/sys'];

/** Returns the real path of a folder; null if there is none. */
export async function realFolder(folder: string): Promise<string | null> {
  const real = await realpath(folder).catch(() => null);
  return real !== null && (await stat(real)).isDirectory() ? real : null;
}

/**
 * Returns the absolute, real folder for `working-directory`.
 * @throws InputError when it does not exist, is not a folder, or is outside the workspace after resolving symbolic
 * links
 */
export async function resolveWorkingDirectory(folder: string, workspace: string): Promise<string> {
  const real = await realFolder(path.resolve(workspace, folder));
  if (real !== null && isInside(real, workspace)) return real;
  const why =
    real === null
      ? 'is not a folder in the workspace. Check the path, and in a workflow also that the repository is checked out before this step.'
      : 'is outside the workspace. Name a folder inside it.';
  throw new InputError('working-directory', `${quote(folder)} ${why}`);
}

/**
 * Creates the folder for the files that a run on the user's own machine writes, and returns its real path.
 * @throws InputError when it is not new or empty, or when a link in the checkout leads elsewhere
 */
export async function makeResultsFolder(typed: string, workspace: string): Promise<string> {
  const folder = path.resolve(workspace, typed);
  await refuseLinks('results', folder, workspace);
  const refuse = (why: string, cause?: unknown) =>
    new InputError('results', `${quote(folder)} ${why}. Name a new or empty folder.`, { cause });
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw refuse(`cannot be used (${messageOf(cause)})`, cause);
  }
  if ((await readdir(folder)).length > 0) throw refuse('is not empty');
  return realpath(folder);
}

/**
 * Returns the absolute path of the recording to write, whose folder must be there.
 * @throws InputError when it exists, when it cannot be written, or when a link in the checkout leads elsewhere
 */
export async function resolveRecording(typed: string, workspace: string): Promise<string> {
  const file = path.resolve(workspace, typed);
  await refuseLinks('record', file, workspace);
  try {
    await access(path.dirname(file), constants.W_OK);
  } catch (cause) {
    const why = `The folder of ${quote(file)} cannot be written to. Make it, or name another.`;
    throw new InputError('record', why, { cause });
  }
  if (existsSync(file))
    throw new InputError('record', `${quote(file)} already exists. Name another file, or remove it.`);
  return file;
}

/** The author of the checkout must not choose where a file is written: `out -> .git/hooks` would make it a hook. */
async function refuseLinks(input: string, wanted: string, workspace: string): Promise<void> {
  const checkout = checkoutAround(workspace);
  for (let at = wanted; at !== checkout && isInside(at, checkout); at = path.dirname(at)) {
    const found = await lstat(at).catch(() => null);
    const link = quote(path.relative(checkout, at));
    if (found?.isSymbolicLink() === true)
      throw new InputError(input, `${link} is a symbolic link in the checkout. Name a path without it.`);
  }
}

/** Returns the nearest parent with a `.git`, or the folder itself. */
export function checkoutAround(folder: string): string {
  for (let at = folder; ; at = path.dirname(at)) {
    if (existsSync(path.join(at, '.git'))) return at;
    if (at === path.dirname(at)) return folder;
  }
}

/**
 * Checks the folders of `sandbox-read`.
 * @param ours the home and the folder of temporary files: a folder that holds one of them is never shown
 * @throws InputError for a path that does not exist, is not a folder, belongs to the kernel, or is never shown
 */
export async function requireReadableFolders(
  folders: readonly string[],
  ours: readonly string[],
): Promise<void> {
  const closed = await Promise.all(ours.map(realFolder));
  for (const folder of folders) {
    const real = await realFolder(folder);
    const isOwn = real === '/' || KERNEL_FOLDERS.some((kernel) => real !== null && isInside(real, kernel));
    const isClosed = closed.some((one) => one !== null && real !== null && isInside(one, real));
    if (real !== null && !isOwn && !isClosed) continue;
    const why = isOwn
      ? 'is made anew in the sandbox. Name the folders that the shell needs.'
      : isClosed
        ? 'holds the home or temporary files, and is never shown as a whole. Name the folders in it that the shell needs.'
        : 'is not a folder on this machine. Correct or remove it.';
    throw new InputError('sandbox-read', `${quote(folder)} ${why}`);
  }
}

/** Where a file may be. */
export interface TrustedFileLimits {
  /** The checkout, to which paths are relative. A link in it must not lead out of it or into git's folders. */
  readonly root: string;
  /** Whether the user may name a file outside it, as on the command line, whose user can read any file anyway. */
  readonly outside: 'refused' | 'allowed';
}

/**
 * Reads a file as UTF-8, without a BOM; a problem is a sentence with the path and the reason. Only regular files are
 * read; a FIFO or a device is refused without blocking.
 */
export async function readTrustedFile(typed: string, limits: TrustedFileLimits): Promise<Reading> {
  const name = quote(typed);
  const refuse = (problem: string) => ({ ok: false, problem }) as const;
  const target = path.resolve(limits.root, typed);
  const read = readBounded(target, { maxBytes: READ.policy, links: 'follow' });
  if (!read.ok) {
    const problems: Readonly<Record<ReadFailure, string>> = {
      missing: `There is no file ${name}. Check the path; in a workflow, also that the repository is checked out before this step.`,
      not_regular: `${name} must be a regular file, but is a folder, a device, a pipe or the like.`,
      too_large: `${name} is larger than ${READ.policy / 1024 ** 2} MiB; only smaller files are read.`,
      unreadable: `${name} could not be read (${read.code}).`,
    };
    return refuse(problems[read.failure]);
  }
  const reason = refusePlace(read.realPath, target, limits);
  if (reason !== null) return refuse(`${name} ${reason}`);
  const text = decodeUtf8(read.bytes);
  return text === null ? refuse(`${name} is not valid UTF-8 text. Save it as UTF-8.`) : { ok: true, text };
}

/**
 * Returns why a file is not read, based on its real path. On the command line the user decides: paths outside the
 * checkout, or paths that explicitly name a protected folder such as `.git/COMMIT_EDITMSG`, are allowed. The target of
 * a link in the checkout was chosen by the author of the checkout.
 */
function refusePlace(real: string, typed: string, { root, outside }: TrustedFileLimits): string | null {
  const realRoot = realpathSync.native(root);
  const typedRoot = [realRoot, path.resolve(root)].find((each) => isInside(typed, each));
  const isUser = outside === 'allowed';
  if (isUser && typedRoot === undefined) return null;
  if (!isInside(real, realRoot))
    return isUser
      ? 'is a symbolic link that leaves the workspace. Give the path of the file itself.'
      : 'leaves the workspace; only files inside it are read.';
  const isNamed = isUser && isClosedPath(path.relative(typedRoot ?? realRoot, typed));
  if (isNamed || !isClosedPath(path.relative(realRoot, real))) return null;
  return 'leads to a git folder or a credential file, which are never read. Name a file that holds only what the model may see.';
}
