/** The isolation backend of bubblewrap: a mount, PID, IPC, UTS and network namespace for each command. */
import { randomBytes } from 'node:crypto';
import {
  closeDescriptors,
  dropPrivileges,
  type Identity,
  quote,
  shellArguments,
} from '../exec/shell-line.ts';
import {
  type BackendOptions,
  type IsolationBackend,
  type Launch,
  mountArguments,
  withoutGone,
} from './backend.ts';
import { killAll, type Privilege, startWatch } from './host.ts';

/** What the sandbox is built from. */
interface BwrapOptions extends BackendOptions {
  readonly bwrap: string;
  /** A file that holds the filter of system calls; null where there is none. */
  readonly filter: string | null;
  /** Where root makes the namespaces and hands over to an ordinary user; null where that user makes them. */
  readonly byRoot: ByRoot | null;
}

/** How a sandbox that root makes is handed over. */
export interface ByRoot {
  readonly privilege: Privilege;
  readonly setpriv: string;
  readonly identity: Identity;
}

/** Makes the sandbox; before `launch` nothing is started but, where root makes it, a watch over this process. */
export function createBwrapBackend(options: BwrapOptions): IsolationBackend {
  const { byRoot } = options;
  const watch = byRoot === null ? null : startWatch(byRoot.privilege, randomBytes(16).toString('hex'));
  // For each command anew: a service that ended has taken its socket away, and a mount over nothing cannot be made.
  const isolation = () => [
    ...namespaceArguments(options),
    ...mountArguments(withoutGone(options.mounts), byRoot !== null),
    ...(options.filter === null ? [] : ['--seccomp', '5']),
  ];
  return {
    name: byRoot === null || byRoot.privilege.prefix.length === 0 ? 'bwrap' : 'sudo-bwrap',
    filtersCalls: options.filter !== null,
    // A socket may go between the look at it and its mount.
    mayFailOnce: options.mounts.some((mount) => mount.fleeting === true),
    async launch(command) {
      return byRoot === null || watch === null
        ? launchDirectly(options, isolation(), command)
        : launchByRoot(options, byRoot, isolation(), command, watch.mark);
    },
    hasRun: (status) => status.includes('"exit-code"'),
    // Said before it lets the namespace's first process go on; that one is bound to its maker's life only later.
    canSweep: (status) => /"child-pid": \d+/u.test(status),
    async sweep({ pid, ended }, status) {
      // Process 1 of the namespace: with it the kernel kills everything inside, and it ends last.
      const init = Number(/"child-pid": (\d+)/u.exec(status)?.[1] ?? 0);
      const victims = [...(init > 1 ? [init] : []), ...(pid !== undefined && !ended ? [pid] : [])];
      await killAll(victims, byRoot?.privilege ?? null);
    },
    close: async () => watch?.close(),
  };
}

/** The arguments of a command that does nothing behind the least of these isolation: no mounts but those that all have. */
export function bwrapProbe(
  options: Pick<BwrapOptions, 'shell' | 'shellNetwork' | 'byRoot'>,
): readonly string[] {
  return [
    ...namespaceArguments({ ...options, workingDirectory: '/' }),
    ...mountArguments([], options.byRoot !== null),
    ...['--', options.shell, '-c', ':'],
  ];
}

function launchDirectly(options: BwrapOptions, isolation: readonly string[], command: string): Launch {
  const shell = [options.shell, ...shellArguments(options, command)];
  const words = [options.bwrap, '--args', '3', '--json-status-fd', '4', '--', ...shell];
  const [file = '', ...args] = closeDescriptors(options.shell, words, options.filter);
  return {
    file,
    // By a descriptor: the arguments name folders of the runner, and any process inside can read its parent's.
    args,
    cwd: '/',
    environment: options.environment,
    instructions: { text: `${isolation.join('\0')}\0`, channel: 'descriptors' },
  };
}

/** All by the input: sudo closes descriptors, and writes arguments into the system's log. */
function launchByRoot(
  options: BwrapOptions,
  byRoot: ByRoot,
  isolation: readonly string[],
  command: string,
  mark: string,
): Launch {
  const [file = '', ...args] = [...byRoot.privilege.prefix, '/bin/sh', '-s'];
  const told = isolation.map(quote).join(' ');
  const bwrap = [options.bwrap, '--args', '4', '--json-status-fd', '3', '--'];
  const words = closeDescriptors(
    options.shell,
    [...bwrap, ...dropPrivileges({ ...options, ...byRoot }, command)],
    options.filter,
  );
  const script = `exec 3>&2 2>&1\nexport ${mark}\nprintf '%s\\0' ${told} | ${words.map(quote).join(' ')} 4<&0 </dev/null\nexit $?\n`;
  return { file, args, cwd: '/', environment: {}, instructions: { text: script, channel: 'standard' } };
}

function namespaceArguments(
  options: Pick<BwrapOptions, 'shellNetwork' | 'byRoot' | 'workingDirectory'>,
): readonly string[] {
  return [
    // As root without user namespaces the rest still stands: no capability is left either way.
    ...(options.byRoot === null ? ['--unshare-user-try'] : []),
    '--unshare-pid',
    '--unshare-ipc',
    '--unshare-uts',
    '--unshare-cgroup-try',
    ...(options.shellNetwork ? [] : ['--unshare-net']),
    '--cap-drop',
    'ALL',
    // For the handing over alone, which drops them.
    ...(options.byRoot === null
      ? []
      : ['SETUID', 'SETGID', 'SETPCAP'].flatMap((name) => ['--cap-add', `CAP_${name}`])),
    '--new-session',
    '--die-with-parent',
    '--hostname',
    'sandbox',
    '--chdir',
    options.byRoot === null ? options.workingDirectory : '/',
  ];
}
