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

/** Where the file that bash reads before each command lies in a sandbox: in the /dev that is the sandbox's own. */
export const START_FILE = '/dev/shell-start';

/** Whether a shell reads a file before a command (`BASH_ENV`, bash(1)); another one needs a shell before it. */
export function readsStartFile(shell: string): boolean {
  return basename(shell) === 'bash';
}

/**
 * What bash reads before each command: the folder, the limits, and the user's own such file if there is one. One bash
 * that does this costs less than one that becomes another.
 */
export function startFile(folder: string, own: string | undefined): string {
  const again =
    own === undefined ? '' : `export BASH_ENV=${quote(own)}\n[ ! -r "$BASH_ENV" ] || . "$BASH_ENV"\n`;
  return `unset BASH_ENV\n${preparation('bash', quote(folder))}\n${again}`;
}

/** A shell in a sandbox, as its maker starts it. */
export interface ShellOptions {
  readonly shell: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly workingDirectory: string;
}

/** Arguments for a shell that runs a command in the working directory, with limits. No startup file of the user's is read. */
export function shellArguments(options: ShellOptions, command: string): readonly string[] {
  return options.environment['BASH_ENV'] === START_FILE
    ? ['--noprofile', '--norc', '-c', command]
    : limitedShellArguments(options.shell, command, options.workingDirectory);
}

/** Arguments for a shell that sets its limits and becomes the shell that runs the command, in a folder. */
export function limitedShellArguments(shell: string, command: string, folder = '.'): readonly string[] {
  const plain = basename(shell) === 'bash' ? '--noprofile --norc' : '';
  return ['-c', `${preparation(shell, '"$2"')}; exec "$0" ${plain} -c "$1"`, shell, command, folder];
}

/** @param folder a word of a script. */
function preparation(shell: string, folder: string): string {
  // A descriptor that this process was started with may lead out of the sandbox, as an open folder does.
  return `cd ${folder} || exit 125; ${closeStrays(shell, 3)}; { ${LIMITS}; } 2>/dev/null`;
}

/**
 * The words that start a program without the descriptors from 5 on. Process 1 of bubblewrap lies in the sandbox and
 * closes those that it inherited only after it has let the command run: until then /proc/1/fd leads out.
 * @param input a file that the program finds open for reading as descriptor 5.
 */
export function closeDescriptors(
  shell: string,
  words: readonly string[],
  input: string | null = null,
): readonly string[] {
  // With -p bash takes neither a file to read first nor functions from the environment, which is the command's.
  const options = basename(shell) === 'bash' ? ['-p', '-c'] : ['-c'];
  const start = input === null ? 'exec "$@"' : `exec "$@" 5<${quote(input)}`;
  return [shell, ...options, `${closeStrays(shell, 5)}; ${start}`, shell, ...words];
}

/** A script that closes the descriptors from a one-digit number on; another shell than bash leaves those above 9 open. */
function closeStrays(shell: string, first: number): string {
  const strays = basename(shell) === 'bash' ? `[${first}-9]|[1-9][0-9]*` : `[${first}-9]`;
  return `for _fd in /proc/self/fd/*; do _fd=\${_fd##*/}; case $_fd in ${strays}) eval "exec $_fd>&-";; esac; done; unset _fd`;
}

/** The words by which root becomes the user who runs the command: no capability, and none to be had. */
export function dropPrivileges(
  // The shell goes to its folder: root, without its capabilities, may not enter a user's.
  options: ShellOptions & { readonly setpriv: string; readonly identity: Identity },
  command: string,
  // Words that start the rest, once nothing can gain privileges any more.
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

/** A word of a shell script. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
