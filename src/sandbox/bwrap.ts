/** The wall of bubblewrap: a mount, PID, IPC, UTS and network namespace for each command. */
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Mount, mountArguments } from './mounts.ts';
import { withLimits } from './shell-line.ts';
import type { Launch, Wall } from './wall.ts';

/** What the wall is built from. */
export interface BwrapOptions {
  readonly bwrap: string;
  readonly shell: string;
  readonly mounts: readonly Mount[];
  readonly workingDirectory: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly shellNetwork: boolean;
}

/** Makes the wall; nothing is started before `launch`. */
export function createBwrapWall(options: BwrapOptions): Wall {
  const walls = [...namespaceArguments(options), ...mountArguments(options.mounts)];
  return {
    name: 'bwrap',
    async launch(command): Promise<Launch> {
      const shell = [options.shell, ...withLimits(options.shell, command)];
      return {
        file: options.bwrap,
        // By a descriptor: the arguments name folders of the runner, and any process inside can read its parent's.
        args: ['--args', '3', '--json-status-fd', '4', '--', ...shell],
        cwd: '/',
        environment: options.environment,
        instructions: `${walls.join('\0')}\0`,
        trace: null,
      };
    },
    cameUp: (status) => status.includes('"exit-code"'),
    async sweep({ pid, ended }, status) {
      const init = /"child-pid": (\d+)/u.exec(status)?.[1];
      if (pid !== undefined && !ended) kill(pid);
      // Process 1 of the namespace: with it the kernel kills everything inside, and it ends last.
      if (init !== undefined && Number(init) > 1) await killAndWait(Number(init));
    },
  };
}

function namespaceArguments(options: BwrapOptions): readonly string[] {
  return [
    // As root without user namespaces the rest still stands: no capability is left either way.
    '--unshare-user-try',
    '--unshare-pid',
    '--unshare-ipc',
    '--unshare-uts',
    '--unshare-cgroup-try',
    ...(options.shellNetwork ? [] : ['--unshare-net']),
    '--cap-drop',
    'ALL',
    '--new-session',
    '--die-with-parent',
    '--hostname',
    'sandbox',
    '--chdir',
    options.workingDirectory,
  ];
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // Dead already.
  }
}

async function killAndWait(pid: number): Promise<void> {
  for (let waited = 0; waited < 2000; waited += 2) {
    if (!(await isAlive(pid))) return;
    kill(pid);
    await sleep(2);
  }
}

/** A zombie counts as dead: in a container nobody may ever reap it. */
async function isAlive(pid: number): Promise<boolean> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    return !/\) [ZX] /u.test(stat);
  } catch {
    return false;
  }
}
