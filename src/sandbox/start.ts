/** Starts the backend of a sandbox over the workspace, and tests it. */
import { messageOf, SandboxError } from '../errors.ts';
import { createBwrapBackend } from './bwrap.ts';
import type { Backend } from './command.ts';
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
  readonly weaknesses: readonly string[];
  readonly backend: Backend;
}

/** @throws SandboxError; the signal's reason */
export async function startSandbox(
  options: SandboxOptions,
  detected: Detected,
  signal: AbortSignal,
): Promise<StartedSandbox> {
  const { runFolder: run, workspace, mode, shellNetwork } = options;
  try {
    const shell = findProgram('bash') ?? '/bin/sh';
    await makeRunFolders(run, workspace);
    const git = await planGit(run, workspace, signal);
    const missing = detected.kind === 'none' && mode === 'auto' ? detected.error.message : null;
    const weaknesses = describeWeaknesses(options, missing, git.hasCredentials, await isContainer());
    if (detected.kind === 'none') {
      const backend = createOffBackend(shell, run);
      const runner = mode === 'off' ? await createRunner(options, backend, shell, signal) : null;
      return { runner, backend, weaknesses };
    }
    const readable = [...options.readable, ...git.objects];
    const entries = planRoot({ ...options, readable });
    const plan: RootPlan = { run, workspace, git, home: realOrSame(options.home), shellNetwork, entries };
    const backend = await startBackend(plan, detected, signal);
    try {
      const runner = await createRunner(options, backend, shell, signal);
      await runSelfTest(plan, runner.runScript, signal);
      return { runner, backend, weaknesses };
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
): Promise<Backend> {
  if (detected.kind === 'unshare')
    return startUnshareBackend(detected.programs, plan, await identityOf(plan.workspace), signal);
  await copyWorkspace(plan.run, plan.workspace, signal);
  return createBwrapBackend(detected.bwrap, plan);
}
