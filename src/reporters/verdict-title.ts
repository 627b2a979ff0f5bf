/** The verdict in a few words, for the title of a report. */

import type { Conclusion, Reason } from '../types.ts';
import { countedMerge, isMerge, tallyWords } from './merge-words.ts';
import type { Report } from './report-types.ts';
import { wasReused } from './reuse-words.ts';

/** What stands before everything that is told of a replay. */
export const REPLAY_MARK = 'Replay, judged by no model. ';

type Judged = Pick<Report, 'verdict' | 'gate' | 'payload' | 'replayed' | 'reuse' | 'merged'>;

/** One line with a mark that is seen from afar; words of ours only. */
export function verdictTitle(report: Judged): string {
  const title = titleOf(report);
  return report.replayed === true ? `🔁 ${REPLAY_MARK}${title.replace(/^\S+ /u, '')}` : title;
}

function titleOf(report: Judged): string {
  const { verdict, gate } = report;
  const merged = countedMerge(report);
  if (merged !== null) return `${MERGED[verdict.conclusion]}: ${tallyWords(merged)}`;
  if (isMerge(report) && verdict.reason === 'config') return '⚠️ Inconclusive: nothing was merged';
  const reused = wasReused(report) ? ' (reused)' : '';
  switch (verdict.conclusion) {
    case 'success':
      // Without a gate nobody asked whether the payload is good news.
      return gate?.status === 'none'
        ? `☑️ Accepted${reused}: no gate was asked for`
        : `✅ Success${reused}: the gate is met`;
    case 'failure':
      return `❌ Failure${reused}: the gate is not met`;
    case 'inconclusive':
      return `⚠️ Inconclusive: ${WHY[verdict.reason]}`;
    case 'skipped':
      return '⏭️ Skipped: nothing was judged';
  }
}

const MERGED: Readonly<Record<Conclusion, string>> = {
  success: '✅ Success',
  failure: '❌ Failure',
  inconclusive: '⚠️ Undecided',
  skipped: '⏭️ Skipped',
};

const WHY: Readonly<Record<Reason, string>> = {
  accepted: 'no verdict',
  gate_not_met: 'no verdict',
  plain_text: 'the model gave no verdict',
  refusal: 'the model refused',
  provider_auth: "the model's API refused the key",
  provider_rate_limit: "the model's API has a rate limit",
  provider_overloaded: "the model's API is overloaded",
  provider_error: "the model's API failed",
  context_overflow: 'the conversation is too long for the model',
  replay_mismatch: 'the recording does not fit',
  secret_in_payload: 'the payload holds a secret',
  tampered: 'a protected file was changed',
  internal: 'an internal error',
  sandbox: 'no working sandbox',
  config: 'the configuration is wrong',
  max_turns: 'out of turns',
  timeout: 'out of time',
  max_tokens: 'out of tokens',
  max_cost: 'out of money',
  cancelled: 'cancelled',
  missing_key: 'there is no key for the model',
  undecided: 'missing legs could change the verdict',
};
