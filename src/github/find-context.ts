/** Finds the change that a run is about, and what is known of it. */
import { messageOf } from '../errors.ts';
import { DISPLAY } from '../text/limits.ts';
import { quote } from '../text/messages.ts';
import { type ChangeContext, createGitContext, type LoadedContext } from './context.ts';
import { type EventFacts, headOfEvent, repositoryOf } from './event.ts';
import { readAt } from './policy-files.ts';
import type { Hub } from './pull-request.ts';

/** Bytes of a `.gitattributes`: git tries each of its rules on each changed file. */
const MAX_ATTRIBUTES = 1024 ** 2;

/**
 * Finds the context of a run. For a push nothing is requested: its content is in the checkout.
 * @param warn called with the reason if it cannot be determined whether there is a pull request.
 */
export async function findChangeContext(
  hub: Hub,
  warn: (text: string) => void,
): Promise<ChangeContext | 'unknown' | null> {
  const { name } = hub.event;
  if (name === 'push') return createPushContext(hub.event);
  const number = await hub.findNumber().catch((error: unknown) => {
    warn(`No context: the pull request could not be looked for. ${messageOf(error)}`);
    return 'unknown' as const;
  });
  if (number === 'unknown' || number === null) return number;
  const subject = {
    about: `pull request #${number}${name === 'merge_group' ? ' in the merge queue' : ''}`,
    contents: 'title, description, changed files and diff',
    author: 'the author of the pull request',
  };
  return { subject, load: () => load(hub) };
}

async function load(hub: Hub): Promise<LoadedContext> {
  const { event, github } = hub;
  const notes: string[] = [];
  const missing = (what: string) => (error: unknown) => {
    notes.push(`${what} missing: ${messageOf(error)}`);
    return null;
  };
  const pull = await hub.findPullRequest().catch(missing('Title and description are'));
  const listed = await hub.listChangedFiles().catch(missing('The changed files and the diff are'));
  const base = event.payload.merge_group?.base_sha ?? pull?.base.sha ?? null;
  return {
    pull,
    listed,
    range: base === null ? null : { base, head: headOfEvent(event) },
    // GitHub lists what the pull request changes, and git what the group does, in which it has been merged.
    prefersGit: event.name === 'merge_group',
    notes,
    async readBaseAttributes() {
      const place = { ...repositoryOf(event), path: '.gitattributes', ref: base ?? '' };
      // Without it nothing is marked, so more has to be seen.
      const bytes = base === null ? null : await readAt(place, github).catch(() => null);
      return bytes === null || bytes.length > MAX_ATTRIBUTES ? null : bytes.toString('utf8');
    },
  };
}

/** Returns the context of a push; null if it created a branch or tag, or deleted one, so that it has no base. */
function createPushContext({ payload, ref }: EventFacts): ChangeContext | null {
  const { before = '', after = '' } = payload;
  if (/^0*$/u.test(before) || /^0*$/u.test(after)) return null;
  const subject = {
    // A user with push access chose the name, so it must not read as a sentence.
    about: `the push to ${quote(payload.ref ?? ref, DISPLAY.path)}`,
    contents: 'changed files and diff',
    author: 'the authors of the pushed commits',
  };
  const note = `The diff is missing: git cannot compare this checkout with ${before.slice(0, 12)}, the commit before the push. A shallow clone does not have it (set fetch-depth: 0 of actions/checkout), and after a force push it may be in no branch any more.`;
  return createGitContext(subject, { base: before, head: after, mayBeEmpty: true }, note);
}
