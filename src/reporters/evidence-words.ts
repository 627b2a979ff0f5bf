/** What people are told where a verdict rests on less than it could: no diff, a part of it, or no tool call. */

import type { Merged, MergedVote } from '../merge/types.ts';
import { counted } from '../text/messages.ts';
import type { ContextStatus } from '../types.ts';
import type { Report } from './report-types.ts';

/** The part of the evidence that is told in words. */
interface Looked {
  readonly context: ContextStatus;
  readonly toolCalls: number;
}

/** Legs that are named one by one. */
const MAX_LEGS = 5;

/** What is weak about the evidence of a run: for the page of that run, and for the row of a leg in the table of a merge. */
interface Weakness {
  readonly isTrue: (looked: Looked, hasPayload: boolean) => boolean;
  readonly ofRun: string;
  readonly ofVote: string;
  /** Reads on from a number of runs. */
  readonly ofVotes: string;
}

const WEAKNESSES: readonly Weakness[] = [
  {
    isTrue: ({ context }) => context === 'missing',
    ofRun:
      'The model was not given the diff of this pull request: neither GitHub nor git provided it. The log says why. A github-token with pull-requests: read, or a checkout with fetch-depth: 0, provides it.',
    ofVote: 'Judged without the diff of the pull request.',
    ofVotes: 'judged the pull request without its diff',
  },
  {
    isTrue: ({ context }) => context === 'truncated',
    ofRun:
      'The model was given only a part of the diff of this pull request: the rest is too large or binary, or GitHub did not give it. A checkout with fetch-depth: 0 provides it where it is not too large; else split the change, or ask in the prompt to read the changed files themselves.',
    ofVote: 'Judged with a part of the diff of the pull request.',
    ofVotes: 'judged the pull request with a part of its diff',
  },
  {
    isTrue: ({ toolCalls }, hasPayload) => hasPayload && toolCalls === 0,
    ofRun:
      'The payload was accepted without a single tool call: the model opened no file and ran no command. Ask in the prompt for checks that need one.',
    ofVote: 'Accepted without a single tool call.',
    ofVotes: 'had a payload accepted without a single tool call',
  },
];

/** The weaknesses of a run, or of the runs that a merge counted: one sentence each; names of legs are hostile text. */
export function evidenceWarnings({
  evidence = null,
  payload,
  merged = null,
}: Pick<Report, 'evidence' | 'payload' | 'merged'>): readonly string[] {
  if (merged !== null) return mergedWarnings(merged);
  return evidence === null ? [] : warningsAbout(evidence, payload !== null);
}

/** The same of what an envelope says. */
export function warningsAbout(looked: Looked, hasPayload: boolean): readonly string[] {
  return WEAKNESSES.filter(({ isTrue }) => isTrue(looked, hasPayload)).map(({ ofRun }) => ofRun);
}

/** What is weak about the evidence of votes: each sentence once, with how many of them where that is not all. */
export function voteWarnings(votes: readonly MergedVote[]): readonly string[] {
  return WEAKNESSES.flatMap((weakness) => {
    const weak = votes.filter((vote) => isWeak(vote, weakness)).length;
    if (weak === 0) return [];
    return [weak === votes.length ? weakness.ofVote : `${weak} of ${votes.length} votes: ${weakness.ofVote}`];
  });
}

function mergedWarnings({ legs }: Merged): readonly string[] {
  const runs = legs.flatMap(({ votes }) => votes).filter(({ conclusion }) => conclusion !== 'missing').length;
  return WEAKNESSES.flatMap((weakness) => {
    const weak = legs.flatMap(({ leg, votes }) =>
      votes.filter((vote) => isWeak(vote, weakness)).map(() => leg ?? ''),
    );
    if (weak.length === 0) return [];
    return [`${weak.length} of ${counted(runs, 'run')} ${weakness.ofVotes}: ${named([...new Set(weak)])}.`];
  });
}

/** A vote that abstains has no payload that counts. */
function isWeak({ evidence = null, ballot }: MergedVote, { isTrue }: Weakness): boolean {
  return evidence !== null && isTrue(evidence, ballot !== 'abstain');
}

function named(legs: readonly string[]): string {
  const more = legs.length > MAX_LEGS ? ` and ${counted(legs.length - MAX_LEGS, 'more leg')}` : '';
  return `${legs.slice(0, MAX_LEGS).join(', ')}${more}`;
}
