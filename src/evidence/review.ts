/**
 * Decides whether a payload that the schema accepts is taken: whether enough of the change was shown, the command that it
 * names ended well, and its findings are in the files. A payload that does not meet its gate needs neither of the first two,
 * and no answer to a rejection makes a red verdict green.
 */
import { coverageShare } from '../text/figures.ts';
import { LISTED } from '../text/limits.ts';
import { listNames } from '../text/messages.ts';
import type { JsonObject, RedactedIssue, Repair } from '../types.ts';
import type { CoverageMeter } from './coverage.ts';

/** The share of files that must be seen; `auto` follows from the schema and what is known about the change. */
export type MinCoverage = 'auto' | 'off' | number;

/** A payload that the schema accepts, and how it was repaired. */
export interface Submission {
  readonly payload: JsonObject;
  readonly repaired: Repair | null;
}

export type FinalDecision =
  /** The submission given, or an earlier one that must not be replaced by it. */
  | { readonly kind: 'taken'; readonly submission: Submission }
  | { readonly kind: 'ended'; readonly text: string };

export type Decision =
  | FinalDecision
  /** The text is for the model, and names files of the repository. */
  | { readonly kind: 'rejected'; readonly text: string; readonly issues: readonly RedactedIssue[] };

export type EvidenceReview = ReturnType<typeof createReview>;

export interface ReviewOptions {
  readonly minCoverage: MinCoverage;
  readonly isPreset: boolean;
  /** Whether `auto` requires all files, and so does a payload that says `complete: true`. */
  readonly isReview: boolean;
  readonly grounding: 'off' | 'mark' | 'require';
  /** Whether the payload does not pass. */
  readonly isRed: (payload: JsonObject) => boolean;
  readonly meter: CoverageMeter;
  /** Whether the model received any tool result, or the diff. */
  readonly hasLooked: () => boolean;
  /** Compares the command that the payload names with what was run; a clause about what is wrong, or null. */
  readonly judgeCommand: (payload: JsonObject) => Promise<string | null>;
  /** Looks the findings up in the files; returns the pointers of quotes that are not there. */
  readonly ground: (payload: JsonObject) => Promise<readonly string[]>;
}

/** How often a payload is sent back for what it lacks. What is not known cannot be shown by reading on. */
const ROUNDS = { unknown: 0, coverage: 3, looked: 1, command: 1 };

/** What a payload that meets its gate lacks. */
interface Lack {
  readonly keyword: keyof typeof ROUNDS;
  /** What is wrong, for people and for the model; what the model can do; and what people can. */
  readonly clause: string;
  readonly request: string;
  readonly advice: string;
}

const OFF = 'min-coverage: off accepts verdicts that rest on less.';

export function createReview(options: ReviewOptions) {
  const { meter, isRed, ground, grounding } = options;
  const rounds = new Map<string, number>();
  /** The payload that was sent back for the quotes of its findings. */
  let held: Submission | null = null;
  let ended: FinalDecision | null = null;
  return {
    observe: meter.observe,
    /** @param isLast whether no further turn is left. */
    async review(submission: Submission, isLast: boolean): Promise<Decision> {
      const { payload } = submission;
      if (held !== null && isRed(held.payload) && !isRed(payload)) return { kind: 'taken', submission: held };
      const lack = isRed(payload) ? null : await findLack(payload, options);
      if (lack !== null) {
        const { keyword, clause, request, advice } = lack;
        const round = (rounds.get(keyword) ?? 0) + 1;
        rounds.set(keyword, round);
        ended = { kind: 'ended', text: `The payload meets its gate, but ${clause} ${advice} ${OFF}` };
        if (isLast || round > ROUNDS[keyword]) return ended;
        const text = `Not taken yet: ${clause} ${request} Then call structured_output again, alone, with the whole result, changed where what you have seen changes it.`;
        return { kind: 'rejected', text, issues: [{ path: '', keyword }] };
      }
      // Also for the report, which marks what is not proven.
      const unproven = grounding === 'off' ? [] : await ground(payload);
      if (grounding !== 'require' || isLast || held !== null || unproven.length === 0)
        return { kind: 'taken', submission };
      held = submission;
      const issues = unproven.map((path) => ({ path, keyword: 'quote' }));
      const text = `Not taken yet: these findings could not be found in the files as they are in the change: ${listNames(unproven, LISTED.many)}.
Look again, correct their path, line and quote, and call structured_output again, alone, with the whole result. A quote is one to three whole lines of the file, copied exactly, without omissions. Take a finding out only if it is wrong; leaving findings out does not make a failed verdict pass.`;
      return { kind: 'rejected', text, issues };
    },
    /** Returns what becomes of what was sent back if the run ends without another payload; null if nothing was. */
    async giveUp(): Promise<FinalDecision | null> {
      return held === null ? ended : { kind: 'taken', submission: held };
    },
  };
}

async function findLack(payload: JsonObject, options: ReviewOptions): Promise<Lack | null> {
  const { minCoverage, isReview } = options;
  if (minCoverage === 'off') return null;
  const coverage = options.meter.measure();
  const { status, why, files } = coverage;
  const isAuto = minCoverage === 'auto';
  const isWhole = isReview && status !== 'unknown' && (isAuto || payload['complete'] === true);
  const share = Math.max(isAuto ? 0 : minCoverage, isWhole ? 1 : 0);
  if (status !== 'measured' && (share > 0 || !isAuto))
    return {
      keyword: 'unknown',
      clause: 'not all of the change is known.',
      request: '',
      advice: `${why ?? ''} A checkout with the whole history (fetch-depth: 0) lets git tell all of it.`,
    };
  if ((coverageShare(coverage) ?? 0) < share)
    return {
      keyword: 'coverage',
      clause: `only ${files.shown} of ${files.required} changed files were shown. min-coverage requires more, or the payload says that it is complete.`,
      request: `Not shown, or not nine tenths of each part that changed: ${listNames(files.unseen, LISTED.many)}.
Read their part of the diff with read_file (in the context folder if your task names one, where changed-files.txt lists what was only renamed; else with git diff), or the files themselves: removed lines are in the diff only. read_file cuts long lines, which git diff does not.`,
      advice: `Not shown: ${listNames(files.unseen)}. Split the change, judge a part of it (working-directory), or give the model more room (max-turns).`,
    };
  if (options.isPreset && !options.hasLooked())
    return {
      keyword: 'looked',
      clause: 'nothing was looked at, as no tool was called.',
      request: 'Read or run what your task is about.',
      advice: 'Ask for something that can be read or run, or try another model.',
    };
  const clause = await options.judgeCommand(payload);
  if (clause === null) return null;
  return {
    keyword: 'command',
    clause,
    request: 'Deliver what was measured, or run the command again, and name it exactly as you run it.',
    advice: 'The exit codes of all commands are in the result file.',
  };
}
