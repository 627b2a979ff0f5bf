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
import { listIssues, truncate } from '../text/messages.ts';
import type { Entry } from '../text/naming.ts';
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
  readonly structuredOutputExcluded?: boolean;
  /** The entry whose wording the sentences use. */
  readonly entry: Entry;
}

function endingOf(reason: Reason): Pick<Verdict, 'conclusion' | 'reason' | 'subtype' | 'exitCode'> {
  const [conclusion, subtype, exitCode] = ENDINGS[reason];
  return { conclusion, reason, subtype, exitCode };
}

const MORE = 'Raise it, or give the agent a smaller task.';

export function verdictOf(ending: Ending, facts: VerdictFacts): Verdict {
  switch (ending.kind) {
    case 'submitted':
      return accepted(facts);
    case 'interrupted':
      // Accepted before the signal: the payload is still published, and the exit code is what callers can rely on.
      return {
        ...endingOf('cancelled'),
        published: true,
        error: `Cancelled by ${ending.signal}, after the payload was accepted.`,
      };
    case 'cancelled':
      return failed('cancelled', `Cancelled by ${ending.signal}, before a payload was accepted and checked.`);
    case 'plain_text':
      return failed('plain_text', plainText(ending, facts));
    case 'refused':
      return failed(
        'refusal',
        `The model refused to answer (or its provider's content filter did) after ${turns(facts.turns)}. ` +
          'Rephrase the prompt, or try another model.',
      );
    case 'exhausted':
      return exhausted(ending, facts);
    case 'secret':
      return failed(
        'secret_in_payload',
        `The payload holds a secret of this job (${ending.where}). Nothing was published. ` +
          'Treat that secret as leaked to the model, and look at what the repository told the agent to do.',
      );
    case 'tampered':
      return failed(
        'tampered',
        `During the run ${ending.file} was changed, which the agent must never touch. Nothing was published. ` +
          'Look at what the repository told the agent to do.',
      );
    case 'weak':
      return failed('unsupported', ending.text);
    case 'undecided':
      return failed('undecided', ending.text);
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

function accepted(facts: VerdictFacts): Verdict {
  if (facts.gate?.status !== 'not_met') {
    return { ...endingOf('accepted'), published: true, error: null };
  }
  const clauses = facts.gate.issues.map(({ message }) => message);
  const error = `The gate is not met: ${clauses.join('; ')}.`;
  return { ...endingOf('gate_not_met'), published: true, error };
}

/** The sentence for a run that could not deliver a verdict, whatever the model did. */
const EXCLUDED =
  'The run could not deliver a verdict: structured_output is excluded (exclude-tools), and only a call of that tool delivers one. Remove it from exclude-tools.';

const LIMITS: Readonly<Record<Limit, { readonly reason: Reason; readonly input: string }>> = {
  turns: { reason: 'max_turns', input: 'max-turns' },
  time: { reason: 'timeout', input: 'timeout-minutes' },
  tokens: { reason: 'max_tokens', input: 'max-total-tokens' },
  cost: { reason: 'max_cost', input: 'max-cost-usd' },
};

function exhausted(ending: Extract<Outcome, { kind: 'exhausted' }>, facts: VerdictFacts): Verdict {
  const { limit, lastIssues, repeated = false, pending } = ending;
  const { reason, input } = LIMITS[limit];
  const last =
    lastIssues.length === 0
      ? ''
      : ` The last call of structured_output was rejected at ${listIssues(lastIssues)}.`;
  const reached = limit === 'turns' ? facts.limits.turns : `${facts.limits[limit]} (${input})`;
  const stopped = repeated
    ? `Stopped after ${turns(facts.turns)}: the model repeated the same rejected call of structured_output.`
    : `Stopped after ${turns(facts.turns)}: the limit of ${reached} is reached.`;
  if (facts.structuredOutputExcluded === true) return failed(reason, `${EXCLUDED} ${stopped}`);
  if (repeated) {
    const cause = 'Likely cause: the schema cannot be met, or its descriptions do not say what it wants.';
    return failed(reason, `${stopped}${last} ${cause}`);
  }
  if (pending !== undefined) {
    const silence = ` ${pending.to} had given no answer to the last request for ${pending.seconds} s.`;
    const isStuck = facts.turns === 0 || pending.seconds >= 60;
    const check = `Check that the server is up, and \`base-url\` if it is set.`;
    return failed(reason, `${stopped}${silence}${last} ${isStuck ? check : MORE}`);
  }
  if (limit !== 'turns') return failed(reason, `${stopped}${last} ${MORE}`);
  return failed(
    reason,
    `Reached the limit of ${reached} without an accepted call of structured_output.${last} ` +
      `Likely causes: the schema cannot be met, or max-turns is too small for the task.`,
  );
}

function thrown(error: unknown, entry: Entry): Verdict {
  const message = messageFor(error, entry);
  if (error instanceof MissingKeyError) return failed('missing_key', message);
  if (error instanceof InputError || error instanceof ContractError) return failed('config', message);
  if (error instanceof ReplayError) return failed('replay_mismatch', message);
  if (error instanceof SandboxError) return failed('sandbox', message);
  if (error instanceof ProviderError) return failed(PROVIDER_REASONS[error.failure], message);
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return failed(
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

function failed(reason: Reason, error: string): Verdict {
  return { ...endingOf(reason), published: false, error };
}

function plainText(ending: Extract<Outcome, { kind: 'plain_text' }>, facts: VerdictFacts): string {
  const shown = preview(ending.text);
  const what = ending.empty ? 'an empty answer' : 'plain text';
  const cut = ending.truncated ? ` (cut off by the output-token limit: see max-output-tokens)` : '';
  const quote = shown === '' ? '' : ` ${ending.empty ? 'Before that it wrote' : 'It wrote'}: "${shown}"`;
  const end = `The model ended with ${what}${cut}`;
  return facts.structuredOutputExcluded === true
    ? `${EXCLUDED} ${end}, after ${turns(facts.turns)}.${quote}`
    : `${end} instead of calling structured_output, after ${turns(facts.turns)}.${quote}`;
}

function turns(count: number): string {
  return count === 1 ? '1 turn' : `${count} turns`;
}
