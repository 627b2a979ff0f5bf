/** Detects what this machine offers for a sandbox, and words the messages about what it lacks. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { killOne, runHelper } from '../exec/host-program.ts';
import { exists } from '../workspace/path-policy.ts';

const WAY_OUT =
  'For a repository and pull requests that you trust entirely, set sandbox to `off`. With `auto` the agent works without its shell.';

const IN_CONTAINER =
  'This is a container, which usually may not make the mounts that a sandbox needs. Fix: run outside the container, or start it with `--privileged`. In a workflow, take `container:` away from the job, or give it `options: --privileged`; in a pod (Actions Runner Controller), use a runner with `securityContext: { privileged: true }`.';

/**
 * Whether this process runs in a container, based on the traces that Docker, Podman and Kubernetes leave.
 * @param root the root of the file system.
 */
export async function isContainer(root = '/'): Promise<boolean> {
  const hints = ['.dockerenv', 'run/.containerenv', 'var/run/secrets/kubernetes.io'];
  for (const hint of hints) if (await exists(join(root, hint))) return true;
  const cgroup = await readFile(join(root, 'proc/1/cgroup'), 'utf8').catch(() => '');
  return /docker|kubepods|containerd|libpod|lxc/u.test(cgroup);
}

const SYSTEMS: Readonly<Record<string, string>> = { darwin: 'macOS', win32: 'Windows' };

export function describeMissingSandbox(platform: string, inContainer = false): string {
  return `${whatIsMissing(platform, inContainer)} ${WAY_OUT}`;
}

function whatIsMissing(platform: string, inContainer: boolean): string {
  if (platform !== 'linux') {
    const system = SYSTEMS[platform] ?? platform;
    return `The sandbox needs Linux, and this machine runs ${system}. Fix: run it on Linux, in a workflow with \`runs-on: ubuntu-latest\`.`;
  }
  const needs =
    'The sandbox needs bubblewrap, or util-linux (unshare, nsenter, setpriv) with a sudo that asks for no password';
  if (inContainer)
    return `${needs}, and this container has neither. Install one: \`apt-get update && apt-get install -y bubblewrap\`. ${IN_CONTAINER}`;
  return `${needs}, and this machine has neither. Fix: \`sudo apt-get update && sudo apt-get install -y bubblewrap\`, in a workflow as a step before this one.`;
}

export function describeBrokenSandbox(problem: string, inContainer = false): string {
  const fix =
    'If unprivileged user namespaces are restricted, as on Ubuntu 24.04, allow them: `sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0`, in a workflow as a step before this one.';
  return `${problem}. ${inContainer ? IN_CONTAINER : fix} ${WAY_OUT}`;
}

/** A row of `/proc/self/mountinfo` (proc(5)): which part of which file system is mounted where. */
export interface MountedPart {
  readonly device: string;
  readonly root: string;
  readonly at: string;
  readonly options: readonly string[];
  readonly type: string;
}

/** A line of `/proc/self/mountinfo`; a path in it may hold any character but blanks. */
const MOUNT = /(?<![^\n])[^ \n]+ [^ \n]+ ([^ \n]+) ([^ \n]+) ([^ \n]+) ([^ \n]+)[^\n]*/gu;

export function readMountInfo(text: string): readonly MountedPart[] {
  const decode = (word: string) =>
    word.replace(/\\([0-7]{3})/gu, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8)));
  return [...text.matchAll(MOUNT)].map(([line, device = '', root = '', at = '', options = '']) => {
    const type = / - (\S+) /u.exec(line)?.[1] ?? '';
    return { device, root: decode(root), at: decode(at), options: options.split(','), type };
  });
}

/** Returns the pids of all visible processes, as text. */
export async function listProcesses(): Promise<readonly string[]> {
  return (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/u.test(name));
}

/** A way to act as root. */
export interface Privilege {
  /** The words before a command; empty if this process is root. */
  readonly prefix: readonly string[];
  /** Kills processes immediately, including those of root. Never rejects. */
  kill(pids: readonly number[]): Promise<void>;
}

/** Finds a way to act as root, or null. Never prompts: `sudo -n` fails if it would need a password. */
export async function findPrivilege(sudo: string | null): Promise<Privilege | null> {
  if (process.getuid?.() === 0) {
    return { prefix: [], kill: async (pids) => pids.forEach(killOne) };
  }
  if (sudo === null || !(await succeeds(sudo, ['-n', 'true']))) return null;
  return {
    prefix: [sudo, '-n', '--'],
    async kill(pids) {
      await succeeds(sudo, ['-n', '--', '/bin/kill', '-KILL', ...pids.map(String)]);
    },
  };
}

/** A root process that outlives this one by a second, to kill what this one left behind. */
interface Watch {
  /** A variable, as `name=value`, that must be in the environment of everything that root starts. */
  readonly mark: string;
  /** Ends the watch without killing anything. */
  close(): Promise<void>;
}

/**
 * Watches over this process: a step that is killed cannot end processes of root, and sudo does not end with its parent.
 * @param id a random hexadecimal string.
 */
export function startWatch(privilege: Privilege, id: string): Watch {
  const mark = `STRUCTURED_AGENT_SANDBOX=${id}`;
  const [file = '', ...args] = [...privilege.prefix, '/bin/sh', '-s'];
  const watcher = spawn(file, args, {
    cwd: '/',
    env: {},
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  watcher.once('error', () => undefined);
  watcher.stdin.on('error', () => undefined);
  // Repeated, because a command may just have been starting.
  watcher.stdin.write(`{
    PATH=/usr/bin:/bin
    read -r line && exit
    for round in 1 2 3 4 5; do
      for file in $(grep -lsa '${mark}' /proc/[0-9]*/environ); do
        process=\${file#/proc/}
        kill -KILL "\${process%/environ}"
      done
      sleep 0.2
    done
  }; exit\n`);
  const ended = once(watcher, 'exit').catch(() => undefined);
  return {
    mark,
    async close() {
      watcher.stdin.end('over\n');
      await Promise.race([ended, sleep(2_000, undefined, { ref: false })]);
    },
  };
}

async function succeeds(file: string, args: readonly string[]): Promise<boolean> {
  const ended = await runHelper(file, args).catch(() => null);
  return ended?.exitCode === 0;
}

/** Kills processes, as root if a privilege is given, and waits up to 2 s until they are dead. */
export async function killAll(pids: readonly number[], privilege: Privilege | null): Promise<void> {
  for (let waited = 0; waited < 2_000; waited += 2) {
    const alive = await Promise.all(pids.map(isAlive));
    const left = pids.filter((_, n) => alive[n] === true);
    if (left.length === 0) return;
    if (privilege === null) left.forEach(killOne);
    // A kill through sudo costs some milliseconds, so it is repeated only every 100 ms.
    else if (waited % 100 === 0) await privilege.kill(left);
    await sleep(2);
  }
}

/** Whether a process is alive. A zombie counts as dead: in a container it may never be reaped. */
async function isAlive(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  return stat !== null && !/\) [ZX] /u.test(stat);
}
