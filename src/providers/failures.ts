/** What went wrong at a model's API, as one sentence that says what to do. Texts of servers are hostile and capped. */

import { messageAt, ProviderError, type ProviderFailure } from '../errors.ts';
import { type Naming, namingAt, type Wording } from '../text/naming.ts';
import { causeCode, isTooLate, networkError } from './causes.ts';
import { isOverflow, isToolless, namesToolChoice, type ServerWords } from './failure-words.ts';
import { type FailedTry, maxRetryAfterSeconds } from './transport.ts';

/** An SDK's error, independent of the SDK. */
export interface ApiFailure extends ServerWords {
  readonly requestId: string | null;
  readonly cause: unknown;
}

/** What the sentences name. */
export interface FailureContext {
  readonly model: string;
  /** Where the key came from; never the key. */
  readonly keySource: string;
  readonly hasKey: boolean;
  /** Whether the server may lack the Responses API: OpenAI's provider at somebody else's endpoint. */
  readonly chatHint: boolean;
  /** Host and port of the endpoint. */
  readonly host: string;
  /** Whether the request forced a tool choice. */
  readonly forced: boolean;
}

/** Hosts that are asked without a base-url. */
const VENDOR_HOSTS: ReadonlySet<string> = new Set([
  'api.openai.com',
  'api.anthropic.com',
  'generativelanguage.googleapis.com',
]);

const maxServerText = 300;

const shorter = ({ name }: Naming): string =>
  `Lower \`${name('max-tool-output-kb')}\`, narrow the task, or use a model with a larger context.`;

const certificateCodes = new Set([
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/** A failure as the error that a run ends with, or goes on from where it can. */
export function providerError(failure: ApiFailure, context: FailureContext): ProviderError {
  const [kind] = judge(failure, context, namingAt('action'));
  const sentence: Wording = (naming) => judge(failure, context, naming)[1];
  const { status, requestId, cause } = failure;
  return new ProviderError(kind, sentence, { status, requestId: requestId?.slice(0, 100) ?? null, cause });
}

/** The error of an answer that stopped in the middle, or never began, in every try. */
export function silenceError({ host, model }: FailureContext, idleMs: number): ProviderError {
  return new ProviderError(
    'error',
    ({ setting }) =>
      `The stream of ${host} for ${model} went silent: nothing came for ${idleMs / 1000} s, in every try. Run again later, or set \`${setting('stream', 'off')}\` for a model that thinks longer without a sign of life.`,
  );
}

/** What became of a try, for the log: a status or a code of this machine, and how long the SDK waits; no server's words. */
export function retrySentence(
  { status, cause, askedSeconds }: FailedTry,
  { host }: Pick<FailureContext, 'host'>,
): string {
  if (status === null) {
    const code = causeCode(cause);
    return `no answer from ${host}${code === null ? '' : ` (${code})`}`;
  }
  const answered = `${host} answered ${status}`;
  if (askedSeconds === null) return answered;
  const capped = askedSeconds > maxRetryAfterSeconds ? `, waiting ${maxRetryAfterSeconds} s` : '';
  return `${answered} and asked to wait ${seconds(askedSeconds)}${capped}`;
}

/** Whole seconds; a server may ask for fractions, and for absurdities. */
function seconds(asked: number): string {
  return asked < 1 ? 'less than 1 s' : `${Math.round(Math.min(asked, 1e9))} s`;
}

type Judged = readonly [failure: ProviderFailure, sentence: string];

function judge(failure: ApiFailure, context: FailureContext, naming: Naming): Judged {
  const { status } = failure;
  if (status === null) return unanswered(failure, context, naming);
  if (context.forced && status >= 400 && status < 500 && namesToolChoice(failure)) {
    return ['tool_choice', `${told(failure, context)} It refuses a forced tool choice.`];
  }
  if (isOverflow(failure)) {
    return [
      'context_overflow',
      `The conversation is too long for ${context.model}. ${told(failure, context)} ${shorter(naming)}`,
    ];
  }
  if (isToolless(failure)) return ['error', toolless(failure, context)];
  // Google answers a wrong key with 400.
  const isWrongKey = failure.code === 'API_KEY_INVALID';
  if (status === 401 || status === 403 || isWrongKey) return ['auth', authSentence(failure, context, naming)];
  if (status === 429) return ['rate_limit', rateSentence(failure, context)];
  if (status === 529 || status === 503) {
    return ['overloaded', `${told(failure, context)} It is overloaded: run again later.`];
  }
  return ['error', `${told(failure, context)}${advice(status, failure, context, naming)}`];
}

function unanswered(failure: ApiFailure, context: FailureContext, naming: Naming): Judged {
  if (failure.type === 'connection' || failure.type === 'timeout')
    return ['error', connectionSentence(failure, context, naming)];
  if (failure.type === 'cut') {
    return [
      'error',
      `The answer of ${context.host} for ${context.model} broke off in every try: run again later.`,
    ];
  }
  const sentence = `The stream of ${context.host} ended with an error.${quoted(failure.message)}`;
  if (failure.type === 'overloaded_error') return ['overloaded', `${sentence} Run again later.`];
  // OpenAI names the kind of limit in the type, such as `tokens`.
  if (failure.type === 'rate_limit_error' || failure.code === 'rate_limit_exceeded')
    return ['rate_limit', `${sentence} Run again later.`];
  if (isOverflow(failure)) return ['context_overflow', `${sentence} ${shorter(naming)}`];
  return ['error', `${sentence} Run again later.`];
}

function toolless(failure: ApiFailure, context: FailureContext): string {
  return `${told(failure, context)} It offers no tool calls for this model, and the agent works with nothing else: choose a model that has them, or turn them on in the server.`;
}

function authSentence(failure: ApiFailure, context: FailureContext, { give }: Naming): string {
  const { host, model, keySource } = context;
  if (!context.hasKey) {
    return `${host} refused the request for ${model} (${failure.status}): no key was given.${quoted(failure.message)} ${give('api-key')}.`;
  }
  return (
    `${host} refused the key from ${keySource} for ${model} (${failure.status}).${quoted(failure.message)} ` +
    'Check that the key is valid, belongs to this provider and may use this model.'
  );
}

function rateSentence(failure: ApiFailure, context: FailureContext): string {
  const spent = [failure.code, failure.type].some((word) => word === 'insufficient_quota');
  const what = spent
    ? ` The quota of the key from ${context.keySource} is spent: check its plan and billing.`
    : ' The rate limit held through every retry: run again later, or ask for a higher limit.';
  return `${told(failure, context)}${what}`;
}

function advice(
  status: number,
  failure: ApiFailure,
  { chatHint }: FailureContext,
  { name, setting }: Naming,
): string {
  if (status === 404 || status === 405 || status === 410) {
    const hint = chatHint
      ? ` A server that speaks chat completions only needs \`${setting('provider', 'openai-compatible')}\`.`
      : '';
    const what = status === 410 ? 'Model or service retired, for good' : 'Model or endpoint not found';
    return ` ${what}: check \`${name('model')}\` and \`${name('base-url')}\`.${hint}`;
  }
  if (status >= 300 && status < 400) return ` Redirects are not followed: check \`${name('base-url')}\`.`;
  if (status === 200)
    return ` That is no completion: check \`${name('base-url')}\`, which often ends in /v1.`;
  if (isMarkup(failure.message))
    return ` Check \`${name('base-url')}\`, and what stands between this machine and the API.`;
  if (status === 402) return ' Check the plan and billing of the key.';
  return status >= 500 ? ' Every retry failed: run again later.' : '';
}

function connectionSentence(
  failure: ApiFailure,
  context: FailureContext,
  { door, name, setting }: Naming,
): string {
  const lost = networkError(failure.cause);
  if (lost !== null) return `No connection to ${context.host}. ${messageAt(lost, door)}`;
  const code = causeCode(failure.cause);
  if (isTooLate(failure.cause))
    return `${context.host} gave no answer for ${context.model} within the time limit of one request. Set \`${setting('stream', 'on')}\`, so that it shows signs of life, or give the model less to do.`;
  const where = `No connection to ${context.host}${code === null ? '' : ` (${code})`}.`;
  if (code !== null && certificateCodes.has(code)) {
    return `${where} Its certificate is not trusted: name your authority's file in NODE_EXTRA_CA_CERTS.`;
  }
  // A vendor's own host is right without anybody having typed it.
  const isVendors = VENDOR_HOSTS.has(context.host);
  const fix = isVendors
    ? 'Check the network, DNS and, behind a proxy, HTTPS_PROXY.'
    : `Check \`${name('base-url')}\` and the network.`;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return isVendors
      ? `${where} The name does not resolve. ${fix}`
      : `${where} The name does not resolve: check \`${name('base-url')}\`.`;
  return `${where} ${fix}`;
}

function told(failure: ApiFailure, context: FailureContext): string {
  return `${context.host} answered ${failure.status} for ${context.model}.${quoted(failure.message)}`;
}

function isMarkup(text: string): boolean {
  return text.trimStart().startsWith('<');
}

/** A server's words in one line, quoted and capped; of a web page only that it is one. */
function quoted(text: string): string {
  if (isMarkup(text)) return ' It answered with HTML instead of JSON.';
  const line = text.replace(/\s+/g, ' ').trim();
  if (line === '') return '';
  const words = line.length > maxServerText ? `${firstWords(line)}…` : line.replace(/(?<!\.)\.+$/, '');
  return ` It said: "${words}".`;
}

/** The beginning of a line, never ending inside a word of ASCII: a key that is echoed there is masked only when whole. */
function firstWords(line: string): string {
  const start = line.slice(0, maxServerText);
  return /^[\x21-\x7e]/.test(line.slice(maxServerText))
    ? start.replace(/(?<![\x21-\x7e])[\x21-\x7e]+$/, '').trimEnd()
    : start.toWellFormed();
}
