/** Maps how a run ended to a row of the endings table. Only this maps thrown errors. */
import {
  ContractError,
  InputError,
  MissingKeyError,
  messageFor,
  ProviderError,
  type ProviderFailure,
  ReplayError,
  SandboxError,
} from '../errors.ts';
import { ENDINGS, type Reason } from '../text/endings.ts';
import { counted, type Entry, listIssues, truncate } from '../text/messages.ts';
import type { GateResult, Limit, Outcome, Verdict } from '../types.ts';

/** Characters of `last_assistant_text`, in the schema of the envelope. */
const MAX_LAST_TEXT = 200;

/** What ended a run: an outcome of the loop, a thrown error, or a check while finishing. */
export type Ending =
  | Outcome
  | { readonly kind: 'failed'; readonly error: unknown }
  | { readonly kind: 'secret'; readonly where: string }
  | { readonly kind: 'tampered'; readonly file: string }
  | { readonly kind: 'undecided'; readonly text: string }
  | (Omit<Extract<Outcome, { kind: 'submitted' }>, 'kind'> & {
      readonly kind: 'interrupted';
      readonly signal: string;
    });

/** Facts used in the sentences of a verdict. */
export interface VerdictFacts {
  readonly turns: number;
  /** The gate's result for the accepted payload; null when no payload was accepted. */
  readonly gate: GateResult | null;
  readonly limits: Readonly<Record<Limit, string>>;
  /** Whether `exclude-tools` removed `structured_output`, so that no verdict could be delivered. */
  readonly isExcluded?: boolean;
  /** The entry whose wording the sentences use. */
  readonly entry: Entry;
}

function conclude(reason: Reason, error: string | null, published = false): Verdict {
  const [conclusion, subtype, exitCode] = ENDINGS[reason];
  return { conclusion, reason, subtype, exitCode, published, error };
}

export function verdictOf(ending: Ending, facts: VerdictFacts): Verdict {
  switch (ending.kind) {
    case 'submitted':
      return accepted(facts);
    case 'interrupted':
      // Accepted before the signal: the payload is still published, and the exit code is what callers can rely on.
      return conclude('cancelled', `Cancelled by ${ending.signal}, after the payload was accepted.`, true);
    case 'cancelled':
      return conclude(
        'cancelled',
        `Cancelled by ${ending.signal}, before a payload was accepted and checked.`,
      );
    case 'plain_text':
      return conclude('plain_text', plainText(ending, facts));
    case 'refused':
      return conclude(
        'refusal',
        `The model refused to answer (or its provider's content filter did) after ${counted(facts.turns, 'turn')}. ` +
          'Rephrase the prompt, or try another model.',
      );
    case 'exhausted':
      return exhausted(ending, facts);
    case 'secret':
      return conclude(
        'secret_in_payload',
        `The payload holds a secret of this job (${ending.where}). Nothing was published. ` +
          'Treat that secret as leaked to the model, and check what the repository instructs the agent to do.',
      );
    case 'tampered':
      return conclude(
        'tampered',
        `During the run ${ending.file} was changed, which the agent must never touch. Nothing was published. ` +
          'Check what the repository instructs the agent to do.',
      );
    case 'weak':
      return conclude('unsupported', ending.text);
    case 'undecided':
      return conclude('undecided', ending.text);
    case 'failed':
      return thrown(ending.error, facts.entry);
  }
}

/**
 * Returns the first characters of the model's prose on one line, for an ending that shows it. The result is untrusted
 * text.
 */
export function preview(text: string): string {
  const line = text.replace(/\s+/gu, ' ').trim();
  return truncate(line, MAX_LAST_TEXT);
}

function accepted({ gate }: VerdictFacts): Verdict {
  if (gate?.status !== 'not_met') return conclude('accepted', null, true);
  const clauses = gate.issues.map(({ message }) => message);
  return conclude('gate_not_met', `The gate is not met: ${clauses.join('; ')}.`, true);
}

/** The sentence for a run that could not deliver a verdict, whatever the model did. */
const EXCLUDED =
  'The run could not deliver a verdict: structured_output is excluded (exclude-tools), and only a call of that tool delivers one. Remove it from exclude-tools.';

/** The reason for each limit, and what to do about it. */
const LIMITS: Readonly<Record<Limit, readonly [Reason, advice: string]>> = {
  turns: ['max_turns', 'Likely causes: the schema cannot be met, or max-turns is too small for the task.'],
  time: ['timeout', 'Raise it, or give the agent a smaller task.'],
  tokens: ['max_tokens', 'Raise it, or give the agent a smaller task.'],
  cost: ['max_cost', 'Raise it, or give the agent a smaller task.'],
};
/** A request without an answer for so long, in seconds, means a server that is not there. */
const SILENT_SECONDS = 60;

function exhausted(ending: Extract<Outcome, { kind: 'exhausted' }>, facts: VerdictFacts): Verdict {
  const { limit, lastIssues, repeated = false, pending } = ending;
  const [reason, usual] = LIMITS[limit];
  const cause = repeated
    ? 'the model repeated the same rejected call of structured_output'
    : `the limit of ${facts.limits[limit]} is reached`;
  const stopped = `Stopped after ${counted(facts.turns, 'turn')}: ${cause}.`;
  if (facts.isExcluded === true) return conclude(reason, `${EXCLUDED} ${stopped}`);
  const silence =
    pending && ` ${pending.to} had given no answer to the last request for ${pending.seconds} s.`;
  const last =
    lastIssues.length === 0
      ? ''
      : ` The last call of structured_output was rejected at ${listIssues(lastIssues)}.`;
  let advice = usual;
  if (repeated)
    advice = 'Likely cause: the schema cannot be met, or its descriptions do not say what it wants.';
  else if (pending && (facts.turns === 0 || pending.seconds >= SILENT_SECONDS))
    advice = 'Check that the server is up, and `base-url` if it is set.';
  return conclude(reason, `${stopped}${silence ?? ''}${last} ${advice}`);
}

function thrown(error: unknown, entry: Entry): Verdict {
  const message = messageFor(error, entry);
  if (error instanceof MissingKeyError) return conclude('missing_key', message);
  if (error instanceof InputError || error instanceof ContractError) return conclude('config', message);
  if (error instanceof ReplayError) return conclude('replay_mismatch', message);
  if (error instanceof SandboxError) return conclude('sandbox', message);
  if (error instanceof ProviderError) return conclude(PROVIDER_REASONS[error.failure], message);
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return conclude(
    'internal',
    `Internal error: ${text}. This is a bug in structured-agent: please report it with the stack from the log.`,
  );
}

const PROVIDER_REASONS: Readonly<Record<ProviderFailure, Reason>> = {
  auth: 'provider_auth',
  rate_limit: 'provider_rate_limit',
  overloaded: 'provider_overloaded',
  context_overflow: 'context_overflow',
  tool_choice: 'provider_error',
  error: 'provider_error',
};

function plainText(ending: Extract<Outcome, { kind: 'plain_text' }>, facts: VerdictFacts): string {
  const shown = preview(ending.text);
  const what = ending.empty ? 'an empty answer' : 'plain text';
  const cut = ending.truncated ? ` (cut off by the output-token limit: see max-output-tokens)` : '';
  const instead = facts.isExcluded === true ? '' : ' instead of calling structured_output';
  const quote = shown === '' ? '' : ` ${ending.empty ? 'Before that it wrote' : 'It wrote'}: "${shown}"`;
  const end = `The model ended with ${what}${cut}${instead}, after ${counted(facts.turns, 'turn')}.${quote}`;
  return facts.isExcluded === true ? `${EXCLUDED} ${end}` : end;
}
