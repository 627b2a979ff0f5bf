/** The bubblewrap backend, for an ordinary user: each command gets namespaces of its own. The layer is a copy. */
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Backend } from './command.ts';
import { tryWords } from './host-program.ts';
import { listMounts, type Mount, type RootPlan } from './system-root.ts';

const KERNEL = ['--dev', '/dev', '--proc', '/proc'];

function namespaceArguments(shellNetwork: boolean): readonly string[] {
  const spaces = '--unshare-user --disable-userns --unshare-pid --unshare-ipc --unshare-uts';
  const net = shellNetwork ? '' : ' --unshare-net';
  return `${spaces}${net} --die-with-parent --new-session --as-pid-1`.split(' ');
}

/** Returns why bubblewrap cannot be used here, or null. */
export async function probeBwrap(bwrap: string, shellNetwork: boolean): Promise<string | null> {
  const words = [bwrap, ...namespaceArguments(shellNetwork), '--ro-bind', '/', '/', ...KERNEL, '/bin/true'];
  return tryWords(words, 'bwrap did not end');
}

export async function createBwrapBackend(bwrap: string, plan: RootPlan): Promise<Backend> {
  const { run, shellNetwork } = plan;
  const writable = { tmp: join(run, 'tmp'), home: join(run, 'home'), layer: join(run, 'layer', 'copy') };
  const mounts = listMounts(plan, writable);
  for (const { kind, from } of mounts)
    if (kind === 'open') await mkdir(from, { recursive: true, mode: 0o700 });
  const words = [
    ...[bwrap, ...namespaceArguments(shellNetwork), ...KERNEL],
    // Lists the keys of this machine, which no namespace isolates.
    ...(existsSync('/proc/keys') ? ['--ro-bind', '/dev/null', '/proc/keys'] : []),
    ...mounts.flatMap(({ kind, from, at }) => [MOUNT[kind], from, at]),
    // bwrap does not wait for a first process of its own, with which all others die.
    ...['--remount-ro', '/', '/bin/sh', '-c', '"$@"; exit $?', 'sh'],
  ];
  return {
    name: 'bwrap',
    layer: 'copy',
    words,
    asRoot: [],
    endsWithGroup: true,
    killInside: async () => undefined,
    findFailure: () => tryWords([...words, '/bin/sh', '-c', ':'], 'bwrap did not end'),
    close: async () => undefined,
  };
}

const MOUNT: Readonly<Record<Mount['kind'], string>> = {
  link: '--symlink',
  // What another program removed meanwhile has nothing to show.
  show: '--ro-bind-try',
  open: '--bind',
};
