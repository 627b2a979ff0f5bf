/** Whether any wall of this machine can start: asked before the model is, so that a run that must end costs nothing. */
import { SandboxError } from '../../errors.ts';
import { findHelper, HELPER_FOLDERS, runHelper } from '../exec/host-program.ts';
import type { SandboxOptions } from '../sandbox.ts';
import { type Candidate, findCandidates, type Probe } from './detect.ts';
import { brokenWall, isContainer, missingWall } from './host.ts';

const MAX_COMPLAINT = 1_000;

/** What this machine has to put a wall up with. */
export interface Walls {
  readonly shell: string;
  /** In the order in which they are tried; none with `off`. */
  readonly candidates: readonly Candidate[];
  /**
   * Resolves once one of them was seen to start; at once with `auto` and `off`. Handled: nobody need await it.
   * @throws SandboxError as `requireStart` does.
   */
  readonly started: Promise<void>;
}

/** Looks for the walls of this machine, and tries them; needs nothing of what a run finds out later. */
export async function probeWalls(
  options: Pick<
    SandboxOptions,
    'workspace' | 'mode' | 'shellNetwork' | 'kinds' | 'helperFolders' | 'platform'
  >,
  signal: AbortSignal,
): Promise<Walls> {
  const { mode, shellNetwork, kinds, helperFolders = HELPER_FOLDERS, platform = process.platform } = options;
  const shell = (await findHelper(['bash', 'sh'])) ?? '/bin/sh';
  const found =
    mode === 'off'
      ? []
      : await findCandidates(options.workspace, helperFolders, platform, { shell, shellNetwork });
  const candidates = found.filter(({ isolation }) => kinds?.includes(isolation) ?? true);
  const started = mode === 'required' ? requireStart(candidates, platform, signal) : Promise.resolve();
  started.catch(() => undefined);
  return { shell, candidates, started };
}

/**
 * Resolves with the first candidate that starts, some milliseconds after it was called. The self-test tries the wall itself.
 * @throws SandboxError with what is wrong with each, or that there is none to try.
 */
async function requireStart(
  candidates: readonly Candidate[],
  platform: NodeJS.Platform,
  signal: AbortSignal,
): Promise<void> {
  if (candidates.length === 0) throw new SandboxError(missingWall(platform, await isContainer()));
  const problems: string[] = [];
  for (const { isolation, probe } of candidates) {
    // Twice: a mount of this machine may go away while the new root is made of all of them.
    const complaint = (await complaintOf(probe, signal)) === null ? null : await complaintOf(probe, signal);
    if (complaint === null) return;
    problems.push(`${isolation}: The sandbox did not come up: ${complaint || 'no reason was given'}`);
  }
  throw new SandboxError(brokenWall(problems.join('; '), await isContainer()));
}

/** What a probe said when it failed; null where it did not, or could not be waited for. */
async function complaintOf({ file, args }: Probe, signal: AbortSignal): Promise<string | null> {
  const ended = await runHelper(file, args, { signal }).catch((error: Error) => ({
    exitCode: 127,
    stderr: error.message,
  }));
  if (ended === null || ended.exitCode === 0 || ended.exitCode === null) return null;
  return ended.stderr.trim().slice(0, MAX_COMPLAINT);
}
