/**
 * Decides whether a payload that the schema accepts is taken: whether the model was shown enough of the change, and whether
 * its findings are in the files. A payload that does not meet its gate needs no coverage, and no answer to a rejection
 * makes a red verdict green.
 */
import { DISPLAY } from '../text/limits.ts';
import { counted } from '../text/messages.ts';
import type {
  Coverage,
  Issue,
  JsonObject,
  MinCoverage,
  RedactedIssue,
  Repair,
  UnseenFile,
} from '../types.ts';
import type { SeenResult } from './coverage.ts';
import { coverageShare } from './share.ts';

/** How often a payload is sent back because files were not shown. */
const MAX_ROUNDS = 3;
/** Files named in a rejection. */
const MAX_LISTED_FILES = 20;
/** Findings named in a rejection. */
const MAX_LISTED_FINDINGS = 20;

/** A payload that the schema accepts, and how it was repaired. */
export interface Submission {
  readonly payload: JsonObject;
  readonly repaired: Repair | null;
}

/** What becomes of it. */
export type Decision =
  /** The submission given, or an earlier one that must not be replaced by it. */
  | { readonly kind: 'taken'; readonly submission: Submission }
  | {
      readonly kind: 'rejected';
      /** For the model; names files of the repository. */
      readonly text: string;
      readonly issues: readonly RedactedIssue[];
    }
  | { readonly kind: 'ended'; readonly text: string };

export type FinalDecision = Exclude<Decision, { kind: 'rejected' }>;

/** What the loop asks. */
export interface EvidenceReview {
  observe(result: SeenResult): void;
  /** @param isLast whether no further turn is left. */
  review(submission: Submission, isLast: boolean): Promise<Decision>;
  /** What becomes of what was sent back if the run ends without another payload; null if nothing was. */
  giveUp(): Promise<FinalDecision | null>;
}

export interface ReviewOptions {
  readonly minCoverage: MinCoverage;
  /** The share that `auto` stands for where the change is known; null for none. */
  readonly autoShare: number | null;
  /** Whether the payload says by `complete: true` that the whole change was read. */
  readonly hasComplete: boolean;
  readonly grounding: 'off' | 'mark' | 'require';
  /** Whether the payload does not pass. */
  readonly isRed: (payload: JsonObject) => boolean;
  /** Measures what was observed. */
  readonly meter: { observe(result: SeenResult): void; measure(): Coverage };
  /** Looks the findings up in the files; returns for the model what is wrong with quotes. */
  readonly ground: (payload: JsonObject) => Promise<readonly Issue[]>;
}

/** The share that a payload has to reach, and who asks for it. */
interface Required {
  readonly share: number;
  readonly by: 'input' | 'complete';
}

export function createReview(options: ReviewOptions): EvidenceReview {
  const { isRed, grounding } = options;
  let coverageRounds = 0;
  /** The payload that was sent back for the quotes of its findings. */
  let held: Submission | null = null;
  let unsupported: Extract<Decision, { kind: 'ended' }> | null = null;

  const reviewCoverage = (payload: JsonObject, isLast: boolean): Decision | null => {
    const coverage = options.meter.measure();
    const required = requiredShare(payload, coverage, options);
    if (required === null || isReached(coverage, required)) return null;
    unsupported = { kind: 'ended', text: unsupportedText(coverage, required) };
    // What is not known cannot be shown by reading on.
    const isOver = isLast || coverageRounds >= MAX_ROUNDS;
    if (coverage.status !== 'measured' || isOver) return unsupported;
    coverageRounds += 1;
    const issue = { path: required.by === 'complete' ? '/complete' : '', keyword: 'coverage' };
    return { kind: 'rejected', text: coverageText(coverage, required), issues: [issue] };
  };

  /** Also for the report, which marks what is not proven. */
  const reviewFindings = async (submission: Submission, isLast: boolean): Promise<Decision | null> => {
    const issues = grounding === 'off' ? [] : await options.ground(submission.payload);
    if (grounding !== 'require' || isLast || held !== null || issues.length === 0) return null;
    held = submission;
    return {
      kind: 'rejected',
      text: groundingText(issues),
      issues: issues.map(({ path, keyword }) => ({ path, keyword })),
    };
  };

  return {
    observe: options.meter.observe,
    async review(submission, isLast) {
      // No answer to a rejection makes a red verdict green.
      const red = held !== null && isRed(held.payload) ? held : null;
      if (red !== null && !isRed(submission.payload)) return { kind: 'taken', submission: red };
      const unseen = isRed(submission.payload) ? null : reviewCoverage(submission.payload, isLast);
      return unseen ?? (await reviewFindings(submission, isLast)) ?? { kind: 'taken', submission };
    },
    giveUp: async () => (held === null ? unsupported : { kind: 'taken', submission: held }),
  };
}

/** What the policy of a run asks of the coverage. */
export type CoveragePolicy = Pick<ReviewOptions, 'minCoverage' | 'autoShare' | 'hasComplete'>;

/**
 * Returns the share that a payload which meets its gate has to reach; null if any will do. With `auto`, and for
 * `complete`, what is not known is not required.
 */
function requiredShare(payload: JsonObject, coverage: Coverage, options: CoveragePolicy): Required | null {
  const { minCoverage, autoShare, hasComplete } = options;
  if (minCoverage === 'off') return null;
  const isKnown = coverage.status === 'measured';
  const claimsAll = hasComplete && Object.hasOwn(payload, 'complete') && payload['complete'] === true;
  if (minCoverage !== 'auto') {
    const typed: Required = { share: minCoverage, by: 'input' };
    if (!isReached(coverage, typed)) return typed;
  } else if (isKnown && autoShare !== null) return { share: autoShare, by: 'input' };
  return isKnown && claimsAll ? { share: 1, by: 'complete' } : null;
}

/** A share is not reached if a part of the change is not known. */
function isReached(coverage: Coverage, { share }: Required): boolean {
  const reached = coverageShare(coverage);
  return coverage.status === 'measured' && reached !== null && reached >= share;
}

function coverageText({ files }: Coverage, { by }: Required): string {
  const missing = files.required - files.shown;
  const what = `${missing} of the ${files.required} changed files`;
  const claim = by === 'complete' ? ', so complete cannot be true yet' : '';
  const listed = files.unseen.slice(0, MAX_LISTED_FILES);
  const more = missing - listed.length;
  return [
    `Not taken yet: ${what} were in no result of your tools${claim}. The files whose changes you have not seen, or not all of them:`,
    ...listed.map((file) => `- ${describeUnseen(file)}`),
    ...(more > 0 ? [`- and ${counted(more, 'more file')}`] : []),
    'Read their part of the diff (in the context folder if your task names one, where changed-files.txt lists what was only renamed; else with git diff), or read the files ' +
      'themselves: removed lines are in the diff only. Then call structured_output again, alone, with the whole result, ' +
      'changed where what you have read changes it.',
  ].join('\n');
}

function describeUnseen({ path, hunks, shownHunks }: UnseenFile): string {
  const name = JSON.stringify(path.slice(0, DISPLAY.path));
  if (hunks === 0) return `${name} (its diff is not known)`;
  return shownHunks === 0 ? name : `${name} (${shownHunks} of its ${counted(hunks, 'hunk')} seen)`;
}

function groundingText(issues: readonly Issue[]): string {
  const listed = issues.slice(0, MAX_LISTED_FINDINGS);
  const more = issues.length - listed.length;
  return [
    'Not taken yet: these findings could not be found in the files as they are in the change.',
    ...listed.map(({ path, message }) => `- ${path}: ${message}`),
    ...(more > 0 ? [`- and ${counted(more, 'more finding')}`] : []),
    'Look again, correct their path, line and quote, and call structured_output again, alone, with the whole result. ' +
      'A quote is one to three whole lines, copied exactly. Take a finding out only if it is wrong; leaving findings out ' +
      'does not make a failed verdict pass.',
  ].join('\n');
}

function unsupportedText(coverage: Coverage, required: Required): string {
  const { status, why, files } = coverage;
  const setting =
    required.by === 'complete'
      ? 'the payload says that it is complete'
      : `min-coverage requires ${shareWords(required)}`;
  if (status !== 'measured') {
    const known = status === 'unknown' ? 'what changed is not known' : 'not all of the change is known';
    return `The payload meets its gate, but ${known}, and ${setting}. ${why ?? ''} A checkout with the whole history (fetch-depth: 0) lets git tell all of it; min-coverage: off takes verdicts that rest on less.`;
  }
  const names = files.unseen.slice(0, 5).map(({ path }) => JSON.stringify(path.slice(0, DISPLAY.path)));
  const rest = files.required - files.shown - names.length;
  const unseen =
    names.length === 0 ? '' : ` Not seen: ${names.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}.`;
  const shown = `${files.shown} of ${files.required} changed files`;
  const unlisted = files.unseen.some(({ hunks }) => hunks === 0) ? ` ${NO_PATCH}` : '';
  return `The payload meets its gate, but only ${shown} were shown to the model, and ${setting}.${unseen}${unlisted} ${ADVICE}`;
}

const NO_PATCH =
  'For some of them there is no patch, as for binary and large files: a checkout with the whole history (fetch-depth: 0) lets git tell what changed in them.';

function shareWords({ share }: Required): string {
  return share === 1 ? 'all changed files' : `${Number((share * 100).toFixed(2))} % of the changed files`;
}

const ADVICE =
  'Split the change, judge a part of it (working-directory), or give the model more room (max-turns). min-coverage: off accepts verdicts that rest on less.';
