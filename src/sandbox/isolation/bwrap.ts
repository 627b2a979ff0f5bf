/** The bubblewrap backend: a mount, PID, IPC, UTS and network namespace for each command. */
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

interface BwrapOptions extends BackendOptions {
  readonly bwrap: string;
  /** Path of a file with the system call filter; null if there is none. */
  readonly filter: string | null;
  /** Set if root creates the namespaces and switches to an ordinary user; null if that user creates them. */
  readonly byRoot: ByRoot | null;
}

/** How root switches to the user who runs commands. */
export interface ByRoot {
  readonly privilege: Privilege;
  readonly setpriv: string;
  readonly identity: Identity;
}

/**
 * Creates the backend. Before `launch` it starts nothing, except for a watch over this process if root creates the
 * sandbox.
 */
export function createBwrapBackend(options: BwrapOptions): IsolationBackend {
  const { byRoot } = options;
  const watch = byRoot === null ? null : startWatch(byRoot.privilege, randomBytes(16).toString('hex'));
  // Computed for each command: a service that exited has removed its socket, and a mount over a missing path fails.
  const isolation = () => [
    ...namespaceArguments(options, options.layer.mappedUser),
    ...mountArguments(withoutGone(options.mounts), byRoot !== null),
    ...(options.filter === null ? [] : ['--seccomp', '5']),
  ];
  return {
    name: byRoot === null || byRoot.privilege.prefix.length === 0 ? 'bwrap' : 'sudo-bwrap',
    filtersCalls: options.filter !== null,
    // A socket may be removed between the check for it and its mount.
    mayFailOnce: options.mounts.some((mount) => mount.fleeting === true),
    async launch(command) {
      return byRoot === null || watch === null
        ? launchDirectly(options, isolation(), command)
        : launchByRoot(options, byRoot, isolation(), command, watch.mark);
    },
    hasRun: (status) => status.includes('"exit-code"'),
    // bwrap reports it before it lets the first process of the namespace continue; that process dies with its parent
    // only later.
    canSweep: (status) => /"child-pid": \d+/u.test(status),
    async sweep({ pid, ended }, status) {
      // Process 1 of the namespace: when it dies, the kernel kills everything inside, and it ends last.
      const init = Number(/"child-pid": (\d+)/u.exec(status)?.[1] ?? 0);
      const victims = [...(init > 1 ? [init] : []), ...(pid !== undefined && !ended ? [pid] : [])];
      await killAll(victims, byRoot?.privilege ?? null);
    },
    close: async () => watch?.close(),
  };
}

/**
 * Returns the arguments of a command that does nothing in a minimal sandbox, with only the mounts that every sandbox
 * has.
 */
export function bwrapProbe(
  options: Pick<BwrapOptions, 'shell' | 'shellNetwork' | 'byRoot'>,
): readonly string[] {
  return [
    ...namespaceArguments({ ...options, workingDirectory: '/' }, null),
    ...mountArguments([], options.byRoot !== null),
    ...['--', options.shell, '-c', ':'],
  ];
}

function launchDirectly(options: BwrapOptions, isolation: readonly string[], command: string): Launch {
  const shell = [options.shell, ...shellArguments(options, command)];
  const words = [
    ...options.layer.enter,
    options.bwrap,
    '--args',
    '3',
    '--json-status-fd',
    '4',
    '--',
    ...shell,
  ];
  const [file = '', ...args] = closeDescriptors(options.shell, words, options.filter);
  return {
    file,
    // Passed by a descriptor: the arguments name folders of the runner, and any process inside can read those of its
    // parent.
    args,
    cwd: '/',
    environment: options.environment,
    instructions: { text: `${isolation.join('\0')}\0`, channel: 'descriptors' },
  };
}

/** Passes everything by stdin: sudo closes descriptors and writes arguments to the system log. */
function launchByRoot(
  options: BwrapOptions,
  byRoot: ByRoot,
  isolation: readonly string[],
  command: string,
  mark: string,
): Launch {
  const [file = '', ...args] = [...byRoot.privilege.prefix, '/bin/sh', '-s'];
  const flags = isolation.map(quote).join(' ');
  const bwrap = [...options.layer.enter, options.bwrap, '--args', '4', '--json-status-fd', '3', '--'];
  const words = closeDescriptors(
    options.shell,
    [...bwrap, ...dropPrivileges({ ...options, ...byRoot }, command)],
    options.filter,
  );
  const script = `exec 3>&2 2>&1\nexport ${mark}\nprintf '%s\\0' ${flags} | ${words.map(quote).join(' ')} 4<&0 </dev/null\nexit $?\n`;
  return { file, args, cwd: '/', environment: {}, instructions: { text: script, channel: 'standard' } };
}

function namespaceArguments(
  options: Pick<BwrapOptions, 'shellNetwork' | 'byRoot' | 'workingDirectory'>,
  mappedUser: Identity | null,
): readonly string[] {
  // As root without user namespaces, the other namespaces still isolate: no capability is left either way.
  const user =
    mappedUser === null
      ? ['--unshare-user-try']
      : ['--unshare-user', '--uid', String(mappedUser.uid), '--gid', String(mappedUser.gid)];
  return [
    ...(options.byRoot === null ? user : []),
    '--unshare-pid',
    '--unshare-ipc',
    '--unshare-uts',
    '--unshare-cgroup-try',
    ...(options.shellNetwork ? [] : ['--unshare-net']),
    '--cap-drop',
    'ALL',
    // Only for the switch to the user, which drops them.
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
