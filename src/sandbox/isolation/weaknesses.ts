/** Describes the weaknesses of a sandbox for the log, the summary and the comment. */
import { lstat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { SandboxError } from '../../errors.ts';
import { readBoundedText } from '../../files/read-bounded.ts';
import { DISPLAY, LISTED, READ, SEARCH } from '../../text/limits.ts';
import { quote } from '../../text/messages.ts';
import { openProxies } from '../exec/environment.ts';
import type { SandboxOptions } from '../sandbox.ts';
import { hasCredentials } from '../workspace/git-config.ts';
import { isInside } from '../workspace/path-policy.ts';
import type { Repository } from '../workspace/repositories.ts';
import type { Layer } from '../workspace/scratch.ts';
import type { IsolationBackend } from './backend.ts';
import type { StartedBackend } from './start.ts';

export interface Credentials {
  /** Whether a config contains any; commands see it without them. */
  readonly held: boolean;
  /** Configs that commands see unchanged and that may contain some. */
  readonly readable: readonly string[];
}

/** Describes weaknesses caused by inputs; `broken` is the reason why `auto` found no sandbox. */
export function describeOptions(
  options: SandboxOptions,
  isIsolated: boolean,
  broken: SandboxError | null,
): readonly string[] {
  const list: string[] = [];
  if (options.mode === 'off') {
    list.push(
      "sandbox: off. The agent's commands run as the step itself: they can read its keys and change the checkout. For trusted repositories only.",
    );
  } else if (options.mode === 'auto' && !isIsolated) {
    list.push(`sandbox: auto found no sandbox, so the agent has no shell. ${broken?.message ?? ''}`.trim());
  }
  if (options.shellNetwork) {
    list.push('shell-network: on. What the agent reads it can send anywhere.');
    const open = openProxies(options.environment);
    if (open.length > 0)
      list.push(
        `shell-network: on. The agent's commands can read the user name and password of the proxy in ${open.join(', ')}: without them it lets nothing through.`,
      );
  }
  const passed = options.passEnv.filter((name) => {
    const value = options.environment[name];
    return value !== undefined && !options.isSecret(value);
  });
  if (passed.length > 0) list.push(`pass-env: the agent's commands can read ${passed.join(', ')}.`);
  return list;
}

/** Describes the weaknesses of a step that runs as root; only a note where that is usual, as in a container. */
export function describeRoot(
  isIsolated: boolean,
  inContainer: boolean,
  isRoot = process.getuid?.() === 0,
): readonly [weaknesses: readonly string[], notes: readonly string[]] {
  if (!isRoot) return [[], []];
  // Container jobs run as root by default, so readers would soon ignore a warning above each of their verdicts.
  if (isIsolated && inContainer)
    return [
      [],
      ['The step runs as root (uid 0) in its container: what escapes the sandbox has the container.'],
    ];
  return [
    [
      'The step runs as root (uid 0): what escapes the sandbox has the whole machine. Run the job as an ordinary user.',
    ],
    [],
  ];
}

/**
 * Describes what a sandbox leaves open; `complete` is whether the search for private files of this machine was
 * completed.
 */
export function describeBackend(
  { name, filtersCalls }: Pick<IsolationBackend, 'name' | 'filtersCalls'>,
  complete: boolean,
): readonly string[] {
  const list: string[] = [];
  if (name !== 'none' && filtersCalls !== true)
    list.push(
      "sandbox: the kernel's keyrings, new user namespaces and AF_VSOCK sockets are open to the agent's commands, because no filter of system calls (seccomp) could be set. Fix: use a runner with x86-64 or arm64 and install bubblewrap, `sudo apt-get update && sudo apt-get install -y bubblewrap`, as a step before this one.",
    );
  if (!complete)
    list.push(
      "sandbox: the search for files outside the home folders that only this step's user may read did not end, so the agent may read some of them. Fix: install findutils, and run the step as a user that owns no such files.",
    );
  const groups = name === 'bwrap' && process.getuid?.() !== 0 ? groupsKept() : [];
  if (groups.length > 0)
    list.push(
      `sandbox: the agent's commands keep the groups ${groups.join(', ')}, because bubblewrap cannot drop them without root. /var/log, sockets and devices are closed to them; other files of these groups are looked for in /etc, /opt, /var and /usr/local only, ${SEARCH.privateDepth} folders deep. Fix: run the runner as a user without these groups.`,
    );
  return list;
}

/** Describes what is unprotected in the workspace, and what of it could not be copied (null if all was). */
export function describeWorkspace(credentials: Credentials, missing: string | null): readonly string[] {
  const list: string[] = [];
  if (missing !== null)
    list.push(
      `The scratch copy is not whole, because not every file could be read (${missing.slice(0, DISPLAY.path)}).`,
    );
  for (const config of credentials.readable)
    list.push(
      `${quote(config)} is a git config that the agent's commands can read as it is, with any credentials in it: it is a symbolic link, or lies in a folder that is not named .git. Move git's folder to .git, or take the credentials out.`,
    );
  if (credentials.held)
    list.push('.git/config holds credentials. Fix: `persist-credentials: false` for actions/checkout.');
  return list;
}

/** Describes how the checkout is kept as it was, as a sentence for the log. */
export function describeLayer(
  { kind, inMemory }: Pick<Layer, 'kind' | 'inMemory'>,
  mode: SandboxOptions['mode'],
  reasons: readonly string[],
): readonly string[] {
  if (kind === 'checkout') return [];
  if (kind === 'overlay')
    return [
      inMemory
        ? 'The agent works in an overlay over the checkout; what it writes is kept in memory, at most a quarter of it, because RUNNER_TEMP is on an overlay itself.'
        : 'The agent works in an overlay over the checkout.',
    ];
  const known = reasons.length === 0 ? '' : ` (${quote([...new Set(reasons)].join('; '))})`;
  const why = mode === 'off' ? 'nothing is mounted with sandbox: off' : `no overlay could be mounted${known}`;
  return [`The agent works in a copy of the checkout, because ${why}.`];
}

/** Groups that give access to devices or sudo, which have no effect in a sandbox. */
const HARMLESS_GROUPS = new Set(
  `admin audio bluetooth cdrom dialout dip floppy fuse games input kvm lpadmin netdev nogroup plugdev render sambashare
  scanner sudo tape tty users video wheel`.split(/\s+/u),
);

/** Returns the names of the supplementary groups of this process that may give it access to files. */
export function groupsKept(
  ids: readonly number[] = process.getgroups?.() ?? [],
  primary: number | undefined = process.getgid?.(),
  table: string = readBoundedText('/etc/group', 1024 ** 2) ?? '',
): readonly string[] {
  const names = new Map<number, string>();
  for (const line of table.split('\n')) {
    const [name = '', , id = ''] = line.split(':');
    if (id !== '') names.set(Number(id), name);
  }
  const kept = [...new Set(ids)].filter((id) => id !== primary).map((id) => names.get(id) ?? String(id));
  return kept.filter((name) => !HARMLESS_GROUPS.has(name)).sort();
}

/**
 * Describes the backends that failed before this one, and what commands see with other contents, as sentences for the
 * log: readers of a verdict must be able to know what commands did not see.
 */
export function describeStarted(
  { failures, hiddenInWorkspace, ownerOnly, narrowed }: Omit<StartedBackend, 'backend'>,
  workspace: string,
): readonly string[] {
  const name = (paths: readonly string[]) => {
    const names = paths
      .slice(0, LISTED.many)
      .map((path) => quote(isInside(path, workspace) ? relative(workspace, path) : path));
    return `${names.join(', ')}${paths.length > names.length ? ` and ${paths.length - names.length} more` : ''}`;
  };
  const notes = failures.map((failure) => `A sandbox was tried and not used: ${quote(failure)}`);
  if (hiddenInWorkspace.length > 0)
    notes.push(
      `Hidden from the agent, wholly, or shown without the credentials in it: ${name(hiddenInWorkspace)}.`,
    );
  if (ownerOnly.length > 0)
    notes.push(
      `Hidden from the agent, because only the user of this step may read them: ${name(ownerOnly)}. To show a folder of them, name it in sandbox-read.`,
    );
  if (narrowed.length > 0)
    notes.push(
      `Of these folders the agent sees no more than what is on PATH, because they hold too many files that only the user of this step may read, or could not be searched for them: ${name(narrowed)}. To show one, name it in sandbox-read.`,
    );
  return notes;
}

/** Searches the configs of the repositories for credentials, as far as they can be read. */
export async function findCredentials(repositories: readonly Repository[]): Promise<Credentials> {
  const holds = (path: string) => hasCredentials(readBoundedText(path, READ.gitConfig) ?? '');
  const readable: string[] = [];
  for (const { gitFolders, unconfirmed } of repositories) {
    for (const folder of gitFolders) {
      const stats = await lstat(join(folder, 'config')).catch(() => null);
      if (stats?.isSymbolicLink() === true) readable.push(join(folder, 'config'));
    }
    if (unconfirmed !== null && holds(join(unconfirmed, 'config')))
      readable.push(join(unconfirmed, 'config'));
  }
  return {
    held: [...new Set(repositories.flatMap(({ configs }) => configs))].some(holds),
    readable: [...new Set(readable)].slice(0, LISTED.some),
  };
}
