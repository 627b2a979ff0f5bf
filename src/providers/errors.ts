/**
 * Describes errors of model APIs as one sentence that says what to do. Server texts are untrusted: quoted and
 * truncated.
 */
import { causeCode, NetworkError, ProviderError, type ProviderFailure } from '../errors.ts';
import { DISPLAY } from '../text/limits.ts';

/** An SDK error, independent of the SDK. */
export interface ApiFailure extends ServerError {
  readonly requestId: string | null;
  readonly cause: unknown;
}

/** A response that broke off, without any text of the server. */
export const brokenOff: ApiFailure = {
  status: null,
  type: 'cut',
  code: null,
  param: null,
  message: '',
  requestId: null,
  cause: null,
};

export interface FailureContext {
  readonly model: string;
  /** Where the key came from; never the key itself. */
  readonly keySource: string;
  readonly hasKey: boolean;
  /** Whether the server may lack the Responses API: OpenAI's provider with a third-party endpoint. */
  readonly chatHint: boolean;
  /** Host and port of the endpoint. */
  readonly host: string;
  /** Whether that is the vendor's own endpoint, which needs no `base-url`. */
  readonly hasDefaultHost: boolean;
  /** Whether the request forced a tool choice. */
  readonly forced: boolean;
  /** What was requested; null if nothing was sent. */
  readonly url?: URL | null;
}

const SHORTER = 'Narrow the task, or use a model with a larger context.';

const certificateCodes = new Set([
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/** Creates the error that ends a run, or from which the agent recovers. */
export function providerError(failure: ApiFailure, context: FailureContext): ProviderError {
  const [kind, sentence] = classify(failure, context);
  const { status, requestId, cause } = failure;
  return new ProviderError(kind, sentence, {
    status,
    requestId: requestId?.slice(0, DISPLAY.value) ?? null,
    cause,
  });
}

/** Creates the error for a stream that stalled or never started in every attempt. */
export function silenceError({ host, model }: FailureContext, idleMs: number): ProviderError {
  return new ProviderError(
    'error',
    `The stream of ${host} for ${model} went silent: nothing came for ${idleMs / 1000} s, in every try. Check that the server is up, or run again later.`,
  );
}

type Classified = readonly [failure: ProviderFailure, sentence: string];

function classify(failure: ApiFailure, context: FailureContext): Classified {
  const { status } = failure;
  if (status === null) return classifyWithoutStatus(failure, context);
  if (context.forced && status >= 400 && status < 500 && namesToolChoice(failure)) {
    return ['tool_choice', `${describeResponse(failure, context)} It refuses a forced tool choice.`];
  }
  if (isOverflow(failure)) {
    return [
      'context_overflow',
      `The conversation is too long for ${context.model}. ${describeResponse(failure, context)} ${SHORTER}`,
    ];
  }
  if (isToolless(failure)) return ['error', describeMissingTools(failure, context)];
  // Google responds to a wrong key with 400.
  const isWrongKey = failure.code === 'API_KEY_INVALID';
  if (status === 401 || status === 403 || isWrongKey) return ['auth', describeAuthFailure(failure, context)];
  if (status === 429) return ['rate_limit', describeRateLimit(failure, context)];
  if (status === 529 || status === 503) {
    return ['overloaded', `${describeResponse(failure, context)} It is overloaded: run again later.`];
  }
  return ['error', `${describeResponse(failure, context)}${advise(status, failure, context)}`];
}

function classifyWithoutStatus(failure: ApiFailure, context: FailureContext): Classified {
  if (failure.type === 'connection' || failure.type === 'timeout')
    return ['error', describeConnectionFailure(failure, context)];
  if (failure.type === 'cut') {
    return [
      'error',
      `The answer of ${context.host} for ${context.model} broke off in every try: run again later.`,
    ];
  }
  const sentence = `The stream of ${context.host} ended with an error.${quoteServerText(failure.message)}`;
  if (failure.type === 'overloaded_error') return ['overloaded', `${sentence} Run again later.`];
  // OpenAI puts the kind of limit, such as `tokens`, into the type.
  if (failure.type === 'rate_limit_error' || failure.code === 'rate_limit_exceeded')
    return ['rate_limit', `${sentence} Run again later.`];
  if (isOverflow(failure)) return ['context_overflow', `${sentence} ${SHORTER}`];
  return ['error', `${sentence} Run again later.`];
}

function describeMissingTools(failure: ApiFailure, context: FailureContext): string {
  return `${describeResponse(failure, context)} It offers no tool calls for this model, and the agent works with nothing else: choose a model that has them, or turn them on in the server.`;
}

function describeAuthFailure(failure: ApiFailure, context: FailureContext): string {
  const { host, model, keySource } = context;
  if (!context.hasKey) {
    return `${host} refused the request for ${model} (${failure.status}): no key was given.${quoteServerText(failure.message)} Set api-key.`;
  }
  return (
    `${host} refused the key from ${keySource} for ${model} (${failure.status}).${quoteServerText(failure.message)} ` +
    'Check that the key is valid, belongs to this provider and may use this model.'
  );
}

function describeRateLimit(failure: ApiFailure, context: FailureContext): string {
  const spent = [failure.code, failure.type].some((word) => word === 'insufficient_quota');
  const what = spent
    ? ` The quota of the key from ${context.keySource} is spent: check its plan and billing.`
    : ' The rate limit held through every retry: run again later, or ask for a higher limit.';
  return `${describeResponse(failure, context)}${what}`;
}

function advise(status: number, failure: ApiFailure, context: FailureContext): string {
  if (status === 404 || status === 405 || status === 410) {
    const hint = context.chatHint
      ? ` A server that speaks chat completions only needs \`provider: openai-compatible\`.`
      : '';
    const what = status === 410 ? 'Model or service retired, for good' : 'Model or endpoint not found';
    const asked = context.url ? ` at ${context.url.origin}${context.url.pathname}` : '';
    const version = lacksVersion(context) ? `, which has no /v1 at its end` : '';
    return ` ${what}${asked}: check \`model\` and \`base-url\`${version}.${hint}`;
  }
  if (status >= 300 && status < 400) return ` Redirects are not followed: check \`base-url\`.`;
  if (status === 200) return ` That is no completion: check \`base-url\`, which often ends in /v1.`;
  if (isMarkup(failure.message))
    return ` Check \`base-url\`, and any proxy or gateway between this machine and the API.`;
  if (status === 402) return ' Check the plan and billing of the key.';
  return status >= 500 ? ' Every retry failed: run again later.' : '';
}

/** Whether a `base-url` has no version, which nearly all servers want; Azure's paths have none. */
function lacksVersion({ url, hasDefaultHost }: FailureContext): boolean {
  return url != null && !hasDefaultHost && !/\/(?:v\d|deployments\/)/.test(url.pathname);
}

function describeConnectionFailure(failure: ApiFailure, context: FailureContext): string {
  const lost = networkError(failure.cause);
  if (lost !== null) return `No connection to ${context.host}. ${lost.message}`;
  const code = causeCode(failure.cause);
  if (isTooLate(failure.cause))
    return `${context.host} gave no answer for ${context.model} for 300 s. Check that the server is up, and \`base-url\`.`;
  const where = `No connection to ${context.host}${code === null ? '' : ` (${code})`}.`;
  if (code !== null && certificateCodes.has(code)) {
    return `${where} Its certificate is not trusted: name your authority's file in NODE_EXTRA_CA_CERTS.`;
  }
  const fix = context.hasDefaultHost
    ? 'Check the network, DNS and, behind a proxy, HTTPS_PROXY.'
    : `Check \`base-url\` and the network.`;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return context.hasDefaultHost
      ? `${where} The name does not resolve. ${fix}`
      : `${where} The name does not resolve: check \`base-url\`.`;
  return `${where} ${fix}`;
}

function describeResponse(failure: ApiFailure, context: FailureContext): string {
  return `${context.host} answered ${failure.status} for ${context.model}.${quoteServerText(failure.message)}`;
}

function isMarkup(text: string): boolean {
  return text.trimStart().startsWith('<');
}

/** Formats a server's message as one line, quoted and truncated; for a web page, only says that it is one. */
function quoteServerText(text: string): string {
  if (isMarkup(text)) return ' It answered with HTML instead of JSON.';
  const line = text.replace(/\s+/g, ' ').trim();
  if (line === '') return '';
  const words = line.length > DISPLAY.sentence ? `${truncateAtWord(line)}…` : line.replace(/(?<!\.)\.+$/, '');
  return ` It said: "${words}".`;
}

/** Truncates a line, but never inside an ASCII word: a key that is echoed there is only masked if it is complete. */
function truncateAtWord(line: string): string {
  const start = line.slice(0, DISPLAY.sentence);
  return /^[\x21-\x7e]/.test(line.slice(DISPLAY.sentence))
    ? start.replace(/(?<![\x21-\x7e])[\x21-\x7e]+$/, '').trimEnd()
    : start.toWellFormed();
}

export interface ServerError {
  /** null if there was no HTTP response, or if the error was inside a stream. */
  readonly status: number | null;
  /** The server's type, or one of ours: `connection` and `timeout` if there was no response, `cut` if it broke off. */
  readonly type: string | null;
  readonly code: string | null;
  readonly param: string | null;
  /** The server's message; empty if there is none. */
  readonly message: string;
}

const overflowCodes = new Set(['context_length_exceeded', 'exceed_context_size_error', 'prompt_too_long']);

/**
 * Messages about a context that is too long, for which Anthropic and most compatible servers have no code except
 * `invalid_request_error`. Each line names the servers that use it.
 */
const overflowTexts = [
  /prompt is too long/i, // Anthropic
  /maximum context length/i, // vLLM, OpenRouter, DeepSeek, Mistral
  /exceeds? (the )?(available |model'?s? )?(maximum )?context/i, // Anthropic, OpenAI, llama.cpp and its Python server
  /input (token count|is too long)/i, // Gemini, Bedrock
  /maximum (prompt|model) length/i, // xAI, vLLM
  /(longer|greater) than the (model'?s )?context length/i, // Together, LM Studio
  /exceeded (max(imum)? context|model token limit)/i, // Ollama, Moonshot
  /context window exceeds limit/i, // MiniMax
  /range of input length should be/i, // DashScope
];

/**
 * Messages of servers without tool calls; none of them has a code for it. Servers that ignore `tools` respond with
 * prose, which is handled like any other turn. Each line names the servers that use it.
 */
const toollessTexts = [
  /does not support (tools|tool use|tool calling|function calling)/i, // Ollama
  /unsupported param: tools|tools param requires/i, // llama.cpp
  /requires --enable-auto-tool-choice/i, // vLLM
  /no endpoints found that support tool use/i, // OpenRouter
  /\b(tools?|tool (use|calling)|function calling)\b\W+(is|are) not (supported|enabled)/i, // Groq, Gemini
];

/** Whether the tool choice was rejected. */
export function namesToolChoice(failure: ServerError): boolean {
  return failure.param === 'tool_choice' || /tool[_ ]choice/i.test(failure.message);
}

export function isOverflow(failure: ServerError): boolean {
  if (overflowCodes.has(failure.code ?? '') || overflowCodes.has(failure.type ?? '')) return true;
  if (failure.status === 413) return true;
  if (failure.status !== 400 && failure.status !== 422 && failure.status !== null) return false;
  return overflowTexts.some((pattern) => pattern.test(failure.message));
}

export function isToolless(failure: ServerError): boolean {
  return toollessTexts.some((pattern) => pattern.test(failure.message));
}

/** Undici's codes for a non-streamed response that takes longer than its timeout of five minutes. */
const TOO_LATE: ReadonlySet<string> = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);

/** Returns an error and its causes, outermost first; Node.js wraps the system error in one or two others. */
function listCauses(error: unknown): readonly Error[] {
  const chain: Error[] = [];
  for (let current = error; chain.length < 5 && current instanceof Error; current = current.cause)
    chain.push(current);
  return chain;
}

/**
 * Returns the NetworkError among the causes, which names what is between this machine and the server; null if there is
 * none.
 */
export function networkError(error: unknown): NetworkError | null {
  return listCauses(error).find((each) => each instanceof NetworkError) ?? null;
}

/** Whether a response exceeded the timeout of Node.js, as the next attempt would, too. */
export function isTooLate(error: unknown): boolean {
  return TOO_LATE.has(causeCode(error) ?? '');
}
