/** Path rules: what the model calls a path, and where that lies on this machine, if it may be touched at all. */

import type { Stats } from 'node:fs';
import { lstat, readdir, readlink, realpath } from 'node:fs/promises';
import { dirname, join, posix, resolve } from 'node:path';
import { errorCode } from '../../errors.ts';
import { GIT_CLOSED, refuseComponents, refuseText } from '../../files/protected-names.ts';
import { quote } from '../../text/messages.ts';
import { DeniedError } from '../sandbox.ts';

/** A tree the model sees: where it stands in the model's view, and where on this machine. Both absolute and real. */
export interface Tree {
  readonly view: string;
  readonly host: string;
  readonly kind: 'workspace' | 'tmp';
}

/** Where a path lies once every symlink on the way was followed within the two trees. */
export interface ResolvedPath {
  /** Without a symlink in it, up to the last component that exists. */
  readonly host: string;
  /** The same place in the model's view. */
  readonly view: string;
  readonly tree: Tree;
  /** null where nothing stands there. */
  readonly stats: Stats | null;
}

/** What the rules are made from. */
interface PathPolicyOptions {
  readonly trees: readonly Tree[];
  /** Absolute, in the model's view. */
  readonly workingDirectory: string;
  /**
   * Folders that stay closed although they lie in a tree, under their names on this machine. The model is refused them
   * by name too: where home lies under the real /tmp, the private /tmp must not answer in its place.
   */
  readonly closed: readonly string[];
  /** git's own real folders, closed under whatever name they are reached. */
  readonly gitFolders: readonly string[];
  /** Real paths that may not be changed, under whatever name they are reached. */
  readonly frozen: readonly string[];
  readonly readOnlyWorkspace: boolean;
}

/** Resolves the paths of the model. */
export interface PathPolicy {
  /** @throws DeniedError with a sentence for the model. */
  resolve(path: string, intent: 'read' | 'edit'): Promise<ResolvedPath>;
}

const MAX_LINKS = 40;

/** Whether a path is a folder or lies in it; both absolute and normal. */
export function isInside(path: string, folder: string): boolean {
  return path === folder || folder === '/' || path.startsWith(`${folder}/`);
}

/** Makes the path rules of one sandbox. */
export function createPathPolicy(options: PathPolicyOptions): PathPolicy {
  return {
    async resolve(path, intent) {
      const refusal = refuseText(path);
      if (refusal !== null) deny(path, refusal);
      let view = posix.resolve(options.workingDirectory, path);
      for (let links = 0; links <= MAX_LINKS; links += 1) {
        const found = await walk(view, path, intent, options);
        if (typeof found !== 'string') return found;
        view = found;
      }
      return deny(path, 'it goes through too many symbolic links');
    },
  };
}

/** One walk down a path in the model's view: the place, or, at the first symlink, the path that it leads to. */
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

/** Refuses a path. */
export function deny(path: string, why: string, missing = false): never {
  throw new DeniedError(`${quote(path)} was ${missing ? 'not found' : 'refused'}: ${why}.`, missing);
}

/** Where a path lies once every symlink on the way was followed; the path itself where it leads nowhere. */
export async function realOrSame(path: string): Promise<string> {
  return realpath(path).catch(() => path);
}

/** Where a path lies once every symlink on the way was followed; null where it leads nowhere. */
export async function realOrNull(path: string): Promise<string | null> {
  return realpath(path).catch(() => null);
}

/**
 * Where an absolute path lies once every symlink on the way was followed; null where it leads nowhere, or on the way
 * through the folder: any writer there would choose where it leads.
 */
export async function realWithout(path: string, folder: string): Promise<string | null> {
  let current = resolve(path);
  for (let links = 0; links <= MAX_LINKS; links += 1) {
    if (isInside(current, folder)) return null;
    const next = await followFirstLink(current);
    if (next === null || next === current) return next;
    current = next;
  }
  return null;
}

/** The path after its first link was followed; itself where there is none, null where it leads nowhere. */
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

/** Whether anything lies at a path, be it a link that leads nowhere. */
export async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

/** Names in a folder, sorted; empty where it cannot be read. */
export async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return (await readdir(folder)).sort();
  } catch {
    return [];
  }
}
