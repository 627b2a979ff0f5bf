/** Describes failures of model APIs as sentences that say what to do. Texts of servers are quoted and cut. */
import { causeCode, NetworkError, ProviderError, type ProviderFailure } from '../errors.ts';
import { isObject } from '../text/json.ts';
import { DISPLAY } from '../text/limits.ts';
import type { AdapterSettings } from './provider.ts';
import { objectOf } from './tool-calls.ts';

/** The longest `Retry-After` that is waited for, in seconds. */
export const LONGEST_WAIT = 60;

/** An answer that broke off. The message is a clause that follows the name of the host. */
export class BrokenAnswer extends Error {
  override readonly name = 'BrokenAnswer';

  constructor(message = 'broke off its answer') {
    super(message);
  }
}

/** Why one request has no completion. */
interface Failure {
  readonly error: ProviderError;
  /** A clause that follows the name of the host, if the same request may succeed when it is repeated. */
  readonly again?: string;
  /** Whether a filter refused the prompt, which counts as a refusal of the model. */
  readonly isBlocked?: boolean;
}

/**
 * What the error classes of both SDKs have. Without a status the error was inside an answer, and without a body, too,
 * there was no answer.
 */
interface SdkError extends Error {
  readonly status: number | undefined;
  readonly headers: Headers | undefined;
  readonly error: unknown;
  readonly requestID?: string | null | undefined;
}

/** What a status means, and what to do about it; `KEY` stands for where the key came from, `URL` for the endpoint. */
const MEANINGS: ReadonlyMap<number, readonly [ProviderFailure, string]> = new Map([
  [401, ['auth', 'Check that the key from KEY is valid, belongs to this provider and may use this model.']],
  [402, ['error', 'Check the plan and billing of the key from KEY.']],
  [403, ['auth', 'Check that the key from KEY is valid, belongs to this provider and may use this model.']],
  [
    404,
    [
      'error',
      'Model or endpoint not found below URL: check `model` and `base-url`, which often ends in /v1.',
    ],
  ],
  [
    405,
    [
      'error',
      'Model or endpoint not found below URL: check `model` and `base-url`, which often ends in /v1.',
    ],
  ],
  [408, ['error', 'Every try failed: run again later.']],
  [409, ['error', 'Every try failed: run again later.']],
  [410, ['error', 'Model or service retired, for good: check `model` and `base-url`.']],
  [429, ['rate_limit', 'The rate limit held through every try: run again later, or check plan and billing.']],
  [503, ['overloaded', 'It is overloaded: run again later.']],
  [529, ['overloaded', 'It is overloaded: run again later.']],
]);

/** The statuses for which words inside an answer stand. */
const STATUS_OF_WORD: ReadonlyMap<string, number> = new Map([
  ['rate_limit_error', 429],
  ['rate_limit_exceeded', 429],
  ['api_error', 500],
  ['server_error', 500],
  ['slow_down', 503],
  ['overloaded_error', 529],
  ['server_is_overloaded', 529],
]);

const BLOCKED = new Set(['content_filter', 'content_policy_violation', 'bio_policy', 'cyber_policy']);

const OVERFLOW_WORDS = new Set(['context_length_exceeded', 'exceed_context_size_error', 'prompt_too_long']);

/** Messages about a context that is too long; most servers have no code for it. Each line names who sends it. */
const OVERFLOW_TEXTS = [
  /prompt is too long/i, // Anthropic
  /maximum (context|model|prompt) length/i, // vLLM, OpenRouter, DeepSeek, Mistral, xAI
  /exceeds? (the )?(available |model'?s? )?(maximum )?context/i, // Anthropic, OpenAI, llama.cpp
  /input (token count|is too long)/i, // Gemini, Bedrock
  /(longer|greater) than the (model'?s )?context length/i, // Together, LM Studio
  /exceeded (max(imum)? context|model token limit)/i, // Ollama, Moonshot
  /context window exceeds limit/i, // MiniMax
  /range of input length should be/i, // DashScope
];

/**
 * Explains what a request threw.
 * @param forced whether it forced a tool choice
 */
export function explainFailure(thrown: unknown, settings: AdapterSettings, forced: boolean): Failure {
  const { host, model } = settings;
  if (thrown instanceof ProviderError) return { error: thrown };
  if (thrown instanceof NetworkError) return { error: explainLostConnection(thrown, settings) };
  if (!isSdkError(thrown)) {
    const { message: again } = thrown instanceof BrokenAnswer ? thrown : new BrokenAnswer();
    const sentence = `${host} ${again} for ${model} in every try: run again later.`;
    return { error: new ProviderError('error', sentence, { cause: thrown }), again };
  }
  if (thrown.status === undefined && thrown.error === undefined)
    return { error: explainLostConnection(thrown, settings) };
  const said = readServerError(thrown);
  const [failure, sentence] = explainServerError(said, settings, forced);
  const { status = null, requestID } = thrown;
  const requestId = requestID?.slice(0, DISPLAY.value) ?? null;
  const error = new ProviderError(failure, sentence, { status, requestId, cause: thrown });
  // The SDKs repeat a request after a status, but not after an error inside an answer.
  const isPassing = !said.isResponse && (said.status >= 500 || said.status === 429);
  const isBlocked = said.words.some((word) => BLOCKED.has(word));
  return { error, isBlocked, ...(isPassing ? { again: 'ended its answer with an error' } : {}) };
}

function isSdkError(thrown: unknown): thrown is SdkError {
  return thrown instanceof Error && 'status' in thrown && 'headers' in thrown && 'error' in thrown;
}

/** What a server says about a failure. */
type ServerError = ReturnType<typeof readServerError>;

function readServerError({ status, headers, error, message }: SdkError) {
  const body = unwrap(error);
  const { code, type, detail } = objectOf(body);
  const words = [code, type].filter((word) => typeof word === 'string');
  // Gateways give the status of the server behind them as the code.
  const meant = typeof code === 'number' ? code : words.map((word) => STATUS_OF_WORD.get(word)).find(Boolean);
  return {
    /** 0 if it is not known. */
    status: status ?? meant ?? 0,
    isResponse: status !== undefined,
    words,
    message: messageOf(isObject(body) ? (body['message'] ?? detail ?? '') : body, message),
    wait: waitOf(headers ?? new Headers()),
  };
}

/** Returns the innermost error of a body: Google sends a list, and Anthropic's SDK the whole body. */
function unwrap(body: unknown): unknown {
  const first: unknown = Array.isArray(body) ? body[0] : body;
  return objectOf(first)['error'] ?? first;
}

/** Returns the server's own words. No other part of a body is shown: it may quote what the model wrote. */
function messageOf(said: unknown, fallback: string): string {
  if (said !== undefined) return typeof said === 'string' ? said : '';
  // Without JSON in it, the SDKs put the body after the status.
  const text = fallback.replace(/^\d{3} /, '');
  return text === 'status code (no body)' ? '' : text;
}

/** Returns the seconds that a response asks to wait; a date counts from the response's own. NaN if there is neither. */
export function waitOf(headers: Headers): number {
  const text = headers.get('retry-after') ?? '';
  if (/^[\d.]+$/.test(text)) return Number(text);
  return (Date.parse(text) - Date.parse(headers.get('date') ?? '')) / 1_000;
}

function explainServerError(
  said: ServerError,
  settings: AdapterSettings,
  forced: boolean,
): readonly [ProviderFailure, string] {
  const { host, baseUrl, model, provider, isVendor, keySource, hasKey } = settings;
  const { status, message } = said;
  const ended = said.isResponse ? `answered ${status} for` : 'ended its answer with an error for';
  const answered = `${host} ${ended} ${model}.${quoteServer(message)}`;
  if (forced && status < 500 && /tool[_ ]choice/i.test(message)) return ['tool_choice', answered];
  if (isOverflow(said)) {
    const advice = 'Narrow the task, or use a model with a larger context.';
    return ['context_overflow', `The conversation is too long for ${model}. ${answered} ${advice}`];
  }
  // Google responds to a wrong key with 400.
  const meaning = MEANINGS.get(/API key not valid/i.test(message) ? 401 : status);
  const [failure, advice] = meaning ?? ['error', adviseOn(status)];
  if (failure === 'auth' && !hasKey) return [failure, `${answered} No key was given: set \`api-key\`.`];
  if (said.wait > LONGEST_WAIT)
    return [failure, `${answered} It asks to wait ${Math.round(said.wait)} s: run again later.`];
  const lacksResponses = status === 404 && provider === 'openai' && !isVendor;
  const hint = lacksResponses ? ' If it has chat completions only, set `provider: openai-compatible`.' : '';
  return [failure, `${answered} ${advice.replace('KEY', keySource).replace('URL', baseUrl)}${hint}`];
}

function isOverflow({ status, words, message }: ServerError): boolean {
  if (status === 413 || words.some((word) => OVERFLOW_WORDS.has(word))) return true;
  const isRefused = status === 0 || status === 400 || status === 422;
  return isRefused && OVERFLOW_TEXTS.some((pattern) => pattern.test(message));
}

function adviseOn(status: number): string {
  if (status >= 500) return 'Every try failed: run again later.';
  if (status >= 300 && status < 400) return 'Redirects are not followed: check `base-url`.';
  return status === 0 ? 'Run again later.' : 'Check `model` and `base-url`.';
}

function explainLostConnection(thrown: Error, { host, isVendor }: AdapterSettings): ProviderError {
  const lost = [thrown, thrown.cause].find((each) => each instanceof NetworkError);
  const code = lost === undefined ? causeCode(thrown) : null;
  const fix = isVendor ? 'the network, DNS and, behind a proxy, HTTPS_PROXY' : '`base-url` and the network';
  const why = lost?.message ?? `Check ${fix}.`;
  const sentence = `No connection to ${host}${code === null ? '' : ` (${code})`}. ${why}`;
  return new ProviderError('error', sentence, { cause: thrown });
}

/** Quotes a server's message as one line; of a web page it only says that it is one. */
function quoteServer(text: string): string {
  if (text.trimStart().startsWith('<')) return ' It answered with HTML instead of JSON.';
  const line = text.replace(/\s+/g, ' ').trim();
  if (line === '') return '';
  if (line.length <= DISPLAY.sentence) return ` It said: "${line}".`;
  // Never cut inside a word of ASCII: half a key would not be masked.
  const start = line.slice(0, DISPLAY.sentence).replace(/(?<![\x21-\x7e])[\x21-\x7e]+$/, '');
  return ` It said: "${start.trimEnd().toWellFormed()}…".`;
}
