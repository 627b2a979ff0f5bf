/** Resolves the paths that users give: folders to start in, files to write. */
import { constants, existsSync } from 'node:fs';
import { access, lstat, mkdir, readdir, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { InputError, messageOf } from '../errors.ts';
import { quote } from '../text/messages.ts';

/** Every sandbox has its own, and their contents depend on the process that reads them. */
const KERNEL_FOLDERS: readonly string[] = ['/proc', '/dev', '/sys'];

/** Whether `inner` is `outer` or a path below it; both must be absolute and real. */
export function isInside(inner: string, outer: string): boolean {
  const relative = path.relative(outer, inner);
  return relative !== '..' && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative);
}

/** Replaces a leading `~/` with the home folder, which a shell does not expand in `@~/…`. */
export function expandHome(file: string, home: string): string {
  return /^~[/\\]/u.test(file) ? path.join(home, file.slice(2)) : file;
}

/** Returns the real path of a folder; null if there is none. */
async function realFolder(folder: string): Promise<string | null> {
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
 * @throws InputError when it cannot be written, or when a link in the checkout leads elsewhere
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
  if (existsSync(file) && !(await stat(file)).isFile())
    throw new InputError('record', `${quote(file)} is there, and is not a regular file.`);
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
 * Returns the absolute folder for `verdicts`. Whether it exists is checked when it is read.
 * @throws InputError when it is outside `roots` after resolving symbolic links
 */
export async function resolveVerdicts(folder: string, roots: readonly string[]): Promise<string> {
  const wanted = path.resolve(roots[0] ?? '', folder);
  const real = await realpath(wanted).catch(() => wanted);
  if (roots.some((root) => isInside(real, root))) return real;
  throw new InputError(
    'verdicts',
    `${quote(folder)} is outside the workspace and RUNNER_TEMP. Name the folder into which actions/download-artifact put the envelopes.`,
  );
}

/**
 * Checks the folders of `sandbox-read`.
 * @throws InputError for a path that does not exist, is not a folder, or belongs to the kernel
 */
export async function requireReadableFolders(folders: readonly string[]): Promise<void> {
  for (const folder of folders) {
    const real = await realFolder(folder);
    const isOwn = real === '/' || KERNEL_FOLDERS.some((kernel) => real !== null && isInside(real, kernel));
    if (real !== null && !isOwn) continue;
    const why = isOwn
      ? 'is made anew in the sandbox. Name the folders that the shell needs.'
      : 'is not a folder on this machine. Correct or remove it.';
    throw new InputError('sandbox-read', `${quote(folder)} ${why}`);
  }
}
