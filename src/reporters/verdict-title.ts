/** The verdict in a few words, for the title of a report. */

import type { Reason } from '../types.ts';
import type { Report } from './report-types.ts';

/** What stands before everything that is told of a replay. */
export const REPLAY_MARK = 'Replay, judged by no model. ';

/** One line with a mark that is seen from afar; words of ours only. */
export function verdictTitle(report: Report): string {
  const title = titleOf(report);
  return report.replayed === true ? `🔁 ${REPLAY_MARK}${title.replace(/^\S+ /u, '')}` : title;
}

function titleOf(report: Report): string {
  const { verdict, gate, view } = report;
  const title = view?.title?.(report) ?? null;
  if (title !== null) return title;
  const remark = view?.remark === undefined ? '' : ` (${view.remark})`;
  switch (verdict.conclusion) {
    case 'success':
      // Without a gate nobody asked whether the payload is good news.
      return gate?.status === 'none'
        ? `☑️ Accepted${remark}: no gate was asked for`
        : `✅ Success${remark}: the gate is met`;
    case 'failure':
      return `❌ Failure${remark}: the gate is not met`;
    case 'inconclusive':
      return `⚠️ Inconclusive: ${WHY[verdict.reason]}`;
    case 'skipped':
      return '⏭️ Skipped: nothing was judged';
  }
}

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
