/** Opens the sandbox of a run: finds the wall that this machine has, tries it, and joins it to the file rules. */
import { realpath, stat } from 'node:fs/promises';
import { SandboxError } from '../errors.ts';
import { createBwrapWall } from './bwrap.ts';
import { type Confinement, createConfinement, type Tree } from './confine.ts';
import { buildEnvironment } from './environment.ts';
import { readPlace, writePlace } from './files.ts';
import { findRepositories, type Repository } from './git-folders.ts';
import { brokenWall, findHelper, HELPER_FOLDERS, missingWall } from './machine.ts';
import { planMounts } from './mount-plan.ts';
import { createOpenGround } from './open-ground.ts';
import { runProcess } from './process.ts';
import { protectedIn } from './protected.ts';
import { type Folders, makeFolders } from './run-folder.ts';
import { DeniedError, type ExecResult, type OpenedSandbox, type SandboxOptions } from './sandbox.ts';
import { runSelfTest } from './self-test.ts';
import { MAX_COMMAND_BYTES } from './shell-line.ts';
import type { Wall } from './wall.ts';
import { findWeaknesses } from './weaknesses.ts';

const SELF_TEST_MS = 15_000;

/**
 * Opens the sandbox. Resolves before the self-test has ended, except with `auto`, which must know whether a shell can
 * be offered; `ready` tells how it went. Never rejects because a wall is missing.
 */
export async function openSandbox(options: SandboxOptions): Promise<OpenedSandbox> {
  const folders = await makeFolders(options.runFolder);
  const helpers = options.helperFolders ?? HELPER_FOLDERS;
  const shell = (await findHelper(['bash', 'sh'], HELPER_FOLDERS)) ?? '/bin/sh';
  const searched = options.mode !== 'off' && process.platform === 'linux';
  const bwrap = searched ? await findHelper(['bwrap'], helpers) : null;
  const closing = new AbortController();

  const begun = options.mode === 'auto' ? Promise.resolve() : whenBegun(options.begin, closing.signal);
  const repositories = begun.then(() => findRepositories(options.workspace));
  const files = repositories.then((found) => confine(options, folders, found, bwrap === null));
  const wall =
    options.mode === 'off'
      ? repositories.then(() => createOpenGround({ ...shellPlace(options, folders.tmp), shell }))
      : bwrap === null
        ? Promise.reject<Wall>(new SandboxError(missingWall(process.platform)))
        : repositories.then((found) => raise(bwrap, shell, options, folders, found, closing.signal));
  // Who awaits them is told; nobody awaiting them is no reason to crash.
  for (const promise of [repositories, files, wall]) promise.catch(() => undefined);

  const broken = options.mode === 'auto' ? await unlessStopped(failureOf(wall), options.stop, closing) : null;
  const weaknesses = findWeaknesses(options, bwrap !== null && broken === null, broken);
  repositories.then((found) => weaknesses.look(found)).catch(() => undefined);
  const ready = options.mode === 'auto' ? Promise.resolve() : wall.then(() => undefined);
  ready.catch(() => undefined);
  return assemble(
    { options, folders, files, wall, ready, closing },
    bwrap !== null && broken === null,
    weaknesses.list,
  );
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
  readonly folders: Folders;
  readonly files: Promise<Confinement>;
  readonly wall: Promise<Wall>;
  readonly ready: Promise<void>;
  readonly closing: AbortController;
}

function assemble(parts: Parts, walled: boolean, weaknesses: () => readonly string[]): OpenedSandbox {
  const { options, folders, files, wall, ready, closing } = parts;
  const running = new Set<Promise<unknown>>();
  const outputFolder = walled ? '/tmp' : folders.tmp;

  async function execute(command: string, limits: Parameters<OpenedSandbox['exec']>[1]): Promise<ExecResult> {
    refuseCommand(command);
    await requireFolder(options.workingDirectory);
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

  return {
    isolation: walled ? 'bwrap' : 'none',
    workingDirectory: options.workingDirectory,
    shellOffered: walled || options.mode !== 'auto',
    weaknesses,
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
      await folders.pipes.close();
    },
  };
}

function shellPlace(options: SandboxOptions, tmp: string) {
  return { workingDirectory: options.workingDirectory, environment: buildEnvironment({ ...options, tmp }) };
}

async function raise(
  bwrap: string,
  shell: string,
  options: SandboxOptions,
  folders: Folders,
  repositories: readonly Repository[],
  signal: AbortSignal,
): Promise<Wall> {
  const { workspace, shellNetwork } = options;
  const plan = await planMounts({ ...options, runFolder: folders.run }, repositories).catch(
    (cause: unknown) => {
      // What the file system says no to (an unreadable config, a folder that went away) is no bug of ours.
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new SandboxError(`The sandbox could not be prepared: ${why}.`, { cause });
    },
  );
  const wall = createBwrapWall({
    ...shellPlace(options, '/tmp'),
    bwrap,
    shell,
    mounts: plan.mounts,
    shellNetwork,
  });
  const limits = { timeoutMs: SELF_TEST_MS, maxOutputBytes: 4096, signal };
  try {
    await runSelfTest({
      wall,
      process: { ...limits, pipes: folders.pipes, spillFolder: folders.tmp },
      shell,
      runFolder: folders.run,
      workspace,
      workspaceWritable: options.access === 'in-place',
      configs: repositories.flatMap(({ configs }) => configs),
      unseen: plan.unseen,
      shellNetwork,
    });
  } catch (error) {
    if (error instanceof SandboxError) throw new SandboxError(brokenWall(error.message), { cause: error });
    throw error;
  }
  return wall;
}

async function confine(
  options: SandboxOptions,
  folders: Folders,
  repositories: readonly Repository[],
  literalTmp: boolean,
): Promise<Confinement> {
  const { workspace } = options;
  const trees: Tree[] = [{ view: workspace, host: workspace, kind: 'workspace' }];
  if (literalTmp) trees.push({ view: folders.tmp, host: folders.tmp, kind: 'tmp' });
  trees.sort((a, b) => b.view.length - a.view.length);
  trees.push({ view: '/tmp', host: folders.tmp, kind: 'tmp' });
  const runners = [options.home, options.runnerTemp];
  const closed = new Set([...runners, ...(await Promise.all(runners.map(realOrSame)))]);
  return createConfinement({
    trees,
    workingDirectory: options.workingDirectory,
    closed: [...closed].filter((folder) => folder !== '/' && folder !== workspace),
    gitFolders: repositories.flatMap(({ gitFolders }) => gitFolders),
    frozen: await protectedIn(workspace, repositories),
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

async function requireFolder(folder: string): Promise<void> {
  try {
    if ((await stat(folder)).isDirectory()) return;
  } catch {
    // Said below.
  }
  throw new DeniedError(`The working directory ${folder} is gone. Make it again by creating a file in it.`);
}

async function failureOf(promise: Promise<unknown>): Promise<SandboxError | null> {
  try {
    await promise;
    return null;
  } catch (error) {
    if (error instanceof SandboxError) return error;
    throw error;
  }
}

async function realOrSame(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    return path;
  }
}
