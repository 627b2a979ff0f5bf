/** Opens the sandbox of a run: finds the wall that this machine has, tries it, and joins it to the file rules. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { SandboxError, WorkspaceError } from '../errors.ts';
import type { Isolation } from '../types.ts';
import { runProcess } from './exec/process.ts';
import { MAX_COMMAND_BYTES } from './exec/shell-line.ts';
import type { Wall } from './isolation/backend.ts';
import { findHiddenPaths, NOTHING_HIDDEN } from './isolation/hidden-paths.ts';
import { isContainer } from './isolation/host.ts';
import { createOpenGround } from './isolation/none.ts';
import { probeWalls, type Walls } from './isolation/probe.ts';
import { type Raised, raiseFirst, shellPlace } from './isolation/start.ts';
import { findCredentials, findWeaknesses, notesOfRaised, type Weaknesses } from './isolation/weaknesses.ts';
import { type Folders, makeFolders } from './run-folder.ts';
import { DeniedError, type ExecResult, type OpenedSandbox, type SandboxOptions } from './sandbox.ts';
import { readPlace, writePlace } from './workspace/files.ts';
import {
  type Confinement,
  createConfinement,
  isInside,
  realOrSame,
  type Tree,
} from './workspace/path-policy.ts';
import { protectedIn } from './workspace/protected.ts';
import { findRepositories, type Repository } from './workspace/repositories.ts';
import { copyWorkspace } from './workspace/scratch.ts';

/**
 * Opens the sandbox. Resolves before the self-test has ended, except with `auto`, which must know whether a shell can
 * be offered; `ready` tells how it went. Never rejects because a wall is missing; with `auto` it does where the workspace
 * itself makes one impossible.
 * @param probed the walls of this machine, where the run has begun to look for them already.
 */
export async function openSandbox(asked: SandboxOptions, probed?: Promise<Walls>): Promise<OpenedSandbox> {
  const folders = await makeFolders(asked.runFolder).catch((cause: unknown) => {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new SandboxError(`The folder of the run could not be made in RUNNER_TEMP: ${why}.`, { cause });
  });
  const copy = join(folders.run, 'workspace');
  const scratch = asked.access === 'scratch';
  const platform = asked.platform ?? process.platform;
  const mounts = asked.mode !== 'off';
  // Where nothing is mounted the copy is another folder, and the agent works there.
  const options = { ...(scratch && !mounts ? movedTo(copy, asked) : asked), platform };
  const tree = scratch ? copy : asked.workspace;
  const closing = new AbortController();

  // At once, also where the rest waits for the first request: that must not be paid where no wall can start.
  const { shell, candidates, started } = await (probed ?? probeWalls(options, closing.signal));
  const begun = options.mode === 'auto' ? Promise.resolve() : whenBegun(options.begin, closing.signal);
  const copied = begun.then(() =>
    scratch
      ? copyWorkspace(asked.workspace, copy, { withGit: !mounts, signal: closing.signal })
      : { missing: null },
  );
  const repositories = copied.then(() => findRepositories(options.workspace));
  // Before a wall is raised: it may take the credentials out of a copy.
  const credentials = repositories.then(findCredentials);
  const hidden = begun.then(() =>
    options.mode === 'off' ? NOTHING_HIDDEN : findHiddenPaths(options, closing.signal),
  );
  let raised: Raised | null = null;
  const wall = Promise.all([repositories, hidden, credentials, started]).then(async ([known, found]) => {
    if (options.mode === 'off') return createOpenGround({ ...shellPlace(options, folders.tmp), shell });
    const around = { ...options, tree, checkout: asked.workspace, hidden: found };
    raised = await raiseFirst(candidates, shell, around, folders, known, closing.signal);
    return raised.wall;
  });
  const isOpen = !mounts ? Promise.resolve(true) : wallless(options.mode, wall);
  // The files are open without a wall, too, and the reason that there is none is reported elsewhere.
  const closed = hidden.then(
    ({ runners }) => runners,
    () => [],
  );
  const files = repositories.then(async (found) =>
    confine(options, tree, folders, found, await closed, await isOpen),
  );
  // Who awaits them is told; nobody awaiting them is no reason to crash.
  for (const promise of [repositories, hidden, credentials, files, wall]) promise.catch(() => undefined);

  // A workspace that cannot be copied or looked through is no missing wall: what it holds must not take the shell away.
  const failure = () => repositories.then(() => failureOf(wall));
  const broken =
    options.mode === 'auto'
      ? await unlessStopped(failure(), options.stop, closing).catch(async (error: unknown) => {
          closing.abort(new Error('The sandbox was not opened.'));
          await folders.pipes.close();
          throw error;
        })
      : null;
  const walled = options.mode !== 'off' && broken === null;
  const weaknesses = findWeaknesses(options, walled, broken, await isContainer());
  Promise.all([credentials, copied])
    .then(([held, { missing }]) => weaknesses.add(held, missing))
    .catch(() => undefined);
  const described = Promise.all([wall, hidden]).then(([{ name, filtersCalls }, { complete }]) => {
    if (name !== 'none' && filtersCalls !== true) weaknesses.addUnfiltered();
    weaknesses.addReadable(name, complete);
  });
  const ready = options.mode === 'auto' ? described.catch(() => undefined) : described;
  ready.catch(() => undefined);
  const notes = () => [
    ...weaknesses.notes(),
    ...(raised === null ? [] : notesOfRaised(raised, options.workspace)),
  ];
  return assemble({ options, tree, mounts, folders, files, wall, started, ready, closing }, walled, {
    ...weaknesses,
    notes,
  });
}

/** The same sandbox around another folder. */
function movedTo(folder: string, options: SandboxOptions): SandboxOptions {
  const rest = options.workingDirectory.slice(options.workspace.length);
  const environment = { ...options.environment, GITHUB_WORKSPACE: folder };
  return { ...options, workspace: folder, workingDirectory: folder + rest, environment };
}

/** A stop ends the wait for the wall, and the wall's own tries with it. @throws the stop's reason. */
async function unlessStopped<T>(
  wait: Promise<T>,
  stop: AbortSignal | undefined,
  closing: AbortController,
): Promise<T> {
  if (stop === undefined) return wait;
  const stopped = new Promise<never>((_, reject) => {
    const end = () => {
      closing.abort(new Error('The run was stopped.'));
      reject(stop.reason);
    };
    if (stop.aborted) end();
    else stop.addEventListener('abort', end, { once: true });
  });
  stopped.catch(() => undefined);
  return Promise.race([wait, stopped]);
}

/** Closing counts as beginning: whoever waits for the wall must not wait for ever. */
async function whenBegun(begin: Promise<void> | undefined, closing: AbortSignal): Promise<void> {
  if (begin === undefined || closing.aborted) return;
  await Promise.race([begin, new Promise((resolve) => closing.addEventListener('abort', resolve))]);
}

interface Parts {
  readonly options: SandboxOptions;
  /** Where the workspace's files lie on this machine. */
  readonly tree: string;
  /** Whether commands see the trees where the model's view has them. */
  readonly mounts: boolean;
  readonly folders: Folders;
  readonly files: Promise<Confinement>;
  readonly wall: Promise<Wall>;
  readonly started: Promise<void>;
  readonly ready: Promise<void>;
  readonly closing: AbortController;
}

function assemble(parts: Parts, walled: boolean, weaknesses: Weaknesses): OpenedSandbox {
  const { options, tree, mounts, folders, files, wall, started, ready, closing } = parts;
  const running = new Set<Promise<unknown>>();
  const outputFolder = walled && mounts ? '/tmp' : folders.tmp;

  async function execute(command: string, limits: Parameters<OpenedSandbox['exec']>[1]): Promise<ExecResult> {
    refuseCommand(command);
    await requireFolder(
      tree + options.workingDirectory.slice(options.workspace.length),
      options.workingDirectory,
    );
    const { spillName, text, ...rest } = await runProcess(await wall, command, {
      ...limits,
      signal: AbortSignal.any([limits.signal, closing.signal]),
      pipes: folders.pipes,
      spillFolder: folders.tmp,
    });
    return {
      ...rest,
      output: text,
      fullOutputPath: spillName === null ? null : `${outputFolder}/${spillName}`,
    };
  }

  let isolation: Isolation = walled ? 'bwrap' : 'none';
  const stands = (name: Isolation) => {
    isolation = name;
  };
  wall.then(
    ({ name }) => stands(name),
    () => stands('none'),
  );
  return {
    isolation: () => isolation,
    workingDirectory: options.workingDirectory,
    shellOffered: walled || options.mode !== 'auto',
    weaknesses: weaknesses.list,
    notes: weaknesses.notes,
    started: () => started,
    ready: () => ready,
    async read(path, maxBytes, intent = 'read') {
      await ready;
      return readPlace(await (await files).locate(path, intent), path, maxBytes);
    },
    async write(path, bytes) {
      await ready;
      await writePlace(await (await files).locate(path, 'edit'), path, bytes);
    },
    exec(command, limits) {
      const task = execute(command, limits).finally(() => running.delete(task));
      running.add(task);
      return task;
    },
    async close() {
      closing.abort(new Error('The sandbox was closed.'));
      await Promise.allSettled([...running, wall, files]);
      await wall.then((raised) => raised.close()).catch(() => undefined);
      await folders.pipes.close();
    },
  };
}

/** With `auto` a wall that does not stand leaves the file tools alone, on the machine's own paths. */
async function wallless(mode: SandboxOptions['mode'], wall: Promise<Wall>): Promise<boolean> {
  if (mode !== 'auto') return false;
  return wall.then(
    () => false,
    () => true,
  );
}

async function confine(
  options: SandboxOptions,
  tree: string,
  folders: Folders,
  repositories: readonly Repository[],
  runnerFolders: readonly string[],
  literalTmp: boolean,
): Promise<Confinement> {
  const { workspace } = options;
  const trees: Tree[] = [{ view: workspace, host: tree, kind: 'workspace' }];
  const inTree = (path: string) =>
    isInside(path, workspace) ? [path, tree + path.slice(workspace.length)] : [path];
  if (literalTmp) trees.push({ view: folders.tmp, host: folders.tmp, kind: 'tmp' });
  trees.sort((a, b) => b.view.length - a.view.length);
  trees.push({ view: '/tmp', host: folders.tmp, kind: 'tmp' });
  const runners = [options.home, options.runnerTemp, ...runnerFolders];
  const closed = new Set([...runners, ...(await Promise.all(runners.map(realOrSame)))]);
  return createConfinement({
    trees,
    workingDirectory: options.workingDirectory,
    closed: [...closed].filter((folder) => folder !== '/' && folder !== workspace),
    gitFolders: repositories.flatMap(({ gitFolders }) => gitFolders).flatMap(inTree),
    frozen: (await protectedIn(workspace, repositories)).flatMap(inTree),
    readOnlyWorkspace: options.access === 'read-only',
  });
}

function refuseCommand(command: string): void {
  if (command.includes('\0')) throw new DeniedError('A command must not contain a NUL character.');
  const bytes = Buffer.byteLength(command);
  if (bytes <= MAX_COMMAND_BYTES) return;
  throw new DeniedError(
    `The command is too long (${bytes} bytes; at most ${MAX_COMMAND_BYTES}). Write it to a file under /tmp and run that.`,
  );
}

async function requireFolder(folder: string, name: string): Promise<void> {
  try {
    if ((await stat(folder)).isDirectory()) return;
  } catch {
    // Said below.
  }
  throw new DeniedError(`The working directory ${name} is gone. Make it again by creating a file in it.`);
}

async function failureOf(promise: Promise<unknown>): Promise<SandboxError | null> {
  try {
    await promise;
    return null;
  } catch (error) {
    if (error instanceof SandboxError && !(error instanceof WorkspaceError)) return error;
    throw error;
  }
}
