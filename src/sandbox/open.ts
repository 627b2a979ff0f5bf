/**
 * Opens the sandbox of a run: detects and starts an isolation backend, and combines it with the path rules of the file
 * tools.
 */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, SandboxError, WorkspaceError } from '../errors.ts';
import { TOOL } from '../text/limits.ts';
import { race } from '../text/wait.ts';
import type { Isolation } from '../types.ts';
import { runProcess } from './exec/process.ts';
import type { IsolationBackend } from './isolation/backend.ts';
import { type DetectedBackends, detectBackends } from './isolation/detect.ts';
import { findHiddenPaths, type HiddenPaths, NOTHING_HIDDEN } from './isolation/hidden-paths.ts';
import { isContainer } from './isolation/host.ts';
import { createUnisolatedBackend } from './isolation/none.ts';
import { buildShellOptions, startFirstBackend } from './isolation/start.ts';
import {
  describeBackend,
  describeLayer,
  describeOptions,
  describeRoot,
  describeStarted,
  describeWorkspace,
  findCredentials,
} from './isolation/weaknesses.ts';
import { type Folders, makeFolders } from './run-folder.ts';
import { DeniedError, type OpenedSandbox, type SandboxOptions } from './sandbox.ts';
import { readResolved, writeResolved } from './workspace/files.ts';
import {
  createPathPolicy,
  isInside,
  type PathPolicy,
  realOrSame,
  type Tree,
} from './workspace/path-policy.ts';
import { protectedIn } from './workspace/protected-roots.ts';
import { findRepositories, type Repository } from './workspace/repositories.ts';
import { type Layer, SCRATCH_FOLDER } from './workspace/scratch.ts';

/**
 * Opens the sandbox. Resolves before the self-test has finished, except in mode `auto`, where it must first know
 * whether a shell can be offered; `ready` reports the result of the self-test. Does not reject because no sandbox is
 * available. In mode `auto` it rejects if the workspace itself makes a sandbox impossible.
 * @param detected the backends of this machine, if detection has already been started.
 */
export async function openSandbox(
  asked: SandboxOptions,
  detected?: Promise<DetectedBackends>,
): Promise<OpenedSandbox> {
  const inContainer = isContainer();
  const folders = await makeFolders(asked.runFolder).catch((cause: unknown) => {
    const why = messageOf(cause);
    throw new SandboxError(`The folder of the run could not be made in RUNNER_TEMP: ${why}.`, { cause });
  });
  const { mode, stop } = asked;
  const inScratch = asked.access === 'scratch';
  const mounts = mode !== 'off';
  const source = inScratch ? join(folders.run, SCRATCH_FOLDER) : asked.workspace;
  // Without mounts the copy is a different folder, and the agent works there.
  const options = {
    ...(inScratch && !mounts ? moveTo(source, asked) : asked),
    platform: asked.platform ?? process.platform,
  };
  const closing = new AbortController();
  const { signal } = closing;

  const { shell, candidates, layers, started } = await (detected ?? detectBackends(asked, signal));
  const openPlain = async () => {
    const plain = (inScratch ? null : await layers.mounted(null)) ?? (await layers.copied());
    await plain.filled();
    return plain;
  };
  const plainLayer = mounts ? null : openPlain();
  const repositories = Promise.resolve(plainLayer).then(() => findRepositories(options.workspace));
  // Before a backend starts, because starting one may remove the credentials from a copy.
  const credentials = repositories.then(findCredentials);
  const hidden = mounts ? findHiddenPaths(options, signal) : Promise.resolve(NOTHING_HIDDEN);
  const weaknesses: string[] = [];
  const notes: string[] = [];
  const opened = Promise.all([repositories, hidden, credentials, started]).then(async ([known, found]) => {
    if (plainLayer !== null) {
      const backend = createUnisolatedBackend({ ...buildShellOptions(options, folders.tmp), shell });
      return { backend, layer: await plainLayer };
    }
    const around = { ...options, source, layers, hidden: found };
    const isolated = await startFirstBackend(candidates, shell, around, folders, known, signal);
    notes.push(...describeStarted(isolated, options.workspace));
    return isolated;
  });
  const backend = opened.then((one) => one.backend);
  // File access works without a sandbox too, which `auto` allows; the reason why there is none is reported elsewhere.
  const layer = opened.then(
    (one) => one.layer,
    async (error: unknown) => {
      if (mode === 'auto' && asMissing(error)) return openPlain();
      throw error;
    },
  );
  let used: Layer | null = null;
  const described = Promise.all([layer, credentials]).then(async ([one, held]) => {
    used = one;
    notes.push(...describeLayer(one, mode, layers.reasons()));
    weaknesses.push(...describeWorkspace(held, await one.filled()));
  });
  const files = createFileRules(options, layer, folders, repositories, hidden, backend);
  // Each caller that awaits these promises gets the error; this keeps an unawaited rejection from crashing the process.
  for (const promise of [repositories, hidden, credentials, files, backend, layer, described])
    promise.catch(() => undefined);

  let broken: SandboxError | null = null;
  if (mode === 'auto') {
    // An error while copying or scanning the workspace does not mean that no sandbox is available. It must not lead to
    // a run without a shell, because the contents of the workspace could then cause that.
    const failure = repositories.then(() => backend.then(() => null, asMissing));
    broken = await (stop === undefined ? failure : race(failure, stop)).catch(async (error: unknown) => {
      closing.abort(new Error('The sandbox was not opened.'));
      await layers.close();
      await folders.pipes.close();
      throw error;
    });
  }
  const isIsolated = mounts && broken === null;
  weaknesses.push(...describeOptions(options, isIsolated, broken));
  const [weak, noted] = describeRoot(isIsolated, await inContainer);
  weaknesses.push(...weak);
  notes.unshift(...noted);
  const stands = Promise.all([backend, hidden, described]).then(([found, { complete }]) => {
    weaknesses.push(...describeBackend(found, complete));
  });
  const ready = mode === 'auto' ? Promise.all([described, stands.catch(() => undefined)]) : stands;
  ready.catch(() => undefined);

  let isolation: Isolation = isIsolated ? 'bwrap' : 'none';
  backend.then(
    ({ name }) => {
      isolation = name;
    },
    () => {
      isolation = 'none';
    },
  );
  const standing = async () => {
    const one = await layer;
    if (one.isMounted()) return one;
    throw new SandboxError(
      'The overlay over the checkout is gone: the process that holds its mount has ended.',
    );
  };
  const running = new Set<Promise<unknown>>();
  const execute: OpenedSandbox['exec'] = async (command, limits) => {
    refuseCommand(command);
    const { workspace, workingDirectory } = options;
    const { tree } = await standing();
    await requireFolder(tree + workingDirectory.slice(workspace.length), workingDirectory);
    const { spillName, text, ...rest } = await runProcess(await backend, command, {
      ...limits,
      signal: AbortSignal.any([limits.signal, signal]),
      pipes: folders.pipes,
      spillFolder: folders.tmp,
    });
    const outputFolder = isIsolated ? '/tmp' : folders.tmp;
    return {
      ...rest,
      output: text,
      fullOutputPath: spillName === null ? null : `${outputFolder}/${spillName}`,
    };
  };
  return {
    isolation: () => isolation,
    scratch: () => (used === null || used.kind === 'checkout' ? null : used.kind),
    overlay() {
      if (used === null || used.upper === null) return null;
      return { lower: asked.workspace, upper: used.upper, merged: used.tree, real: used.source };
    },
    async idle() {
      await Promise.allSettled(running);
      await standing();
    },
    tmp: folders.tmp,
    workingDirectory: options.workingDirectory,
    shellOffered: isIsolated || mode !== 'auto',
    weaknesses: () => [...weaknesses],
    notes: () => [...notes],
    // Without a backend, which `auto` allows, the files are copied.
    started: () => (broken !== null && inScratch ? layers.copied().then(() => undefined) : started),
    async ready() {
      await ready;
    },
    async read(path, maxBytes, intent = 'read') {
      await ready;
      await standing();
      return readResolved(await (await files).resolve(path, intent), path, maxBytes);
    },
    async write(path, bytes) {
      await ready;
      await standing();
      await writeResolved(await (await files).resolve(path, 'edit'), path, bytes);
    },
    exec(command, limits) {
      const task = execute(command, limits).finally(() => running.delete(task));
      running.add(task);
      return task;
    },
    async close() {
      closing.abort(new Error('The sandbox was closed.'));
      await Promise.allSettled([...running, backend, files, layers.close()]);
      await backend.then((found) => found.close()).catch(() => undefined);
      await folders.pipes.close();
    },
  };
}

function moveTo(folder: string, options: SandboxOptions): SandboxOptions {
  const rest = options.workingDirectory.slice(options.workspace.length);
  const environment = { ...options.environment, GITHUB_WORKSPACE: folder };
  return { ...options, workspace: folder, workingDirectory: folder + rest, environment };
}

async function createFileRules(
  options: SandboxOptions,
  layer: Promise<Layer>,
  folders: Folders,
  repositories: Promise<readonly Repository[]>,
  hidden: Promise<HiddenPaths>,
  backend: Promise<IsolationBackend>,
): Promise<PathPolicy> {
  const { workspace, mode } = options;
  const found = await repositories;
  const { tree, source } = await layer;
  const runnerFolders = await hidden.then(
    ({ runners }) => runners,
    () => [],
  );
  const hasBackend = () =>
    backend.then(
      () => true,
      () => false,
    );
  // Without a sandbox, commands use the host's own paths, and so do the file tools.
  const literalTmp = mode === 'off' || (mode === 'auto' && !(await hasBackend()));
  const tmp = { host: folders.tmp, real: folders.tmp, kind: 'tmp' } as const;
  const trees: Tree[] = [{ view: workspace, host: tree, real: source, kind: 'workspace' }];
  if (literalTmp) trees.push({ view: folders.tmp, ...tmp });
  trees.sort((a, b) => b.view.length - a.view.length);
  trees.push({ view: '/tmp', ...tmp });
  const inTree = (path: string) =>
    isInside(path, workspace) ? [path, tree + path.slice(workspace.length)] : [path];
  const runners = [options.home, options.runnerTemp, ...runnerFolders];
  const closed = new Set([...runners, ...(await Promise.all(runners.map(realOrSame)))]);
  return createPathPolicy({
    trees,
    workingDirectory: options.workingDirectory,
    closed: [...closed].filter((folder) => folder !== '/' && folder !== workspace),
    gitFolders: found.flatMap(({ gitFolders }) => gitFolders).flatMap(inTree),
    frozen: (await protectedIn(workspace, found)).flatMap(inTree),
    readOnlyWorkspace: options.access === 'read-only',
  });
}

function refuseCommand(command: string): void {
  if (command.includes('\0')) throw new DeniedError('A command must not contain a NUL character.');
  const bytes = Buffer.byteLength(command);
  if (bytes <= TOOL.command) return;
  throw new DeniedError(
    `The command is too long (${bytes} bytes; at most ${TOOL.command}). Write it to a file under /tmp and run that.`,
  );
}

async function requireFolder(folder: string, name: string): Promise<void> {
  const stats = await stat(folder).catch(() => null);
  if (stats?.isDirectory() !== true)
    throw new DeniedError(`The working directory ${name} is gone. Make it again by creating a file in it.`);
}

/** Returns the error if it means that this machine cannot provide a sandbox. @throws any other error. */
function asMissing(error: unknown): SandboxError {
  if (error instanceof SandboxError && !(error instanceof WorkspaceError)) return error;
  throw error;
}
