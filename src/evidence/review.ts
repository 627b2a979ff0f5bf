/**
 * Decides whether a payload that the schema accepts is taken: whether enough of the change was shown, the command that it
 * names ended well, and its findings are in the files. A payload that does not meet its gate needs neither of the first two,
 * and no answer to a rejection makes a red verdict green.
 */
import { coverageShare } from '../text/figures.ts';
import { DISPLAY, LISTED } from '../text/limits.ts';
import { counted, listNames } from '../text/messages.ts';
import type { Coverage, JsonObject, RedactedIssue, Repair } from '../types.ts';
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

/** What the loop asks. */
export interface EvidenceReview {
  readonly observe: CoverageMeter['observe'];
  /** @param isLast whether no further turn is left. */
  review(submission: Submission, isLast: boolean): Promise<Decision>;
  /** What becomes of what was sent back if the run ends without another payload; null if nothing was. */
  giveUp(): Promise<FinalDecision | null>;
}

/** What the policy of a run asks of its evidence. */
export interface ReviewPolicy {
  readonly minCoverage: MinCoverage;
  readonly isPreset: boolean;
  /** Whether `auto` requires all files, and so does a payload that says `complete: true`. */
  readonly isReview: boolean;
  readonly grounding: 'off' | 'mark' | 'require';
}

export interface ReviewOptions extends ReviewPolicy {
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

/** What a payload that meets its gate lacks. */
interface Lack {
  readonly issue: RedactedIssue;
  /** How often it is sent back. */
  readonly rounds: number;
  /** What is wrong, for people and for the model; what the model can do; and what people can. */
  readonly clause: string;
  readonly request: string;
  readonly advice: string;
}

const AGAIN =
  'Then call structured_output again, alone, with the whole result, changed where what you have seen changes it.';
const OFF = 'min-coverage: off accepts verdicts that rest on less.';

export function createReview(options: ReviewOptions): EvidenceReview {
  const { meter, isRed, ground, grounding } = options;
  const rounds = new Map<string, number>();
  /** The payload that was sent back for the quotes of its findings. */
  let held: Submission | null = null;
  let ended: FinalDecision | null = null;
  return {
    observe: meter.observe,
    async review(submission, isLast) {
      const { payload } = submission;
      if (held !== null && isRed(held.payload) && !isRed(payload)) return { kind: 'taken', submission: held };
      const lack = isRed(payload) ? null : await findLack(payload, options);
      if (lack !== null) {
        const { issue, clause, request, advice } = lack;
        const round = (rounds.get(issue.keyword) ?? 0) + 1;
        rounds.set(issue.keyword, round);
        ended = { kind: 'ended', text: `The payload meets its gate, but ${clause} ${advice} ${OFF}` };
        if (isLast || round > lack.rounds) return ended;
        return { kind: 'rejected', text: `Not taken yet: ${clause} ${request} ${AGAIN}`, issues: [issue] };
      }
      // Also for the report, which marks what is not proven.
      const unproven = grounding === 'off' ? [] : await ground(payload);
      if (grounding !== 'require' || isLast || held !== null || unproven.length === 0)
        return { kind: 'taken', submission };
      held = submission;
      const issues = unproven.map((path) => ({ path, keyword: 'quote' }));
      return { kind: 'rejected', text: groundingText(unproven), issues };
    },
    giveUp: async () => (held === null ? ended : { kind: 'taken', submission: held }),
  };
}

async function findLack(payload: JsonObject, options: ReviewOptions): Promise<Lack | null> {
  const { minCoverage, isReview } = options;
  if (minCoverage === 'off') return null;
  const coverage = options.meter.measure();
  const automatic = isReview && coverage.status !== 'unknown' ? 1 : null;
  const share = minCoverage === 'auto' ? automatic : minCoverage;
  const lack = coverageLack(coverage, share, isReview && payload['complete'] === true);
  if (lack !== null) return lack;
  if (options.isPreset && !options.hasLooked())
    return {
      issue: { path: '', keyword: 'looked' },
      rounds: 1,
      clause: 'nothing was looked at, as no tool was called.',
      request: 'Read or run what your task is about.',
      advice: 'Ask for something that can be read or run, or try another model.',
    };
  const clause = await options.judgeCommand(payload);
  if (clause === null) return null;
  return {
    issue: { path: '/command', keyword: 'command' },
    rounds: 1,
    clause,
    request: 'Deliver what was measured, or run the command again, and name it exactly as you run it.',
    advice: 'The exit codes of all commands are in the result file.',
  };
}

/** Returns what is missing of the share that is required, or of all files if the payload claims them; null if nothing is. */
function coverageLack(coverage: Coverage, share: number | null, claimsAll: boolean): Lack | null {
  const { status, why, files } = coverage;
  const reached = status === 'measured' ? (coverageShare(coverage) ?? 0) : -1;
  const isBelow = share !== null && reached < share;
  if (!isBelow && !(claimsAll && status === 'measured' && reached < 1)) return null;
  const words = share === 1 ? 'all' : `${Number(((share ?? 1) * 100).toFixed(2))} % of the`;
  const setting = isBelow
    ? `min-coverage requires ${words} changed files`
    : 'the payload says that it is complete';
  const issue = { path: isBelow ? '' : '/complete', keyword: 'coverage' };
  if (status !== 'measured') {
    const what = status === 'unknown' ? 'what changed is not known' : 'not all of the change is known';
    const advice = `${why ?? ''} A checkout with the whole history (fetch-depth: 0) lets git tell all of it.`;
    // What is not known cannot be shown by reading on.
    return { issue, rounds: 0, clause: `${what}, and ${setting}.`, request: '', advice };
  }
  const unseen = files.unseen.map((path) => JSON.stringify(path.slice(0, DISPLAY.path)));
  return {
    issue,
    rounds: 3,
    clause: `only ${files.shown} of ${files.required} changed files were shown, and ${setting}.`,
    request: `Not shown, or not nine tenths of each part that changed:
${listMany(unseen, 'more file')}
Read their part of the diff (in the context folder if your task names one, where changed-files.txt lists what was only renamed; else with git diff), or the files themselves with read_file: removed lines are in the diff only.`,
    advice: `Not shown: ${listNames(files.unseen)}. Split the change, judge a part of it (working-directory), or give the model more room (max-turns).`,
  };
}

function groundingText(unproven: readonly string[]): string {
  return `Not taken yet: these findings could not be found in the files as they are in the change.
${listMany(unproven, 'more finding')}
Look again, correct their path, line and quote, and call structured_output again, alone, with the whole result. A quote is one to three whole lines of the file, copied exactly, without omissions. Take a finding out only if it is wrong; leaving findings out does not make a failed verdict pass.`;
}

function listMany(rows: readonly string[], more: string): string {
  const left = rows.length - LISTED.many;
  const shown = rows.slice(0, LISTED.many).map((row) => `- ${row}`);
  return [...shown, ...(left > 0 ? [`- and ${counted(left, more)}`] : [])].join('\n');
}
