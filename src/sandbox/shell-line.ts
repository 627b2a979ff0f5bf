/** The shell's own command line. */
import { basename } from 'node:path';

/** The longest command, in bytes: Linux takes 128 KiB in one argument. */
export const MAX_COMMAND_BYTES = 120_000;

/** Processes and bytes per file that one command may have: against accidents and floods, far above any test suite. */
const LIMITS = 'ulimit -u 8192; ulimit -f 16777216; ulimit -c 0';

/** Arguments for a shell that sets its limits and becomes the shell that runs the command. No startup file is read. */
export function withLimits(shell: string, command: string): readonly string[] {
  const plain = basename(shell) === 'bash' ? '--noprofile --norc' : '';
  return ['-c', `{ ${LIMITS}; } 2>/dev/null; exec "$0" ${plain} -c "$1"`, shell, command];
}
