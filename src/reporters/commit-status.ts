/** The verdict as a status on the commit, which branch protection can require. */

import { GitHubError, ReportError } from '../errors.ts';
import { truncate } from '../text/messages.ts';
import { sanitize, singleLine } from '../text/sanitize.ts';
import type { Secrets } from '../text/secrets.ts';
import type { Conclusion } from '../types.ts';
import type { Report, Reporter } from './report-types.ts';
import { REPLAY_MARK, verdictTitle } from './verdict-text.ts';

/** What a status says. */
export interface StatusText {
  readonly state: 'pending' | 'success' | 'failure' | 'error';
  /** At most 140 characters, none of them above U+FFFF. */
  readonly description: string;
}

/** The world of the status. */
export interface CommitStatusOptions {
  readonly secrets: Secrets;
  /**
   * Sets it on the judged commit, which is the one that is checked out unless it is told (null where that is not known);
   * false where there is no commit at all. Rejects with a GitHubError, or with a ReportError that says why no success was
   * set.
   */
  readonly set: (status: StatusText, judged?: string | null) => Promise<boolean>;
}

/** GitHub refuses a longer description. */
const MAX_DESCRIPTION = 140;

const STATES: Readonly<Record<Conclusion, StatusText['state'] | null>> = {
  success: 'success',
  failure: 'failure',
  inconclusive: 'error',
  skipped: null,
};

/**
 * Sets the status once the agent starts, and again at the end. A `pending` one takes back what an earlier run said of
 * the same commit: should this run be killed, nothing green is left standing. A status that was never set blocks as well
 * where it is required. A skipped run sets none, for it judged nothing.
 * `report` rejects with a ReportError when GitHub refuses.
 */
export function createCommitStatus({ secrets, set }: CommitStatusOptions): Reporter {
  let pending: Promise<unknown> = Promise.resolve();
  return {
    name: 'commit-status',
    network: true,
    repeatable: true,
    event(event) {
      if (event.type !== 'run_started') return;
      // What keeps GitHub from taking this one keeps it from taking the last one too, and that is told then.
      pending = set({ state: 'pending', description: 'The agent is at work.' }).catch(() => undefined);
    },
    async report(report) {
      const state = stateOf(report);
      if (state === null) return;
      // Set in this order, or the last word could be `pending`.
      await pending;
      try {
        if (
          await set({ state, description: description(report, secrets) }, report.view?.statusCommit?.(report))
        )
          return;
      } catch (cause) {
        if (!(cause instanceof GitHubError)) throw cause;
        throw new ReportError(`The commit status could not be set. ${cause.message}`, { cause });
      }
      throw new ReportError('The commit status could not be set: this run is about no commit.');
    },
  };
}

/** What was replayed is nothing that a required status may let pass. */
function stateOf({ verdict, replayed }: Report): StatusText['state'] | null {
  const state = STATES[verdict.conclusion];
  return replayed === true && state === 'success' ? 'error' : state;
}

/** GitHub refuses characters of four bytes here, the title's own mark among them. */
function description(report: Report, secrets: Secrets): string {
  const { error } = report.verdict;
  const title = verdictTitle(report).replace(/^\S+ /, '');
  const replay = report.replayed === true ? REPLAY_MARK : '';
  const own = report.view?.statusText?.(report) ?? null;
  const text = own ?? (error === null ? title : `${replay}${error}`);
  return truncate(singleLine(sanitize(text, secrets), 2_000).replace(/[^\0-\uffff]/gu, '�'), MAX_DESCRIPTION);
}
