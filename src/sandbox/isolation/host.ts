/** What this machine has for a sandbox, and what to tell a person where it has nothing. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Entry, Naming, Wording } from '../../text/naming.ts';
import { runHelper } from '../exec/host-program.ts';
import { exists } from '../workspace/path-policy.ts';

function wayOut({ setting }: Naming): string {
  return `For a repository and pull requests that you trust entirely, set \`${setting('sandbox', 'off')}\`; with \`${setting('sandbox', 'auto')}\` the agent works without its shell.`;
}

/** Where the command belongs that makes a machine fit. */
function placeOfFix({ entry }: Naming): string {
  return entry === 'action' ? ', as a step before this one' : '';
}

const OTHER_MACHINE: Readonly<Record<Entry, string>> = {
  action: 'use `runs-on: ubuntu-latest`',
  'command-line': 'run it on Linux',
  library: 'run it on Linux',
};

const IN_CONTAINER: Readonly<Record<Entry, string>> = {
  action:
    'This job runs in a container, which as a rule may not make the mounts that a sandbox is made of. Fix: take `container:` away from the job, or give it `options: --privileged`; in a pod (Actions Runner Controller) let the job run on a runner of its own kind, with `securityContext: { privileged: true }`.',
  'command-line':
    'This is a container, which as a rule may not make the mounts that a sandbox is made of. Fix: start it with `--privileged`, or run outside of it.',
  library:
    'This is a container, which as a rule may not make the mounts that a sandbox is made of. Fix: start it with `--privileged`, or run outside of it.',
};

/**
 * Whether this process runs in a container, as Docker, Podman and Kubernetes leave hints of it.
 * @param root where the file system begins.
 */
export async function isContainer(root = '/'): Promise<boolean> {
  const hints = ['.dockerenv', 'run/.containerenv', 'var/run/secrets/kubernetes.io'];
  for (const hint of hints) if (await exists(join(root, hint))) return true;
  const cgroup = await readFile(join(root, 'proc/1/cgroup'), 'utf8').catch(() => '');
  return /docker|kubepods|containerd|libpod|lxc/u.test(cgroup);
}

/** Operating systems by Node's names for them. */
const SYSTEMS: Readonly<Record<string, string>> = { darwin: 'macOS', win32: 'Windows' };

/** The sentence for a machine without a sandbox: what is missing, one fix to paste, the way out. */
export function describeMissingSandbox(platform: string, inContainer = false): Wording {
  return (naming) => `${whatIsMissing(platform, inContainer, naming)} ${wayOut(naming)}`;
}

function whatIsMissing(platform: string, inContainer: boolean, naming: Naming): string {
  const { entry } = naming;
  if (platform !== 'linux')
    return `The sandbox needs Linux, and this machine runs ${SYSTEMS[platform] ?? platform}. Fix: ${OTHER_MACHINE[entry]}.`;
  const needs =
    'The sandbox needs bubblewrap, or util-linux (unshare, nsenter, setpriv) with a sudo that asks for no password';
  if (inContainer)
    return `${needs}, and this container has neither: \`apt-get update && apt-get install -y bubblewrap\` brings the one. ${IN_CONTAINER[entry]}`;
  return `${needs}, and this machine has neither. Fix${placeOfFix(naming)}: \`sudo apt-get update && sudo apt-get install -y bubblewrap\`.`;
}

/** The sentence for a sandbox that is there and does not stand. */
export function describeBrokenSandbox(problem: string, inContainer = false): Wording {
  return (naming) => {
    const { entry } = naming;
    if (inContainer) return `${problem}. ${IN_CONTAINER[entry]} ${wayOut(naming)}`;
    const fix = `Fix where unprivileged user namespaces are restricted (Ubuntu 24.04)${placeOfFix(naming)}`;
    return `${problem}. ${fix}: \`sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0\`. ${wayOut(naming)}`;
  };
}

/** A row of `/proc/self/mountinfo` (proc(5)): which part of which file system is mounted where. */
export interface MountedPart {
  readonly device: string;
  readonly root: string;
  readonly at: string;
  readonly options: readonly string[];
  /** The kind of file system. */
  readonly type: string;
}

/** Reads the rows in their order. */
export function readMountInfo(text: string): readonly MountedPart[] {
  const decode = (word: string) =>
    word.replace(/\\([0-7]{3})/gu, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8)));
  return text.split('\n').flatMap((line) => {
    const [, , device, root, at, options] = line.split(' ');
    if (device === undefined || root === undefined || at === undefined || options === undefined) return [];
    const type = / - (\S+) /u.exec(line)?.[1] ?? '';
    return [{ device, root: decode(root), at: decode(at), options: options.split(','), type }];
  });
}

/** The numbers of the processes that can be seen, as text. */
export async function listProcesses(): Promise<readonly string[]> {
  return (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/u.test(name));
}

/** A way to act as root. */
export interface Privilege {
  /** What stands before a command; empty where this process is root. */
  readonly prefix: readonly string[];
  /** Ends processes at once, those of root included. Never rejects. */
  kill(pids: readonly number[]): Promise<void>;
}

/** Looks for a way; null where there is none. Asks nothing of anybody: `sudo -n` fails where it would need a password. */
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

/** A process of root's that outlives this one by a second, to end what this one left. */
interface Watch {
  /** A variable, as `name=value`, that what root starts has to be given. */
  readonly mark: string;
  /** Ends the watch; nothing is killed. */
  close(): Promise<void>;
}

/**
 * Watches over this process: a step that is killed cannot end what runs as root, and sudo does not end with its parent.
 * @param id random, hexadecimal.
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
  // More than once: a command may have been on its way in.
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

/** Kills a process, or a group by its number below zero; one that is dead already is no error. */
export function killOne(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // Dead already.
  }
}

/** Kills processes, as root where that is given, and waits until they are dead, 2 s at most. */
export async function killAll(pids: readonly number[], privilege: Privilege | null): Promise<void> {
  for (let waited = 0; waited < 2_000; waited += 2) {
    const alive = await Promise.all(pids.map(isAlive));
    const left = pids.filter((_, n) => alive[n] === true);
    if (left.length === 0) return;
    if (privilege === null) left.forEach(killOne);
    // Through sudo a kill costs some milliseconds: once, and again only where that was not enough.
    else if (waited % 100 === 0) await privilege.kill(left);
    await sleep(2);
  }
}

/** A zombie counts as dead: in a container nobody may ever reap it. */
async function isAlive(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  return stat !== null && !/\) [ZX] /u.test(stat);
}
