/**
 * Plans what commands in the sandbox see. The plan is made once for a run, from the current state of the workspace and
 * the machine.
 */

import { existsSync } from 'node:fs';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { WorkspaceError } from '../../errors.ts';
import { readBoundedText } from '../../files/read-bounded.ts';
import { MOUNTS, READ } from '../../text/limits.ts';
import { quote } from '../../text/messages.ts';
import { PRIVATE_HOME, pathFolders, toolFolders } from '../exec/environment.ts';
import type { SandboxOptions } from '../sandbox.ts';
import { type HiddenEntry, hasCredentials, withoutCredentials } from '../workspace/git-config.ts';
import { isInside, namesIn, realOrSame } from '../workspace/path-policy.ts';
import { protectedAtTops, topsOf } from '../workspace/protected-roots.ts';
import type { Repository } from '../workspace/repositories.ts';
import type { Mount } from './backend.ts';
import { agentOf } from './detect.ts';
import type { HiddenPaths } from './hidden-paths.ts';
import { findEndpoints, seenSockets } from './sockets.ts';
import { linkCaches, visibleFolders } from './toolchains.ts';

/** A mount plan, and what the self-test needs to know about it. */
export interface MountPlan {
  readonly mounts: readonly Mount[];
  /** Those of the mounts that the contents of the workspace require; the others depend on this machine only. */
  readonly forContent: readonly Mount[];
  /** Files and folders of the workspace that commands see empty, and git configs that they see without credentials. */
  readonly hiddenInWorkspace: readonly string[];
  /** Paths in hidden folders that exist on this machine and must not be visible inside. */
  readonly unseen: readonly string[];
  /** Hidden folders in which nothing is shown. */
  readonly emptied: readonly string[];
  /** Files in visible folders whose contents must not be readable inside. */
  readonly masked: readonly string[];
  /** Files in toolchain folders that commands see empty. */
  readonly ownerOnly: readonly string[];
  /** Toolchain folders of which commands see only the programs. */
  readonly narrowed: readonly string[];
}

/**
 * Plans the mounts, with the files of the workspace at `source`. Writes the files that are mounted to `mounts` in the
 * run's folder.
 */
export async function planMounts(
  options: SandboxOptions & { readonly source: string; readonly hidden: HiddenPaths },
  repositories: readonly Repository[],
  signal: AbortSignal,
): Promise<MountPlan> {
  const { workspace, runFolder, access } = options;
  const sources = join(runFolder, 'mounts');
  const blank = join(sources, 'blank');
  await mkdir(join(sources, 'none'), { recursive: true, mode: 0o700 });
  await writeFile(blank, '');
  await chmod(blank, 0o444);

  const home = await realOrSame(options.home);
  const temp = await realOrSame(options.runnerTemp);
  const privateTmp = await realOrSame('/tmp');
  const { hidden } = options;
  const roots = hidden.folders.filter((path) => !['/', workspace, privateTmp].includes(path));
  const toolCache = options.environment['RUNNER_TOOL_CACHE'];
  const { folders: visible, ...toolchains } = await visibleFolders({
    pathFolders: pathFolders(options.environment['PATH']),
    readable: options.shellNetwork ? [...options.readable, '/etc/resolv.conf'] : options.readable,
    // Of a home folder, only what is on PATH: programs keep more there than themselves.
    tools: toolFolders(options.environment).filter((path) => path === toolCache || !isInside(path, home)),
    hidden: [...roots, privateTmp],
    closed: [temp, runFolder, workspace, home, ...hidden.runners],
    workspace,
    uid: (await agentOf(workspace)).uid,
    signal,
  });
  const visibleOnes = visible.filter(
    ({ folder }) => !isInside(runFolder, folder) && !isInside(folder, runFolder),
  );

  if (!options.shellNetwork) {
    const folders = visibleOnes.map(({ folder }) => folder);
    await linkCaches({
      ...options,
      home,
      privateHome: join(runFolder, 'tmp', PRIVATE_HOME),
      isSeen: (path) => isShown(path, folders, [...roots, privateTmp, runFolder]),
    });
  }

  const content = await planContent(workspace, options.source, repositories, blank, sources);
  const ways = access === 'read-only' ? [] : waysTo(repositories, content.mounts, workspace, options.source);
  const forContent = [...ways, ...content.mounts];
  if (forContent.length > MOUNTS.workspace) {
    const first = repositories.find(({ root }) => root !== workspace)?.dotGit ?? workspace;
    throw new WorkspaceError(
      `The workspace holds ${repositories.length} repositories (${quote(first)} is one), and ${forContent.length} mounts would be needed to protect them: too many, at most ${MOUNTS.workspace}. Check out fewer of them, or run this step before the ones that make them.`,
    );
  }
  const mounts: Mount[] = [
    ...uncovered(
      roots,
      [privateTmp],
      visibleOnes.map(({ folder }) => folder),
      workspace,
    ).map(empty),
    { kind: 'read-write', from: join(runFolder, 'tmp'), at: privateTmp },
    ...visibleOnes.map(({ folder }) => readOnly(folder)),
    // A tool may log out or rewrite its file at any time.
    ...visibleOnes.flatMap(({ credentials }) =>
      credentials.map(({ path, kind }) => fleeting(kind === 'directory' ? empty(path) : mask(blank, path))),
    ),
    { kind: access === 'read-only' ? 'read-only' : 'read-write', from: options.source, at: workspace },
    ...forContent,
    // Lists the keys of this machine, which no namespace isolates.
    ...(existsSync('/proc/keys') ? [mask(blank, '/proc/keys')] : []),
  ];
  // Regardless of the network setting: a service behind a socket file belongs to this machine, and often runs as root.
  const sockets = await seenSockets(await findEndpoints(), mounts);
  const masks = [...sockets, ...hidden.privateFiles].map((path): Mount => fleeting(mask(blank, path)));
  const emptied = findEmptied(mounts).filter((path) => !forContent.some(({ at }) => at === path));
  return {
    // A folder of another job or another runner may be removed at any time.
    mounts: [
      ...mounts.map((mount) =>
        mount.kind === 'empty' && emptied.includes(mount.at) ? fleeting(mount) : mount,
      ),
      ...masks,
    ],
    forContent,
    hiddenInWorkspace: content.hiddenInWorkspace,
    unseen: await findUnseen([home, temp, ...hidden.runners], mounts),
    emptied,
    masked: [...hidden.privateFiles, ...toolchains.ownerOnly],
    ...toolchains,
  };
}

/**
 * Plans mounts of the parent folders of each repository in the workspace, and of git folders elsewhere in it, onto
 * themselves: a mount point cannot be renamed. Otherwise a command could move such a folder, and the mounts of the next
 * command would no longer cover its `.git`.
 */
function waysTo(
  repositories: readonly Repository[],
  content: readonly Mount[],
  workspace: string,
  source: string,
): readonly Mount[] {
  const ways = new Set<string>();
  for (const folder of [
    ...topsOf(workspace, repositories),
    ...repositories.flatMap((one) => one.elsewhere),
  ]) {
    if (!isInside(folder, workspace)) continue;
    const names = folder.slice(workspace.length).split('/').filter(Boolean);
    for (const n of names.keys()) ways.add(`/${names.slice(0, n + 1).join('/')}`);
  }
  // Nothing inside a read-only mount, such as a git folder or .github, is mounted writable.
  const open = [...ways].filter((way) => !content.some(({ at }) => isInside(workspace + way, at)));
  return open.map((way) => ({ kind: 'read-write', from: source + way, at: workspace + way }));
}

/**
 * Plans the mounts for `.git` and `.github` of every repository, `action.yml`, and credentials left in the workspace.
 */
async function planContent(
  workspace: string,
  source: string,
  repositories: readonly Repository[],
  blank: string,
  sources: string,
): Promise<Pick<MountPlan, 'mounts' | 'hiddenInWorkspace'>> {
  const mounts: Mount[] = [];
  const hiddenInWorkspace: string[] = [];
  for (const { path, isSecret } of await protectedAtTops(workspace, repositories)) {
    // A scratch layer has its own file, which no other process removes.
    const masked = source === workspace ? fleeting(mask(blank, path)) : mask(blank, path);
    mounts.push(isSecret ? masked : readOnly(path));
    if (isSecret) hiddenInWorkspace.push(path);
  }
  for (const folder of new Set(repositories.flatMap(({ elsewhere }) => elsewhere)))
    mounts.push(readOnly(folder));
  for (const [index, path] of [...new Set(repositories.flatMap(({ configs }) => configs))].entries()) {
    const copy = join(sources, `git-config-${index}`);
    // A config that is too long or unreadable is empty inside.
    const text = readBoundedText(path, READ.gitConfig);
    await writeFile(copy, withoutCredentials(text ?? ''), { mode: 0o444 });
    mounts.push(fleeting(mask(copy, path)));
    if (text === null || hasCredentials(text)) hiddenInWorkspace.push(path);
  }
  const hidden = new Map(
    repositories.flatMap((one) => one.hidden).map((entry): [string, HiddenEntry] => [entry.path, entry]),
  );
  for (const { path, kind } of hidden.values()) {
    // git creates and removes its lock files, also in the copy, which shows the .git of the checkout.
    mounts.push(fleeting(kind === 'directory' ? empty(path) : mask(blank, path)));
    hiddenInWorkspace.push(path);
  }
  return { mounts, hiddenInWorkspace };
}

function isShown(path: string, shown: readonly string[], hidden: readonly string[]): boolean {
  return shown.some((folder) => isInside(path, folder)) || !hidden.some((folder) => isInside(path, folder));
}

/**
 * Returns the hidden folders that need a mount: those inside another hidden folder do not, unless a visible folder
 * leads to them.
 */
function uncovered(
  hidden: readonly string[],
  covers: readonly string[],
  visible: readonly string[],
  workspace: string,
): readonly string[] {
  return hidden.filter((path) => {
    const opened = [...visible, workspace].some((folder) => path !== folder && isInside(path, folder));
    const covered = [...hidden, ...covers].some((other) => other !== path && isInside(path, other));
    return opened || !covered;
  });
}

/** Returns real paths directly below hidden folders that no mount shows again, up to 20 per folder. */
async function findUnseen(hidden: readonly string[], mounts: readonly Mount[]): Promise<readonly string[]> {
  const shown = mounts.filter((mount) => mount.kind !== 'empty').map((mount) => mount.at);
  const paths: string[] = [];
  for (const folder of hidden) {
    if (folder === '/') continue;
    const names = await namesIn(folder);
    const unseen = names
      .slice(0, 200)
      .map((name) => join(folder, name))
      .filter((path) => !shown.some((at) => at !== '/tmp' && (isInside(at, path) || isInside(path, at))));
    paths.push(...unseen.slice(0, 20));
  }
  return paths;
}

/** Returns the hidden folders that contain no other mount. */
function findEmptied(mounts: readonly Mount[]): readonly string[] {
  return mounts
    .filter(
      ({ kind, at }) =>
        kind === 'empty' && !mounts.some((other) => other.at !== at && isInside(other.at, at)),
    )
    .map(({ at }) => at);
}

function fleeting(mount: Mount): Mount {
  return { ...mount, fleeting: true };
}

function empty(at: string): Mount {
  return { kind: 'empty', at };
}

function readOnly(path: string): Mount {
  return { kind: 'read-only', from: path, at: path };
}

function mask(from: string, at: string): Mount {
  return { kind: 'read-only', from, at };
}
