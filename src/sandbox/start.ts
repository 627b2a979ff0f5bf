/** Starts the backend of a sandbox over the workspace, and tests it. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, SandboxError } from '../errors.ts';
import { WAIT } from '../text/limits.ts';
import { createBwrapBackend } from './bwrap.ts';
import { type Backend, runInside } from './command.ts';
import type { Detected } from './detect.ts';
import { buildEnvironment, scriptEnvironment } from './environment.ts';
import { planGit } from './git-config.ts';
import { findProgram } from './host-program.ts';
import { CONTEXT, type RootPlan } from './mounts.ts';
import { createOffBackend } from './off.ts';
import { type SandboxOptions, shellWord } from './sandbox.ts';
import { copyWorkspace, identityOf, makeRunFolders, writeGitPlan } from './scratch.ts';
import { runSelfTest } from './self-test.ts';
import { planRoot, realOrSame } from './system-root.ts';
import { startUnshareBackend } from './unshare.ts';

/** Files in the context folder by which commands are passed; no command can write them. */
export const FILE = {
  command: '.command',
  script: '.script',
  input: '.input',
  forCommand: '.start',
  forScript: '.start-script',
  forTest: '.start-test',
} as const;

/** Processes and bytes per file of a command: far above the needs of any test suite. */
const LIMITS = 'ulimit -u 8192; ulimit -f 16777216; ulimit -c 0';

export interface StartedSandbox {
  /** null if only files can be read. */
  readonly backend: Backend | null;
  /** The absolute path of bash, or of sh if there is no bash. */
  readonly shell: string;
  readonly layer: 'overlay' | 'copy' | null;
  readonly hasCredentials: boolean;
}

/** Starts the backend over the workspace, and tests it. @throws SandboxError; the signal's reason */
export async function startSandbox(
  options: SandboxOptions,
  detected: Detected,
  contextFolder: string,
  signal: AbortSignal,
): Promise<StartedSandbox> {
  const { runFolder: run, workspace } = options;
  try {
    const shell = (await findProgram('bash')) ?? '/bin/sh';
    await makeRunFolders(run, workspace);
    const git = await planGit(workspace, signal);
    const { hasCredentials } = git;
    if (detected.kind === 'none') {
      const folders = { home: join(run, 'home'), tmp: join(run, 'tmp') };
      await writeStarts(options, { ...folders, contextFolder, shell });
      const backend = options.mode === 'off' ? createOffBackend(shell, run) : null;
      return { backend, shell, layer: null, hasCredentials };
    }
    const plan: RootPlan = {
      ...{ run, workspace, git, home: realOrSame(options.home), shellNetwork: options.shellNetwork },
      entries: planRoot(options),
    };
    await writeGitPlan(run, git);
    await writeStarts(options, { home: plan.home, tmp: '/tmp', contextFolder, shell });
    const started = { ...(await startBackend(plan, detected, signal)), shell, hasCredentials };
    await testSandbox(started, plan, signal).catch(async (error: unknown) => {
      await started.backend.close();
      throw error;
    });
    return started;
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

interface Places {
  readonly home: string;
  readonly tmp: string;
  readonly contextFolder: string;
  readonly shell: string;
}

/** Writes the files that start a command of the model, a script of ours and the self-test. */
async function writeStarts(
  options: SandboxOptions,
  { home, tmp, contextFolder, shell }: Places,
): Promise<void> {
  const bash = shell.endsWith('/bash') ? `${shell} --noprofile --norc -o pipefail` : shell;
  const place = (name: string) => shellWord(join(contextFolder, name));
  const ours = { ...scriptEnvironment(tmp), INPUT: join(contextFolder, FILE.input) };
  const starts = {
    [FILE.forCommand]: {
      variables: buildEnvironment({ ...options, home, tmp }),
      last: `exec ${bash} ${place(FILE.command)}`,
    },
    [FILE.forScript]: { variables: ours, last: `exec 2>/dev/null; . ${place(FILE.script)}` },
    [FILE.forTest]: { variables: ours, last: `exec ${bash} ${place(FILE.script)}` },
  };
  const folder = shellWord(options.workingDirectory);
  for (const [name, { variables, last }] of Object.entries(starts)) {
    const exports = Object.entries(variables).map(([key, value]) => `export ${key}=${shellWord(value)}`);
    const text = [
      `cd -- ${folder} 2>/dev/null || { printf 'The working directory is gone: %s\\n' ${folder}; exit 126; }`,
      `{ ${LIMITS}; } 2>/dev/null`,
      ...exports,
      last,
    ];
    await writeFile(join(options.runFolder, 'context', name), `${text.join('\n')}\n`, { mode: 0o644 });
  }
}

/** Returns the words that run a start file with nothing of the environment that the sandbox itself was started in. */
export function startCommand(shell: string, file: string): readonly string[] {
  return ['/usr/bin/env', '-i', shell, file];
}

async function testSandbox(
  { backend, shell }: { readonly backend: Backend; readonly shell: string },
  { run, workspace, home, git, shellNetwork }: RootPlan,
  signal: AbortSignal,
): Promise<void> {
  await runSelfTest({
    ...{ runFolder: run, home, workspace, shellNetwork },
    closed: git.folders
      .flatMap((folder) => [folder, `${folder}/config`])
      .map((path) => join(workspace, path)),
    async run(script) {
      await writeFile(join(run, 'context', FILE.script), script, { mode: 0o644 });
      const chunks: Buffer[] = [];
      const onOutput = (chunk: Buffer) => void (chunks.length < 100 && chunks.push(chunk));
      const options = { timeoutMs: WAIT.selfTest, signal, onOutput };
      const { exitCode } = await runInside(
        backend,
        shell,
        startCommand(shell, join(CONTEXT, FILE.forTest)),
        options,
      );
      return { exitCode, output: Buffer.concat(chunks).toString('utf8') };
    },
  });
}
