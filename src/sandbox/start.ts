/** Starts the backend of a sandbox over the workspace, and tests it. */
import { messageOf, SandboxError } from '../errors.ts';
import { createBwrapBackend } from './bwrap.ts';
import type { Detected } from './detect.ts';
import { planGit } from './git-config.ts';
import { findProgram } from './host-program.ts';
import { describeWeaknesses, isContainer } from './messages.ts';
import type { RootPlan } from './mounts.ts';
import { createOffBackend } from './off.ts';
import { createRunner, type Runner } from './runner.ts';
import type { SandboxOptions } from './sandbox.ts';
import { copyWorkspace, identityOf, makeRunFolders } from './scratch.ts';
import { runSelfTest } from './self-test.ts';
import { planRoot, realOrSame } from './system-root.ts';
import { startUnshareBackend } from './unshare.ts';

export interface StartedSandbox {
  /** null if only files can be read. */
  readonly runner: Runner | null;
  readonly layer: 'overlay' | 'copy' | null;
  readonly weaknesses: readonly string[];
  /** Ends everything inside. */
  close(): Promise<void>;
}

/** @throws SandboxError; the signal's reason */
export async function startSandbox(
  options: SandboxOptions,
  detected: Detected,
  signal: AbortSignal,
): Promise<StartedSandbox> {
  const { runFolder: run, workspace, mode, shellNetwork } = options;
  try {
    const shell = (await findProgram('bash')) ?? '/bin/sh';
    await makeRunFolders(run, workspace);
    const git = await planGit(run, workspace, signal);
    const missing = detected.kind === 'none' && mode === 'auto' ? detected.error.message : null;
    const weaknesses = describeWeaknesses(options, missing, git.hasCredentials, await isContainer());
    if (detected.kind === 'none') {
      const backend = createOffBackend(shell, run);
      const runner = mode === 'off' ? await createRunner(options, backend, shell, signal) : null;
      return { runner, layer: null, weaknesses, close: backend.close };
    }
    const readable = [...options.readable, ...git.objects];
    const entries = planRoot({ ...options, readable });
    const plan: RootPlan = { run, workspace, git, home: realOrSame(options.home), shellNetwork, entries };
    const { backend, layer } = await startBackend(plan, detected, signal);
    try {
      const runner = await createRunner(options, backend, shell, signal);
      await runSelfTest(plan, runner.runScript, signal);
      return { runner, layer, weaknesses, close: backend.close };
    } catch (error) {
      await backend.close();
      throw error;
    }
  } catch (error) {
    if (error instanceof SandboxError || signal.aborted) throw error;
    throw new SandboxError(`The sandbox could not be opened: ${messageOf(error)}.`, { cause: error });
  }
}

async function startBackend(
  plan: RootPlan,
  detected: Exclude<Detected, { kind: 'none' }>,
  signal: AbortSignal,
) {
  if (detected.kind === 'bwrap') {
    await copyWorkspace(plan.run, plan.workspace, signal);
    return { backend: await createBwrapBackend(detected.bwrap, plan), layer: 'copy' } as const;
  }
  const identity = await identityOf(plan.workspace);
  const backend = await startUnshareBackend(detected.programs, plan, identity, signal);
  return { backend, layer: backend.layer };
}
