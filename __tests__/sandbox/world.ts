/** A minimal runner in a temporary directory: home, RUNNER_TEMP and a git workspace, with canaries in all of them. */
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, vi } from 'vitest';
import { SandboxError } from '../../src/errors.ts';
import { type Detected, detectBackend } from '../../src/sandbox/detect.ts';
import { openSandbox } from '../../src/sandbox/open.ts';
import type { OpenedSandbox, SandboxOptions } from '../../src/sandbox/sandbox.ts';
import { removeFolder } from '../../src/sandbox/scratch.ts';
import { putFiles } from '../support/local.ts';

/** A text that the model must never see. */
export const CANARY = 'sk-canary-5f1d9c3b7a20';

/** How this machine isolates commands. As root only `unshare` is used; `.ci/run` runs the attack list as other users. */
export const detected = await detectBackend({ mode: 'required', shellNetwork: false });

/** What is found out on a machine without a sandbox, and with `sandbox: off`. */
export const NO_SANDBOX: Detected = { kind: 'none', error: new SandboxError('There is no sandbox.') };

/** Whether this machine can start the sandbox. If not, `required` without a sandbox is tested instead. */
export const hasSandbox = detected.kind !== 'none';

/** The modes in which commands can run here. */
export const MODES: readonly ('required' | 'off')[] = hasSandbox ? ['required', 'off'] : ['off'];

export const isRoot = process.getuid?.() === 0;

export const describeOpen = describe.runIf(hasSandbox);

export const CLOSED = { shellNetwork: false, readable: [], passEnv: [], isSecret: () => false } as const;

/** Options of a test's sandbox; `detected` replaces how this machine isolates commands. */
type WorldOptions = Partial<SandboxOptions> & { readonly detected?: Detected };

export async function useWorld() {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'world-')));
  const home = join(base, 'home');
  const temp = join(home, 'work', '_temp');
  const workspace = join(home, 'work', 'repo', 'repo');
  putFiles(home, { '.npmrc': `token=${CANARY}\n` });
  putFiles(temp, { '_runner_file_commands/set_output_1': '', 'git-credentials-1.config': CANARY });
  makeRepository(workspace, CANARY, { 'README.md': 'hello\n' });

  const opened: OpenedSandbox[] = [];
  const keys = { API_KEY: CANARY, INPUT_API_KEY: CANARY, ACTIONS_RUNTIME_TOKEN: CANARY };
  function open({ detected: how = detected, ...options }: WorldOptions = {}): OpenedSandbox {
    const mode = options.mode ?? (hasSandbox ? 'required' : 'off');
    const all = {
      ...{ ...CLOSED, workspace, workingDirectory: workspace, mode, home, runnerTemp: temp },
      environment: { ...process.env, HOME: home, ...keys },
      isSecret: (value: string) => value === CANARY,
      runFolder: mkdtempSync(join(temp, 'run-')),
      ...options,
    };
    const sandbox = openSandbox(all, mode === 'off' ? NO_SANDBOX : how);
    opened.push(sandbox);
    return sandbox;
  }

  afterAll(async () => {
    for (const sandbox of opened) await sandbox.close();
    // Commands can have removed permissions from files that they created.
    await removeFolder(base, 20_000);
  });
  async function openReady(options?: WorldOptions): Promise<OpenedSandbox> {
    const sandbox = open(options);
    await sandbox.ready();
    return sandbox;
  }
  return { base, home, temp, workspace, open, openReady };
}

/** Runs git in a directory with an identity for commits; returns its output without the final line break. */
export function gitIn(folder: string, ...args: readonly string[]): string {
  const options = ['-c', 'user.name=t', '-c', 'user.email=t@example.com', '-c', 'protocol.file.allow=always'];
  return execFileSync('git', [...options, ...args], { cwd: folder, encoding: 'utf8', stdio: 'pipe' }).trim();
}

/** Makes a folder a checkout, whose config holds a canary as actions/checkout leaves its token. */
export function makeRepository(
  folder: string,
  canary: string,
  files: Readonly<Record<string, string>>,
): void {
  const git = (...args: string[]) => gitIn(folder, ...args);
  putFiles(folder, { '.github/workflows/ci.yml': 'on: push\n', ...files });
  git('init', '-q', '-b', 'main', '.');
  git('add', '.');
  git('commit', '-qm', 'first');
  git('config', 'http.https://github.com/.extraheader', `AUTHORIZATION: basic ${canary}`);
  git('config', 'remote.origin.url', `https://user:${canary}@github.com/o/r.git`);
}

/** A text that no other process of this machine has in its command line: those of a second run of these tests included. */
export function createMark(name: string): string {
  return `${name}-${randomUUID().slice(0, 8)}`;
}

/** The pids of the processes with a text in a file of theirs (proc(5)). */
export function processesWith(mark: string, file = 'cmdline'): readonly string[] {
  return readdirSync('/proc').filter((name) => {
    if (!/^\d+$/u.test(name)) return false;
    try {
      return readFileSync(`/proc/${name}/${file}`, 'latin1').includes(mark);
    } catch {
      return false;
    }
  });
}

export function isAlive(mark: string): boolean {
  return processesWith(mark).length > 0;
}

/** Waits for a condition. @throws if it does not hold within 60 s */
export async function until(fact: () => boolean): Promise<void> {
  await vi.waitUntil(fact, { timeout: 60_000, interval: 20 });
}

/** Runs a command with limits that no test reaches. */
export function exec(sandbox: OpenedSandbox, command: string, timeoutMs = 80_000) {
  return sandbox.exec(command, { timeoutMs, maxOutputBytes: 25_600, signal: new AbortController().signal });
}
