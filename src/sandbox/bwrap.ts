/** The bubblewrap backend, for an ordinary user: each command gets namespaces of its own. The layer is a copy. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Backend } from './command.ts';
import { tryWords } from './host-program.ts';
import { listMounts, type Mount, prepareMounts, type RootPlan } from './mounts.ts';

const KERNEL = ['--dev', '/dev', '--proc', '/proc'];

function namespaceArguments(shellNetwork: boolean): readonly string[] {
  return [
    ...['--unshare-user', '--disable-userns', '--unshare-pid', '--unshare-ipc', '--unshare-uts'],
    ...(shellNetwork ? [] : ['--unshare-net']),
    ...['--cap-drop', 'ALL', '--die-with-parent', '--new-session'],
  ];
}

/** Returns why bubblewrap cannot be used here, or null. */
export async function probeBwrap(bwrap: string, shellNetwork: boolean): Promise<string | null> {
  const root = ['--ro-bind', '/', '/', ...KERNEL];
  const words = [bwrap, ...namespaceArguments(shellNetwork), ...root, '/bin/sh', '-c', ':'];
  return tryWords(words, 'bwrap did not end');
}

export async function createBwrapBackend(bwrap: string, plan: RootPlan): Promise<Backend> {
  const { run, shellNetwork } = plan;
  const writable = { tmp: join(run, 'tmp'), home: join(run, 'home'), layer: join(run, 'layer', 'copy') };
  const mounts = await prepareMounts(listMounts(plan, writable));
  const words = [
    ...[bwrap, ...namespaceArguments(shellNetwork), ...KERNEL],
    // Lists the keys of this machine, which no namespace isolates.
    ...(existsSync('/proc/keys') ? ['--ro-bind', '/dev/null', '/proc/keys'] : []),
    ...mounts.flatMap(mountArguments),
    ...['--remount-ro', '/', '--'],
  ];
  return {
    name: 'bwrap',
    words,
    // Its processes die with the one that started them.
    kill: () => undefined,
    findFailure: () => tryWords([...words, '/bin/sh', '-c', ':'], 'bwrap did not end'),
    close: async () => undefined,
  };
}

function mountArguments(mount: Mount): readonly string[] {
  switch (mount.kind) {
    case 'link':
      return ['--symlink', mount.to, mount.at];
    case 'read-only':
      // What another program removed meanwhile has nothing to show.
      return ['--ro-bind-try', mount.from, mount.at];
    case 'read-write':
    case 'pin':
      return ['--bind', mount.from, mount.at];
  }
}
