/** How this process may act as root: because it is, or through a sudo that asks for no password. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/** A way to act as root. */
export interface Privilege {
  /** What stands before a command; empty where this process is root. */
  readonly prefix: readonly string[];
  /** Ends processes at once, those of root included. Never rejects. */
  kill(pids: readonly number[]): Promise<void>;
}

/** Looks for a way; null where there is none. Asks nothing of anybody: `sudo -n` fails where it would need a password. */
export async function findPrivilege(sudo: string | null): Promise<Privilege | null> {
  if (process.getuid?.() === 0) {
    return { prefix: [], kill: async (pids) => pids.forEach(killOne) };
  }
  if (sudo === null || !(await succeeds(sudo, ['-n', 'true']))) return null;
  return {
    prefix: [sudo, '-n', '--'],
    async kill(pids) {
      await succeeds(sudo, ['-n', '--', '/bin/kill', '-KILL', ...pids.map(String)]);
    },
  };
}

/** A process of root's that outlives this one by a second, to end what this one left. */
export interface Watch {
  /** A variable, as `name=value`, that what root starts has to be given. */
  readonly mark: string;
  /** Ends the watch; nothing is killed. */
  close(): Promise<void>;
}

/**
 * Watches over this process: a step that is killed cannot end what runs as root, and sudo does not end with its parent.
 * @param id random, hexadecimal.
 */
export function keepWatch(privilege: Privilege, id: string): Watch {
  const mark = `STRUCTURED_AGENT_WALL=${id}`;
  const [file = '', ...args] = [...privilege.prefix, '/bin/sh', '-s'];
  const watcher = spawn(file, args, {
    cwd: '/',
    env: {},
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  watcher.once('error', () => undefined);
  watcher.stdin.on('error', () => undefined);
  // More than once: a command may have been on its way in.
  watcher.stdin.write(`{
    PATH=/usr/bin:/bin
    read -r line && exit
    for round in 1 2 3 4 5; do
      for file in $(grep -lsa '${mark}' /proc/[0-9]*/environ); do
        process=\${file#/proc/}
        kill -KILL "\${process%/environ}"
      done
      sleep 0.2
    done
  }; exit\n`);
  const ended = once(watcher, 'exit').catch(() => undefined);
  return {
    mark,
    async close() {
      watcher.stdin.end('over\n');
      await Promise.race([ended, sleep(2_000, undefined, { ref: false })]);
    },
  };
}

function succeeds(file: string, args: readonly string[]): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(file, args, { cwd: '/', env: {}, stdio: 'ignore', timeout: 5_000 });
    child.once('error', () => resolve(false));
    child.once('close', (code) => resolve(code === 0));
  });
}

/** Kills a process, or a group by its number below zero; one that is dead already is no error. */
export function killOne(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // Dead already.
  }
}

/** Kills processes, as root where that is given, and waits until they are dead, 2 s at most. */
export async function killAll(pids: readonly number[], privilege: Privilege | null): Promise<void> {
  for (let waited = 0; waited < 2_000; waited += 2) {
    const alive = await Promise.all(pids.map(isAlive));
    const left = pids.filter((_, n) => alive[n] === true);
    if (left.length === 0) return;
    if (privilege === null) left.forEach(killOne);
    // Through sudo a kill costs some milliseconds: once, and again only where that was not enough.
    else if (waited % 100 === 0) await privilege.kill(left);
    await sleep(2);
  }
}

/** A zombie counts as dead: in a container nobody may ever reap it. */
async function isAlive(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  return stat !== null && !/\) [ZX] /u.test(stat);
}
