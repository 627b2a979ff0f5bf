/** The verdict as a comment on the pull request. */
import { GitHubError, ReportError } from '../errors.ts';
import { commentBody } from './comment-body.ts';
import type { Report, Reporter } from './report-types.ts';
import type { SummaryFacts } from './summary.ts';

/** A comment to write; comments of one key are one comment, and a later run or attempt has the last word in it. */
export interface CommentText {
  readonly key: string;
  /** The judged commit. */
  readonly commit: string;
  readonly runId: string;
  readonly attempt: number;
  readonly body: string;
  /** Whether one is made where none stands. */
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
    retold: true,
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
