/** The only way from the model to this machine; `open.ts` makes one. */
import type { Entry } from '../text/naming.ts';
import type { Isolation } from '../types.ts';

/** A request of the model that the sandbox refuses: a tool turns it into an error result. Never leaves the toolbox. */
export class DeniedError extends Error {
  override readonly name = 'DeniedError';
  /** Whether nothing lies at the path, rather than that it is closed. */
  readonly missing: boolean;

  constructor(message: string, missing = false) {
    super(message);
    this.missing = missing;
  }
}

/** What the agent may do to the workspace: work on a copy of it, change it, or only read it. */
export type WorkspaceAccess = 'scratch' | 'in-place' | 'read-only';

/** A command that ran. */
export interface ExecResult {
  /** The exit code, or null when a signal or the timeout ended it. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly timedOut: boolean;
  readonly durationMs: number;
  /** stdout and stderr in the order they came, decoded as UTF-8; head and tail only when it was cut. */
  readonly output: string;
  /** Bytes that the command wrote in all. */
  readonly totalBytes: number;
  /** Where the whole output lies, as a path the tools understand, when it was cut; else null. */
  readonly fullOutputPath: string | null;
  /** Bytes of the file at `fullOutputPath`: fewer than `totalBytes` when the output was larger than is kept. */
  readonly keptBytes: number;
}

/** An entry of a directory. */
export interface DirectoryEntry {
  readonly name: string;
  readonly kind: 'file' | 'directory' | 'symlink' | 'other';
}

/** What stands at a path. */
export type FileView =
  | { readonly kind: 'file'; readonly bytes: Buffer; readonly size: number; readonly truncated: boolean }
  | { readonly kind: 'directory'; readonly entries: readonly DirectoryEntry[] };

/** The two trees the agent sees, the workspace at its own path and a private `/tmp`, and a shell over them. */
export interface Sandbox {
  /** What stands around the shell; what is hoped for until `ready` has settled. */
  isolation(): Isolation;
  /** Where the agent starts; relative paths are relative to it. */
  readonly workingDirectory: string;
  /**
   * Resolves once the self-test passed; started when the sandbox was made, so that it overlaps the first model request.
   * @throws SandboxError when the sandbox is absent or broken.
   */
  ready(): Promise<void>;
  /**
   * Reads at most `maxBytes` from a regular file, or lists a directory. With the intent `edit`, what `write` would
   * refuse is refused here already.
   * @throws DeniedError with a sentence for the model: outside the two trees, protected, not there, not a regular file.
   */
  read(path: string, maxBytes: number, intent?: 'read' | 'edit'): Promise<FileView>;
  /**
   * Replaces a file atomically, or creates it with its folders; keeps the mode of a file that was there.
   * @throws DeniedError with a sentence for the model.
   */
  write(path: string, bytes: Buffer): Promise<void>;
  /**
   * Runs a command in bash (sh where there is none) without stdin; nothing outlives it.
   * Aborting the signal kills it; the promise then rejects with the signal's reason once everything is dead.
   * @throws DeniedError for a command that cannot be passed on, SandboxError when the sandbox did not start.
   */
  exec(
    command: string,
    options: { readonly timeoutMs: number; readonly maxOutputBytes: number; readonly signal: AbortSignal },
  ): Promise<ExecResult>;
  /** Kills whatever still runs and waits for it; the run's folder stays. Safe to call twice. */
  close(): Promise<void>;
}

/** A sandbox as `openSandbox` gives it. */
export interface OpenedSandbox extends Sandbox {
  /** Whether the shell tool may be offered: false where `auto` found no sandbox. */
  readonly shellOffered: boolean;
  /**
   * Resolves once a backend was seen to start, which says nothing yet of how well it holds; with `auto` and `off` at once.
   * @throws SandboxError when none can start, and `required` asks for one.
   */
  started(): Promise<void>;
  /** What is weaker than it could be, one sentence each, for people; whole once `ready` has settled. */
  weaknesses(): readonly string[];
  /**
   * What belongs to this kind of machine rather than to this run, and which files commands see otherwise than they are: one
   * sentence each, for the log; whole once `ready` has settled.
   */
  notes(): readonly string[];
}

/** What a sandbox is made from. */
export interface SandboxOptions {
  /** Absolute, a real path. */
  readonly workspace: string;
  /** Absolute, inside the workspace. */
  readonly workingDirectory: string;
  readonly mode: 'required' | 'auto' | 'off';
  readonly access: WorkspaceAccess;
  readonly shellNetwork: boolean;
  /** Folders that the shell may read beside the system and the toolchains, absolute. */
  readonly readable: readonly string[];
  /** Names of variables that the shell may see beside the allow-list. */
  readonly passEnv: readonly string[];
  /** The world's variables. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Hidden inside. */
  readonly home: string;
  /** RUNNER_TEMP; hidden inside. */
  readonly runnerTemp: string;
  /** Tells values that never enter a child's environment. */
  readonly isSecret: (value: string) => boolean;
  /** A fresh folder of this run (mode 0700), made by the caller under RUNNER_TEMP; `removeFolder` removes it after `close`. */
  readonly runFolder: string;
  /** With `auto`: ends the wait for the sandbox; `openSandbox` then rejects with its reason. */
  readonly stop?: AbortSignal;
  /** Only backends of these kinds are tried; all when left out. */
  readonly kinds?: readonly Isolation[];
  /** Where the helpers (bwrap, sudo, unshare …) are looked for, absolute; the system's own folders when left out. */
  readonly helperFolders?: readonly string[];
  /** For whom messages are worded; `action` when left out. */
  readonly entry?: Entry;
  /** The operating system, as Node names it; this machine's when left out. */
  readonly platform?: NodeJS.Platform;
}
