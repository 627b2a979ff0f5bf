/** A minimal runner in a temporary directory: home, RUNNER_TEMP and a git workspace, with canaries in all of them. */
import { execFileSync, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll } from 'vitest';
import { openSandbox } from '../../src/sandbox/open.ts';
import { removeFolder } from '../../src/sandbox/run-folder.ts';
import type { OpenedSandbox, SandboxOptions } from '../../src/sandbox/sandbox.ts';
import type { Isolation } from '../../src/types.ts';
import { testAll } from '../support/all.ts';
import { listen, putFiles } from '../support/local.ts';

/** A text that the model must never see. */
export const CANARY = 'sk-canary-5f1d9c3b7a20';

/** Whether this machine can start the sandbox. If not, `required` without a sandbox is tested instead. */
export const hasBwrap = existsSync('/usr/bin/bwrap');

const isRoot = process.getuid?.() === 0;
const canBeRoot =
  existsSync('/usr/bin/unshare') &&
  existsSync('/usr/bin/setpriv') &&
  (isRoot || spawnSync('/usr/bin/sudo', ['-n', 'true'], { stdio: 'ignore' }).status === 0);

/** A sandbox in place without extra variables or paths. */
export const CLOSED = {
  access: 'in-place',
  shellNetwork: false,
  readable: [],
  passEnv: [],
  isSecret: () => false,
} as const;

/** The name of the util-linux backend for this user. */
export const UNSHARE = isRoot ? 'unshare' : 'sudo-unshare';

interface ShellWay {
  readonly name: Isolation;
  readonly options: Partial<SandboxOptions>;
}

/** The ways in which this machine can run commands: in each available sandbox and without one. */
export const allWays: readonly ShellWay[] = [
  ...(hasBwrap ? [{ name: 'bwrap', options: { mode: 'required', kinds: ['bwrap'] } } as const] : []),
  ...(hasBwrap && !isRoot && canBeRoot
    ? [{ name: 'sudo-bwrap', options: { mode: 'required', kinds: ['sudo-bwrap'] } } as const]
    : []),
  ...(canBeRoot ? [{ name: UNSHARE, options: { mode: 'required', kinds: [UNSHARE] } } as const] : []),
  { name: 'none', options: { mode: 'off' } },
];

/** The ways that most tests try: the preferred one of this machine, and the others only with TEST_ALL=1. */
export const shellWays = testAll ? allWays : allWays.slice(0, 1);

/** The same, without `none`. */
export const isolatedWays = shellWays.filter(({ name }) => name !== 'none');

export interface World {
  readonly base: string;
  readonly home: string;
  readonly temp: string;
  readonly workspace: string;
  /** Counts the connections to a loopback listener and a socket outside the sandbox. */
  readonly port: number;
  readonly socket: string;
  reached(): number;
  open(options?: Partial<SandboxOptions>): Promise<OpenedSandbox>;
  /** The same, when it is ready. */
  openReady(options?: Partial<SandboxOptions>): Promise<OpenedSandbox>;
  close(): Promise<void>;
}

export async function createWorld(): Promise<World> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'world-')));
  const home = join(base, 'home');
  const temp = join(home, 'work', '_temp');
  const workspace = join(home, 'work', 'repo', 'repo');
  mkdirSync(workspace, { recursive: true });
  for (const name of ['.npmrc', '.bashrc', '.netrc']) putFiles(home, { [name]: `token=${CANARY}\n` });
  putFiles(temp, { '_runner_file_commands/set_output_1': '', 'git-credentials-1.config': CANARY });
  makeRepository(workspace);

  let reached = 0;
  const count = () => {
    reached += 1;
  };
  const socket = join(base, 'out.sock');
  const [web, unix] = [createServer(count), createServer(count)];
  const port = await listen(web);
  await listen(unix, socket);
  const opened: OpenedSandbox[] = [];
  async function open(options: Partial<SandboxOptions> = {}): Promise<OpenedSandbox> {
    const environment = { ...process.env, HOME: home, API_KEY: CANARY, INPUT_API_KEY: CANARY };
    const sandbox = await openSandbox({
      ...CLOSED,
      workspace,
      workingDirectory: workspace,
      mode: hasBwrap ? 'required' : 'off',
      environment: { ...environment, ACTIONS_RUNTIME_TOKEN: CANARY },
      home,
      runnerTemp: temp,
      isSecret: (value) => value === CANARY,
      runFolder: mkdtempSync(join(temp, 'run-')),
      ...options,
    });
    opened.push(sandbox);
    return sandbox;
  }

  return {
    base,
    home,
    temp,
    workspace,
    port,
    socket,
    reached: () => reached,
    open,
    async openReady(options) {
      const sandbox = await open(options);
      await sandbox.ready();
      return sandbox;
    },
    async close() {
      for (const sandbox of opened) await sandbox.close();
      web.close();
      unix.close();
      // Commands can have removed permissions from files that they created.
      await removeFolder(base, 20_000);
    },
  };
}

/** Creates a world for the tests of a file or a `describe` and removes it afterwards. */
export async function useWorld(): Promise<World> {
  const world = await createWorld();
  afterAll(() => world.close());
  return world;
}

/** The same sandbox as if it worked in a copy of the checkout. */
export function asCopy(sandbox: OpenedSandbox): OpenedSandbox {
  return { ...sandbox, scratch: () => 'copy', overlay: () => null };
}

/** Runs git in a directory with an identity for commits; returns its output without the final line break. */
export function gitIn(folder: string, ...args: readonly string[]): string {
  const options = ['-c', 'user.name=t', '-c', 'user.email=t@example.com', '-c', 'protocol.file.allow=always'];
  return execFileSync('git', [...options, ...args], { cwd: folder, encoding: 'utf8', stdio: 'pipe' }).trim();
}

function makeRepository(workspace: string): void {
  const git = (...args: string[]) => gitIn(workspace, ...args);
  putFiles(workspace, { '.github/workflows/ci.yml': 'on: push\n', 'README.md': 'hello\n' });
  git('init', '-q', '-b', 'main', '.');
  git('add', '.');
  git('commit', '-qm', 'first');
  git('config', 'http.https://github.com/.extraheader', `AUTHORIZATION: basic ${CANARY}`);
  git('config', 'remote.origin.url', `https://user:${CANARY}@github.com/o/r.git`);
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

/** Whether a process with this text in its command line lives. */
export function isAlive(mark: string): boolean {
  return processesWith(mark).length > 0;
}

/** Waits up to 60 s for a condition; the assertion afterwards reports a failure. */
export async function until(fact: () => boolean): Promise<void> {
  for (const began = performance.now(); !fact() && performance.now() - began < 60_000; ) await sleep(20);
}

/**
 * Runs a command until its timeout, with longer timeouts until it has printed `on`: on a busy machine the first one can
 * end before the command starts.
 */
export async function overtime(sandbox: OpenedSandbox, command: string) {
  for (let timeoutMs = 400; ; timeoutMs *= 4) {
    const result = await exec(sandbox, command, timeoutMs);
    if (result.output.startsWith('on\n') || timeoutMs > 6_000) return result;
  }
}

/** Runs a command with limits that no test reaches. */
export function exec(sandbox: OpenedSandbox, command: string, timeoutMs = 80_000) {
  return sandbox.exec(command, { timeoutMs, maxOutputBytes: 25_600, signal: new AbortController().signal });
}
