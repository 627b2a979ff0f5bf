/** The change that a run is about: that of its event, or everything since a base. */
import type { Config } from '../config/parse-config.ts';
import { type ChangeContext, createGitContext } from '../github/context.ts';
import { DISPLAY } from '../text/limits.ts';
import type { World } from './world.ts';

type Found = ChangeContext | 'unknown' | null;

/** Returns the change that this run is about. Never rejects. */
export async function findContext({ base }: Pick<Config, 'base'>, world: World): Promise<Found> {
  if (base === null) return world.findContext();
  const shown = quoteRef(base);
  const subject = {
    about: `what changed since the merge base with ${shown}, with what is uncommitted in tracked files`,
    contents: 'changed files and diff',
    author: 'the author of the change',
  };
  const note = `The diff is missing: git could not compare the files with ${shown}, or there is no shell to run it in.`;
  return createGitContext(subject, { ref: base }, note);
}

export function quoteRef(ref: string): string {
  return JSON.stringify(ref.slice(0, DISPLAY.name).toWellFormed());
}

/** Returns one sentence for people: why no change is known, if there is none to be loaded. */
export function explainNoChange(found: 'unknown' | null, { entry }: Pick<World, 'entry'>): string {
  if (found === 'unknown')
    return 'It could not be determined whether the run is about a pull request. A github-token with pull-requests: read tells it.';
  return entry === 'action'
    ? 'The event names no change: it is not a pull request, a merge group or a push to a branch that existed before.'
    : 'The run is not about a change. Give it one with base.';
}
