/** `sandbox: off`: commands run as the step itself, in the checkout. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Backend, killGroup } from './command.ts';

/**
 * Runs the program $2 in a process group of its own, whose number the file $1 holds meanwhile, and
 * kills what is left of the group. What the shell itself says about its jobs is not output.
 */
const IN_GROUP = `
exec 3>&2 2>/dev/null
set -m
file=$1
shift
"$@" 2>&3 3>&- &
exec 3>&-
group=$!
# If this shell is killed with the process that started it, its jobs are in groups of their own.
{ while kill -s 0 "$$"; do sleep 1; done; kill -s KILL -- "-$group"; } >/dev/null &
watcher=$!
echo "$group" > "$file"
wait "$group"
code=$?
kill -s KILL -- "-$group" "-$watcher"
rm -f -- "$file"
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
    words: [shell, '-c', IN_GROUP, 'sh', file],
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
