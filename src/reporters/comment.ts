/** The verdict as a comment on the pull request. */
import { GitHubError, ReportError } from '../errors.ts';
import { indentedJson } from '../text/json.ts';
import { commitPage, runPage } from './links.ts';
import { createMarkdownSanitizer, fitSections } from './markdown.ts';
import type { MarkdownSanitizer, Report, Reporter } from './report-types.ts';
import {
  headline,
  rawJson,
  renderOrHead,
  type SummaryFacts,
  verdictHead,
  verdictSections,
} from './summary.ts';

/** A comment to write; comments of one key are one comment, and a later run or attempt has the last word in it. */
export interface CommentText {
  readonly key: string;
  /** The judged commit. */
  readonly commit: string;
  readonly runId: string;
  readonly attempt: number;
  readonly body: string;
  /** Whether one is made where there is none. */
  readonly create: boolean;
}

/** What became of it; `superseded` where a newer run had spoken, `none` where none stood and none was to be made. */
export type WrittenComment =
  | { readonly outcome: 'created' | 'updated' | 'unchanged' | 'superseded'; readonly url: string }
  | { readonly outcome: 'none' | 'no_pull_request'; readonly url: null };

/** The world of the comment. */
export interface CommentOptions extends SummaryFacts {
  readonly mode: 'always' | 'on-failure';
  readonly key: string;
  /** Rejects with a GitHubError. */
  readonly write: (comment: CommentText) => Promise<WrittenComment>;
  /** Says something that is no warning. */
  readonly notice: (text: string) => void;
}

/** An address that means nothing to a shell either: it becomes an output, which workflows put into scripts. */
const PAGE = /^https?:\/\/[\w.:[\]/#?=%~-]{1,2000}$/u;

/**
 * Writes the comment, and gives its page. With `on-failure` a success writes none, but where one stands it is brought up
 * to date: a comment that goes on calling a mended change broken would be believed.
 * `report` rejects with a ReportError when GitHub refuses.
 */
export function createComment({ mode, key, write, notice, ...facts }: CommentOptions): Reporter {
  return {
    name: 'comment',
    network: true,
    repeatable: true,
    async report(report) {
      const { subject } = report;
      if (subject === null) return;
      const { outcome, url } = await refusedAsWarning(() =>
        write({
          key,
          commit: subject.sha,
          runId: subject.run_id,
          attempt: subject.run_attempt,
          body: commentBody(report, key, facts),
          create: mode === 'always' || isFailure(report),
        }),
      );
      if (outcome === 'no_pull_request') notice('No comment: this run is about no open pull request.');
      if (outcome === 'superseded') notice('A newer run has already commented; its comment stays as it is.');
      return url === null || !PAGE.test(url) ? undefined : { commentUrl: url };
    },
  };
}

/** Anything but success: nobody should have to look for a verdict that never came. */
function isFailure({ verdict }: Report): boolean {
  return verdict.conclusion !== 'success';
}

async function refusedAsWarning(write: () => Promise<WrittenComment>): Promise<WrittenComment> {
  try {
    return await write();
  } catch (cause) {
    if (!(cause instanceof GitHubError)) throw cause;
    throw new ReportError(`The pull request comment could not be written. ${cause.message}`, { cause });
  }
}

/**
 * GitHub takes 65,536 characters. Bytes of UTF-8 are counted, of which a text never has fewer than characters however
 * those are counted, and room is left for the marker and the note.
 */
const MAX_BYTES = 64_000;
/** Rows of one list, and how many are left where those would not fit. */
const ROWS = [50, 20, 5];
/** More of it would only be scrolled past. */
const MAX_JSON = 16_000;

/** The comment in Markdown without its marker: at most 65,000 bytes, everything that is not ours inert. */
export function commentBody(report: Report, key: string, facts: SummaryFacts): string {
  const sanitizer = createMarkdownSanitizer(facts.secrets);
  const foot = footer(report, key, facts, sanitizer);
  return `${renderOrHead(() => aboveFooter(report, facts, sanitizer, foot), report, facts)}${foot}`;
}

function aboveFooter(
  report: Report,
  facts: SummaryFacts,
  sanitizer: MarkdownSanitizer,
  foot: string,
): string {
  const head = verdictHead(report, facts, sanitizer);
  const sections = [
    ...verdictSections(report, facts, sanitizer, ROWS),
    {
      name: 'the raw JSON',
      rank: 9,
      texts: hasShortJson(report) ? [rawJson(report, facts.secrets, sanitizer)] : [],
    },
  ];
  const used = Buffer.byteLength(head + foot, 'utf8');
  const { text, lost } = fitSections(sections, MAX_BYTES - used);
  const whole = `${head}${text}${note(lost, report, facts)}`;
  return Buffer.byteLength(whole + foot, 'utf8') <= MAX_BYTES + 1_000
    ? whole
    : title(report, facts, sanitizer);
}

function hasShortJson({ payload }: Report): boolean {
  return indentedJson(payload, MAX_JSON) !== null;
}

function note(lost: readonly string[], report: Report, { serverUrl }: SummaryFacts): string {
  if (lost.length === 0) return '';
  const page = runPage(report.subject, serverUrl);
  const where = page === null ? "the run's summary" : `[the run's summary](${page})`;
  return `> Too large for a comment: ${lost.join(', ')}. See ${where}, or the file that the output \`run-result-file\` names.\n\n`;
}

/** What is left where not even the head fits, which many weaknesses or changed judges could do. */
function title(report: Report, facts: SummaryFacts, sanitizer: MarkdownSanitizer): string {
  return headline({ ...report, repaired: null }, facts, sanitizer);
}

/** Which run spoke, of which commit, and which of several comments it is. */
function footer(
  report: Report,
  key: string,
  { serverUrl }: SummaryFacts,
  sanitizer: MarkdownSanitizer,
): string {
  const { subject } = report;
  if (subject === null) return '';
  const run = linked(`Run ${sanitizer.inline(subject.run_id, 30)}`, runPage(subject, serverUrl));
  const attempt = subject.run_attempt > 1 ? [`attempt ${subject.run_attempt}`] : [];
  const page = commitPage(subject, serverUrl);
  // A page was only found for a commit that is nothing but a commit.
  const commit =
    page === null ? sanitizer.code(subject.sha, 64) : `[\`${subject.sha.slice(0, 7)}\`](${page})`;
  // The blank line ends what HTML stands before, in which no Markdown is read.
  return `\n<sub>${[run, ...attempt, `commit ${commit}`, sanitizer.code(label(key), 200)].join(' · ')}</sub>\n`;
}

/** A key without what tells nobody anything: an absent matrix, and the name that the runner gives to a step without one. */
function label(key: string): string {
  const parts = key.split(' / ').filter((part) => part !== 'null' && !part.startsWith('__'));
  return parts.join(' / ');
}

function linked(text: string, page: string | null): string {
  return page === null ? text : `[${text}](${page})`;
}
