/** Builds the command lines of the shell. */
import { basename } from 'node:path';

export interface Identity {
  readonly uid: number;
  readonly gid: number;
}

/**
 * Limits for one command (processes and bytes per file) against accidents and floods, far above the needs of any test
 * suite.
 */
const LIMITS = 'ulimit -u 8192; ulimit -f 16777216; ulimit -c 0';

/** Path in the sandbox of the file that bash reads before each command, in the sandbox's own /dev. */
export const START_FILE = '/dev/shell-start';

/**
 * Whether a shell reads a file before a command (`BASH_ENV`, bash(1)); any other shell must be started by a preparing
 * shell.
 */
export function readsStartFile(shell: string): boolean {
  return basename(shell) === 'bash';
}

/**
 * Returns the file that bash reads before each command. It changes to the folder, sets the limits and sources the
 * user's own `BASH_ENV` file, if any. One bash that does this costs less than one that execs another.
 */
export function startFile(folder: string, own: string | undefined): string {
  const again =
    own === undefined ? '' : `export BASH_ENV=${quote(own)}\n[ ! -r "$BASH_ENV" ] || . "$BASH_ENV"\n`;
  return `unset BASH_ENV\n${preparation('bash', quote(folder))}\n${again}`;
}

export interface ShellOptions {
  readonly shell: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly workingDirectory: string;
}

/**
 * Arguments for a shell that runs a command in the working directory with limits. The user's startup files are not
 * read.
 */
export function shellArguments(options: ShellOptions, command: string): readonly string[] {
  return options.environment['BASH_ENV'] === START_FILE
    ? ['--noprofile', '--norc', '-c', command]
    : limitedShellArguments(options.shell, command, options.workingDirectory);
}

/** Arguments for a shell that sets the limits, then execs the shell that runs the command in a folder. */
export function limitedShellArguments(shell: string, command: string, folder = '.'): readonly string[] {
  const plain = basename(shell) === 'bash' ? '--noprofile --norc' : '';
  return ['-c', `${preparation(shell, '"$2"')}; exec "$0" ${plain} -c "$1"`, shell, command, folder];
}

/** @param folder a word of a shell script. */
function preparation(shell: string, folder: string): string {
  // A descriptor inherited by this process may lead out of the sandbox, as that of an open folder does.
  return `cd ${folder} || exit 125; ${closeStrays(shell, 3)}; { ${LIMITS}; } 2>/dev/null`;
}

/**
 * Returns the words that start a program with the descriptors from 5 on closed. Process 1 of bubblewrap is inside the
 * sandbox and closes its inherited descriptors only after it has started the command; until then /proc/1/fd leads out.
 * @param input a file that is opened for reading as descriptor 5 of the program.
 */
export function closeDescriptors(
  shell: string,
  words: readonly string[],
  input: string | null = null,
): readonly string[] {
  // With -p, bash neither sources a startup file nor imports functions from the environment, which is the command's.
  const options = basename(shell) === 'bash' ? ['-p', '-c'] : ['-c'];
  const start = input === null ? 'exec "$@"' : `exec "$@" 5<${quote(input)}`;
  return [shell, ...options, `${closeStrays(shell, 5)}; ${start}`, shell, ...words];
}

/**
 * Returns a script that closes the descriptors from a one-digit number on. Shells other than bash leave those above 9
 * open.
 */
function closeStrays(shell: string, first: number): string {
  const strays = basename(shell) === 'bash' ? `[${first}-9]|[1-9][0-9]*` : `[${first}-9]`;
  return `for _fd in /proc/self/fd/*; do _fd=\${_fd##*/}; case $_fd in ${strays}) eval "exec $_fd>&-";; esac; done; unset _fd`;
}

/**
 * Returns the words with which root switches to the user who runs the command, without capabilities or a way to gain
 * any.
 */
export function dropPrivileges(
  // The shell changes to its folder, because root without capabilities may not enter that of a user.
  options: ShellOptions & { readonly setpriv: string; readonly identity: Identity },
  command: string,
  // Words that start the rest, once it can no longer gain privileges.
  starter: readonly string[] = [],
): readonly string[] {
  const { uid, gid } = options.identity;
  const variables = Object.entries(options.environment).map(([name, value]) => `${name}=${value}`);
  return [
    options.setpriv,
    ...['--reuid', String(uid), '--regid', String(gid), '--clear-groups'],
    ...['--inh-caps=-all', '--ambient-caps=-all', '--bounding-set=-all', '--no-new-privs', '--'],
    ...starter,
    ...['/usr/bin/env', '-i', ...variables],
    options.shell,
    ...shellArguments(options, command),
  ];
}

/** Quotes a string as one word of a shell script. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
