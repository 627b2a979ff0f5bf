/** What a command behind a wall sees of the file system, as a list of mounts; which tool makes them is elsewhere. */

/** One mount. A deeper one is made after, and so stands before, the one that contains it. */
export type Mount =
  | { readonly kind: 'read-only' | 'read-write'; readonly from: string; readonly at: string }
  /** An empty folder that nothing can be written to. */
  | { readonly kind: 'empty'; readonly at: string };

/** bwrap's arguments for a read-only root, its own /proc and /dev, and these mounts. */
export function mountArguments(mounts: readonly Mount[]): readonly string[] {
  const sorted = [...mounts].sort((a, b) => depth(a.at) - depth(b.at));
  const empties = new Set(sorted.filter((mount) => mount.kind === 'empty').map((mount) => mount.at));
  return [
    ...['--ro-bind', '/', '/'],
    ...['--dev', '/dev'],
    ...['--proc', '/proc'],
    // uid 0 may write core_pattern and the like without any capability.
    ...['--ro-bind', '/proc/sys', '/proc/sys'],
    ...sorted.flatMap(argumentsOf),
    // Only now: the mounts inside needed their mount points made.
    ...[...empties].flatMap((at) => ['--remount-ro', at]),
  ];
}

function argumentsOf(mount: Mount): readonly string[] {
  switch (mount.kind) {
    case 'empty':
      return ['--tmpfs', mount.at];
    case 'read-only':
      return ['--ro-bind', mount.from, mount.at];
    case 'read-write':
      return ['--bind', mount.from, mount.at];
  }
}

function depth(path: string): number {
  return path.split('/').filter(Boolean).length;
}
