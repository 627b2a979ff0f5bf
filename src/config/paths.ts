/** Resolves the paths that users give: folders to start in, files to write. */
import { constants } from 'node:fs';
import { access, mkdir, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { InputError } from '../errors.ts';
import { KERNEL_FOLDERS } from '../files/protected-names.ts';
import { describeUnsafeLink, findCheckout, findUnsafeLink } from '../files/unsafe-links.ts';
import type { InputName } from './inputs.ts';
import { createInputError } from './values.ts';

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
  const name = 'working-directory';
  const real = await realpath(path.resolve(workspace, folder)).catch(() => null);
  if (real === null || !(await stat(real)).isDirectory()) {
    throw new InputError(name, (naming) => {
      const checkout =
        naming.entry === 'action'
          ? '; in a workflow, also that the repository is checked out before this step'
          : '';
      return `${naming.name(name)} is ${JSON.stringify(folder)}, which is no folder in the workspace. Check the path${checkout}.`;
    });
  }
  if (!isInside(real, workspace)) {
    throw createInputError(
      name,
      `is ${JSON.stringify(folder)}, which leaves the workspace. Name a folder inside it.`,
    );
  }
  return real;
}

/**
 * Returns the absolute path of a file to write, and creates its folder if needed.
 * @throws InputError when it is outside `roots`, in a protected folder, or cannot be written
 */
export async function resolveOutputFile(
  name: InputName,
  file: string,
  workspace: string,
  roots: readonly string[],
): Promise<string> {
  const wanted = path.resolve(workspace, file);
  refuseUnsafeLink(name, file, wanted, workspace);
  const folder = await realPlace(path.dirname(wanted));
  const real = path.join(folder.real, path.basename(wanted));
  const root = roots.find((each) => isInside(real, each) && real !== each);
  if (root === undefined) {
    throw createInputError(
      name,
      `is ${JSON.stringify(file)}, which lies outside the workspace and RUNNER_TEMP. Name a file inside one of them.`,
    );
  }
  if (
    path
      .relative(root, real)
      .split(path.sep)
      .some((part) => /^\.git(?:hub)?$/iu.test(part))
  ) {
    throw createInputError(
      name,
      `is ${JSON.stringify(file)}. Nothing is written into .git or .github: name another file.`,
    );
  }
  try {
    await mkdir(path.dirname(real), { recursive: true });
    await access(path.dirname(real), constants.W_OK);
  } catch (cause) {
    throw createInputError(
      name,
      `is ${JSON.stringify(file)}, whose folder cannot be written to. Name another file.`,
      {
        cause,
      },
    );
  }
  const standing = await stat(real).catch(() => null);
  if (standing !== null && !standing.isFile()) {
    throw createInputError(
      name,
      `is ${JSON.stringify(file)}, which is there already and no regular file. Name another file.`,
    );
  }
  return real;
}

/**
 * Returns the absolute, real path of a file to write on the user's own machine, where any path is allowed.
 * @throws InputError when it cannot be written, or when a link in the checkout leads elsewhere
 */
export async function resolveOwnFile(name: string, typed: string, workspace: string): Promise<string> {
  const file = path.resolve(workspace, typed);
  refuseUnsafeLink(name, file, file, findCheckout(workspace));
  const folder = await realpath(path.dirname(file)).catch(() => null);
  const writable =
    folder !== null &&
    (await access(folder, constants.W_OK).then(
      () => true,
      () => false,
    ));
  if (folder === null || !writable)
    throw createInputError(
      name,
      `is ${JSON.stringify(file)}, whose folder is not there or cannot be written. Make the folder, or name another file.`,
    );
  const real = path.join(folder, path.basename(file));
  const standing = await stat(real).catch(() => null);
  if (standing !== null && !standing.isFile())
    throw createInputError(name, `is ${JSON.stringify(file)}, which is there and no regular file.`);
  return real;
}

/** The last path segment is not resolved: writing replaces a link there. */
function refuseUnsafeLink(name: string, typed: string, wanted: string, checkout: string): void {
  const leaving = findUnsafeLink(path.dirname(wanted), checkout);
  if (leaving === null) return;
  throw createInputError(name, `is ${JSON.stringify(typed)}, ${describeUnsafeLink(leaving, checkout)}`);
}

/**
 * Returns the absolute folder for `verdicts`. Whether it exists is checked when it is read.
 * @throws InputError when it is outside `roots` after resolving symbolic links
 */
export async function resolveVerdicts(folder: string, roots: readonly string[]): Promise<string> {
  const { real } = await realPlace(path.resolve(roots[0] ?? '', folder));
  if (roots.some((root) => isInside(real, root))) return real;
  throw new InputError(
    'verdicts',
    `verdicts is ${JSON.stringify(folder)}, which lies outside the workspace and RUNNER_TEMP. Name the folder into which actions/download-artifact put the envelopes.`,
  );
}

export interface ReuseRoots {
  readonly workspace: string;
  /** RUNNER_TEMP. */
  readonly temp: string;
  /** This run's own folder below it, which contains the agent's copy of the workspace. */
  readonly runFolder: string;
}

/**
 * Returns the absolute, real folder for `reuse-from`; null when it does not exist, as on the first run.
 * @param signed whether only signed envelopes are accepted. If not, a folder in the workspace is refused: the change
 * under review could include its own verdict.
 * @throws InputError when it is not a folder, is elsewhere, or contains the files under review
 */
export async function resolveReuseFolder(
  folder: string,
  { workspace, temp, runFolder }: ReuseRoots,
  signed: boolean,
): Promise<string | null> {
  const refuse = (why: string): never => {
    throw new InputError('reuse-from', `reuse-from is ${JSON.stringify(folder)}, which ${why}`);
  };
  const advice =
    'Download the earlier envelopes to a folder of their own, such as ${{ runner.temp }}/verdicts.';
  const { real, isThere } = await realPlace(path.resolve(workspace, folder));
  if (![workspace, temp].some((root) => isInside(real, root)))
    refuse(`lies outside the workspace and RUNNER_TEMP. ${advice}`);
  if (isInside(workspace, real) || isInside(runFolder, real) || isInside(real, runFolder))
    refuse(`holds the files that are judged, too. ${advice}`);
  if (isInside(real, workspace) && !signed)
    refuse(
      `lies in the workspace, where the change under review could bring a verdict of its own. ${advice} Or sign them: set signing-key.`,
    );
  if (!isThere) return null;
  if (!(await stat(real)).isDirectory()) refuse(`is no folder. ${advice}`);
  return real;
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
      throw createInputError(
        name,
        `names ${JSON.stringify(folder)}, which is no folder on this machine. Correct or remove it.`,
      );
    }
    if (real === '/' || KERNEL_FOLDERS.some((kernel) => isInside(real, kernel))) {
      throw createInputError(
        name,
        `names ${JSON.stringify(folder)}, which the sandbox has of its own. Name the folders that the shell needs.`,
      );
    }
  }
}

/** Resolves the links of an absolute path as far as it exists. */
async function realPlace(wanted: string): Promise<{ readonly real: string; readonly isThere: boolean }> {
  let existing = wanted;
  while ((await stat(existing).catch(() => null)) === null && existing !== path.dirname(existing))
    existing = path.dirname(existing);
  const real = path.join(await realpath(existing), path.relative(existing, wanted));
  return { real, isThere: existing === wanted };
}
