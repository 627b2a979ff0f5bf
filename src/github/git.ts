/** Trusted git: what the agent changed in the workspace, as a count and a patch. */
import { randomUUID } from 'node:crypto';
import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { exec, getExecOutput } from '@actions/exec';

/** The state of a workspace at one moment, to be compared with a later one. */
export interface WorkspaceChanges {
  /**
   * Compares the workspace with the moment this was made: untracked files count, ignored ones do not.
   * Writes the patch (`git apply` takes it, binary files included) where there is any change.
   */
  compare(patchFile: string): Promise<{ readonly changedFiles: number; readonly patchFile: string | null }>;
}

/**
 * Remembers the workspace's files as a git tree, in an object folder of its own: the repository is not written to.
 * Returns null where the workspace is no git repository or there is no git.
 */
export async function rememberWorkspace(
  workspace: string,
  runFolder: string,
): Promise<WorkspaceChanges | null> {
  const scratch = path.join(runFolder, `git-${randomUUID()}`);
  const gitFolder = await ask(workspace, ['rev-parse', '--absolute-git-dir'], {});
  if (gitFolder === null) return null;
  await mkdir(path.join(scratch, 'objects'), { recursive: true });
  const overrides = await disableFilters(workspace);
  const environment = {
    GIT_INDEX_FILE: path.join(scratch, 'index'),
    GIT_OBJECT_DIRECTORY: path.join(scratch, 'objects'),
    GIT_ALTERNATE_OBJECT_DIRECTORIES: path.join(gitFolder, 'objects'),
  };
  // The repository's own index knows which files are unchanged by their times: without it, every file is read.
  await copyFile(path.join(gitFolder, 'index'), environment.GIT_INDEX_FILE).catch(() => undefined);
  const writeTree = async () => {
    if ((await ask(workspace, [...overrides, 'add', '--all', '--', '.'], environment)) === null) return null;
    return ask(workspace, [...overrides, 'write-tree'], environment);
  };
  const before = await writeTree();
  if (before === null) return null;

  return {
    async compare(patchFile) {
      const after = await writeTree();
      const diff = ['diff-tree', '-r', '--no-ext-diff', '--no-textconv', '--no-renames', before];
      const names =
        after === null
          ? null
          : await ask(workspace, [...overrides, ...diff, after, '--name-only', '-z'], environment);
      const changedFiles = (names ?? '').split('\0').filter((name) => name !== '').length;
      if (after === null || changedFiles === 0) return { changedFiles, patchFile: null };
      const chunks: Buffer[] = [];
      await exec('git', [...SAFE, ...overrides, ...diff, after, '--binary', '--full-index', '-p'], {
        ...quiet(workspace, environment),
        listeners: { stdout: (chunk) => chunks.push(chunk) },
      });
      await rm(patchFile, { force: true });
      await writeFile(patchFile, Buffer.concat(chunks), { mode: 0o600, flag: 'wx' });
      return { changedFiles, patchFile };
    },
  };
}

/** Settings of a repository that make git run other programs, and that a question of ours never needs. */
const SAFE = [
  ...['core.fsmonitor=false', 'core.hooksPath=/dev/null', 'core.untrackedCache=false', 'core.pager=cat'],
  ...[
    'core.autocrlf=false',
    'core.safecrlf=false',
    'advice.addEmbeddedRepo=false',
    'submodule.recurse=false',
    'safe.directory=*',
  ],
].flatMap((setting) => ['-c', setting]);

/** Filters (LFS, for one) are programs that .gitattributes, which the agent may edit, can call: all are turned off. */
async function disableFilters(workspace: string): Promise<readonly string[]> {
  const keys = (await ask(workspace, ['config', '--name-only', '--get-regexp', '^filter\\.'], {})) ?? '';
  return keys
    .split('\n')
    .filter((key) => key !== '')
    .flatMap((key) => ['-c', key.endsWith('.required') ? `${key}=false` : `${key}=`]);
}

/** What git answers; null when it says no, or is not there. */
async function ask(
  workspace: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<string | null> {
  try {
    const { exitCode, stdout } = await getExecOutput(
      'git',
      [...SAFE, ...args],
      quiet(workspace, environment),
    );
    return exitCode === 0 ? stdout.replace(/\n$/u, '') : null;
  } catch {
    return null;
  }
}

function quiet(workspace: string, environment: Readonly<Record<string, string>>) {
  const { PATH = '/usr/bin:/bin', HOME = '' } = process.env;
  const env = { PATH, HOME, GIT_TERMINAL_PROMPT: '0', GIT_OPTIONAL_LOCKS: '0', LC_ALL: 'C', ...environment };
  return { cwd: workspace, env, silent: true, ignoreReturnCode: true };
}
