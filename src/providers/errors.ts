/** What went wrong at a model's API, as one sentence that says what to do. Server texts are hostile: quoted and truncated. */
import { causeCode, messageFor, NetworkError, ProviderError, type ProviderFailure } from '../errors.ts';
import { type Naming, namingFor, type Wording } from '../text/naming.ts';

/** An SDK's error, independent of the SDK. */
export interface ApiFailure extends ServerError {
  readonly requestId: string | null;
  readonly cause: unknown;
}

/** What the sentences mention. */
export interface FailureContext {
  readonly model: string;
  /** Where the key came from; never the key. */
  readonly keySource: string;
  readonly hasKey: boolean;
  /** Whether the server may lack the Responses API: OpenAI's provider at somebody else's endpoint. */
  readonly chatHint: boolean;
  /** Host and port of the endpoint. */
  readonly host: string;
  /** Whether that is the vendor's own endpoint, for which no `base-url` is needed. */
  readonly hasDefaultHost: boolean;
  /** Whether the request forced a tool choice. */
  readonly forced: boolean;
}

const maxServerText = 300;

const adviseShorter = ({ name }: Naming): string =>
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

/** Makes the error that ends a run, or that the agent recovers from. */
export function providerError(failure: ApiFailure, context: FailureContext): ProviderError {
  const [kind] = classify(failure, context, namingFor('action'));
  const sentence: Wording = (naming) => classify(failure, context, naming)[1];
  const { status, requestId, cause } = failure;
  return new ProviderError(kind, sentence, { status, requestId: requestId?.slice(0, 100) ?? null, cause });
}

/** The error of a stream that stopped in the middle, or never began, in every try. */
export function silenceError({ host, model }: FailureContext, idleMs: number): ProviderError {
  return new ProviderError(
    'error',
    ({ setting }) =>
      `The stream of ${host} for ${model} went silent: nothing came for ${idleMs / 1000} s, in every try. Run again later, or set \`${setting('stream', 'off')}\` for a model that thinks longer without a sign of life.`,
  );
}

type Classified = readonly [failure: ProviderFailure, sentence: string];

function classify(failure: ApiFailure, context: FailureContext, naming: Naming): Classified {
  const { status } = failure;
  if (status === null) return classifyWithoutStatus(failure, context, naming);
  if (context.forced && status >= 400 && status < 500 && namesToolChoice(failure)) {
    return ['tool_choice', `${describeResponse(failure, context)} It refuses a forced tool choice.`];
  }
  if (isOverflow(failure)) {
    return [
      'context_overflow',
      `The conversation is too long for ${context.model}. ${describeResponse(failure, context)} ${adviseShorter(naming)}`,
    ];
  }
  if (isToolless(failure)) return ['error', describeMissingTools(failure, context)];
  // Google answers a wrong key with 400.
  const isWrongKey = failure.code === 'API_KEY_INVALID';
  if (status === 401 || status === 403 || isWrongKey)
    return ['auth', describeAuthFailure(failure, context, naming)];
  if (status === 429) return ['rate_limit', describeRateLimit(failure, context)];
  if (status === 529 || status === 503) {
    return ['overloaded', `${describeResponse(failure, context)} It is overloaded: run again later.`];
  }
  return ['error', `${describeResponse(failure, context)}${advise(status, failure, context, naming)}`];
}

function classifyWithoutStatus(failure: ApiFailure, context: FailureContext, naming: Naming): Classified {
  if (failure.type === 'connection' || failure.type === 'timeout')
    return ['error', describeConnectionFailure(failure, context, naming)];
  if (failure.type === 'cut') {
    return [
      'error',
      `The answer of ${context.host} for ${context.model} broke off in every try: run again later.`,
    ];
  }
  const sentence = `The stream of ${context.host} ended with an error.${quoteServerText(failure.message)}`;
  if (failure.type === 'overloaded_error') return ['overloaded', `${sentence} Run again later.`];
  // OpenAI names the kind of limit in the type, such as `tokens`.
  if (failure.type === 'rate_limit_error' || failure.code === 'rate_limit_exceeded')
    return ['rate_limit', `${sentence} Run again later.`];
  if (isOverflow(failure)) return ['context_overflow', `${sentence} ${adviseShorter(naming)}`];
  return ['error', `${sentence} Run again later.`];
}

function describeMissingTools(failure: ApiFailure, context: FailureContext): string {
  return `${describeResponse(failure, context)} It offers no tool calls for this model, and the agent works with nothing else: choose a model that has them, or turn them on in the server.`;
}

function describeAuthFailure(failure: ApiFailure, context: FailureContext, { give }: Naming): string {
  const { host, model, keySource } = context;
  if (!context.hasKey) {
    return `${host} refused the request for ${model} (${failure.status}): no key was given.${quoteServerText(failure.message)} ${give('api-key')}.`;
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

function advise(
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
    return ` Check \`${name('base-url')}\`, and any proxy or gateway between this machine and the API.`;
  if (status === 402) return ' Check the plan and billing of the key.';
  return status >= 500 ? ' Every retry failed: run again later.' : '';
}

function describeConnectionFailure(
  failure: ApiFailure,
  context: FailureContext,
  { entry, name, setting }: Naming,
): string {
  const lost = networkError(failure.cause);
  if (lost !== null) return `No connection to ${context.host}. ${messageFor(lost, entry)}`;
  const code = causeCode(failure.cause);
  if (isTooLate(failure.cause))
    return `${context.host} gave no answer for ${context.model} within the time limit of one request. Set \`${setting('stream', 'on')}\`, so that it shows signs of life, or give the model less to do.`;
  const where = `No connection to ${context.host}${code === null ? '' : ` (${code})`}.`;
  if (code !== null && certificateCodes.has(code)) {
    return `${where} Its certificate is not trusted: name your authority's file in NODE_EXTRA_CA_CERTS.`;
  }
  const fix = context.hasDefaultHost
    ? 'Check the network, DNS and, behind a proxy, HTTPS_PROXY.'
    : `Check \`${name('base-url')}\` and the network.`;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return context.hasDefaultHost
      ? `${where} The name does not resolve. ${fix}`
      : `${where} The name does not resolve: check \`${name('base-url')}\`.`;
  return `${where} ${fix}`;
}

function describeResponse(failure: ApiFailure, context: FailureContext): string {
  return `${context.host} answered ${failure.status} for ${context.model}.${quoteServerText(failure.message)}`;
}

function isMarkup(text: string): boolean {
  return text.trimStart().startsWith('<');
}

/** A server's words in one line, quoteServerText and capped; of a web page only that it is one. */
function quoteServerText(text: string): string {
  if (isMarkup(text)) return ' It answered with HTML instead of JSON.';
  const line = text.replace(/\s+/g, ' ').trim();
  if (line === '') return '';
  const words = line.length > maxServerText ? `${truncateAtWord(line)}…` : line.replace(/(?<!\.)\.+$/, '');
  return ` It said: "${words}".`;
}

/** Cuts a line, never inside a word of ASCII: a key that is echoed there is masked only when whole. */
function truncateAtWord(line: string): string {
  const start = line.slice(0, maxServerText);
  return /^[\x21-\x7e]/.test(line.slice(maxServerText))
    ? start.replace(/(?<![\x21-\x7e])[\x21-\x7e]+$/, '').trimEnd()
    : start.toWellFormed();
}

/** What a server reported. */
export interface ServerError {
  /** null when there was no HTTP response, or when the error came inside a stream. */
  readonly status: number | null;
  /** The server's type, or one of ours: `connection` and `timeout` when no response came, `cut` when it broke off. */
  readonly type: string | null;
  readonly code: string | null;
  readonly param: string | null;
  /** The server's message; empty when there is none. */
  readonly message: string;
}

const overflowCodes = new Set(['context_length_exceeded', 'exceed_context_size_error', 'prompt_too_long']);

/**
 * Anthropic and most compatible servers give a context that is too long no code of its own, only
 * `invalid_request_error`. Each line names who says it.
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
 * What servers without tool calls say; none of them has a code for it. Those that ignore `tools` answer in prose, which
 * is a turn like any other. Each line names who says it.
 */
const toollessTexts = [
  /does not support (tools|tool use|tool calling|function calling)/i, // Ollama
  /unsupported param: tools|tools param requires/i, // llama.cpp
  /requires --enable-auto-tool-choice/i, // vLLM
  /no endpoints found that support tool use/i, // OpenRouter
  /\b(tools?|tool (use|calling)|function calling)\b\W+(is|are) not (supported|enabled)/i, // Groq, Gemini
];

/** Whether it is the tool choice that was refused. */
export function namesToolChoice(failure: ServerError): boolean {
  return failure.param === 'tool_choice' || /tool[_ ]choice/i.test(failure.message);
}

/** Whether the conversation is too long for the model. */
export function isOverflow(failure: ServerError): boolean {
  if (overflowCodes.has(failure.code ?? '') || overflowCodes.has(failure.type ?? '')) return true;
  if (failure.status === 413) return true;
  if (failure.status !== 400 && failure.status !== 422 && failure.status !== null) return false;
  return overflowTexts.some((pattern) => pattern.test(failure.message));
}

/** Whether the server offers no tool calls for the model. */
export function isToolless(failure: ServerError): boolean {
  return toollessTexts.some((pattern) => pattern.test(failure.message));
}

/** Undici's codes of a response that is not streamed and takes longer than the five minutes that it waits. */
const TOO_LATE: ReadonlySet<string> = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);

/** An error and its causes, outermost first; Node hides the system's own error below one or two others. */
function listCauses(error: unknown): readonly Error[] {
  const chain: Error[] = [];
  for (let current = error; chain.length < 5 && current instanceof Error; current = current.cause)
    chain.push(current);
  return chain;
}

/** The NetworkError among the causes, which names what is between this machine and the server; null where there is none. */
export function networkError(error: unknown): NetworkError | null {
  return listCauses(error).find((each) => each instanceof NetworkError) ?? null;
}

/** Whether a response took longer than Node waits for one: the next try would, too. */
export function isTooLate(error: unknown): boolean {
  return TOO_LATE.has(causeCode(error) ?? '');
}
