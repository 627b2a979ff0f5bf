/** The verdict as a comment on the pull request. */
import { inline } from './markdown.ts';
import { renderPage } from './page.ts';
import type { CommentText, Report, Reporter, WrittenComment } from './report-types.ts';
import { type ViewOptions, viewOf } from './view.ts';

/** Bytes of a comment without its marker. GitHub accepts 65,536 characters, and a text never has fewer bytes in UTF-8. */
const MAX_COMMENT = 64_000;
/** Rows of each list that are not folded. */
const OPEN_ROWS = 10;

export interface CommentOptions extends ViewOptions {
  readonly mode: 'always' | 'on-failure';
  readonly key: string;
  /** Rejects with a GitHubError. */
  readonly write: (comment: CommentText) => Promise<WrittenComment>;
  /** Logs a message below the level of a warning. */
  readonly notice: (text: string) => void;
}

/**
 * Writes the comment. With `on-failure`, a success creates no comment but updates an existing one: a comment that still
 * reported a failure after the fix would be believed.
 */
export function createComment({ mode, key, write, notice, ...options }: CommentOptions): Reporter {
  return {
    name: 'pull request comment',
    network: true,
    async report(report) {
      const { subject } = report;
      if (subject === null) return;
      const outcome = await write({
        key,
        commit: subject.sha,
        runId: subject.run_id,
        attempt: subject.run_attempt,
        body: commentBody(report, options),
        // Every conclusion except success: a run without a verdict must not be missed.
        create: mode === 'always' || report.verdict.conclusion !== 'success',
      });
      if (outcome === 'no_pull_request') notice('No comment: this run is about no open pull request.');
      if (outcome === 'superseded') notice('A newer run has already commented; its comment stays as it is.');
    },
  };
}

/** Renders the comment as Markdown without its marker, with run, attempt and commit as its last line. */
export function commentBody(report: Report, options: ViewOptions): string {
  const view = viewOf(report, options);
  const limits = { bytes: MAX_COMMENT, open: OPEN_ROWS };
  const { subject } = report;
  if (subject === null) return renderPage(view, limits);
  const { run, commit } = view.pages;
  const parts = [
    link(`Run ${inline(subject.run_id, 30)}`, run),
    ...(subject.run_attempt > 1 ? [`attempt ${subject.run_attempt}`] : []),
    `commit ${link(`\`${inline(subject.sha.slice(0, 7))}\``, commit)}`,
  ];
  // The blank line ends a preceding HTML block, inside which Markdown is not parsed.
  return renderPage(view, limits, '', `\n<sub>${parts.join(' · ')}</sub>\n`);
}

function link(text: string, page: string | null): string {
  return page === null ? text : `[${text}](${page})`;
}
