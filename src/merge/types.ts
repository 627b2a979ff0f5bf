/** Types of a merge: the verdicts of the legs, and their result. */
import type { CoverageCounts } from '../text/coverage.ts';
import type { Conclusion, ContextStatus, Reason, Usage } from '../types.ts';

/** Outcome of a vote or a leg: `abstain` if it is missing, undecided or unreadable. */
export type Outcome = 'pass' | 'fail' | 'abstain';

/** Number of legs per outcome; the three add up to `expected`. */
export interface Tally {
  readonly pass: number;
  readonly fail: number;
  readonly abstain: number;
  readonly expected: number;
}

/** What the verdict of a run is based on, without its lists. */
export interface VoteEvidence {
  readonly context: ContextStatus;
  readonly toolCalls: number;
  /** Absent if its envelope does not state it. */
  readonly coverage?: CoverageCounts;
}

/** The vote of one run, or a missing vote. Names come from the workflow, but are read from files of other jobs. */
export interface MergedVote {
  /** null if the leg has one unnamed vote, and for a missing vote of unknown name. */
  readonly vote: string | null;
  readonly outcome: Outcome;
  /** From the run's own envelope; `missing` if there is none. */
  readonly conclusion: Conclusion | 'missing';
  readonly reason: Reason | 'missing';
  /**
   * One sentence that explains an abstention or failure; text from other jobs is masked and truncated, but still
   * hostile.
   */
  readonly why: string | null;
  readonly turns: number;
  readonly usage: Usage;
  /** US dollars; null if unknown. */
  readonly costUsd: number | null;
  /** Empty if no model was called. */
  readonly model: string;
  /** Whether an earlier run's payload was reused instead of calling a model. */
  readonly reused: boolean;
  /** What the verdict is based on; null for a missing vote, and if the envelope does not state it. */
  readonly evidence?: VoteEvidence | null;
  /** The workflow run attempt; null for a missing vote and outside GitHub. */
  readonly attempt: number | null;
  /** URL of that attempt; null if there is none. */
  readonly url: string | null;
}

/** One leg with the outcome of its votes under the rule for votes. */
export interface MergedLeg {
  /** null for a missing leg of unknown name, if only a number of envelopes was expected. */
  readonly leg: string | null;
  readonly outcome: Outcome;
  /** Its weight under a weighted rule; 1 under any other. */
  readonly weight: number;
  /** Ordered by name, with missing votes last. Never empty. */
  readonly votes: readonly MergedVote[];
}

/** One finding, listed once however many runs report it. All of its text comes from a model. */
export interface MergedFinding {
  readonly severity: 'error' | 'warning' | 'note';
  readonly path: string | null;
  readonly line: number | null;
  readonly endLine: number | null;
  readonly rule: string | null;
  readonly title: string | null;
  readonly message: string;
  /** The legs that agree, ordered by name. */
  readonly legs: readonly string[];
  /** Number of runs that agree. */
  readonly votes: number;
  /**
   * Whether the finding decided nothing: each run that reports it fails, although its leg or all legs together pass.
   */
  readonly outvoted: boolean;
  /** Whether each run that reports it looked it up and could not prove it. */
  readonly doubted?: boolean;
}

/** The result of a merge, decided or not. */
export interface Merged {
  /** The overall outcome: `abstain` if missing legs could change it. */
  readonly outcome: Outcome;
  /** The rule across legs, as typed. */
  readonly rule: string;
  /** The rule within a leg and its number of votes, as typed; null if each leg has one vote. */
  readonly votes: string | null;
  readonly tally: Tally;
  /** Ordered by name, with unnamed legs last. */
  readonly legs: readonly MergedLeg[];
  /** Most severe first. */
  readonly findings: readonly MergedFinding[];
  /** Number of findings not contained in `findings`. */
  readonly findingsLeftOut: number;
  /** One sentence: how many legs pass, fail and abstain, and the resulting outcome. */
  readonly summary: string;
  readonly turns: number;
  readonly rejections: number;
  readonly usage: Usage;
  /** null if the cost of a run is unknown. */
  readonly costUsd: number | null;
  /** The models that were called, without duplicates, sorted. */
  readonly models: readonly string[];
  /** Files that do not contain a valid envelope, with the reason; both strings may be hostile. */
  readonly refused: readonly { readonly file: string; readonly why: string }[];
}
