/** No isolation: commands run as the step itself does, and what they leave behind is hunted down as far as it can be seen. */
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { limitedShellArguments, type ShellOptions } from '../exec/shell-line.ts';
import type { IsolationBackend, Trace } from './backend.ts';
import { killOne, listProcesses } from './host.ts';

const MARKER = 'STRUCTURED_AGENT_COMMAND';

/** Makes a backend that isolates nothing. */
export function createUnisolatedBackend(options: ShellOptions): IsolationBackend {
  return {
    name: 'none',
    async launch(command) {
      const id = randomBytes(16).toString('hex');
      return {
        file: options.shell,
        // A shell between, so that the parent which a command sees (and may kill) is not the step's own process.
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
        // Before the group is killed: whose parent died is nobody's child any more.
        const victims = trace === undefined ? [] : await remaining(ended ? undefined : pid, trace);
        // The group keeps its number as long as one process is in it, also when its leader has ended.
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
 * Processes that descend from a live one, or that carry the marker. A process that cleared its environment *and* left
 * its parents is not found: without a sandbox this is best effort.
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
  /** Clock ticks since boot. */
  readonly started: number;
}

/** A process as the kernel tells of it (proc(5)); null for one that is gone or a zombie. */
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

/** A hundred ticks make a second on every Linux that Node runs on. */
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
