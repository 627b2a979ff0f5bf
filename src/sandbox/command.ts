/** Runs one command in a sandbox, and keeps of its output what the model sees and what a file holds. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { SandboxError } from '../errors.ts';
import type { Isolation } from '../types.ts';
import { SYSTEM_ENVIRONMENT } from './host-program.ts';
import { shellWord } from './sandbox.ts';

export interface Backend {
  readonly name: Isolation;
  /** How the checkout is kept as it was; null if it is not. */
  readonly layer: 'overlay' | 'copy' | null;
  /** Words that run the program that is added to them. */
  readonly words: readonly string[];
  /** The words before a command that must be run by root; empty if this process is root, or none must be. */
  readonly asRoot: readonly string[];
  /** Whether a command ends with its process group; what root runs does not. */
  readonly endsWithGroup: boolean;
  /** Kills what such a group does not hold: all that runs inside. Resolves once it has. */
  killInside(): Promise<void>;
  /** Returns why no command can run any more, or null. */
  findFailure(): Promise<string | null>;
  close(): Promise<void>;
}

export interface CommandOptions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Receives the output; no more is read until it resolves. */
  readonly onOutput: (chunk: Buffer) => Promise<void> | void;
}

/** A descriptor that this process inherited may lead out of the sandbox. */
const CLOSE_DESCRIPTORS = `for fd in /proc/self/fd/*; do
  case \${fd##*/} in
    [4-9]) eval "exec \${fd##*/}>&-" ;;
    [1-9][0-9]*) [ -z "$BASH" ] || eval "exec \${fd##*/}>&-" ;;
  esac
done`;

/** Kills the group of the shell when descriptor 3 ends, as it does with this process, however that ends. */
const WATCH = '{ read -r line <&3; kill -s KILL 0; } </dev/null >/dev/null 2>&1 &';

/**
 * Creates a shell that stays, and is opened again after it was killed. The one `outside`, on this machine, starts the
 * commands of the model: `sudo` for each, or a new process of this large one, would take longer than most commands. The
 * one `inside` runs scripts of ours, which leave nothing running: to enter the sandbox takes longer than most of them. It
 * must have ended before a command of the model runs, which could change it.
 * @param shell the absolute path of a shell of this machine.
 */
export function holdShell(backend: Backend, shell: string, place: 'outside' | 'inside') {
  const reopen = () => (place === 'outside' ? openOutside(backend, shell) : openInside(backend, shell));
  let current: ReturnType<typeof openShell> | null = reopen();
  const forget = () => {
    current?.close();
    current = null;
  };
  return {
    /**
     * Runs a line, with both streams of its output in one; outside, `inside` before a program runs it in the sandbox.
     * Resolves once all its processes are dead; the next one may only be run then.
     * @throws the signal's reason if it was aborted; SandboxError if it cannot be started
     */
    async run(line: string, { timeoutMs, signal, onOutput }: CommandOptions) {
      signal.throwIfAborted();
      const startedAt = performance.now();
      current ??= reopen();
      const held = current;
      const { child, closed, passOutput } = held;
      let isOver = false;
      let killing: NodeJS.Timeout | undefined;
      let killed = Promise.resolve();
      const kill = () => {
        killed = backend.killInside();
        if (backend.endsWithGroup && child.pid !== undefined && child.exitCode === null) killGroup(child.pid);
      };
      const end = () => {
        kill();
        // What is just being started may not have been there.
        killing ??= setInterval(kill, 100);
      };
      const timer = setTimeout(() => {
        isOver = true;
        end();
      }, timeoutMs);
      signal.addEventListener('abort', end, { once: true });
      /** Before the next line, which a late kill would hit. */
      const stop = () => {
        clearTimeout(timer);
        clearInterval(killing);
        signal.removeEventListener('abort', end);
      };
      try {
        const exited = held.start(line).then((code) => {
          // What it left running may hold the pipe. Once this shell is forgotten, the next line may be running.
          if (place === 'outside' && current === held) killed = backend.killInside();
          return code;
        });
        const isAlive = await passOutput(onOutput);
        // What should have said the exit code may have been killed.
        const said = isAlive ? await Promise.race([exited, sleep(1_000, null, { ref: false })]) : null;
        if (said === null) {
          kill();
          forget();
        }
        const exitCode = said ?? (await closed);
        stop();
        await killed;
        signal.throwIfAborted();
        return { exitCode: isOver ? null : exitCode, durationMs: performance.now() - startedAt };
      } catch (error) {
        // Also if the output could not be taken.
        end();
        forget();
        await closed.finally(stop);
        await killed;
        throw error;
      }
    },
    /** Ends the shell. Resolves once it has. */
    async end() {
      if (current === null) return;
      const { closed } = current;
      forget();
      await closed.catch(() => undefined);
      await backend.killInside();
    },
  };
}

/** A shell of this machine, which starts each program in the sandbox. */
function openOutside(backend: Backend, shell: string) {
  const held = openShell([...backend.asRoot, shell, '-s']);
  const words = backend.words.map(shellWord).join(' ');
  held.child.stdin.write(`${setUp(backend)}\ninside() { ${words} "$@" 2>&1; }\n`);
  return held;
}

/** A shell in the sandbox. What enters the sandbox may take stdin away, so it reads its lines from descriptor 4. */
function openInside(backend: Backend, shell: string) {
  const inside = [...backend.words, ...'/usr/bin/env -i /bin/sh -c'.split(' '), 'exec /bin/sh -s <&4 4<&-'];
  const start = `${setUp(backend)}\nexec 4<&0\nexec ${inside.map(shellWord).join(' ')}`;
  return openShell([...backend.asRoot, shell, '-c', start]);
}

function setUp({ endsWithGroup }: Backend): string {
  return [CLOSE_DESCRIPTORS, endsWithGroup ? WATCH : ':', 'exec 3<&-'].join('\n');
}

function openShell([file = '', ...args]: readonly string[]) {
  const options = { cwd: '/', env: SYSTEM_ENVIRONMENT, detached: true };
  const child = spawn(file, args, { ...options, stdio: ['pipe', 'pipe', 'pipe', 'pipe'] });
  const { stdin, stdout, stderr } = child;
  stdin.on('error', () => undefined);
  /** Printed after the output of each line, none of which can know it. */
  const mark = randomBytes(16).toString('hex');
  const chunks: AsyncIterator<Buffer> = stdout[Symbol.asyncIterator]();
  const closed = once(child, 'close').then(
    // What runs when the shell is killed is killed with it.
    () => 137,
    (cause: Error) => {
      throw new SandboxError(`A command could not be started: ${cause.message}`, { cause });
    },
  );
  closed.catch(() => undefined);

  return {
    child,
    /** Resolves once the shell has ended. @throws SandboxError if it could not be started */
    closed,
    /** Starts a line, and resolves with its exit code. */
    start(line: string): Promise<number> {
      // A real pipe, which a socket of Node.js is not, keeps the order of both streams, and can be opened as /dev/stderr.
      stdin.write(`{ ${line} </dev/null; echo "exit $?" >&2; } | cat; printf ${mark}\n`);
      return new Promise((resolve) => {
        stderr.on('data', function listen(chunk: Buffer) {
          // The shell writes messages of its own there, too.
          const code = /^exit (\d+)$/mu.exec(chunk.toString('latin1'))?.[1];
          if (code === undefined) return;
          stderr.off('data', listen);
          resolve(Number(code));
        });
      });
    },
    /** Passes the output of a line on. Returns whether the shell is still there. */
    async passOutput(onOutput: CommandOptions['onOutput']): Promise<boolean> {
      let rest: Buffer = Buffer.alloc(0);
      while (rest.toString('latin1') !== mark) {
        const { value, done } = await chunks.next();
        if (done) {
          await onOutput(rest);
          return false;
        }
        const all = Buffer.concat([rest, value]);
        await onOutput(all.subarray(0, -mark.length));
        rest = all.subarray(-mark.length);
      }
      return true;
    },
    close() {
      for (const stream of child.stdio) stream?.destroy();
    },
  };
}

export function killGroup(group: number): void {
  try {
    // 0 would be the group of this process, and 1 all processes.
    if (group > 1) process.kill(-group, 'SIGKILL');
  } catch {
    // It has ended.
  }
}
