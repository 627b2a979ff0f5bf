/**
 * The wall of macOS: `sandbox-exec` with a profile of ours. Written from other projects' profiles and tried against a
 * stand-in only: no Mac was at hand.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { withLimits } from '../exec/shell-line.ts';
import type { Wall } from './backend.ts';
import { killOne } from './privilege.ts';

/** What the wall is built from. */
export interface SeatbeltOptions {
  /** Absolute paths of the programs. */
  readonly sandboxExec: string;
  readonly ps: string;
  /** As `profileText` makes it. */
  readonly profile: string;
  readonly shell: string;
  readonly workingDirectory: string;
  readonly environment: Readonly<Record<string, string>>;
}

const MARKER = 'STRUCTURED_AGENT_COMMAND';

/** Says that the profile holds, closes stray descriptors (there is no /proc here), and stays as the command's parent. */
const INSIDE = `echo in >&4; exec 3<&- 4>&-
for f in /dev/fd/*; do f=\${f##*/}; case $f in [3-9]|[1-9][0-9]*) eval "exec $f>&-";; esac; done 2>/dev/null
"$@"; exit $?`;

/** Makes the wall; nothing is started. */
export function createSeatbeltWall(options: SeatbeltOptions): Wall {
  const { shell } = options;
  return {
    name: 'seatbelt',
    async launch(command) {
      const id = randomBytes(16).toString('hex');
      const words = [shell, '-c', INSIDE, shell, shell, ...withLimits(shell, command)];
      return {
        file: options.sandboxExec,
        args: ['-p', options.profile, '--', ...words],
        cwd: options.workingDirectory,
        environment: { ...options.environment, [MARKER]: id },
        // Nothing to tell, but a status to hear: sandbox-exec ends with codes that a command could end with.
        instructions: { text: '', channel: 'descriptors' },
        trace: { marker: `${MARKER}=${id}`, since: 0 },
      };
    },
    cameUp: (status) => /^in$/mu.test(status),
    async sweep({ pid, ended }, _status, { trace }) {
      const until = performance.now() + 2_000;
      do {
        // Before anything is killed: whose parents are dead is nobody's child.
        const victims = remaining(await list(options.ps), ended ? undefined : pid, trace?.marker);
        // The group keeps its number as long as one process is in it, also when its leader has ended.
        if (pid !== undefined) killOne(-pid);
        for (const victim of victims) killOne(victim);
        if (victims.length === 0) return;
        await sleep(10);
      } while (performance.now() < until);
    },
    close: async () => undefined,
  };
}

interface Seen {
  readonly pid: number;
  readonly parent: number;
  /** Its command line, and its environment where the system tells it: not that of Apple's own programs. */
  readonly text: string;
}

/**
 * Processes that descend from a live one, or that carry the marker. One of Apple's programs that left its group and its
 * parents is not found: best effort.
 */
function remaining(
  processes: readonly Seen[],
  root: number | undefined,
  marker: string | undefined,
): readonly number[] {
  const found = new Set(
    processes.filter(({ text }) => marker !== undefined && text.includes(marker)).map(({ pid }) => pid),
  );
  const queue = root === undefined ? [...found] : [root, ...found];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    for (const { pid, parent } of processes) {
      if (parent !== next || found.has(pid)) continue;
      found.add(pid);
      queue.push(pid);
    }
  }
  return [...found];
}

/** Live processes, with their environments (ps(1) of macOS, -E); none where it cannot be asked. */
function list(ps: string): Promise<readonly Seen[]> {
  const columns = ['pid=', 'ppid=', 'stat=', 'command='].flatMap((name) => ['-o', name]);
  const limits = { env: { LC_ALL: 'C' }, maxBuffer: 64 * 1024 * 1024, timeout: 5_000 };
  return new Promise((resolve) => {
    execFile(ps, ['-A', '-E', '-ww', ...columns], limits, (error, output) => {
      resolve(error === null ? output.split('\n').flatMap(parse) : []);
    });
  });
}

function parse(line: string): readonly Seen[] {
  const [, pid, parent, state, text] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)/su.exec(line) ?? [];
  if (state === undefined || state.startsWith('Z')) return [];
  return [{ pid: Number(pid), parent: Number(parent), text: text ?? '' }];
}
