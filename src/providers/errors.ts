/** Describes failures of model APIs as sentences that say what to do. Texts of servers are quoted and cut. */
import type { APIError } from 'openai';
import { causeCode, NetworkError, ProviderError, type ProviderFailure } from '../errors.ts';
import { isObject, objectOf } from '../text/json.ts';
import { DISPLAY } from '../text/limits.ts';
import type { AdapterSettings } from './provider.ts';

/** Returns the seconds of a `Retry-After` above 60, which is not waited for, or 0. A date counts from the response's own. */
export function longWaitOf(headers: Headers | undefined): number {
  const text = headers?.get('retry-after') ?? '';
  const untilDate = (Date.parse(text) - Date.parse(headers?.get('date') ?? '')) / 1_000;
  const seconds = /^[\d.]+$/.test(text) ? Number(text) : untilDate;
  return seconds > 60 ? Math.round(seconds) : 0;
}

/** An answer that broke off. The message is a clause that follows the name of the host; empty if it just ended. */
export class BrokenAnswer extends Error {}

/**
 * Why one request has no completion: `again` is a clause that follows the name of the host if the same request may succeed
 * when it is repeated, and `isBlocked` means that a filter refused the prompt, as a model does.
 */
type Failure = Readonly<{ error: ProviderError; again?: string; isBlocked?: boolean }>;

/**
 * What statuses mean, and what to do about them; the first row that matches applies. `KEY` stands for where the key came
 * from, `URL` for the endpoint.
 */
const MEANINGS: readonly (readonly [status: RegExp, ProviderFailure, advice: string])[] = [
  [/^0$/, 'error', 'Run again later.'],
  [/^3/, 'error', 'Redirects are not followed: check `base-url`.'],
  [/^40[13]$/, 'auth', 'Check that the key from KEY is valid, and may use this model of this provider.'],
  [/^402$/, 'error', 'Check the plan and billing of the key from KEY.'],
  [/^40[45]$/, 'error', 'Not found below URL: check `model` and `base-url`, which often ends in /v1.'],
  [/^410$/, 'error', 'Model or service retired, for good: check `model` and `base-url`.'],
  [/^413$/, 'context_overflow', 'The conversation is too long: narrow the task, or change the model.'],
  [/^429$/, 'rate_limit', 'The limit held through every try: run again later, or check plan and billing.'],
  [/^5(03|29)$/, 'overloaded', 'It is overloaded: run again later.'],
  [/^(408|409|5..)$/, 'error', 'Every try failed: run again later.'],
];

const BLOCKED = /^(content_filter|content_policy_violation|bio_policy|cyber_policy)$/;

/**
 * The statuses for which codes, types and messages stand, if there is none or an unspecific one. Most servers have no code
 * for a conversation that is too long: each of these lines names who sends its message.
 */
const STATUS_OF_TEXT: readonly (readonly [RegExp, number])[] = [
  [/^(context_length_exceeded|exceed_context_size_error|prompt_too_long)$/, 413],
  [/prompt is too long/i, 413], // Anthropic
  [/maximum (context|model|prompt) length/i, 413], // vLLM, OpenRouter, DeepSeek, Mistral, xAI
  [/exceeds? (the )?(available |model'?s? )?(maximum )?context/i, 413], // Anthropic, OpenAI, llama.cpp
  [/input (token count|is too long)/i, 413], // Gemini, Bedrock
  [/(longer|greater) than the (model'?s )?context length/i, 413], // Together, LM Studio
  [/exceeded (max(imum)? context|model token limit)/i, 413], // Ollama, Moonshot
  [/context window exceeds limit/i, 413], // MiniMax
  [/range of input length should be/i, 413], // DashScope
  [/API key not valid/i, 401], // Google, with 400
  [/^rate_limit/, 429],
  [/^(api|server)_error$/, 500],
  [/^(server_is_)?(overloaded|slow_down)/, 529],
];

/** Explains what a request threw. @param forced whether it forced a tool choice */
export function explainFailure(thrown: unknown, settings: AdapterSettings, forced: boolean): Failure {
  const { host, model } = settings;
  if (thrown instanceof ProviderError) return { error: thrown };
  if (thrown instanceof NetworkError) return explainLostConnection(thrown, host);
  if (!isSdkError(thrown)) {
    const again = (thrown instanceof BrokenAnswer && thrown.message) || 'broke off its answer';
    const sentence = `${host} ${again} for ${model} in every try: run again later.`;
    return { error: new ProviderError('error', sentence, { cause: thrown }), again };
  }
  const { status = null } = thrown;
  // Without a status the error was inside an answer, and without a body, too, there was no answer.
  if (status === null && thrown.error === undefined) return explainLostConnection(thrown, host);
  const said = readServerError(thrown);
  const [failure, advice] = judge(said, settings, forced);
  const ended = status === null ? 'ended its answer with an error' : `answered ${status}`;
  const sentence = `${host} ${ended} for ${model}.${quoteServer(said.message)} ${advice}`;
  const error = new ProviderError(failure, sentence, { status, cause: thrown });
  // The SDKs repeat a request after a status, but not after an error inside an answer.
  const isPassing = status === null && (said.meant >= 500 || said.meant === 429);
  return { error, isBlocked: said.isBlocked, ...(isPassing ? { again: ended } : {}) };
}

/** The error classes of both SDKs have the same fields, and only one SDK is loaded. */
function isSdkError(thrown: unknown): thrown is APIError {
  return thrown instanceof Error && 'status' in thrown && 'headers' in thrown && 'error' in thrown;
}

function explainLostConnection(thrown: Error, host: string): Failure {
  const lost = [thrown, thrown.cause].find((each) => each instanceof NetworkError);
  const code = lost === undefined ? causeCode(thrown) : null;
  const why = lost?.message ?? 'Check `base-url`, the network, DNS and, behind a proxy, HTTPS_PROXY.';
  const sentence = `No connection to ${host}${code === null ? '' : ` (${code})`}. ${why}`;
  return { error: new ProviderError('error', sentence, { cause: thrown }) };
}

/** Returns what a server says about a failure, and the status that it means. */
function readServerError({ status, headers, error, message: text }: APIError) {
  // Google sends a list, and Anthropic's SDK hands on the whole body.
  const first: unknown = Array.isArray(error) ? error[0] : error;
  const body = objectOf(first)['error'] ?? first;
  const { code, type, message: stated, detail } = objectOf(body);
  const words = [code, type].filter((word) => typeof word === 'string');
  // Without JSON in it, the SDKs put the body after the status. No other part is shown: it may quote the model.
  const plain = error === undefined ? text.replace(/^\d{3} (status code \(no body\))?/, '') : body;
  const said = isObject(body) ? (stated ?? detail) : plain;
  const message = typeof said === 'string' ? said : '';
  // Gateways give the status of the server behind them as the code.
  const given = status ?? (typeof code === 'number' ? code : 0);
  const [, named = given] =
    STATUS_OF_TEXT.find(([pattern]) => [...words, message].some((each) => pattern.test(each))) ?? [];
  // A 400 is not repeated, whatever its type is.
  const isVague = given === 0 || ((given === 400 || given === 422) && named < 429);
  return {
    message,
    meant: isVague ? named : given,
    wait: longWaitOf(headers),
    isBlocked: words.some((word) => BLOCKED.test(word)),
  };
}

/** Returns the kind of a failure, and what to do about it. */
function judge(
  { message, meant, wait }: ReturnType<typeof readServerError>,
  { baseUrl, keySource }: AdapterSettings,
  forced: boolean,
): readonly [ProviderFailure, string] {
  if (forced && meant < 500 && /tool[_ ]choice/i.test(message))
    return ['tool_choice', 'It does not let a tool be forced.'];
  const meaning = MEANINGS.find(([pattern]) => pattern.test(String(meant)));
  const [, failure, advice] = meaning ?? [meant, 'error', 'Check `model` and `base-url`.'];
  if (failure === 'auth' && keySource === null) return [failure, 'No key was given: set `api-key`.'];
  if (wait > 0) return [failure, `It asks to wait ${wait} s: run again later.`];
  return [failure, advice.replace('KEY', keySource ?? '').replace('URL', baseUrl)];
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
