/**
 * Decides whether a payload that the schema accepts is taken: whether the model was shown enough of the change, and whether
 * its findings are in the files. A payload that does not meet its gate needs no coverage, and no answer to a rejection
 * makes a red verdict green.
 */
import { DISPLAY, EVIDENCE } from '../text/limits.ts';
import { counted } from '../text/messages.ts';
import type { Naming } from '../text/naming.ts';
import type {
  Coverage,
  GroundingStatus,
  Issue,
  JsonObject,
  MinCoverage,
  RedactedIssue,
  Repair,
  UnseenFile,
} from '../types.ts';
import type { SeenResult } from './coverage.ts';
import { coverageShare } from './share.ts';

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
  | { readonly kind: 'ended'; readonly reason: 'unread' | 'ungrounded'; readonly text: string };

export type FinalDecision = Exclude<Decision, { kind: 'rejected' }>;

/** What the loop asks. */
export interface EvidenceReview {
  observe(result: SeenResult): void;
  /**
   * @param isLast whether no further turn is left.
   * @param turn of the call: calls of one turn were made without an answer to the first of them, and use up one round.
   */
  review(submission: Submission, isLast: boolean, turn: number): Promise<Decision>;
  /** What becomes of what was sent back if the run ends without another payload; null if nothing was. */
  giveUp(): Promise<FinalDecision | null>;
}

/** What was found about one row of the findings. */
export interface ReviewedFinding {
  readonly status: GroundingStatus | null;
  /** For the model: why it is not proven; null if it is, or if another quote would not help. */
  readonly issue: Issue | null;
}

export interface ReviewOptions {
  readonly minCoverage: MinCoverage;
  /** The share that `auto` stands for where the change is known; null for none. */
  readonly autoShare: number | null;
  /** Whether the payload says by `complete: true` that the whole change was read. */
  readonly hasComplete: boolean;
  readonly grounding: 'off' | 'mark' | 'require';
  readonly gateFindings: 'all' | 'proven';
  /** Whether the payload does not pass. */
  readonly isRed: (payload: JsonObject) => boolean;
  /** Measures what was observed. */
  readonly meter: { observe(result: SeenResult): void; measure(): Coverage };
  /** Looks the rows of the findings up in the files. */
  readonly ground: (payload: JsonObject) => Promise<readonly ReviewedFinding[]>;
  /** Returns the indexes of the findings because of which the gate is not met or, without a gate, of the severe ones. */
  readonly blocking: (payload: JsonObject) => readonly number[];
  readonly naming: Naming;
}

/** The share that a payload has to reach, and who asks for it. */
interface Required {
  readonly of: 'files' | 'lines';
  readonly share: number;
  readonly by: 'input' | 'complete';
}

export function createReview(options: ReviewOptions): EvidenceReview {
  const { isRed, grounding, naming } = options;
  let coverageRounds = 0;
  let groundingRounds = 0;
  let shownBefore = -1;
  /** The turn of the last rejection of either kind. */
  let [coverageTurn, groundingTurn] = [-1, -1];
  /** The last payload that was sent back for its findings' quotes, unless it hides a failure of an earlier one. */
  let held: Submission | null = null;
  let unread: Extract<Decision, { kind: 'ended' }> | null = null;

  const reviewCoverage = (payload: JsonObject, isLast: boolean, turn: number): Decision | null => {
    const coverage = options.meter.measure();
    const required = requiredShare(payload, coverage, options);
    if (required === null || isReached(coverage, required)) return null;
    unread = { kind: 'ended', reason: 'unread', text: unreadText(coverage, required, naming) };
    // A file of many hunks is read in several rounds.
    const shown = coverage.files.shown + coverage.lines.shown;
    const isSameTurn = turn === coverageTurn;
    const isStuck = shown <= shownBefore || coverageRounds >= EVIDENCE.coverageRounds;
    // What is not known cannot be shown by reading on.
    if (coverage.status !== 'measured' || isLast || (isStuck && !isSameTurn)) return unread;
    if (!isSameTurn) coverageRounds += 1;
    [shownBefore, coverageTurn] = [shown, turn];
    const issue = { path: required.by === 'complete' ? '/complete' : '', keyword: 'coverage' };
    return { kind: 'rejected', text: coverageText(coverage, required), issues: [issue] };
  };

  const reviewFindings = async (
    submission: Submission,
    isLast: boolean,
    turn: number,
  ): Promise<Decision | null> => {
    const isSameTurn = turn === groundingTurn;
    const isOver = groundingRounds >= EVIDENCE.groundingRounds && !isSameTurn;
    if (grounding !== 'require' || isLast || isOver) return null;
    const { payload } = submission;
    const found = await options.ground(payload);
    const issues = found.flatMap(({ issue }) => (issue === null ? [] : [issue]));
    if (issues.length === 0) return null;
    if (!isSameTurn) groundingRounds += 1;
    groundingTurn = turn;
    if (held === null || !hidesFailure(held, submission)) held = submission;
    return {
      kind: 'rejected',
      text: groundingText(issues),
      issues: issues.map(({ path, keyword }) => ({ path, keyword })),
    };
  };

  /** How many findings fail the gate if none of them is proven and only proven ones count; 0 if the verdict stands. */
  const countUnproven = async ({ payload }: Submission): Promise<number> => {
    // Also for the report, which marks what is not proven.
    const found = grounding === 'off' ? [] : await options.ground(payload);
    if (options.gateFindings === 'all' || !isRed(payload)) return 0;
    const rows = options.blocking(payload);
    const isProven = (row: number) => ['exact', 'moved'].includes(found[row]?.status ?? '');
    return rows.some(isProven) ? 0 : rows.length;
  };

  /**
   * Whether a later payload passes where an earlier one did not or, without a gate, has fewer severe findings. A red one may
   * have fewer: then a finding was taken back, and others have their proof.
   */
  const hidesFailure = ({ payload: earlier }: Submission, { payload: later }: Submission): boolean =>
    !isRed(later) && (isRed(earlier) || options.blocking(later).length < options.blocking(earlier).length);

  const take = async (submission: Submission): Promise<FinalDecision> => {
    const isKept = held !== null && hidesFailure(held, submission);
    const [first, other] = isKept && held !== null ? [held, submission] : [submission, held];
    const unproven = await countUnproven(first);
    if (unproven === 0) return { kind: 'taken', submission: first };
    // Of two red payloads, one may have the proof that the other lacks.
    if (other !== null && isRed(other.payload) && (await countUnproven(other)) === 0)
      return { kind: 'taken', submission: other };
    return { kind: 'ended', reason: 'ungrounded', text: ungroundedText(unproven, naming) };
  };

  return {
    observe: options.meter.observe,
    async review(submission, isLast, turn) {
      const { payload } = submission;
      const red = isRed(payload) || (held !== null && isRed(held.payload));
      const unseen = red ? null : reviewCoverage(payload, isLast, turn);
      return unseen ?? (await reviewFindings(submission, isLast, turn)) ?? take(submission);
    },
    giveUp: async () => (held === null ? unread : take(held)),
  };
}

/** What the policy of a run asks of the coverage. */
export type CoveragePolicy = Pick<ReviewOptions, 'minCoverage' | 'autoShare' | 'hasComplete'>;

/** Whether a payload that meets its gate rests on enough. */
export function isCovered(payload: JsonObject, coverage: Coverage, policy: CoveragePolicy): boolean {
  const required = requiredShare(payload, coverage, policy);
  return required === null || isReached(coverage, required);
}

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
    const isUnknown = coverage.status === 'unknown';
    if (!isReached(coverage, { ...minCoverage, by: 'input' }) || isUnknown)
      return { ...minCoverage, by: 'input' };
  } else if (isKnown && autoShare !== null) return { of: 'files', share: autoShare, by: 'input' };
  return isKnown && claimsAll ? { of: 'files', share: 1, by: 'complete' } : null;
}

/** A share that somebody typed is not reached if a part of the change is not known. */
function isReached(coverage: Coverage, { of, share }: Required): boolean {
  const reached = coverageShare(coverage, of);
  return coverage.status === 'measured' && reached !== null && reached >= share;
}

function coverageText(coverage: Coverage, { of, by }: Required): string {
  const { files, lines } = coverage;
  const missing = files.required - files.shown;
  const what =
    of === 'lines'
      ? `${counted(lines.changed - lines.shown, 'line')} of the ${lines.changed} changed lines`
      : `${missing} of the ${files.required} changed files`;
  const claim = by === 'complete' ? ', so complete cannot be true yet' : '';
  const listed = files.unseen.slice(0, EVIDENCE.listedFiles);
  const more = missing - listed.length;
  return [
    `Not taken yet: ${what} were in no result of your tools${claim}. The files whose changes you have not seen, or not all of them:`,
    ...listed.map((file) => `- ${describeUnseen(file)}`),
    ...(more > 0 ? [`- and ${counted(more, 'more file')}`] : []),
    'Read their part of the diff (in /tmp/context/ if that folder is there, where changed-files.txt lists what was only renamed; else with git diff), or read the files ' +
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
  const listed = issues.slice(0, EVIDENCE.listedFindings);
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

function unreadText(coverage: Coverage, required: Required, naming: Naming): string {
  const { status, why, files, lines } = coverage;
  const setting =
    required.by === 'complete'
      ? 'the payload says that it is complete'
      : `${naming.name('min-coverage')} requires ${shareWords(required)}`;
  if (status !== 'measured') {
    const known = status === 'unknown' ? 'what changed is not known' : 'not all of the change is known';
    return `The payload meets its gate, but ${known}, and ${setting}. ${why ?? ''} A checkout with the whole history (fetch-depth: 0) lets git tell all of it; ${naming.setting('min-coverage', 'off')} takes verdicts that rest on less.`;
  }
  const names = files.unseen.slice(0, 5).map(({ path }) => JSON.stringify(path.slice(0, DISPLAY.path)));
  const rest = files.required - files.shown - names.length;
  const unseen =
    names.length === 0 ? '' : ` Not seen: ${names.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}.`;
  const shown =
    required.of === 'lines'
      ? `${lines.shown} of ${lines.changed} changed lines`
      : `${files.shown} of ${files.required} changed files`;
  const unlisted = files.unseen.some(({ hunks }) => hunks === 0) ? ` ${NO_PATCH}` : '';
  return `The payload meets its gate, but only ${shown} were shown to the model, and ${setting}.${unseen}${unlisted} ${advise(naming)}`;
}

const NO_PATCH =
  'For some of them there is no patch, as for binary and large files: a checkout with the whole history (fetch-depth: 0) lets git tell what changed in them.';

function shareWords({ of, share }: Required): string {
  return share === 1 ? `all changed ${of}` : `${Number((share * 100).toFixed(2))} % of the changed ${of}`;
}

function advise({ name, setting }: Naming): string {
  return `Split the change, leave files out of what is judged (${name('subject-paths')}), or give the model more room (${name('max-turns')}, ${name('max-tool-output-kb')}); ${setting('min-coverage', 'off')} takes verdicts that rest on less.`;
}

function ungroundedText(rows: number, { setting }: Naming): string {
  const what =
    rows === 1
      ? 'the finding that fails it is not proven'
      : `none of the ${rows} findings that fail it is proven`;
  return `The gate is not met, but ${what} (${setting('gate-findings', 'proven')}): no quote of it stands in the files. Nothing was published: run again, or look at the change yourself.`;
}
