/** Passes commands to a backend, one after another, by files in the context folder, which no command can write. */
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, SandboxError } from '../errors.ts';
import { type Backend, type CommandOptions, holdShell } from './command.ts';
import { buildEnvironment, scriptEnvironment } from './environment.ts';
import { createOutput } from './output.ts';
import { contextFolderOf, type RunScript, type Sandbox, type SandboxOptions, shellWord } from './sandbox.ts';
import { realOrSame } from './system-root.ts';

export type Runner = Awaited<ReturnType<typeof createRunner>>;

/** Processes and bytes per file of a command: far above the needs of any test suite. */
const LIMITS = 'ulimit -u 8192; ulimit -f 16777216; ulimit -c 0';

/** @param shell the absolute path of bash, or of sh if there is no bash. @param closing ends what runs */
export async function createRunner(
  options: SandboxOptions,
  backend: Backend,
  shell: string,
  closing: AbortSignal,
): Promise<{ exec: Sandbox['exec']; runScript: RunScript; close: () => Promise<void> }> {
  const { runFolder: run } = options;
  const isOff = backend.name === 'none';
  const contextFolder = contextFolderOf(!isOff, run);
  const tmp = isOff ? join(run, 'tmp') : '/tmp';
  const home = isOff ? join(run, 'home') : realOrSame(options.home);
  const put = (name: string, bytes: Buffer | string) => replaceContext(run, name, bytes);
  const inContext = (name: string) => join(contextFolder, name);
  const bash = shell.endsWith('/bash') ? `${shell} --noprofile --norc -o pipefail` : shell;
  const modelStart = startFile(options, buildEnvironment({ ...options, home, tmp }));
  await put('.start', `${modelStart}\nexec ${bash} ${shellWord(inContext('.command'))}\n`);
  const scriptStart = startFile(options, { ...scriptEnvironment(tmp), INPUT: inContext('.input') });

  const starter = holdShell(backend, shell, 'outside');
  const scriptShell = holdShell(backend, shell, 'inside');
  let last: Promise<unknown> = Promise.resolve();
  /** Two commands must not share the files by which they are passed. */
  const inTurn = <T>(task: () => Promise<T>): Promise<T> => {
    const next = last.then(task);
    last = next.catch(() => undefined);
    return next;
  };
  const start = async (held: typeof starter, line: string, { signal, ...limits }: CommandOptions) => {
    const result = await held.run(line, { ...limits, signal: AbortSignal.any([signal, closing]) });
    const failure = result.exitCode === 0 ? null : await backend.findFailure();
    if (failure !== null) throw new SandboxError(`No command can be started any more: ${failure}.`);
    return result;
  };
  let outputs = 0;

  return {
    async close() {
      await last;
      await scriptShell.end();
      await starter.end();
    },
    runScript: (script, { input, maxBytes, timeoutMs, signal, startsNothing = false }) =>
      inTurn(async () => {
        if (input !== undefined) await put('.input', input);
        const chunks: Buffer[] = [];
        let size = 0;
        const onOutput = (chunk: Buffer) => {
          if (size < maxBytes) chunks.push(chunk.subarray(0, maxBytes - size));
          size += chunk.length;
        };
        const line = `(\n${scriptStart}\nexec 2>/dev/null\n${script}\n)`;
        const { exitCode } = await start(scriptShell, line, { timeoutMs, signal, onOutput });
        if (!startsNothing) await scriptShell.end();
        return { exitCode, stdout: Buffer.concat(chunks), isCut: size > maxBytes };
      }),
    exec: (command, { timeoutMs, maxOutputBytes, signal }) =>
      inTurn(async () => {
        await put('.command', command);
        await scriptShell.end();
        outputs += 1;
        const name = `output-${outputs}.txt`;
        const output = createOutput(maxOutputBytes, join(options.runFolder, 'context', name), 64 * 1024 ** 2);
        const line = `inside /usr/bin/env -i ${shellWord(shell)} ${shellWord(inContext('.start'))}`;
        const ran = start(starter, line, { timeoutMs, signal, onOutput: output.add });
        await ran.catch(() => undefined);
        const { isCut, ...kept } = await output.finish();
        const { exitCode, durationMs } = await ran;
        const fullOutputPath = isCut ? inContext(name) : null;
        return { exitCode, durationMs, ...kept, fullOutputPath };
      }),
  };
}

/** Replaces a file of the context folder at once, so that a command reads the old one or the new one. */
export async function replaceContext(run: string, name: string, bytes: Buffer | string): Promise<void> {
  const file = join(run, 'context', name);
  try {
    await writeFile(`${file}.new`, bytes, { mode: 0o644 });
    await rename(`${file}.new`, file);
  } catch (cause) {
    // The disk is full, or the folder went with the sandbox.
    throw new SandboxError(`No command can be started any more: ${messageOf(cause)}.`, { cause });
  }
}

/** Returns the lines that prepare a command. */
function startFile(
  { workingDirectory }: SandboxOptions,
  variables: Readonly<Record<string, string>>,
): string {
  const folder = shellWord(workingDirectory);
  return [
    `cd -- ${folder} 2>/dev/null || { printf 'The working directory is gone: %s\\n' ${folder}; exit 126; }`,
    `{ ${LIMITS}; } 2>/dev/null`,
    ...Object.entries(variables).map(([key, value]) => `export ${key}=${shellWord(value)}`),
  ].join('\n');
}
