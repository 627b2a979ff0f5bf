/** The only access of the model to this machine; `open.ts` creates the sandbox. */
import { join } from 'node:path';
import type { Isolation } from '../types.ts';

/** A request of the model that the sandbox denies. Tools turn it into an error result; it never leaves the toolbox. */
export class DeniedError extends Error {
  override readonly name = 'DeniedError';
}

export class MissingError extends DeniedError {}

export interface ExecResult {
  /** The exit code; null if the timeout ended the command. A command that a signal ended has 128 and its number. */
  readonly exitCode: number | null;
  readonly durationMs: number;
  /** stdout and stderr in the order in which they were written, as UTF-8; head and tail only if the output was cut. */
  readonly output: string;
  readonly totalBytes: number;
  /** The path of the full output if it was cut, as tools see it; otherwise null. */
  readonly fullOutputPath: string | null;
  /** Size in bytes of that file; less than `totalBytes` if the output exceeded the limit of the file. */
  readonly keptBytes: number;
}

export interface DirectoryEntry {
  readonly name: string;
  /** `/` for a folder, `@` for a link, `?` for a pipe or the like; empty for a file. */
  readonly mark: string;
}

export type FileView =
  | { readonly kind: 'file'; readonly bytes: Buffer; readonly truncated: boolean }
  | { readonly kind: 'directory'; readonly entries: readonly DirectoryEntry[] };

export interface ScriptOptions {
  /** Given to the script as a file whose path is in $INPUT. */
  readonly input?: Buffer;
  /** The most bytes of stdout that are kept; the rest is dropped. */
  readonly maxBytes: number;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Whether no program that it runs can start another: git runs what the config of a submodule names. */
  readonly startsNothing?: boolean;
}

export interface ScriptResult {
  /** null if the time limit ended it. */
  readonly exitCode: number | null;
  readonly stdout: Buffer;
  readonly isCut: boolean;
}

/**
 * Runs a POSIX shell script of ours where the model's commands run, with the programs of the system only, without the
 * user's variables, stdin and stderr. @throws SandboxError if the sandbox is missing or broken; the signal's reason
 */
export type RunScript = (script: string, options: ScriptOptions) => Promise<ScriptResult>;

/** The workspace at its own path, a private home and `/tmp`, and a shell over them. */
export interface Sandbox {
  /** The initial working directory of the agent; relative paths are resolved against it. */
  readonly workingDirectory: string;
  /** Resolves once the self-test has passed. @throws SandboxError if the sandbox is missing or broken. */
  ready(): Promise<void>;
  /**
   * Reads at most `maxBytes` bytes of a regular file, or lists a directory.
   * @throws DeniedError with a sentence for the model if the path is missing, not a regular file, or closed.
   */
  read(path: string, maxBytes: number): Promise<FileView>;
  /** Replaces a file, keeping its mode, or creates it along with missing folders. @throws DeniedError for the model */
  write(path: string, bytes: Buffer): Promise<void>;
  /**
   * Runs a command in bash (sh if there is no bash) without stdin. No process outlives it. Aborting the signal kills
   * the command; the promise then rejects with the signal's reason once all its processes are dead.
   * @throws DeniedError if the command cannot be passed to the shell, SandboxError if the sandbox is missing or broken.
   */
  exec(
    command: string,
    options: { readonly timeoutMs: number; readonly maxOutputBytes: number; readonly signal: AbortSignal },
  ): Promise<ExecResult>;
}

export interface OpenedSandbox extends Sandbox {
  /** The isolation of the commands; `none` without a sandbox, and if it did not start. */
  isolation(): Isolation;
  readonly runScript: RunScript;
  /** The folder of the context files, which tools can only read, as they see it. */
  readonly contextFolder: string;
  addContext(name: string, bytes: Buffer): Promise<void>;
  /** Whether commands can run; false if mode `auto` found no sandbox. Files can then only be read. */
  readonly shellOffered: boolean;
  /** How the checkout is kept as it was; null if the agent works in the checkout itself, and until it is known. */
  layer(): 'overlay' | 'copy' | null;
  /** What is weaker than it could be, one sentence each; complete once `ready` has settled. */
  weaknesses(): readonly string[];
  /** Kills all running commands and ends the sandbox. May be called more than once. */
  close(): Promise<void>;
}

export interface SandboxOptions {
  /** An absolute, real path. */
  readonly workspace: string;
  /** An absolute path inside the workspace. */
  readonly workingDirectory: string;
  readonly mode: 'required' | 'auto' | 'off';
  readonly shellNetwork: boolean;
  /** Absolute paths of folders that the shell may read in addition to the system and the toolchains. */
  readonly readable: readonly string[];
  /** Names of variables that the shell may see in addition to the allow-list. */
  readonly passEnv: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The home folder; an empty one is at its path in the sandbox. */
  readonly home: string;
  /** RUNNER_TEMP; not shown in the sandbox. */
  readonly runnerTemp: string;
  /** Returns whether a value is a secret, which never enters the environment of a child process. */
  readonly isSecret: (value: string) => boolean;
  /** A new folder of this run (mode 0700), created by the caller under RUNNER_TEMP and removed by it. */
  readonly runFolder: string;
}

/** Where isolated commands see the context folder. */
export const CONTEXT_FOLDER = '/tmp/context';

/** Returns where tools see the context folder of a run. */
export function contextFolderOf(isIsolated: boolean, runFolder: string): string {
  return isIsolated ? CONTEXT_FOLDER : join(runFolder, 'context');
}

/** Quotes a string as one word of a shell script. */
export function shellWord(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
