/** The context of a push: git has all of it, where the commit before the push is in the checkout. */
import { DISPLAY } from '../text/limits.ts';
import { type ChangeContext, createGitContext } from './change-context.ts';
import { type EventFacts, member, textAt } from './event.ts';

/** How many commits of a push GitHub puts into an event. */
const MAX_COMMITS = 2_048;

/** Returns the context of a push; null if it created a branch or tag, or deleted one, so that it has no base. */
export function createPushContext({ payload, ref }: EventFacts): ChangeContext | null {
  const [before, after] = [textAt(payload, 'before'), textAt(payload, 'after')];
  const isCommit = (text: string) => /^(?!0+$)[0-9a-f]{40,64}$/u.test(text);
  if (!isCommit(before) || !isCommit(after)) return null;
  const isForced = member(payload, 'forced') === true;
  const subject = {
    about: `the push ${countCommits(member(payload, 'commits'))}to ${nameRef(textAt(payload, 'ref') || ref)}`,
    contents: 'changed files and diff',
    author: 'whoever wrote the pushed commits',
  };
  const note = isForced
    ? `The diff is missing: git cannot compare this checkout with ${before.slice(0, 12)}, the commit before this force push, which may be in no branch any more.`
    : `The diff is missing: git cannot compare this checkout with ${before.slice(0, 12)}, the commit before the push. A shallow clone does not have it: set fetch-depth: 0 of actions/checkout.`;
  return createGitContext(subject, { base: before, head: after, mayBeEmpty: true }, note);
}

/** Returns `of 3 commits `, with a blank at its end; empty if the number is not known. */
function countCommits(commits: unknown): string {
  if (!Array.isArray(commits) || commits.length === 0 || commits.length >= MAX_COMMITS) return '';
  return commits.length === 1 ? 'of 1 commit ' : `of ${commits.length} commits `;
}

/** Names a branch or tag. Whoever may push chose the name, so it must not read as a sentence. */
function nameRef(ref: string): string {
  const kind = ref.startsWith('refs/tags/') ? 'tag ' : ref.startsWith('refs/heads/') ? 'branch ' : '';
  const name = ref.replace(/^refs\/(?:tags|heads)\//u, '');
  return `${kind}${JSON.stringify(name.slice(0, DISPLAY.path).toWellFormed())}`;
}
