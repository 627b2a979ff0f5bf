/** The only access of the model to this machine; `open.ts` creates the sandbox. */
import type { Isolation } from '../types.ts';
import type { OverlayTrees } from './workspace/overlay-changes.ts';

/** A request of the model that the sandbox denies. Tools turn it into an error result; it never leaves the toolbox. */
export class DeniedError extends Error {
  override readonly name = 'DeniedError';
  /** True if nothing exists at the path; false if access to the path is denied. */
  readonly missing: boolean;

  constructor(message: string, missing = false) {
    super(message);
    this.missing = missing;
  }
}

export type WorkspaceAccess = 'scratch' | 'in-place' | 'read-only';

export interface ExecResult {
  /** The exit code, or null if a signal or the timeout ended the command. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly timedOut: boolean;
  readonly durationMs: number;
  /**
   * stdout and stderr interleaved in the order of arrival, decoded as UTF-8; only head and tail if the output was cut.
   */
  readonly output: string;
  readonly totalBytes: number;
  /** The path of the full output if it was cut, in a form that the tools accept; otherwise null. */
  readonly fullOutputPath: string | null;
  /**
   * Size in bytes of the file at `fullOutputPath`; less than `totalBytes` if the output exceeded the limit of that
   * file.
   */
  readonly keptBytes: number;
}

export interface DirectoryEntry {
  readonly name: string;
  readonly kind: 'file' | 'directory' | 'symlink' | 'other';
}

export type FileView =
  | { readonly kind: 'file'; readonly bytes: Buffer; readonly size: number; readonly truncated: boolean }
  | { readonly kind: 'directory'; readonly entries: readonly DirectoryEntry[] };

/** The two trees that the agent sees (the workspace at its own path and a private `/tmp`), and a shell over them. */
export interface Sandbox {
  /** The isolation of the shell. Until `ready` has settled, this is the expected isolation. */
  isolation(): Isolation;
  /** The initial working directory of the agent; relative paths are resolved against it. */
  readonly workingDirectory: string;
  /**
   * Resolves once the self-test has passed. The self-test starts when the sandbox is created, so that it overlaps the
   * first model request.
   * @throws SandboxError if the sandbox is missing or broken.
   */
  ready(): Promise<void>;
  /**
   * Reads at most `maxBytes` bytes of a regular file, or lists a directory. With the intent `edit`, it already denies
   * what `write` would deny.
   * @throws DeniedError with a sentence for the model if the path is outside the two trees, protected, missing or not a
   * regular file.
   */
  read(path: string, maxBytes: number, intent?: 'read' | 'edit'): Promise<FileView>;
  /**
   * Replaces a file atomically, or creates it along with missing folders. Preserves the mode of an existing file.
   * @throws DeniedError with a sentence for the model.
   */
  write(path: string, bytes: Buffer): Promise<void>;
  /**
   * Runs a command in bash (sh if there is no bash) without stdin. No process outlives it. Aborting the signal kills
   * the command; the promise then rejects with the signal's reason once all its processes are dead.
   * @throws DeniedError if the command cannot be passed to the shell, SandboxError if the sandbox did not start.
   */
  exec(
    command: string,
    options: { readonly timeoutMs: number; readonly maxOutputBytes: number; readonly signal: AbortSignal },
  ): Promise<ExecResult>;
  /** Kills all running commands and waits for them; the folder of the run remains. May be called more than once. */
  close(): Promise<void>;
}

export interface OpenedSandbox extends Sandbox {
  /** Resolves once no command runs. @throws SandboxError if the files of the workspace are gone. */
  idle(): Promise<void>;
  /** The private /tmp, as a path for this process. */
  readonly tmp: string;
  /** How the checkout is kept as it was, with the access `scratch`; null with any other, and until it is known. */
  scratch(): 'overlay' | 'copy' | null;
  /** The trees of the overlay in which the agent works; null if it works in none. */
  overlay(): OverlayTrees | null;
  /** Whether the shell tool may be offered; false if mode `auto` found no sandbox. */
  readonly shellOffered: boolean;
  /**
   * Resolves once a backend is known to start, which says nothing yet about how well it isolates, and the files of the
   * workspace are mounted or known to fit in a copy.
   * @throws SandboxError if no backend can start and the mode is `required`; InputError if the copy does not fit.
   */
  started(): Promise<void>;
  /** Weaknesses of the sandbox, one human-readable sentence each; complete once `ready` has settled. */
  weaknesses(): readonly string[];
  /**
   * Notes for the log about this kind of machine rather than this run, and about files that commands see with other
   * contents, one sentence each; complete once `ready` has settled.
   */
  notes(): readonly string[];
}

export interface SandboxOptions {
  /** An absolute, real path. */
  readonly workspace: string;
  /** An absolute path inside the workspace. */
  readonly workingDirectory: string;
  readonly mode: 'required' | 'auto' | 'off';
  readonly access: WorkspaceAccess;
  readonly shellNetwork: boolean;
  /** Absolute paths of folders that the shell may read in addition to the system and the toolchains. */
  readonly readable: readonly string[];
  /** Names of variables that the shell may see in addition to the allow-list. */
  readonly passEnv: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The home folder; hidden in the sandbox. */
  readonly home: string;
  /** RUNNER_TEMP; hidden in the sandbox. */
  readonly runnerTemp: string;
  /** Returns whether a value is a secret, which never enters the environment of a child process. */
  readonly isSecret: (value: string) => boolean;
  /**
   * A new folder of this run (mode 0700), created by the caller under RUNNER_TEMP; `removeFolder` removes it after
   * `close`.
   */
  readonly runFolder: string;
  /** In mode `auto`, aborts the wait for the sandbox; `openSandbox` then rejects with the signal's reason. */
  readonly stop?: AbortSignal;
  /** The kinds of backends to try. Default: all. */
  readonly kinds?: readonly Isolation[];
  /**
   * Absolute paths of the folders in which helpers (bwrap, sudo, unshare …) are looked up. Default: the system's own
   * folders.
   */
  readonly helperFolders?: readonly string[];
  /** The operating system, as in `process.platform`. Default: that of this machine. */
  readonly platform?: NodeJS.Platform;
}
