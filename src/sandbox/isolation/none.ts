/**
 * The backend without isolation: commands run like the step itself, and the processes that they leave are killed as far
 * as they can be found.
 */
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { killOne } from '../exec/host-program.ts';
import { limitedShellArguments, type ShellOptions } from '../exec/shell-line.ts';
import type { IsolationBackend, Trace } from './backend.ts';
import { listProcesses } from './host.ts';

const MARKER = 'STRUCTURED_AGENT_COMMAND';

export function createUnisolatedBackend(options: ShellOptions): IsolationBackend {
  return {
    name: 'none',
    async launch(command) {
      const id = randomBytes(16).toString('hex');
      return {
        file: options.shell,
        // An intermediate shell, so that the parent which a command sees (and may kill) is not the process of the step.
        args: [
          '-c',
          '"$@"; exit $?',
          options.shell,
          options.shell,
          ...limitedShellArguments(options.shell, command),
        ],
        cwd: options.workingDirectory,
        environment: { ...options.environment, [MARKER]: id },
        trace: { marker: `${MARKER}=${id}`, since: await ticksSinceBoot() },
      };
    },
    hasRun: () => true,
    async sweep({ pid, ended }, _status, { trace }) {
      for (let round = 0; round < 100; round += 1) {
        // Before the group is killed, because the children of a killed process lose their link to it.
        const victims = trace === undefined ? [] : await remaining(ended ? undefined : pid, trace);
        // The group keeps its id while any process is in it, even after its leader has ended.
        if (pid !== undefined) killOne(-pid);
        for (const victim of victims) killOne(victim);
        if (victims.length === 0) return;
        await sleep(10);
      }
    },
    close: async () => undefined,
  };
}

/**
 * Returns the processes that descend from a live one or carry the marker. A process that both cleared its environment
 * and left its parents is not found: without a sandbox, this is best effort.
 */
async function remaining(root: number | undefined, trace: Trace): Promise<readonly number[]> {
  const young = (await Promise.all((await listProcesses()).map(look))).filter(
    (seen) => seen !== null && seen.started >= trace.since,
  );
  const children = new Map<number, number[]>();
  const found = new Set<number>();
  for (const seen of young) {
    if (seen === null) continue;
    children.set(seen.parent, [...(children.get(seen.parent) ?? []), seen.pid]);
    if (await carries(seen.pid, trace.marker)) found.add(seen.pid);
  }
  const queue = root === undefined ? [...found] : [root, ...found];
  for (let pid = queue.pop(); pid !== undefined; pid = queue.pop()) {
    for (const child of children.get(pid) ?? []) {
      if (!found.has(child)) queue.push(child);
      found.add(child);
    }
  }
  return [...found];
}

interface Seen {
  readonly pid: number;
  readonly parent: number;
  /** In clock ticks since boot. */
  readonly started: number;
}

/** Reads the state of a process (proc(5)); null if it is gone or a zombie. */
async function look(name: string): Promise<Seen | null> {
  try {
    const stat = await readFile(`/proc/${name}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return null;
    return { pid: Number(name), parent: Number(fields[1]), started: Number(fields[19]) };
  } catch {
    return null;
  }
}

/** Returns the uptime in clock ticks; Linux has 100 per second on every platform that Node.js supports. */
async function ticksSinceBoot(): Promise<number> {
  try {
    return Math.floor(Number((await readFile('/proc/uptime', 'utf8')).split(' ')[0]) * 100) - 2;
  } catch {
    return 0;
  }
}

async function carries(pid: number, marker: string): Promise<boolean> {
  try {
    return (await readFile(`/proc/${pid}/environ`, 'latin1')).split('\0').includes(marker);
  } catch {
    return false;
  }
}
