/** Resolves the paths that users give: folders to start in, files to write. */
import { constants, existsSync } from 'node:fs';
import { access, lstat, mkdir, readdir, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { InputError, messageOf } from '../errors.ts';

/** Every sandbox has its own, and their contents depend on the process that reads them. */
const KERNEL_FOLDERS: readonly string[] = ['/proc', '/dev', '/sys'];

/** Whether `inner` is `outer` or a path below it; both must be absolute and real. */
export function isInside(inner: string, outer: string): boolean {
  const relative = path.relative(outer, inner);
  return (
    relative === '' ||
    (relative !== '..' && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative))
  );
}

/** Replaces a leading `~/` with the home folder, which a shell does not expand in `@~/…`. */
export function expandHome(file: string, home: string): string {
  return /^~[/\\]/u.test(file) ? path.join(home, file.slice(2)) : file;
}

/**
 * Returns the absolute, real folder for `working-directory`.
 * @throws InputError when it does not exist, is not a folder, or is outside the workspace after resolving symbolic
 * links
 */
export async function resolveWorkingDirectory(folder: string, workspace: string): Promise<string> {
  const real = await realpath(path.resolve(workspace, folder)).catch(() => null);
  if (real === null || !(await stat(real)).isDirectory()) {
    throw new InputError(
      'working-directory',
      `${JSON.stringify(folder)} is not a folder in the workspace. Check the path, and in a workflow also that the repository is checked out before this step.`,
    );
  }
  if (!isInside(real, workspace)) {
    throw new InputError(
      'working-directory',
      `${JSON.stringify(folder)} is outside the workspace. Name a folder inside it.`,
    );
  }
  return real;
}

/**
 * Creates the folder for the files that a run on the user's own machine writes, and returns its real path.
 * @throws InputError when it is not new or empty, or when a link in the checkout leads elsewhere
 */
export async function makeResultsFolder(typed: string, workspace: string): Promise<string> {
  const folder = path.resolve(workspace, typed);
  await refuseLinks('results', folder, workspace);
  const found = await mkdir(folder, { recursive: true, mode: 0o700 })
    .then(() => readdir(folder))
    .catch((cause: unknown) => {
      const why = `${JSON.stringify(folder)} cannot be used (${messageOf(cause)}). Name a new or empty folder.`;
      throw new InputError('results', why, { cause });
    });
  if (found.length > 0)
    throw new InputError('results', `${JSON.stringify(folder)} is not empty. Name a new or empty folder.`);
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
    const why = `The folder of ${JSON.stringify(file)} cannot be written to. Make it, or name another file.`;
    throw new InputError('record', why, { cause });
  }
  const found = await stat(file).catch(() => null);
  if (found !== null && !found.isFile())
    throw new InputError('record', `${JSON.stringify(file)} is there, and is not a regular file.`);
  return file;
}

/** The author of the checkout must not choose where a file is written: `out -> .git/hooks` would make it a hook. */
async function refuseLinks(input: string, wanted: string, workspace: string): Promise<void> {
  const checkout = checkoutAround(workspace);
  for (let at = wanted; at !== checkout && isInside(at, checkout); at = path.dirname(at)) {
    const isLink = await lstat(at).then(
      (found) => found.isSymbolicLink(),
      () => false,
    );
    if (!isLink) continue;
    const link = JSON.stringify(path.relative(checkout, at));
    throw new InputError(input, `${link} is a symbolic link in the checkout. Name a path without it.`);
  }
}

/** Returns the nearest parent with a `.git`, or the folder itself. */
function checkoutAround(folder: string): string {
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
  const real = await realPlace(path.resolve(roots[0] ?? '', folder));
  if (roots.some((root) => isInside(real, root))) return real;
  throw new InputError(
    'verdicts',
    `${JSON.stringify(folder)} is outside the workspace and RUNNER_TEMP. Name the folder into which actions/download-artifact put the envelopes.`,
  );
}

/**
 * Checks the folders of `sandbox-read`.
 * @throws InputError for a path that does not exist, is not a folder, or belongs to the kernel
 */
export async function requireReadableFolders(folders: readonly string[]): Promise<void> {
  const name = 'sandbox-read';
  for (const folder of folders) {
    const real = await realpath(folder).catch(() => null);
    if (real === null || !(await stat(real)).isDirectory()) {
      throw new InputError(
        name,
        `${JSON.stringify(folder)} is not a folder on this machine. Correct or remove it.`,
      );
    }
    if (real === '/' || KERNEL_FOLDERS.some((kernel) => isInside(real, kernel))) {
      throw new InputError(
        name,
        `The sandbox has a ${JSON.stringify(folder)} of its own. Name the folders that the shell needs.`,
      );
    }
  }
}

/** Resolves the links of an absolute path as far as it exists. */
async function realPlace(wanted: string): Promise<string> {
  let existing = wanted;
  while ((await stat(existing).catch(() => null)) === null && existing !== path.dirname(existing))
    existing = path.dirname(existing);
  return path.join(await realpath(existing), path.relative(existing, wanted));
}
