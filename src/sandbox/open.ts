/** Starts and tests the sandbox over the workspace, and gives the tools of a run their access to it. */
import { resolve } from 'node:path';
import { messageOf, SandboxError } from '../errors.ts';
import { createBwrapBackend } from './bwrap.ts';
import type { Backend } from './command.ts';
import { type Detected, isContainer } from './detect.ts';
import { parseRead, readConfined, readScript, requireExit, writeScript } from './files.ts';
import { planGit } from './git-config.ts';
import { findProgram } from './host-program.ts';
import { createOffBackend } from './off.ts';
import { createRunner, type Runner, replaceContext } from './runner.ts';
import { contextFolderOf, DeniedError, type OpenedSandbox, type SandboxOptions } from './sandbox.ts';
import { copyWorkspace, identityOf, makeRunFolders } from './scratch.ts';
import { runSelfTest } from './self-test.ts';
import { planRoot, type RootPlan, realOrSame } from './system-root.ts';
import { startUnshareBackend } from './unshare.ts';

/**
 * Opens the sandbox and returns at once; `ready` reports how that went.
 * @param detected how commands can be isolated here.
 * @throws SandboxError if they cannot be isolated and must be
 */
export function openSandbox(options: SandboxOptions, detected: Detected): OpenedSandbox {
  const { mode } = options;
  if (detected.kind === 'none' && mode === 'required') throw detected.error;
  const run = realOrSame(options.runFolder);
  const contextFolder = contextFolderOf(detected.kind !== 'none', run);
  const closing = new AbortController();
  const opened = startSandbox({ ...options, runFolder: run }, detected, closing.signal);
  let started: Awaited<typeof opened> | null = null;
  let hasFailed = false;
  const ready = opened.then((one) => {
    started = one;
  });
  ready.catch(() => {
    hasFailed = true;
  });
  const getRunner = async () => {
    const { runner } = await opened;
    if (runner === null) throw new DeniedError('Without a sandbox, no commands can run.');
    return runner;
  };
  const limits = { timeoutMs: 30_000, signal: closing.signal, startsNothing: true };

  return {
    workingDirectory: options.workingDirectory,
    contextFolder,
    shellOffered: detected.kind !== 'none' || mode === 'off',
    isolation: () => (hasFailed ? 'none' : detected.kind),
    layer: () => started?.backend.layer ?? null,
    weaknesses: () => started?.weaknesses ?? [],
    ready: () => ready,
    async addContext(name, bytes) {
      await opened;
      await replaceContext(run, name, bytes);
    },
    runScript: async (script, scriptOptions) => (await getRunner()).runScript(script, scriptOptions),
    async exec(command, execOptions) {
      refuseNul('command', command);
      return (await getRunner()).exec(command, execOptions);
    },
    async read(path, maxBytes) {
      refuseNul('path', path);
      const { runner } = await opened;
      if (runner === null) {
        const absolute = resolve(options.workingDirectory, path);
        return readConfined(absolute, [options.workspace, contextFolder], maxBytes);
      }
      // The first line of its output says what it is.
      const ran = await runner.runScript(readScript(path, maxBytes), { ...limits, maxBytes: maxBytes + 32 });
      return parseRead(ran, path, maxBytes);
    },
    async write(path, bytes) {
      refuseNul('path', path);
      const { runScript } = await getRunner();
      const { exitCode } = await runScript(writeScript(path), { ...limits, input: bytes, maxBytes: 0 });
      requireExit(exitCode, path);
    },
    async close() {
      closing.abort(new Error('The sandbox was closed.'));
      const one = await opened.catch(() => null);
      await one?.runner?.close();
      await one?.backend.close();
    },
  };
}

function refuseNul(kind: 'path' | 'command', text: string): void {
  if (text.includes('\0')) throw new DeniedError(`A ${kind} must not contain a NUL character.`);
}

/** @throws SandboxError; the signal's reason */
async function startSandbox(options: SandboxOptions, detected: Detected, signal: AbortSignal) {
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
    const entries = planRoot({ ...options, readable: [...options.readable, ...git.objects] });
    const plan: RootPlan = {
      run,
      workspace,
      gitFolders: git.folders,
      home: realOrSame(options.home),
      shellNetwork,
      entries,
    };
    const backend = await startBackend(plan, detected, signal);
    let runner: Runner | null = null;
    try {
      runner = await createRunner(options, backend, shell, signal);
      await runSelfTest(plan, runner.runScript, signal);
      return { runner, backend, weaknesses };
    } catch (error) {
      await runner?.close();
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

/** What is weaker than it could be. @param missing why mode `auto` found no sandbox; null if there is one */
export function describeWeaknesses(
  { mode, shellNetwork, environment, passEnv, isSecret }: SandboxOptions,
  missing: string | null,
  hasCredentials: boolean,
  inContainer: boolean,
): readonly string[] {
  const isIsolated = mode !== 'off' && missing === null;
  const list: string[] = [];
  if (mode === 'off')
    list.push(
      "sandbox: off. The agent's commands run as the step itself: they can read its keys and change the checkout. For trusted repositories only.",
    );
  if (missing !== null)
    list.push(`sandbox: auto found no sandbox, so the agent only reads files and runs nothing. ${missing}`);
  if (shellNetwork) list.push('shell-network: on. What the agent reads it can send anywhere.');
  const passed = passEnv.filter((name) => environment[name] !== undefined && !isSecret(environment[name]));
  if (passed.length > 0) list.push(`pass-env: the agent's commands can read ${passed.join(', ')}.`);
  // Container jobs run as root by default, so readers would soon ignore a warning above each of their verdicts.
  if (process.getuid?.() === 0 && !(isIsolated && inContainer))
    list.push(
      `The step runs as root (uid 0): ${isIsolated ? 'what escapes the sandbox' : "the agent's commands"} can change the whole machine. Run the job as an ordinary user.`,
    );
  if (hasCredentials)
    list.push(
      `The checkout holds credentials${isIsolated ? ', which the agent does not see' : ''}. Fix: \`persist-credentials: false\` for actions/checkout.`,
    );
  return list;
}
