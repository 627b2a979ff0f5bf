/** The verdict as a commit status, which branch protection can require. */
import { DISPLAY } from '../text/limits.ts';
import { truncate } from '../text/messages.ts';
import { singleLine } from '../text/sanitize.ts';
import type { Report, Reporter, StatusText, ViewFacts } from './report-types.ts';
import { capitalize } from './sentences.ts';
import { viewOf } from './view.ts';

/**
 * Sets the status; `judged` is the judged commit, null if it is unknown. Resolves to false if there is no commit. Rejects
 * with a GitHubError, or with an Error that explains why no success was set.
 */
type SetStatus = (status: StatusText, judged: string | null) => Promise<boolean>;

/** Characters that GitHub accepts. */
const MAX_DESCRIPTION = 140;

/**
 * Sets the status when the agent starts and again at the end. The `pending` status replaces what an earlier run
 * reported for the same commit, so that no success remains if this run is killed. A required status that was never set
 * blocks as well. A skipped run judged nothing: it only replaces a status that an earlier run set.
 */
export function createCommitStatus(set: SetStatus, options: ViewFacts): Reporter {
  let pending: Promise<unknown> | null = null;
  return {
    name: 'commit status',
    event(event) {
      if (event.type !== 'run_started') return;
      // Whatever makes this request fail makes the final one fail too, and that failure is reported.
      pending = set({ state: 'pending', description: 'The agent is at work.' }, null).catch(() => undefined);
    },
    async report(report, signal) {
      // If it arrived last, it would overwrite the verdict. After a signal there is only time for one of them.
      await pending;
      if (signal.aborted && pending !== null) return;
      // In a merge, the commit that the legs judged, whatever its own job has checked out.
      const isSet = await set(statusOf(report, options), report.subject?.checked_out ?? null);
      if (!isSet) throw new Error('This run is about no commit.');
    },
  };
}

/** A replayed run never sets `success`: a required status must not pass on it. */
function statusOf(report: Report, options: ViewFacts): StatusText {
  const { conclusion } = report.verdict;
  const isSuccess = conclusion === 'success' && report.replayed !== true;
  const { outcome, reason } = viewOf(report, options);
  const text = singleLine(`${capitalize(outcome)}. ${reason ?? ''}`, DISPLAY.line);
  return {
    state: conclusion === 'failure' || isSuccess ? conclusion : 'error',
    // GitHub rejects 4-byte UTF-8 characters in a description.
    description: truncate(text.replace(/[^\0-\uffff]/gu, '�'), MAX_DESCRIPTION),
    ...(conclusion === 'skipped' ? { ifPresent: true } : {}),
  };
}
