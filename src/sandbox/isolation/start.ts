/** Starts the first available backend that passes its self-test. */

import { lchown, mkdir, readdir, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { messageOf, SandboxError, WorkspaceError } from '../../errors.ts';
import { WAIT } from '../../text/limits.ts';
import { quote } from '../../text/messages.ts';
import { buildEnvironment, PRIVATE_HOME } from '../exec/environment.ts';
import { readsStartFile, START_FILE, startFile } from '../exec/shell-line.ts';
import type { Folders } from '../run-folder.ts';
import type { SandboxOptions } from '../sandbox.ts';
import type { Repository } from '../workspace/repositories.ts';
import type { Layer, Layers } from '../workspace/scratch.ts';
import { type IsolationBackend, type Mount, sorted } from './backend.ts';
import { type Attempt, type Candidate, planAttempts } from './detect.ts';
import type { HiddenPaths } from './hidden-paths.ts';
import { describeBrokenSandbox, describeMissingSandbox, isContainer } from './host.ts';
import { type MountPlan, planMounts } from './mount-plan.ts';
import { runSelfTest, VisiblePathError } from './self-test.ts';

/**
 * How often a sandbox is started if a hidden path was recreated in the meantime, for example by another job on this
 * machine.
 */
const MAX_TRIES = 3;

export interface StartOptions extends SandboxOptions {
  /** The folder with the files of the workspace, as a path in the namespace in which a backend starts. */
  readonly source: string;
  readonly layers: Layers;
  readonly hidden: HiddenPaths;
  readonly platform: NodeJS.Platform;
}

export interface StartedBackend {
  readonly backend: IsolationBackend;
  readonly layer: Layer;
  /** Files and folders of the workspace that are hidden, and configs that are shown without their credentials. */
  readonly hiddenInWorkspace: readonly string[];
  /** Files in toolchain folders that are hidden because only their owner may read them. */
  readonly ownerOnly: readonly string[];
  /** Toolchain folders with too many such files: only their programs are shown. */
  readonly narrowed: readonly string[];
  /** Why each backend tried before it failed. */
  readonly failures: readonly string[];
}

/**
 * Returns the first backend that passes its self-test.
 * @throws SandboxError with the problem of each candidate, or because there is none to try; WorkspaceError if one works
 * with an ordinary workspace but not with this one.
 */
export async function startFirstBackend(
  candidates: readonly Candidate[],
  shell: string,
  options: StartOptions,
  folders: Folders,
  repositories: readonly Repository[],
  signal: AbortSignal,
): Promise<StartedBackend> {
  if (candidates.length === 0)
    throw new SandboxError(describeMissingSandbox(options.platform, await isContainer()));
  const plan = await prepare(options, folders, repositories, signal).catch((cause: unknown) => {
    if (cause instanceof WorkspaceError) throw cause;
    // File system errors (a full disk, a folder that was removed) are not bugs in this program.
    throw new SandboxError(`The sandbox could not be prepared: ${messageOf(cause)}.`, { cause });
  });
  const configs = repositories.flatMap((repository) => repository.configs);
  const startWith = (attempt: Attempt, mounts: readonly Mount[], tried: readonly string[]) =>
    startBackend(attempt, { ...plan, mounts }, shell, options, folders, tried, signal);
  const problems: string[] = [];
  for await (const attempt of planAttempts(candidates, options.layers)) {
    const { candidate, layer } = attempt;
    await layer.filled();
    try {
      const backend = await startAgain(() => startWith(attempt, plan.mounts, configs));
      return { ...plan, backend, layer, failures: problems };
    } catch (error) {
      if (!(error instanceof SandboxError) || signal.aborted) throw error;
      problems.push(`${candidate.isolation}: ${error.message}`);
    }
  }
  for await (const attempt of planAttempts(candidates, options.layers)) {
    const startsWith = (mounts: readonly Mount[]) => canStart(startWith(attempt, mounts, []), signal);
    const breaker = await findBreaker(plan, startsWith);
    if (breaker !== null) throw new WorkspaceError(brokenByWorkspace(breaker, problems.join('; ')));
  }
  throw new SandboxError(describeBrokenSandbox(problems.join('; '), await isContainer()));
}

async function startAgain(startOnce: () => Promise<IsolationBackend>): Promise<IsolationBackend> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await startOnce();
    } catch (error) {
      if (!(error instanceof VisiblePathError) || tries === MAX_TRIES) throw error;
    }
  }
}

/** Whether a sandbox started; it is then closed. */
async function canStart(started: Promise<IsolationBackend>, signal: AbortSignal): Promise<boolean> {
  try {
    await (await started).close();
    return true;
  } catch (error) {
    if (!(error instanceof SandboxError) || signal.aborted) throw error;
    return false;
  }
}

/**
 * Returns the path of the first mount for the contents of the workspace that cannot be created; null if a sandbox
 * without such mounts does not start either, so that the cause is the machine. Halves the number of mounts with each
 * try.
 */
async function findBreaker(
  plan: MountPlan,
  startsWith: (mounts: readonly Mount[]) => Promise<boolean>,
): Promise<string | null> {
  const content = sorted(plan.forContent);
  const machine = plan.mounts.filter((mount) => !plan.forContent.includes(mount));
  const first = (count: number) => startsWith([...machine, ...content.slice(0, count)]);
  if (!(await first(0)) || (await first(content.length))) return null;
  let standing = 0;
  let broken = content.length;
  while (broken - standing > 1) {
    const middle = Math.floor((standing + broken) / 2);
    if (await first(middle)) standing = middle;
    else broken = middle;
  }
  return content[broken - 1]?.at ?? null;
}

function brokenByWorkspace(place: string, problems: string): string {
  return `This workspace breaks the sandbox: ${quote(place)} cannot be protected from the agent, while a sandbox without it can start on this runner (${quote(problems)}). Look at what the checkout or an earlier step put there, and remove it.`;
}

async function prepare(
  options: StartOptions,
  folders: Folders,
  repositories: readonly Repository[],
  signal: AbortSignal,
): Promise<MountPlan> {
  const plan = await planMounts({ ...options, runFolder: folders.run }, repositories, signal);
  // Created here, so that they can be removed again: what root creates as the parents of a mount point stays behind.
  const privateTmp = await realpath('/tmp');
  for (const { at } of plan.mounts) {
    if (at.startsWith(`${privateTmp}/`))
      await mkdir(join(folders.tmp, dirname(at).slice(privateTmp.length)), { recursive: true });
  }
  if (process.getuid?.() === 0) await handOver(folders.tmp, options.workspace);
  return plan;
}

/**
 * As root, commands run as the owner of the workspace, who must be able to write to the private /tmp and the home in
 * it.
 */
async function handOver(tmp: string, workspace: string): Promise<void> {
  const { uid, gid } = await stat(workspace);
  if (uid === 0) return;
  const home = join(tmp, PRIVATE_HOME);
  const inside = (await readdir(home, { recursive: true })).map((name) => join(home, name));
  for (const path of [tmp, home, ...inside]) await lchown(path, uid, gid);
}

async function startBackend(
  { candidate, layer }: Attempt,
  plan: MountPlan,
  shell: string,
  options: StartOptions,
  folders: Folders,
  configs: readonly string[],
  signal: AbortSignal,
): Promise<IsolationBackend> {
  const { workspace, shellNetwork } = options;
  const place = buildShellOptions(options, '/tmp');
  const start = await placeStartFile(shell, place, folders.run);
  const backend = await candidate.start({
    ...place,
    environment: { ...place.environment, ...start.environment },
    shell,
    mounts: [...plan.mounts, ...start.mounts],
    shellNetwork,
    runFolder: folders.run,
    layer,
  });
  const limits = { timeoutMs: WAIT.selfTest, maxOutputBytes: 4096, signal };
  try {
    await runSelfTest({
      backend,
      process: { ...limits, pipes: folders.pipes, spillFolder: folders.tmp },
      shell,
      runFolder: folders.run,
      workspace,
      workspaceWritable: options.access !== 'read-only',
      configs,
      unseen: plan.unseen,
      emptied: plan.emptied,
      masked: plan.masked,
      shellNetwork,
    });
    return backend;
  } catch (error) {
    await backend.close();
    throw error;
  }
}

/** Writes the file that bash reads before each command, if the shell is bash. */
async function placeStartFile(shell: string, place: ReturnType<typeof buildShellOptions>, runFolder: string) {
  if (!readsStartFile(shell)) return { environment: {}, mounts: [] };
  const file = join(runFolder, 'mounts', 'shell-start');
  const text = startFile(place.workingDirectory, place.environment['BASH_ENV']);
  // Candidates run one after another: root can overwrite an existing file, other users cannot.
  await rm(file, { force: true });
  await writeFile(file, text, { mode: 0o444 });
  const mount: Mount = { kind: 'read-only', from: file, at: START_FILE };
  return { environment: { BASH_ENV: START_FILE }, mounts: [mount] };
}

export function buildShellOptions(options: SandboxOptions, tmp: string) {
  return { workingDirectory: options.workingDirectory, environment: buildEnvironment({ ...options, tmp }) };
}
