/** Puts files into a repository: inside it only, and over nothing that is there unless that is wanted. */
import { lstat, mkdir, realpath, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { isInside } from '../../config/paths.ts';
import { InputError } from '../../errors.ts';
import { foldName } from '../../files/names.ts';

/** A file to write; the path is relative to the repository. */
export interface NewFile {
  readonly name: string;
  readonly text: string;
}

/**
 * The repository's real folder, once it is clear that nothing is in the way of the files to write.
 * @throws InputError where a file is there already and `force` is not set, or where none can be.
 */
export async function findRoot(folder: string, names: readonly string[], force: boolean): Promise<string> {
  const root = await realpath(folder).catch(() => null);
  if (root === null || !(await lstat(root)).isDirectory()) {
    throw new InputError(
      'dir',
      `--dir is ${JSON.stringify(folder)}, which is no folder. Name the repository's folder.`,
    );
  }
  const there: string[] = [];
  for (const name of names) {
    const found = await lstat(path.join(root, name)).catch(() => null);
    if (found === null) continue;
    if (!found.isFile()) throw new InputError(null, `${name} is no regular file. Move it away.`);
    there.push(name);
  }
  if (there.length > 0 && !force) {
    const verb = there.length === 1 ? 'is' : 'are';
    throw new InputError(
      'force',
      `${there.join(' and ')} ${verb} there already, and nothing was written. Rename what you want to keep, or use --force to replace what is there.`,
    );
  }
  return root;
}

/**
 * Writes all of the files, or none where one of them cannot be.
 * @throws InputError where one cannot be written.
 */
export async function placeFiles(root: string, files: readonly NewFile[], force: boolean): Promise<void> {
  try {
    for (const { name } of files) await makeFolder(root, name);
    // Without force nothing is replaced, not even what appeared this moment.
    for (const { name, text } of files) {
      await writeFile(path.join(root, name), text, { flag: force ? 'w' : 'wx' });
    }
  } catch (error) {
    if (error instanceof InputError || !(error instanceof Error)) throw error;
    const code = 'code' in error ? String(error.code) : null;
    if (code === null) throw error;
    throw new InputError('dir', `The files cannot be written (${code}). Check the folder's permissions.`, {
      cause: error,
    });
  }
}

/** Makes the folder of a file; a link on the way must lead neither out of the repository nor into `.git`. */
async function makeFolder(root: string, name: string): Promise<void> {
  let folder = root;
  for (const part of path.dirname(name).split('/')) {
    folder = path.join(folder, part);
    await mkdir(folder, { recursive: true });
    const real = await realpath(folder);
    const intoGit = path
      .relative(root, real)
      .split(path.sep)
      .some((each) => foldName(each) === '.git');
    if (isInside(real, root) && !intoGit) continue;
    const where = intoGit ? 'into .git' : 'out of the repository';
    throw new InputError('dir', `${path.dirname(name)} leads ${where}. Make it a folder of its own.`);
  }
}
