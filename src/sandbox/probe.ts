/** Whether any wall of this machine can start: asked before the model is, so that a run that must end costs nothing. */
import { spawn } from 'node:child_process';
import { SandboxError } from '../errors.ts';
import { brokenWall, isContainer, missingWall } from './machine.ts';
import type { Candidate, Probe } from './walls.ts';

/** The longest that a probe may take, in milliseconds; then the self-test decides. */
const PROBE_MS = 5_000;
const MAX_COMPLAINT = 1_000;

/**
 * Resolves with the first candidate that starts, some milliseconds after it was called. The self-test tries the wall itself.
 * @throws SandboxError with what is wrong with each, or that there is none to try.
 */
export async function requireStart(
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
  throw new SandboxError(brokenWall(problems.join('; '), await isContainer(), platform));
}

/** What a probe said when it failed; null where it did not, or could not be waited for. */
function complaintOf(probe: Probe | null, signal: AbortSignal): Promise<string | null> {
  if (probe === null || signal.aborted) return Promise.resolve(null);
  return new Promise((resolve) => {
    let text = '';
    const child = spawn(probe.file, probe.args, {
      cwd: '/',
      env: {},
      stdio: ['ignore', 'ignore', 'pipe'],
      timeout: PROBE_MS,
      signal,
    });
    child.stderr.on('data', (chunk: Buffer) => {
      if (text.length < MAX_COMPLAINT) text += chunk.toString('latin1');
    });
    child.once('error', (error) => resolve(signal.aborted ? null : error.message));
    child.once('close', (code) => resolve(code === 0 || code === null ? null : text.trim()));
  });
}
