/** The change that a run is about: that of its event, or everything since a base. */
import type { Config } from '../config/parse-config.ts';
import { type ChangeContext, createGitContext } from '../github/change-context.ts';
import { DISPLAY } from '../text/limits.ts';
import { namingFor } from '../text/naming.ts';
import type { World } from './world.ts';

type Found = ChangeContext | 'unknown' | null;

/** Returns the change that this run is about: that of the event, or everything since `base`. Never rejects. */
export async function findContext(config: Pick<Config, 'context' | 'base'>, world: World): Promise<Found> {
  if (config.context === 'none') return null;
  return config.base === null ? world.findContext() : createBaseContext(config.base);
}

function createBaseContext(ref: string): ChangeContext {
  const shown = quoteRef(ref);
  const subject = {
    about: `what changed since the merge base with ${shown}, with what is uncommitted in tracked files`,
    contents: 'changed files and diff',
    author: 'whoever made the change',
  };
  return createGitContext(
    subject,
    { ref },
    `The diff is missing: git could not compare the files with ${shown}, or there is no shell to run it in.`,
  );
}

export function quoteRef(ref: string): string {
  return JSON.stringify(ref.slice(0, DISPLAY.name).toWellFormed());
}

/** Returns one sentence for people: why no change is known, if there is none to be loaded. */
export function explainNoChange(
  found: Exclude<Found, ChangeContext>,
  config: Pick<Config, 'context'>,
  { entry }: Pick<World, 'entry'>,
): string {
  if (found === 'unknown') return 'It could not be determined whether the run is about a pull request.';
  const { give, setting } = namingFor(entry);
  if (config.context === 'none') return `The change was not asked for (${setting('context', 'none')}).`;
  return entry === 'action'
    ? 'The event names no change: it is no pull request, no merge group, and no push to what was there before.'
    : `The run is about no change. ${give('base')} to give it one.`;
}
