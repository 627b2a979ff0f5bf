/**
 * The wall of util-linux, for machines without bubblewrap: one mount, PID, IPC, UTS and network namespace for the run,
 * made once as root, and in it a PID and mount namespace for each command, which ends as the ordinary user.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SandboxError } from '../../errors.ts';
import { quote, settled } from '../exec/shell-line.ts';
import type { Mount, Wall } from './backend.ts';
import type { ByRoot } from './bwrap.ts';
import { killAll } from './host.ts';
import { readMountPoints, rootScript } from './root-script.ts';

/** What the wall is built from. */
export interface UnshareOptions {
  readonly helpers: UnshareHelpers;
  readonly byRoot: ByRoot;
  readonly shell: string;
  readonly mounts: readonly Mount[];
  readonly workingDirectory: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly shellNetwork: boolean;
  readonly runFolder: string;
  /** Words that start a program with the filter of system calls; empty where there is none. */
  readonly filtered: readonly string[];
}

/** Absolute paths of the programs that make the wall. */
export interface UnshareHelpers {
  readonly unshare: string;
  readonly nsenter: string;
}

/** How a command finds the namespace of the run, and knows it. */
interface Holder {
  readonly target: number;
  /** A name in its /dev that nothing else has. */
  readonly mark: string;
}

const RAISE_MS = 20_000;

/**
 * Makes the namespace of the run.
 * @throws SandboxError when it cannot be made.
 */
export async function raiseUnshareWall(options: UnshareOptions): Promise<Wall> {
  const { helpers, shellNetwork } = options;
  const { privilege } = options.byRoot;
  const root = join(options.runFolder, 'root');
  // It may be there from a try before: what was mounted on it went away with that try's namespace.
  await mkdir(root, { recursive: true, mode: 0o700 });
  const mountPoints = readMountPoints(await readFile('/proc/self/mountinfo', 'utf8'));
  const mark = `wall-${randomBytes(8).toString('hex')}`;
  const script = rootScript({ mounts: options.mounts, root, mountPoints, shellNetwork, mark });
  const [file = '', ...args] = [
    ...privilege.prefix,
    helpers.unshare,
    ...namespaceArguments(shellNetwork),
    ...['--', '/bin/sh', '-s'],
  ];
  const holder = spawn(file, args, { cwd: '/', env: {}, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
  return wallOver(options, holder, { target: await whenUp(holder, script), mark });
}

function namespaceArguments(shellNetwork: boolean): readonly string[] {
  return [
    ...['--mount', '--propagation', 'private', '--pid', '--fork', '--kill-child', '--ipc', '--uts'],
    ...(shellNetwork ? [] : ['--net']),
  ];
}

/** The arguments of a command that does nothing in such namespaces but mount their own /proc. */
export function unshareProbe({ shell, shellNetwork }: Pick<UnshareOptions, 'shell' | 'shellNetwork'>) {
  return [...namespaceArguments(shellNetwork), '--mount-proc', '--', shell, '-c', ':'];
}

/** Gives the holder its script and waits for its word. The script goes on to read: its input stays open. */
function whenUp(holder: ChildProcess, script: string): Promise<number> {
  return new Promise((resolve, reject) => {
    let said = '';
    let complaint = '';
    const fail = (why: string) => {
      holder.stdin?.destroy();
      reject(new SandboxError(`The sandbox did not come up: ${why.trim() || 'no reason was given'}`));
    };
    const timer = setTimeout(() => fail('its mounts took too long'), RAISE_MS);
    holder.stdin?.on('error', () => undefined);
    holder.stdin?.write(`{\n${script}\n}; exit\n`);
    holder.stdout?.on('data', (chunk: Buffer) => {
      said += chunk.toString('latin1');
      const pid = /^up (\d+)$/mu.exec(said)?.[1];
      if (pid === undefined) return;
      clearTimeout(timer);
      resolve(Number(pid));
    });
    holder.stderr?.on('data', (chunk: Buffer) => {
      if (complaint.length < 1_000) complaint += chunk.toString('latin1');
    });
    holder.once('error', (error) => fail(error.message));
    holder.once('exit', () => {
      clearTimeout(timer);
      fail(complaint);
    });
  });
}

function wallOver(options: UnshareOptions, holder: ChildProcess, place: Holder): Wall {
  const { privilege } = options.byRoot;
  return {
    name: privilege.prefix.length === 0 ? 'unshare' : 'sudo-unshare',
    filtersCalls: options.filtered.length > 0,
    async launch(command) {
      const [file = '', ...args] = [...privilege.prefix, '/bin/sh', '-s'];
      return {
        file,
        args,
        cwd: '/',
        environment: {},
        // By the input, and not by arguments: sudo writes those into the system's log.
        instructions: { text: enterScript(options, place, command), channel: 'standard' },
        trace: null,
      };
    },
    cameUp: (status) => /^in$/mu.test(status),
    // Before, its makers still make each other.
    isNamed: (status) => /^in$/mu.test(status),
    async sweep({ pid, ended }, status) {
      // It ends last: its namespace ends with the first process in it.
      if (ended) return;
      const entered = /^at (\d+)$/mu.exec(status)?.[1];
      const all = entered === undefined ? [] : await findUpToInit(Number(entered));
      if (entered !== undefined) all.push(Number(entered));
      if (pid !== undefined) all.push(pid);
      await killAll(all, privilege);
    },
    async close() {
      holder.stdin?.end();
      await Promise.race([new Promise((resolve) => holder.once('exit', resolve)), sleep(2_000)]);
    },
  };
}

/** A command's way in. Its output goes where the first process's does; what this script says goes to the status. */
function enterScript(options: UnshareOptions, { target, mark }: Holder, command: string): string {
  const { helpers, byRoot, shellNetwork } = options;
  const inside = [
    // The number of a maker that died may be another's by now, on this machine itself.
    `[ -e /dev/${mark} ] || exit 125`,
    // Root may write core_pattern, sysrq-trigger, irq and the like without any capability.
    ...(byRoot.identity.uid === 0 ? ['mount -o remount,bind,ro /proc || exit 125'] : []),
    // The keys of this machine are listed there, and no namespace holds them.
    `[ ! -e /proc/keys ] || mount --bind /dev/${mark} /proc/keys || exit 125`,
    'echo in >&3',
    // Not by exec: the first process of a namespace ignores signals, and the mark of a parent's death does not outlive
    // a change of user.
    '"$@" 3>&-',
    'exit $?',
  ];
  const words = [
    helpers.nsenter,
    ...['--target', String(target), '--mount', '--pid', '--ipc', '--uts'],
    ...(shellNetwork ? [] : ['--net']),
    '--',
    helpers.unshare,
    ...['--mount', '--pid', '--ipc', '--cgroup', '--fork', '--kill-child', '--mount-proc'],
    ...['--', '/bin/sh', '-c', inside.join('\n'), 'sh'],
    ...settled({ ...options, ...byRoot }, command, options.filtered),
  ];
  return `exec 3>&2 2>&1\necho "at $$" >&3\nexec ${words.map(quote).join(' ')} </dev/null\n`;
}

/**
 * The processes below one, as the kernel lists them (proc(5)), down to process 1 of a namespace: with it the kernel kills
 * all that is in the namespace, and it ends last. Those below it, of which there may be thousands, are not looked at.
 * @param read gives the text of a file.
 */
export async function findUpToInit(
  pid: number,
  read: (path: string) => Promise<string> = (path) => readFile(path, 'utf8'),
): Promise<number[]> {
  const found: number[] = [];
  const queue = [pid];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    const list = await read(`/proc/${next}/task/${next}/children`).catch(() => '');
    for (const child of list.split(' ').filter(Boolean).map(Number)) {
      found.push(child);
      const status = await read(`/proc/${child}/status`).catch(() => '');
      if (/^NSpid:[\t\d]*\t1$/mu.test(status)) return found;
      queue.push(child);
    }
  }
  return found;
}
