/** Finds what the agent is told of the pull request; what cannot be had is said, and never ends a run. */
import type { ListChangedFiles } from './changed-files.ts';
import { type ContextFacts, contextFiles, isTruncated } from './context.ts';
import type { EventFacts } from './event.ts';
import { headOfEvent, type PullRequest, type PullRequestFinder } from './pull-request.ts';

/** What the agent can be told of a pull request. */
export interface PullRequestContext {
  readonly number: number;
  /** Asks GitHub, once. Never rejects. */
  load(): Promise<LoadedContext>;
}

/** The commits of a diff by git: from where the checkout left the base, to the checkout. */
export interface DiffRange {
  readonly base: string;
  /** The commit that the checkout must hold; empty where the event names none. */
  readonly head: string;
}

/** What GitHub told. */
export interface LoadedContext {
  /** How much of the diff GitHub gave. */
  readonly diff: 'complete' | 'truncated' | 'missing';
  /** What git can make the diff of, where GitHub did not give all of it and the base commit is known; null otherwise. */
  readonly range: DiffRange | null;
  /** One sentence each: what is missing and why. */
  readonly notes: readonly string[];
  /** The files by name. */
  files(diffFromGit: boolean): ReadonlyMap<string, string>;
}

/**
 * A push is not asked about: what it says stands in the checkout.
 * @param changed null where there is no token.
 * @param warn told why nobody knows whether there is a pull request.
 */
export function createContextFinder(
  event: EventFacts,
  finder: PullRequestFinder,
  changed: ListChangedFiles | null,
  warn: (text: string) => void,
): () => Promise<PullRequestContext | 'unknown' | null> {
  const unknown = (error: unknown) => {
    warn(`No context: the pull request could not be looked for. ${wordsOf(error)}`);
    return 'unknown' as const;
  };
  const look = async () => {
    if (finder.number !== null || event.name !== 'workflow_run') return finder.number;
    if (changed === null) return unknown('github-token is empty.');
    return finder.find().then((pull) => pull?.number ?? null, unknown);
  };
  return async () => {
    const number = await look();
    if (number === 'unknown') return number;
    return number === null ? null : { number, load: () => load(number, event, finder, changed) };
  };
}

async function load(
  number: number,
  event: EventFacts,
  finder: PullRequestFinder,
  changed: ListChangedFiles | null,
): Promise<LoadedContext> {
  const notes: string[] = [];
  const missing = (what: string) => (error: unknown) => {
    notes.push(`${what}: ${wordsOf(error)}`);
    return null;
  };
  const pull: PullRequest | null = await finder.find().catch(missing('Title and description are missing'));
  const files =
    changed === null ? null : await changed().catch(missing('The changed files and the diff are missing'));
  if (changed === null)
    notes.push('GitHub was not asked for the changed files and the diff: github-token is empty.');
  const facts: Omit<ContextFacts, 'diffFromGit'> = { number, pull, files, notes };
  const diff =
    files === null ? 'missing' : isTruncated(files, pull?.changedFiles ?? null) ? 'truncated' : 'complete';
  return {
    diff,
    range: diff === 'complete' || pull === null ? null : { base: pull.base.sha, head: headOfEvent(event) },
    notes,
    files: (diffFromGit) => contextFiles({ ...facts, diffFromGit }),
  };
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
