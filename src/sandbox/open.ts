/** Gives the tools of a run their access to the sandbox. */
import { isAbsolute, resolve } from 'node:path';
import { readConfined } from './confined-read.ts';
import type { Detected } from './detect.ts';
import { parseRead, readScript, requireExit, writeScript } from './file-scripts.ts';
import { replaceContext } from './runner.ts';
import { contextFolderOf, DeniedError, type OpenedSandbox, type SandboxOptions } from './sandbox.ts';
import { type StartedSandbox, startSandbox } from './start.ts';
import { realOrSame } from './system-root.ts';

/**
 * Opens the sandbox and returns at once; `ready` reports how that went.
 * @param detected how commands can be isolated here.
 * @throws SandboxError if they cannot be isolated and must be
 */
export function openSandbox(options: SandboxOptions, detected: Detected): OpenedSandbox {
  const { mode } = options;
  if (detected.kind === 'none' && mode === 'required') throw detected.error;
  const run = realOrSame(options.runFolder);
  const contextFolder = contextFolderOf(detected.kind !== 'none', run);
  const closing = new AbortController();
  const opened = startSandbox({ ...options, runFolder: run }, detected, closing.signal);
  let started: StartedSandbox | null = null;
  let hasFailed = false;
  const ready = opened.then((one) => {
    started = one;
  });
  ready.catch(() => {
    hasFailed = true;
  });
  const getRunner = async () => {
    const { runner } = await opened;
    if (runner === null) throw new DeniedError('Without a sandbox, no commands can run.');
    return runner;
  };
  const limits = { timeoutMs: 30_000, signal: closing.signal };

  return {
    workingDirectory: options.workingDirectory,
    contextFolder,
    shellOffered: detected.kind !== 'none' || mode === 'off',
    isolation: () => (hasFailed ? 'none' : detected.kind),
    layer: () => started?.backend.layer ?? null,
    weaknesses: () => started?.weaknesses ?? [],
    ready: () => ready,
    async addContext(name, bytes) {
      await opened;
      await replaceContext(run, name, bytes);
    },
    runScript: async (script, scriptOptions) => (await getRunner()).runScript(script, scriptOptions),
    async exec(command, execOptions) {
      if (command.includes('\0')) throw new DeniedError('A command must not contain a NUL character.');
      return (await getRunner()).exec(command, execOptions);
    },
    async read(path, maxBytes) {
      refusePath(path);
      const { runner } = await opened;
      if (runner === null) {
        const absolute = isAbsolute(path) ? path : resolve(options.workingDirectory, path);
        return readConfined(absolute, [options.workspace, contextFolder], maxBytes);
      }
      // The first line of its output says what it is.
      const ran = await runner.runScript(readScript(path, maxBytes), { ...limits, maxBytes: maxBytes + 32 });
      return parseRead(ran, path, maxBytes);
    },
    async write(path, bytes) {
      refusePath(path);
      const { runScript } = await getRunner();
      const { exitCode } = await runScript(writeScript(path), { ...limits, input: bytes, maxBytes: 0 });
      requireExit(exitCode, path);
    },
    async close() {
      closing.abort(new Error('The sandbox was closed.'));
      const one = await opened.catch(() => null);
      await one?.runner?.idle();
      await one?.backend.close();
    },
  };
}

function refusePath(path: string): void {
  if (path === '') throw new DeniedError('The path is empty. Name a file or a folder.');
  if (path.includes('\0')) throw new DeniedError('A path must not contain a NUL character.');
}
