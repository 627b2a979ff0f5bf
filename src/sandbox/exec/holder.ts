/** Processes that keep namespaces alive: what is mounted in them goes with the process, however it ends. */
import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { SandboxError } from '../../errors.ts';
import { WAIT } from '../../text/limits.ts';

export interface Holder {
  /** The pid that the script reported, as seen by this process. */
  readonly pid: number;
  /** Ends the holder, and waits up to 2 s for it. */
  close(): Promise<void>;
}

/**
 * Runs a shell script in new namespaces. The script must print `up` and its pid once it has set them up, then read its
 * stdin, which ends with this process, even if that is killed.
 * @param words a program that runs `/bin/sh -s` in new namespaces.
 * @throws SandboxError with the output of the script if it ends before it is up, or takes too long.
 */
export async function startHolder([file = '', ...args]: readonly string[], script: string): Promise<Holder> {
  const holder = spawn(file, args, { cwd: '/', env: {}, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
  const pid = await whenUp(holder, script);
  return {
    pid,
    async close() {
      holder.stdin.end();
      if (holder.exitCode !== null || holder.signalCode !== null) return;
      const ended = new Promise((resolve) => holder.once('exit', resolve));
      await Promise.race([ended, sleep(2_000, undefined, { ref: false })]);
    },
  };
}

function whenUp(holder: ChildProcess, script: string): Promise<number> {
  return new Promise((resolve, reject) => {
    let said = '';
    let complaint = '';
    const fail = (why: string) => {
      clearTimeout(timer);
      holder.stdin?.destroy();
      reject(new SandboxError(why.trim() || 'no reason was given'));
    };
    const timer = setTimeout(() => fail('its mounts took too long'), WAIT.mounts);
    holder.stdin?.on('error', () => undefined);
    holder.stdin?.write(`{\n${script}\n}; exit\n`);
    holder.stdout?.on('data', (chunk: Buffer) => {
      said += chunk.toString('latin1');
      const pid = /^up (\d+)$/mu.exec(said)?.[1];
      if (pid === undefined) return;
      clearTimeout(timer);
      resolve(Number(pid));
    });
    holder.stderr?.on('data', (chunk: Buffer) => {
      if (complaint.length < 1_000) complaint += chunk.toString('latin1');
    });
    holder.once('error', (error) => fail(error.message));
    // Not `exit`: the reason may still be in the pipe.
    holder.once('close', () => fail(complaint));
  });
}
