/** Maps how a run ended to a row of the endings table. Only this maps thrown errors. */
import type { InputName } from '../config/inputs.ts';
import type { Config } from '../config/parse-config.ts';
import {
  InputError,
  MissingKeyError,
  messageFor,
  ProviderError,
  type ProviderFailure,
  ReplayError,
  SandboxError,
} from '../errors.ts';
import { ENDINGS, type Reason } from '../text/exit-codes.ts';
import { counted, type Entry, inputName, listIssues, truncate } from '../text/messages.ts';
import { STRUCTURED_OUTPUT_NAME } from '../tools/tool.ts';
import type { GateResult, Limit, Outcome, Verdict } from '../types.ts';

/** Characters of `last_assistant_text`, in the schema of the envelope. */
const MAX_LAST_TEXT = 200;

/** What ended a run: an outcome of the loop, a thrown error, or a check while finishing. */
export type Ending =
  | Outcome
  | { readonly kind: 'failed'; readonly error: unknown }
  | { readonly kind: 'no_verdict'; readonly reason: Reason; readonly text: string };

type Settings = Pick<Config, 'maxTurns' | 'timeoutMs' | 'maxTotalTokens' | 'maxCostUsd' | 'excludeTools'>;

/** Facts used in the sentences of a verdict. */
export interface VerdictFacts {
  readonly turns: number;
  /** null if no payload was accepted. */
  readonly gate: GateResult | null;
  /** null or absent if no agent ran. */
  readonly config?: Settings | null;
  /** The signal that arrived after a payload was accepted. */
  readonly signal?: string | null;
  readonly entry: Entry;
}

export function verdictOf(ending: Ending, facts: VerdictFacts): Verdict {
  const [reason, error] = explain(ending, facts);
  const [conclusion, subtype, exitCode] = ENDINGS[reason];
  // What was accepted before a signal is published, too: the exit code is what callers can rely on.
  return { conclusion, reason, subtype, exitCode, published: ending.kind === 'submitted', error };
}

type Explained = readonly [reason: Reason, error: string | null];

function explain(ending: Ending, facts: VerdictFacts): Explained {
  const { config, entry } = facts;
  const isExcluded = config?.excludeTools.includes(STRUCTURED_OUTPUT_NAME) ?? false;
  const cause = isExcluded ? `${explainExcluded('the run could not deliver one', entry)} ` : '';
  switch (ending.kind) {
    case 'submitted':
      return explainAccepted(facts);
    case 'cancelled':
      return ['cancelled', `Cancelled by ${ending.signal}, before a payload was accepted and checked.`];
    case 'plain_text':
      return ['plain_text', cause + explainText(ending, facts, isExcluded)];
    case 'refused':
      return [
        'refusal',
        `The model refused to answer (or its provider's content filter did) after ${counted(facts.turns, 'turn')}. Rephrase the prompt, or try another model.`,
      ];
    case 'exhausted':
      return [LIMITS[ending.limit][0], cause + explainLimit(ending, facts, isExcluded)];
    case 'weak':
      return ['unsupported', ending.text];
    case 'no_verdict':
      return [ending.reason, ending.text];
    case 'failed':
      return explainError(ending.error, entry);
  }
}

/** Returns the first characters of the model's prose on one line; untrusted text. */
export function preview(text: string): string {
  return truncate(text.replace(/\s+/gu, ' ').trim(), MAX_LAST_TEXT);
}

function explainAccepted({ gate, signal = null }: VerdictFacts): Explained {
  if (signal !== null) return ['cancelled', `Cancelled by ${signal}, after the payload was accepted.`];
  if (gate?.status !== 'not_met') return ['accepted', null];
  const clauses = gate.issues.map(({ message }) => message);
  return ['gate_not_met', `The gate is not met: ${clauses.join('; ')}.`];
}

/** Explains why a run that is not offered `structured_output` has no verdict, whatever the model does. */
export function explainExcluded(so: string, entry: Entry): string {
  const input = inputName('exclude-tools', entry);
  return `structured_output is excluded (${input}), and only a call of that tool delivers a verdict: ${so}. Remove it from ${input}.`;
}

type Of<Kind extends Outcome['kind']> = Extract<Outcome, { kind: Kind }>;

function explainText(ending: Of<'plain_text'>, { turns, entry }: VerdictFacts, isExcluded: boolean): string {
  const shown = preview(ending.text);
  const what = ending.empty ? 'an empty answer' : 'plain text';
  const limit = inputName('max-output-tokens', entry);
  const cut = ending.truncated ? ` (cut off by the output-token limit: see ${limit})` : '';
  const instead = isExcluded ? '' : ' instead of calling structured_output';
  const quote = shown === '' ? '' : ` ${ending.empty ? 'Before that it wrote' : 'It wrote'}: "${shown}"`;
  return `The model ended with ${what}${cut}${instead}, after ${counted(turns, 'turn')}.${quote}`;
}

/** For each limit: the reason, the input, and the limit in words. One that is not set is never reached. */
const LIMITS: Readonly<Record<Limit, readonly [Reason, InputName, (settings: Settings) => string]>> = {
  turns: ['max_turns', 'max-turns', ({ maxTurns }) => counted(maxTurns ?? 0, 'turn')],
  time: ['timeout', 'timeout-minutes', ({ timeoutMs }) => counted(timeoutMs / 60_000, 'minute')],
  tokens: ['max_tokens', 'max-total-tokens', ({ maxTotalTokens }) => counted(maxTotalTokens ?? 0, 'token')],
  cost: ['max_cost', 'max-cost-usd', ({ maxCostUsd }) => `$${maxCostUsd ?? 0}`],
};
/** A request without an answer for so long, in seconds, means a server that is not there. */
const SILENT_SECONDS = 60;

function explainLimit(ending: Of<'exhausted'>, facts: VerdictFacts, isExcluded: boolean): string {
  const { limit, lastIssues, repeated = false, pending } = ending;
  const { entry } = facts;
  const [, input, words] = LIMITS[limit];
  const cause = repeated
    ? 'the model repeated the same rejected call of structured_output'
    : `the limit of ${facts.config ? words(facts.config) : limit} (${inputName(input, entry)}) is reached`;
  const stopped = `Stopped after ${counted(facts.turns, 'turn')}: ${cause}.`;
  if (isExcluded) return stopped;
  const sentences = [stopped];
  if (pending?.notice)
    sentences.push(`The last request had no completion after ${pending.seconds} s: ${pending.notice}.`);
  else if (pending)
    sentences.push(`${pending.to} had given no answer to the last request for ${pending.seconds} s.`);
  if (lastIssues.length > 0)
    sentences.push(`The last call of structured_output was rejected at ${listIssues(lastIssues)}.`);
  if (repeated)
    sentences.push('Likely cause: the schema cannot be met, or its descriptions do not say what it wants.');
  else if (pending?.notice?.includes(' answered '))
    sentences.push(`Run again later, or raise ${inputName('timeout-minutes', entry)}.`);
  else if (pending && (facts.turns === 0 || pending.seconds >= SILENT_SECONDS))
    sentences.push(`Check that the server is up, and \`${inputName('base-url', entry)}\` if it is set.`);
  else if (limit === 'turns')
    sentences.push(
      `Likely causes: the schema cannot be met, or ${inputName('max-turns', entry)} is too small for the task.`,
    );
  else sentences.push('Raise it, or give the agent a smaller task.');
  return sentences.join(' ');
}

const PROVIDER_REASONS: Readonly<Record<ProviderFailure, Reason>> = {
  auth: 'provider_auth',
  rate_limit: 'provider_rate_limit',
  overloaded: 'provider_overloaded',
  context_overflow: 'context_overflow',
  tool_choice: 'provider_error',
  error: 'provider_error',
};

function explainError(error: unknown, entry: Entry): Explained {
  const message = messageFor(error, entry);
  if (error instanceof MissingKeyError) return ['missing_key', message];
  if (error instanceof InputError) return ['config', message];
  if (error instanceof ReplayError) return ['replay_mismatch', message];
  if (error instanceof SandboxError) return ['sandbox', message];
  if (error instanceof ProviderError) return [PROVIDER_REASONS[error.failure], message];
  const text = error instanceof Error ? `${error.name}: ${message}` : message;
  return [
    'internal',
    `Internal error: ${text}. This is a bug in structured-agent: please report it with the stack from the log.`,
  ];
}
