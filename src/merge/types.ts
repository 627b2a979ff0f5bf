/** The nouns of a merge: what many legs said, and what is made of it. */
import type { Conclusion, ContextStatus, Reason, Usage } from '../types.ts';

/** What a vote or a leg says: `abstain` where it is missing, undecided, or cannot be read. */
export type Outcome = 'pass' | 'fail' | 'abstain';

/** How many legs say what; the three add up to `expected`. */
export interface Tally {
  readonly pass: number;
  readonly fail: number;
  readonly abstain: number;
  readonly expected: number;
}

/** What one run said, or that it said nothing. Names are the workflow's, but read from files of other jobs. */
export interface MergedVote {
  /** null where the leg has one vote without a name, and for a missing one whose name is not known. */
  readonly vote: string | null;
  readonly outcome: Outcome;
  /** As its own envelope says; `missing` where there is none. */
  readonly conclusion: Conclusion | 'missing';
  readonly reason: Reason | 'missing';
  /** One sentence where it abstains or fails: why; of texts of other jobs masked and cut, hostile all the same. */
  readonly why: string | null;
  readonly turns: number;
  readonly usage: Usage;
  /** US dollars; null when not known. */
  readonly costUsd: number | null;
  /** Empty where no model was asked. */
  readonly model: string;
  /** Whether an earlier run's payload was taken instead of a model's. */
  readonly reused: boolean;
  /** What the run rests on; null for a missing vote, and where its envelope does not say it. */
  readonly evidence?: { readonly context: ContextStatus; readonly toolCalls: number } | null;
  /** The attempt of the workflow run that it is of; null for a missing one and off GitHub. */
  readonly attempt: number | null;
  /** The page of that attempt; null where there is none. */
  readonly url: string | null;
}

/** One leg: what its votes come to under the rule for votes. */
export interface MergedLeg {
  /** null for a missing leg whose name is not known, because only a number was expected. */
  readonly leg: string | null;
  readonly outcome: Outcome;
  /** Its weight under a weighted rule; 1 under any other. */
  readonly weight: number;
  /** In the order of their names, the missing ones last. Never empty. */
  readonly votes: readonly MergedVote[];
}

/** One finding, given once however many runs have it. All of its text is a model's. */
export interface MergedFinding {
  readonly severity: 'error' | 'warning' | 'note';
  readonly path: string | null;
  readonly line: number | null;
  readonly endLine: number | null;
  readonly rule: string | null;
  readonly title: string | null;
  readonly message: string;
  /** The legs that agree, in the order of their names. */
  readonly legs: readonly string[];
  /** How many runs agree. */
  readonly votes: number;
  /** Whether none of it decided anything: each run that has it fails, and its leg passes, or all legs together do. */
  readonly outvoted: boolean;
}

/** What a merge found, decided or not. */
export interface Merged {
  /** The legs together: `abstain` where missing ones could change it. */
  readonly outcome: Outcome;
  /** As typed: the rule across legs. */
  readonly rule: string;
  /** As typed: the rule within a leg and how many votes it has; null where each leg has one. */
  readonly votes: string | null;
  readonly tally: Tally;
  /** In the order of their names, those without a name last. */
  readonly legs: readonly MergedLeg[];
  /** The gravest first. */
  readonly findings: readonly MergedFinding[];
  /** How many findings there are beyond those in `findings`. */
  readonly findingsLeftOut: number;
  /** One sentence: how many legs pass, fail and abstain, and what the rule makes of it. */
  readonly summary: string;
  readonly turns: number;
  readonly rejections: number;
  readonly usage: Usage;
  /** null where the cost of a run is not known. */
  readonly costUsd: number | null;
  /** The models that were asked, each once, in order. */
  readonly models: readonly string[];
  /** Files that hold no envelope that counts, with the reason; names and reasons hostile. */
  readonly refused: readonly { readonly file: string; readonly why: string }[];
}
