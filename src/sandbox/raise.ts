/** Puts up the first wall that this machine has and that stands its test. */
import { lchown, mkdir, readdir, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { SandboxError } from '../errors.ts';
import { buildEnvironment, PRIVATE_HOME } from './environment.ts';
import type { Repository } from './git-folders.ts';
import type { HiddenPaths } from './hidden-paths.ts';
import { brokenWall, canMount, isContainer, missingWall } from './machine.ts';
import { planMounts } from './mount-plan.ts';
import type { Mount } from './mounts.ts';
import type { Folders } from './run-folder.ts';
import type { SandboxOptions } from './sandbox.ts';
import { planSeatbelt } from './seatbelt-plan.ts';
import type { Rule } from './seatbelt-profile.ts';
import { runSelfTest } from './self-test.ts';
import { readsStartFile, START_FILE, startFile } from './shell-line.ts';
import type { Wall } from './wall.ts';
import type { Candidate } from './walls.ts';

const SELF_TEST_MS = 15_000;

/** How a wall is asked for. */
export interface RaiseOptions extends SandboxOptions {
  /** Where the workspace's files lie on this machine. */
  readonly tree: string;
  /** The workspace that a scratch copy was made of, or the workspace itself. */
  readonly checkout: string;
  readonly hidden: HiddenPaths;
  readonly platform: NodeJS.Platform;
}

/** What commands see: by mounts, or by rules where nothing can be mounted. */
interface Plan {
  readonly mounts: readonly Mount[];
  readonly rules: readonly Rule[];
  readonly unseen: readonly string[];
  readonly emptied: readonly string[];
  readonly masked: readonly string[];
}

/**
 * The first wall that stands its test.
 * @throws SandboxError with what is wrong with each, or that there is none to try.
 */
export async function raiseFirst(
  candidates: readonly Candidate[],
  shell: string,
  options: RaiseOptions,
  folders: Folders,
  repositories: readonly Repository[],
  signal: AbortSignal,
): Promise<Wall> {
  if (candidates.length === 0) throw new SandboxError(missingWall(options.platform, await isContainer()));
  const plan = await prepare(options, folders, repositories).catch((cause: unknown) => {
    // What the file system says no to (an unreadable config, a folder that went away) is no bug of ours.
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new SandboxError(`The sandbox could not be prepared: ${why}.`, { cause });
  });
  const problems: string[] = [];
  for (const candidate of candidates) {
    try {
      return await raise(candidate, plan, shell, options, folders, repositories, signal);
    } catch (error) {
      if (!(error instanceof SandboxError) || signal.aborted) throw error;
      problems.push(`${candidate.isolation}: ${error.message}`);
    }
  }
  throw new SandboxError(brokenWall(problems.join('; '), await isContainer(), options.platform));
}

async function prepare(
  options: RaiseOptions,
  folders: Folders,
  repositories: readonly Repository[],
): Promise<Plan> {
  if (!canMount(options.platform)) {
    const plan = await planSeatbelt(options, options.checkout, folders, repositories);
    return { mounts: [], emptied: [], masked: [], ...plan };
  }
  const plan = await planMounts({ ...options, runFolder: folders.run }, repositories);
  // Made by us, so that we can take them away: what root makes on the way to a mount stays behind.
  const privateTmp = await realpath('/tmp');
  for (const { at } of plan.mounts) {
    if (at.startsWith(`${privateTmp}/`))
      await mkdir(join(folders.tmp, dirname(at).slice(privateTmp.length)), { recursive: true });
  }
  if (process.getuid?.() === 0) await handOver(folders.tmp, options.workspace);
  return { rules: [], ...plan };
}

/** As root, commands run as the workspace's owner, who has to be able to write in the private /tmp and the home there. */
async function handOver(tmp: string, workspace: string): Promise<void> {
  const { uid, gid } = await stat(workspace);
  if (uid === 0) return;
  const home = join(tmp, PRIVATE_HOME);
  const inside = (await readdir(home, { recursive: true })).map((name) => join(home, name));
  for (const path of [tmp, home, ...inside]) await lchown(path, uid, gid);
}

async function raise(
  candidate: Candidate,
  plan: Plan,
  shell: string,
  options: RaiseOptions,
  folders: Folders,
  repositories: readonly Repository[],
  signal: AbortSignal,
): Promise<Wall> {
  const { workspace, shellNetwork } = options;
  const mounts = canMount(options.platform);
  const place = shellPlace(options, mounts ? '/tmp' : folders.tmp);
  const start = mounts ? await placeStartFile(shell, place, folders.run) : { environment: {}, mounts: [] };
  const wall = await candidate.raise({
    ...place,
    environment: { ...place.environment, ...start.environment },
    shell,
    mounts: [...plan.mounts, ...start.mounts],
    rules: plan.rules,
    shellNetwork,
    runFolder: folders.run,
    tmp: folders.tmp,
  });
  const limits = { timeoutMs: SELF_TEST_MS, maxOutputBytes: 4096, signal };
  try {
    await runSelfTest({
      wall,
      process: { ...limits, pipes: folders.pipes, spillFolder: folders.tmp },
      shell,
      runFolder: folders.run,
      workspace,
      workspaceWritable: options.access !== 'read-only',
      configs: repositories.flatMap(({ configs }) => configs),
      unseen: plan.unseen,
      emptied: plan.emptied,
      masked: plan.masked,
      shellNetwork,
    });
    return wall;
  } catch (error) {
    await wall.close();
    throw error;
  }
}

/** The file that bash reads before each command, where the shell is bash. */
async function placeStartFile(shell: string, place: ReturnType<typeof shellPlace>, runFolder: string) {
  if (!readsStartFile(shell)) return { environment: {}, mounts: [] };
  const file = join(runFolder, 'walls', 'shell-start');
  const text = startFile(place.workingDirectory, place.environment['BASH_ENV']);
  // One candidate after another: root may write the file that is there, others may not.
  await rm(file, { force: true });
  await writeFile(file, text, { mode: 0o444 });
  const mount: Mount = { kind: 'read-only', from: file, at: START_FILE };
  return { environment: { BASH_ENV: START_FILE }, mounts: [mount] };
}

/** What a shell starts with. */
export function shellPlace(options: SandboxOptions, tmp: string) {
  return { workingDirectory: options.workingDirectory, environment: buildEnvironment({ ...options, tmp }) };
}
