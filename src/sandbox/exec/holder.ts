/** Processes that keep namespaces alive: what is mounted in them goes with the process, however it ends. */
import { type ChildProcess, spawn } from 'node:child_process';
import { SandboxError } from '../../errors.ts';
import { WAIT } from '../../text/limits.ts';

export interface Holder {
  /** The pid that the script reported, as seen by this process. */
  readonly pid: number;
  /**
   * Ends the holder. Does not wait for the kernel to take its mounts apart, about 50 ms in which no process runs there.
   */
  close(): void;
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
    close() {
      holder.stdin.end();
      holder.stdout.destroy();
      holder.stderr.destroy();
      holder.unref();
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
