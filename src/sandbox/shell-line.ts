/** The shell's own command line. */
import { basename } from 'node:path';

/** Who runs a command. */
export interface Identity {
  readonly uid: number;
  readonly gid: number;
}

/** The longest command, in bytes: Linux takes 128 KiB in one argument. */
export const MAX_COMMAND_BYTES = 120_000;

/** Processes and bytes per file that one command may have: against accidents and floods, far above any test suite. */
const LIMITS = 'ulimit -u 8192; ulimit -f 16777216; ulimit -c 0';

/** Arguments for a shell that sets its limits and becomes the shell that runs the command, in a folder. No startup file is read. */
export function withLimits(shell: string, command: string, folder = '.'): readonly string[] {
  const isBash = basename(shell) === 'bash';
  const plain = isBash ? '--noprofile --norc' : '';
  // A descriptor that this process was started with may lead out of the wall, as an open folder does. Other shells than
  // bash know one-digit numbers only.
  const strays = isBash ? '[3-9]|[1-9][0-9]*' : '[3-9]';
  const close = `for f in /proc/self/fd/*; do f=\${f##*/}; case $f in ${strays}) eval "exec $f>&-";; esac; done`;
  return [
    '-c',
    `cd "$2" || exit 125; ${close}; { ${LIMITS}; } 2>/dev/null; exec "$0" ${plain} -c "$1"`,
    shell,
    command,
    folder,
  ];
}

/** The words by which root becomes the user who runs the command: no capability, and none to be had. */
export function settled(
  options: {
    readonly setpriv: string;
    readonly identity: Identity;
    readonly environment: Readonly<Record<string, string>>;
    readonly shell: string;
    /** Where the command starts: root, without its capabilities, may not enter a user's folder. */
    readonly workingDirectory: string;
  },
  command: string,
): readonly string[] {
  const { uid, gid } = options.identity;
  const variables = Object.entries(options.environment).map(([name, value]) => `${name}=${value}`);
  return [
    options.setpriv,
    ...['--reuid', String(uid), '--regid', String(gid), '--clear-groups'],
    ...['--inh-caps=-all', '--ambient-caps=-all', '--bounding-set=-all', '--no-new-privs', '--'],
    ...['/usr/bin/env', '-i', ...variables],
    options.shell,
    ...withLimits(options.shell, command, options.workingDirectory),
  ];
}

/** A word of a shell script. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
