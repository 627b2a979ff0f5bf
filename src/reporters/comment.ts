/** The verdict as a comment on the pull request. */
import { GitHubError, ReportError } from '../errors.ts';
import { indentedJson } from '../text/json.ts';
import { GITHUB } from '../text/limits.ts';
import { commitPage, runPage } from './links.ts';
import { createMarkdownSanitizer, fitSections } from './markdown.ts';
import type { CommentText, MarkdownSanitizer, Report, Reporter, WrittenComment } from './report-types.ts';
import {
  headline,
  rawJson,
  renderOrHead,
  type SummaryFacts,
  verdictHead,
  verdictSections,
} from './summary.ts';

/** Characters of the payload as JSON in a comment, which readers would only scroll past. */
const MAX_JSON = 16_000;

export interface CommentOptions extends SummaryFacts {
  readonly mode: 'always' | 'on-failure';
  readonly key: string;
  /** Rejects with a GitHubError. */
  readonly write: (comment: CommentText) => Promise<WrittenComment>;
  /** Logs a message below the level of a warning. */
  readonly notice: (text: string) => void;
}

/** A URL without shell metacharacters, because it becomes an output that workflows insert into scripts. */
const _PAGE = /^https?:\/\/[\w.:[\]/#?=%~-]{1,2000}$/u;

/**
 * Writes the comment. With `on-failure`, a success creates no comment but updates an existing one:
 * a comment that still reported a failure after the fix would be believed.
 * `report` rejects with a ReportError if GitHub refuses the request.
 */
export function createComment({ mode, key, write, notice, ...facts }: CommentOptions): Reporter {
  return {
    name: 'comment',
    network: true,
    repeatable: true,
    async report(report) {
      const { subject } = report;
      if (subject === null) return;
      const { outcome } = await refusedAsWarning(() =>
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
    },
  };
}

/**
 * Every conclusion except `success`. A run without a verdict is commented on too, so that the verdict is not missed
 * silently.
 */
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

/** Maximum rows per list, with smaller fallbacks if they do not fit. */
const ROWS = [50, 20, 5];

/** Renders the comment as Markdown without its marker: at most 65,000 bytes, with all untrusted text escaped. */
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
      texts:
        indentedJson(report.payload, MAX_JSON) === null ? [] : [rawJson(report, facts.secrets, sanitizer)],
    },
  ];
  const used = Buffer.byteLength(head + foot, 'utf8');
  const { text, lost } = fitSections(sections, GITHUB.comment - used);
  const whole = `${head}${text}${note(lost, report, facts)}`;
  if (Buffer.byteLength(whole + foot, 'utf8') <= GITHUB.comment + 1_000) return whole;
  // Many weaknesses or changed policy files can make even the head too long.
  return headline({ ...report, repaired: null }, facts, sanitizer);
}

function note(lost: readonly string[], report: Report, { serverUrl }: SummaryFacts): string {
  if (lost.length === 0) return '';
  const page = runPage(report.subject, serverUrl);
  const where = page === null ? "the run's summary" : `[the run's summary](${page})`;
  return `> Too large for a comment: ${lost.join(', ')}. See ${where}, or the file that the output \`run-result-file\` names.\n\n`;
}

/** Names the run, the attempt, the commit, and the key that identifies this comment. */
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
  // `commitPage` returns a URL only for a valid commit SHA, so the SHA needs no escaping here.
  const commit =
    page === null ? sanitizer.code(subject.sha, 64) : `[\`${subject.sha.slice(0, 7)}\`](${page})`;
  // The blank line ends a preceding HTML block, inside which Markdown is not parsed.
  return `\n<sub>${[run, ...attempt, `commit ${commit}`, sanitizer.code(label(key), 200)].join(' · ')}</sub>\n`;
}

/**
 * The key without uninformative parts: an absent matrix, and the name that the runner gives to a step without an id.
 */
function label(key: string): string {
  const parts = key.split(' / ').filter((part) => part !== 'null' && !part.startsWith('__'));
  return parts.join(' / ');
}

function linked(text: string, page: string | null): string {
  return page === null ? text : `[${text}](${page})`;
}
