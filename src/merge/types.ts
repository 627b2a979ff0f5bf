/** Types of a merge: the verdicts of the legs, and their result. */
import type { Severity } from '../reporters/findings.ts';
import type { Weakness } from '../reporters/sentences.ts';
import type { Conclusion, Reason, Usage } from '../types.ts';

/** Outcome of a vote, a leg or a merge: `abstain` if it is missing or undecided. */
export type VoteOutcome = 'pass' | 'fail' | 'abstain';

/** The vote of one run, or a missing vote, which used nothing. All texts come from files of other jobs. */
export interface MergedVote {
  /** null if the leg has one unnamed vote, and for a missing vote. */
  readonly vote: string | null;
  readonly outcome: VoteOutcome;
  /** From the run's own envelope; `missing` if there is none. */
  readonly conclusion: Conclusion | 'missing';
  readonly reason: Reason | 'missing';
  readonly why: string | null;
  readonly turns: number;
  readonly usage: Usage;
  /** US dollars; null if unknown. */
  readonly costUsd: number | null;
  readonly model: string;
  /** What the verdict should rest on and does not. */
  readonly weaknesses: readonly Weakness[];
  /** The workflow run attempt; null for a missing vote and outside GitHub. */
  readonly attempt: number | null;
}

export interface MergedLeg {
  readonly leg: string;
  readonly outcome: VoteOutcome;
  /** Never empty. */
  readonly votes: readonly MergedVote[];
}

/** One finding, listed once however many runs report it. All of its text comes from a model. */
export interface MergedFinding {
  readonly severity: Severity;
  readonly path: string | null;
  readonly line: number | null;
  readonly endLine: number | null;
  readonly rule: string | null;
  readonly title: string | null;
  readonly message: string;
  /** The legs that agree, ordered by name. */
  readonly legs: readonly string[];
  readonly votes: number;
  /** Whether the finding decided nothing: each run that reports it fails, and the leg of each passes. */
  readonly outvoted: boolean;
  /** Whether each run that reports it looked it up and could not prove it. */
  readonly doubted: boolean;
}

/** The result of a merge, decided or not. */
export interface Merged {
  /** `abstain` if missing or undecided legs could change the verdict. */
  readonly outcome: VoteOutcome;
  /** The rule for the votes of a leg, such as `majority of 3`; null if each leg has one vote. */
  readonly votes: string | null;
  /** All expected legs, ordered by name. */
  readonly legs: readonly MergedLeg[];
  /** Most severe first. */
  readonly findings: readonly MergedFinding[];
  /** Number of findings that `findings` does not contain. */
  readonly findingsLeftOut: number;
}
