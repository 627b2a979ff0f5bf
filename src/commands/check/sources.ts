/** Reads the files of a check: workflows, and the files they refer to. */
import { readdir, realpath } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { expandHome } from '../../config/paths.ts';
import { readTrustedFile, type TrustedFileLimits } from '../../config/workspace-file.ts';
import type { Files } from '../../contract/source.ts';
import { READ } from '../../text/limits.ts';
import type { ActionPart } from './workflow.ts';
import { type Node, scalarsOf } from './yaml-file.ts';

/** Reads files by user-given paths, including paths outside the folder if `outside` is `allowed`. */
export function filesIn(folder: string, outside: TrustedFileLimits['outside']): Files {
  return {
    readFile: (name) =>
      readTrustedFile(outside === 'allowed' ? expandHome(name, os.homedir()) : name, {
        root: folder,
        outside,
        maxBytes: READ.policy,
      }),
    readElsewhere: async ({ owner, repo }) => ({
      ok: false,
      problem: `${owner}/${repo} is another repository, and a check asks nobody. Give the file with --schema @path.`,
    }),
  };
}

export function readWorkflowText(file: string, root: string): ReturnType<typeof readTrustedFile> {
  return readTrustedFile(file, { root, outside: 'allowed', maxBytes: READ.workflow });
}

/** Returns the workflows and composite actions of a repository, given its root; sorted, with relative paths. */
export async function findWorkflows(folder: string): Promise<readonly string[]> {
  const below = path.join('.github', 'workflows');
  const names = await readdir(path.join(folder, below)).catch(() => []);
  const workflows = names.filter((name) => /\.ya?ml$/u.test(name)).map((name) => path.join(below, name));
  const actions = path.join('.github', 'actions');
  const within = await readdir(path.join(folder, actions), { recursive: true }).catch(() => []);
  const composite = within
    .filter((name) => /^action\.ya?ml$/u.test(path.basename(name)))
    .map((name) => path.join(actions, name));
  return [...workflows.toSorted(), ...composite.toSorted()];
}

/**
 * Returns the real root of the checkout that contains a file: the folder around its `.github`, or else the current
 * folder.
 */
export async function rootOf(file: string, cwd: string): Promise<string> {
  let folder = path.dirname(path.resolve(cwd, file));
  while (path.basename(folder) !== '.github') {
    const parent = path.dirname(folder);
    if (parent === folder) return realpath(cwd);
    folder = parent;
  }
  return realpath(path.dirname(folder));
}

/** Returns the folders of a checkout that a workflow uses as actions and that contain a part of this action. */
export async function localActions(workflow: Node, root: string): Promise<ReadonlyMap<string, ActionPart>> {
  const named = new Set<string>();
  for (const { scalar, keys } of scalarsOf(workflow)) {
    if (keys.at(-1) === 'uses' && /^\.{1,2}\//u.test(scalar.text)) named.add(scalar.text);
  }
  const ours = new Map<string, ActionPart>();
  for (const folder of named) {
    const isBelow = path.basename(folder) === 'merge';
    if (isBelow && (await holdsAction(path.dirname(folder), root))) ours.set(folder, 'merge');
    else if (await holdsAction(folder, root)) ours.set(folder, 'run');
  }
  return ours;
}

async function holdsAction(folder: string, root: string): Promise<boolean> {
  for (const file of ['action.yml', 'action.yaml']) {
    const reading = await readTrustedFile(path.join(folder, file), {
      root,
      outside: 'refused',
      maxBytes: READ.workflow,
    });
    if (reading.ok && /^name:\s*["']?structured-agent["']?\s*(?:#.*)?$/mu.test(reading.text)) return true;
  }
  return false;
}
