/** The endings table. The schema of the envelope and the table of README.md are generated from it. */

/** For each reason: conclusion, `subtype` in the envelope, exit code, and why there is no verdict. */
export const ENDINGS = {
  accepted: ['success', 'success', 0, ''],
  gate_not_met: ['failure', 'gate_not_met', 1, ''],
  plain_text: ['inconclusive', 'error_plain_text', 1, 'the model gave none'],
  refusal: ['inconclusive', 'error_refusal', 1, 'the model refused'],
  provider_auth: ['inconclusive', 'error_provider', 1, "the model's API refused the key"],
  provider_rate_limit: ['inconclusive', 'error_provider', 1, "the model's API has a rate limit"],
  provider_overloaded: ['inconclusive', 'error_provider', 1, "the model's API is overloaded"],
  provider_error: ['inconclusive', 'error_provider', 1, "the model's API failed"],
  context_overflow: ['inconclusive', 'error_provider', 1, 'the conversation is too long for the model'],
  replay_mismatch: ['inconclusive', 'error_replay', 1, 'the recording does not fit'],
  secret_in_payload: ['inconclusive', 'error_security', 1, 'the payload contains a secret'],
  tampered: ['inconclusive', 'error_security', 1, 'a protected file was changed'],
  internal: ['inconclusive', 'error_internal', 1, 'of an internal error'],
  undecided: ['inconclusive', 'error_undecided', 1, 'missing legs could change it'],
  unsupported: ['inconclusive', 'error_evidence', 1, 'it is based on too little'],
  sandbox: ['inconclusive', 'error_sandbox', 44, 'there is no working sandbox'],
  config: ['inconclusive', 'error_config', 52, 'the run could not start'],
  max_turns: ['inconclusive', 'error_max_turns', 53, 'the turn limit was reached'],
  timeout: ['inconclusive', 'error_budget', 55, 'the time limit was reached'],
  max_tokens: ['inconclusive', 'error_budget', 55, 'the token budget was used up'],
  max_cost: ['inconclusive', 'error_budget', 55, 'the cost budget was used up'],
  cancelled: ['inconclusive', 'error_cancelled', 130, 'the run was cancelled'],
  missing_key: ['skipped', 'skipped', 0, 'there is no key for the model'],
} as const;

type Row = (typeof ENDINGS)[Reason];

/** Why a run ended with its conclusion. */
export type Reason = keyof typeof ENDINGS;

/** The result of a run. */
export type Conclusion = Row[0];

export type Subtype = Row[1];

export type ExitCode = Row[2];

/** Returns what the headline says about an ending. */
export function headlineOf(reason: Reason, isGated: boolean, isReplay: boolean): string {
  const [conclusion, , , why] = ENDINGS[reason];
  // Without a gate nothing checked whether the payload is good news.
  const success = isGated ? 'passed' : 'accepted, without a gate';
  const words = { success, failure: 'not passed', inconclusive: 'no verdict', skipped: 'skipped' };
  const because = why === '' ? '' : `, because ${why}`;
  return `${words[conclusion]}${because}${isReplay ? ' (a replay, judged by no model)' : ''}`;
}
