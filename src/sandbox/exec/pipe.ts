/** One real pipe for both of a command's output streams, so that what it writes stays in the order it came. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, constants, openSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { Socket } from 'node:net';
import { join } from 'node:path';

/** A pipe whose write end is given to a child. */
export interface Pipe {
  readonly output: Socket;
  /** The descriptor for the child. */
  readonly writer: number;
  /** Closes our copy of the write end: the output then ends with the last process that holds one. */
  release(): void;
}

/** Gives pipes; the next one is made while a command runs. */
export interface PipeSource {
  take(): Promise<Pipe>;
  /** Waits for what is still being made. */
  close(): Promise<void>;
}

/** FIFOs made by one program. */
const BATCH = 64;

/**
 * Makes pipes by way of nameless FIFOs. Node gives children socket pairs, one for each stream: they lose the order,
 * and `echo x > /dev/stderr` fails on a socket.
 * @param folder out of a command's sight.
 */
export function createPipeSource(folder: string): PipeSource {
  const ready: string[] = [];
  const fill = () =>
    makeFifos(folder).then((paths) => {
      ready.push(...paths);
    });
  // Not before it is needed: the start of a run waits for nothing here.
  let filling: Promise<void> | null = null;
  return {
    async take() {
      for (;;) {
        const path = ready.pop();
        if (path !== undefined) return openPipe(path);
        filling ??= fill();
        const current = filling;
        try {
          await current;
        } finally {
          if (filling === current) filling = null;
        }
      }
    },
    async close() {
      await filling?.catch(() => undefined);
    },
  };
}

async function openPipe(path: string): Promise<Pipe> {
  try {
    // Bare descriptors, which nothing but the socket and `release` ever closes; neither open can block.
    const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const writer = openSync(path, constants.O_WRONLY);
    const output = new Socket({ fd: reader, readable: true, writable: false });
    return { output, writer, release: () => closeSync(writer) };
  } finally {
    await rm(path, { force: true });
  }
}

/** Many at once: to start a program costs more than all else that a command needs from here. */
function makeFifos(folder: string): Promise<readonly string[]> {
  const paths = Array.from({ length: BATCH }, () => join(folder, `fifo-${randomBytes(8).toString('hex')}`));
  return new Promise((resolve, reject) => {
    execFile('mkfifo', ['-m', '666', ...paths], { env: { PATH: '/usr/bin:/bin' } }, (error) => {
      if (error === null) resolve(paths);
      else reject(error);
    });
  });
}
