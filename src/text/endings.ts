/** The endings table. The schema of the envelope and the table of README.md are generated from it. */

/** For each reason: conclusion, `subtype` in the envelope, exit code, and what the headline says. */
export const ENDINGS = {
  accepted: ['success', 'success', 0, 'passed'],
  gate_not_met: ['failure', 'gate_not_met', 1, 'not passed'],
  plain_text: ['inconclusive', 'error_plain_text', 1, 'no verdict, because the model gave none'],
  refusal: ['inconclusive', 'error_refusal', 1, 'no verdict, because the model refused'],
  provider_auth: ['inconclusive', 'error_provider', 1, "no verdict, because the model's API refused the key"],
  provider_rate_limit: [
    'inconclusive',
    'error_provider',
    1,
    "no verdict, because the model's API has a rate limit",
  ],
  provider_overloaded: [
    'inconclusive',
    'error_provider',
    1,
    "no verdict, because the model's API is overloaded",
  ],
  provider_error: ['inconclusive', 'error_provider', 1, "no verdict, because the model's API failed"],
  context_overflow: [
    'inconclusive',
    'error_provider',
    1,
    'no verdict, because the conversation is too long for the model',
  ],
  replay_mismatch: ['inconclusive', 'error_replay', 1, 'no verdict, because the recording does not fit'],
  secret_in_payload: [
    'inconclusive',
    'error_security',
    1,
    'no verdict, because the payload contains a secret',
  ],
  tampered: ['inconclusive', 'error_security', 1, 'no verdict, because a protected file was changed'],
  internal: ['inconclusive', 'error_internal', 1, 'no verdict, because of an internal error'],
  undecided: [
    'inconclusive',
    'error_undecided',
    1,
    'undecided, because missing legs could change the verdict',
  ],
  unsupported: [
    'inconclusive',
    'error_evidence',
    1,
    'no verdict, because too little of the change was shown to the model',
  ],
  sandbox: ['inconclusive', 'error_sandbox', 44, 'no verdict, because there is no working sandbox'],
  config: ['inconclusive', 'error_config', 52, 'no verdict, because the run could not start'],
  max_turns: ['inconclusive', 'error_max_turns', 53, 'no verdict after the last turn'],
  timeout: ['inconclusive', 'error_budget', 55, 'no verdict in time'],
  max_tokens: ['inconclusive', 'error_budget', 55, 'no verdict within the token budget'],
  max_cost: ['inconclusive', 'error_budget', 55, 'no verdict within the cost budget'],
  cancelled: ['inconclusive', 'error_cancelled', 130, 'no verdict, because the run was cancelled'],
  missing_key: ['skipped', 'skipped', 0, 'skipped, because there is no key for the model'],
} as const;

type Row = (typeof ENDINGS)[Reason];

/** Why a run ended with its conclusion. */
export type Reason = keyof typeof ENDINGS;

/** The result of a run. */
export type Conclusion = Row[0];

export type Subtype = Row[1];

export type ExitCode = Row[2];
