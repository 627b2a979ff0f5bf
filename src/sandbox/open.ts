/** Gives the tools of a run their access to the sandbox. */
import { rename, writeFile } from 'node:fs/promises';
import { isAbsolute, join, resolve } from 'node:path';
import { messageOf, SandboxError } from '../errors.ts';
import { TOOL, WAIT } from '../text/limits.ts';
import type { Isolation } from '../types.ts';
import { createOutput, runInside } from './command.ts';
import { readConfined } from './confined-read.ts';
import type { Detected } from './detect.ts';
import { parseRead, readScript, requireExit, writeScript } from './file-scripts.ts';
import { describeWeaknesses, isContainer } from './messages.ts';
import { CONTEXT } from './mounts.ts';
import { DeniedError, type OpenedSandbox, type SandboxOptions } from './sandbox.ts';
import { FILE, type StartedSandbox, startCommand, startSandbox } from './start.ts';
import { realOrSame } from './system-root.ts';

/**
 * Opens the sandbox and returns at once; `ready` reports how that went.
 * @param detected how commands can be isolated here.
 * @throws SandboxError if they cannot be isolated and must be
 */
export function openSandbox(options: SandboxOptions, detected: Detected): OpenedSandbox {
  const { mode } = options;
  if (detected.kind === 'none' && mode === 'required') throw detected.error;
  const missing = detected.kind === 'none' && mode === 'auto' ? detected.error.message : null;
  const isIsolated = detected.kind !== 'none';
  const run = realOrSame(options.runFolder);
  const contextFolder = isIsolated ? CONTEXT : join(run, 'context');
  const closing = new AbortController();
  const opened = startSandbox({ ...options, runFolder: run }, detected, contextFolder, closing.signal);
  let layer: StartedSandbox['layer'] = null;
  let weaknesses: readonly string[] = [];
  let isolation: Isolation = detected.kind;
  const ready = opened.then(async (one) => {
    layer = one.layer;
    const inContainer = await isContainer();
    weaknesses = describeWeaknesses({
      ...{ options, missing, inContainer },
      hasCredentials: one.hasCredentials,
    });
  });
  ready.catch(() => {
    isolation = 'none';
  });

  /** Commands run one after another: two must not share the files by which they are passed. */
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(task: () => Promise<T>): Promise<T> => {
    const next = last.then(task);
    last = next.catch(() => undefined);
    return next;
  };
  const start = async (file: string, runOptions: Parameters<typeof runInside>[3]) => {
    const { backend, shell } = await opened;
    if (backend === null) throw new DeniedError('Without a sandbox, no commands can run.');
    const signal = AbortSignal.any([runOptions.signal, closing.signal]);
    // Our own scripts are POSIX; bash takes longer to start.
    const first = file === FILE.forScript ? '/bin/sh' : shell;
    const program = startCommand(first, join(contextFolder, file));
    const result = await runInside(backend, shell, program, { ...runOptions, signal });
    const failure = result.exitCode === 0 ? null : await backend.findFailure();
    if (failure !== null) throw new SandboxError(`No command can be started any more: ${failure}.`);
    return result;
  };
  const put = (name: string, bytes: Buffer | string) => replaceFile(join(run, 'context', name), bytes);
  let outputs = 0;

  const sandbox: OpenedSandbox = {
    workingDirectory: options.workingDirectory,
    contextFolder,
    shellOffered: missing === null,
    isolation: () => isolation,
    layer: () => layer,
    weaknesses: () => weaknesses,
    ready: () => ready,
    async addContext(name, bytes) {
      await opened;
      await put(name, bytes);
    },
    runScript: (script, { input, maxBytes, timeoutMs, signal }) =>
      inTurn(async () => {
        await opened;
        if (input !== undefined) await put(FILE.input, input);
        await put(FILE.script, script);
        const chunks: Buffer[] = [];
        let size = 0;
        const onOutput = (chunk: Buffer) => {
          if (size < maxBytes) chunks.push(chunk.subarray(0, maxBytes - size));
          size += chunk.length;
        };
        const { exitCode } = await start(FILE.forScript, { timeoutMs, signal, onOutput });
        return { exitCode, stdout: Buffer.concat(chunks), isCut: size > maxBytes };
      }),
    exec(command, { timeoutMs, maxOutputBytes, signal }) {
      return inTurn(async () => {
        refuseCommand(command);
        await opened;
        await put(FILE.command, command);
        outputs += 1;
        const name = `output-${outputs}.txt`;
        const output = createOutput(maxOutputBytes, join(run, 'context', name), TOOL.spill);
        const { exitCode, durationMs } = await start(FILE.forCommand, {
          timeoutMs,
          signal,
          onOutput: output.add,
        }).catch(async (error: unknown) => {
          await output.finish();
          throw error;
        });
        const { text, totalBytes, isCut, keptBytes } = await output.finish();
        return {
          ...{ exitCode, timedOut: exitCode === null, durationMs, output: text, totalBytes, keptBytes },
          fullOutputPath: isCut ? join(contextFolder, name) : null,
        };
      });
    },
    async read(path, maxBytes) {
      refusePath(path);
      const { backend } = await opened;
      if (backend === null) {
        const absolute = isAbsolute(path) ? path : resolve(options.workingDirectory, path);
        return readConfined(absolute, [options.workspace, contextFolder], maxBytes);
      }
      // The first line of its output says what it is.
      const limits = { maxBytes: maxBytes + 32, timeoutMs: WAIT.fileTool, signal: closing.signal };
      return parseRead(await sandbox.runScript(readScript(path, maxBytes), limits), path, maxBytes);
    },
    async write(path, bytes) {
      refusePath(path);
      const limits = { input: bytes, maxBytes: 0, timeoutMs: WAIT.fileTool, signal: closing.signal };
      requireExit((await sandbox.runScript(writeScript(path), limits)).exitCode, path);
    },
    async close() {
      closing.abort(new Error('The sandbox was closed.'));
      await last;
      await opened.then(({ backend }) => backend?.close()).catch(() => undefined);
    },
  };
  return sandbox;
}

/** Replaces a file of ours at once, so that a command reads the old one or the new one. */
async function replaceFile(file: string, bytes: Buffer | string): Promise<void> {
  try {
    await writeFile(`${file}.new`, bytes, { mode: 0o644 });
    await rename(`${file}.new`, file);
  } catch (cause) {
    // The disk is full, or the folder went with the sandbox.
    throw new SandboxError(`No command can be started any more: ${messageOf(cause)}.`, { cause });
  }
}

function refuseCommand(command: string): void {
  if (command.includes('\0')) throw new DeniedError('A command must not contain a NUL character.');
}

function refusePath(path: string): void {
  if (path === '') throw new DeniedError('The path is empty. Name a file or a folder.');
  if (path.includes('\0')) throw new DeniedError('A path must not contain a NUL character.');
}
