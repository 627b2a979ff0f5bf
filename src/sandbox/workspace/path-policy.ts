/** Path rules: resolve a path from the model to a host path, if access to it is allowed. */

import type { Stats } from 'node:fs';
import { lstat, readdir, readlink, realpath } from 'node:fs/promises';
import { dirname, join, posix, resolve } from 'node:path';
import { errorCode } from '../../errors.ts';
import { SEARCH } from '../../text/limits.ts';
import { quote } from '../../text/messages.ts';
import { DeniedError } from '../sandbox.ts';
import { GIT_CLOSED, refuseComponents, refuseText } from './protected-names.ts';

/** A tree that the model sees. All paths are absolute. */
export interface Tree {
  /** Its path as seen by the model; real. */
  readonly view: string;
  /** Its path for this process; leads through `/proc` if the tree is mounted in another mount namespace. */
  readonly host: string;
  /** The name by which the kernel lists what was opened there (`/proc/self/fd`); `host` if that is real. */
  readonly real: string;
  readonly kind: 'workspace' | 'tmp';
}

/** A path after all symlinks were followed within the two trees. */
export interface ResolvedPath {
  /** Free of symlinks up to the last component that exists. */
  readonly host: string;
  /** The same path as seen by the model. */
  readonly view: string;
  readonly tree: Tree;
  /** null if nothing exists at the path. */
  readonly stats: Stats | null;
}

interface PathPolicyOptions {
  readonly trees: readonly Tree[];
  /** Absolute, as seen by the model. */
  readonly workingDirectory: string;
  /**
   * Host paths of folders that stay closed although they are inside a tree. The model is also denied access by these
   * names: if the home is below the real /tmp, the path must not resolve to the private /tmp instead.
   */
  readonly closed: readonly string[];
  /** Real git folders, denied under any name. */
  readonly gitFolders: readonly string[];
  /** Real paths that may not be changed under any name. */
  readonly frozen: readonly string[];
  readonly readOnlyWorkspace: boolean;
}

export interface PathPolicy {
  /** @throws DeniedError with a sentence for the model. */
  resolve(path: string, intent: 'read' | 'edit'): Promise<ResolvedPath>;
}

/** Whether a path is a folder or inside it; both must be absolute and normalized. */
export function isInside(path: string, folder: string): boolean {
  return path === folder || folder === '/' || path.startsWith(`${folder}/`);
}

export function createPathPolicy(options: PathPolicyOptions): PathPolicy {
  return {
    async resolve(path, intent) {
      const refusal = refuseText(path);
      if (refusal !== null) deny(path, refusal);
      let view = posix.resolve(options.workingDirectory, path);
      for (let links = 0; links <= SEARCH.symlinks; links += 1) {
        const found = await walk(view, path, intent, options);
        if (typeof found !== 'string') return found;
        view = found;
      }
      return deny(path, 'it goes through too many symbolic links');
    },
  };
}

/**
 * Walks down a path as seen by the model, and returns the resolved path or, at the first symlink, the path that it
 * leads to.
 */
async function walk(
  view: string,
  asked: string,
  intent: 'read' | 'edit',
  options: PathPolicyOptions,
): Promise<ResolvedPath | string> {
  const tree = options.trees.find((candidate) => isInside(view, candidate.view));
  if (tree === undefined) return deny(asked, outside(view, options));
  if (isClosed(view, tree.view, options)) deny(asked, CLOSED);
  const components = view.slice(tree.view.length).split('/').filter(Boolean);
  const inWorkspace = tree.kind === 'workspace';
  const refusal = refuseComponents(components, intent, inWorkspace);
  if (refusal !== null) deny(asked, refusal);
  if (intent === 'edit' && inWorkspace && options.readOnlyWorkspace) {
    deny(asked, 'the workspace is read-only in this run; write under /tmp instead');
  }
  let host = tree.host;
  let stats: Stats | null = await stat(host, asked);
  for (const [index, component] of components.entries()) {
    host = posix.join(host, component);
    stats = await stat(host, asked);
    if (stats === null) {
      host = posix.join(host, ...components.slice(index + 1));
      break;
    }
    if (stats.isSymbolicLink()) {
      const folder = posix.join(tree.view, ...components.slice(0, index));
      return posix.resolve(folder, await readlink(host), ...components.slice(index + 1));
    }
  }
  if (isClosed(host, tree.host, options)) deny(asked, CLOSED);
  if (options.gitFolders.some((folder) => isInside(host, folder))) deny(asked, GIT_CLOSED);
  if (intent === 'edit' && options.frozen.some((path) => isInside(host, path))) {
    deny(asked, 'it is protected and may be read but not changed');
  }
  return { host, view, tree, stats };
}

const CLOSED = 'it belongs to the runner and is closed to every tool';

function isClosed(path: string, root: string, { closed }: PathPolicyOptions): boolean {
  return closed.some((folder) => isInside(path, folder) && !isInside(root, folder));
}

function outside(view: string, options: PathPolicyOptions): string {
  const roots = [...new Set(options.trees.map((tree) => tree.view))].join(' and ');
  return `${quote(view)} is outside of what this tool sees: ${roots}`;
}

async function stat(host: string, asked: string): Promise<Stats | null> {
  try {
    return await lstat(host);
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT') return null;
    if (code === 'ENOTDIR') return deny(asked, 'a part of the path is a file, not a folder');
    if (code === null) throw error;
    return deny(asked, `the system refused it (${code})`);
  }
}

export function deny(path: string, why: string, missing = false): never {
  throw new DeniedError(`${quote(path)} was ${missing ? 'not found' : 'refused'}: ${why}.`, missing);
}

export async function realOrSame(path: string): Promise<string> {
  return realpath(path).catch(() => path);
}

export async function realOrNull(path: string): Promise<string | null> {
  return realpath(path).catch(() => null);
}

/**
 * Resolves all symlinks in an absolute path; null if it does not exist or passes through the folder, because anyone who
 * can write to the folder controls where it leads.
 */
export async function realWithout(path: string, folder: string): Promise<string | null> {
  let current = resolve(path);
  for (let links = 0; links <= SEARCH.symlinks; links += 1) {
    if (isInside(current, folder)) return null;
    const next = await followFirstLink(current);
    if (next === null || next === current) return next;
    current = next;
  }
  return null;
}

/** Returns the path with its first symlink resolved, unchanged if it has none; null if it does not exist. */
async function followFirstLink(path: string): Promise<string | null> {
  const names = path.split('/').filter(Boolean);
  for (const [index, name] of names.entries()) {
    const at = join('/', ...names.slice(0, index), name);
    try {
      if ((await lstat(at)).isSymbolicLink())
        return resolve(dirname(at), await readlink(at), ...names.slice(index + 1));
    } catch {
      return null;
    }
  }
  return path;
}

/** Whether anything exists at a path, including a dangling symlink. */
export async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

/** Returns the sorted names in a folder; empty if it cannot be read. */
export async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return (await readdir(folder)).sort();
  } catch {
    return [];
  }
}
