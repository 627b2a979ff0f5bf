/** `sandbox: off`: commands run as the step itself, in the checkout. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Backend, killGroup } from './command.ts';
import { shellWord } from './sandbox.ts';

/**
 * Becomes the program $1 in a process group of its own, whose number the file $0 holds. If the shell that started it is
 * killed with this process, the group must end by itself.
 */
const JOB = `
echo "$$" > "$0"
{ while kill -s 0 "$PPID"; do sleep 1; done; kill -s KILL -- "-$$"; } > /dev/null 2>&1 &
exec "$@"`;

/** Runs $2 as a job, with the file $1, and kills what is left of its group. What the shell itself says about its jobs is not output. */
const IN_GROUP = `
exec 3>&2 2>/dev/null
set -m
"$0" -c ${shellWord(JOB)} "$@" 2>&3 3>&- &
exec 3>&-
group=$!
wait "$group"
code=$?
kill -s KILL -- "-$group"
rm -f -- "$1"
exit "$code"`;

/**
 * Runs commands without namespaces. A process that leaves its group survives; without bash, one in the background is
 * waited for.
 * @param shell an absolute path.
 */
export function createOffBackend(shell: string, run: string): Backend {
  const file = join(run, 'group');
  return {
    name: 'none',
    layer: null,
    words: [shell, '-c', IN_GROUP, shell, file],
    asRoot: [],
    endsWithGroup: true,
    async killInside() {
      // Missing if the command has ended, or has not begun.
      killGroup(Number(await readFile(file, 'utf8').catch(() => 0)));
    },
    findFailure: async () => null,
    close: async () => undefined,
  };
}
