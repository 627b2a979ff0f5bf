/** What went wrong at a model's API, as one sentence that says what to do. Texts of servers are hostile and capped. */
import { NetworkError, ProviderError, type ProviderFailure } from '../errors.ts';
import { type FailedTry, maxRetryAfterSeconds } from './transport.ts';

/** An SDK's error, independent of the SDK. */
export interface ApiFailure {
  /** null when there was no HTTP answer, or when the error came inside a stream. */
  readonly status: number | null;
  /** The server's word, or one of ours: `connection` and `timeout` when no answer came, `cut` when it broke off. */
  readonly type: string | null;
  readonly code: string | null;
  readonly param: string | null;
  /** What the server said; empty when it said nothing. */
  readonly message: string;
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

const maxServerText = 300;

const SHORTER = 'Lower `max-tool-output-kb`, narrow the task, or use a model with a larger context.';

const certificateCodes = new Set([
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

const overflowCodes = new Set(['context_length_exceeded', 'exceed_context_size_error', 'prompt_too_long']);

/**
 * The only place that reads an error's prose: Anthropic and most compatible servers give a context that is too long no
 * code of its own, only `invalid_request_error`. Each line names who says it.
 */
const overflowTexts = [
  /prompt is too long/i, // Anthropic
  /maximum context length/i, // OpenAI, vLLM, OpenRouter, DeepSeek
  /exceeds? the (available |model'?s? )?(maximum )?context/i, // llama.cpp, LM Studio, xAI
  /input length and `?max_tokens`? exceed context limit/i, // Anthropic
  /input (token count|is too long)/i, // Gemini, Bedrock
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

/** A failure as the error that a run ends with, or goes on from where it can. */
export function providerError(failure: ApiFailure, context: FailureContext): ProviderError {
  const [kind, sentence] = judge(failure, context);
  const { status, requestId, cause } = failure;
  return new ProviderError(kind, sentence, { status, requestId: requestId?.slice(0, 100) ?? null, cause });
}

/** The error of an answer that stopped in the middle, or never began, in every try. */
export function silenceError({ host, model }: FailureContext, idleMs: number): ProviderError {
  return new ProviderError(
    'error',
    `The stream of ${host} for ${model} went silent: nothing came for ${idleMs / 1000} s, in every try. Run again later, or set \`stream: off\` for a model that thinks longer without a sign of life.`,
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

function judge(failure: ApiFailure, context: FailureContext): Judged {
  const { status } = failure;
  if (status === null) return unanswered(failure, context);
  if (context.forced && status >= 400 && status < 500 && namesToolChoice(failure)) {
    return ['tool_choice', `${told(failure, context)} It refuses a forced tool choice.`];
  }
  if (isOverflow(failure)) {
    return [
      'context_overflow',
      `The conversation is too long for ${context.model}. ${told(failure, context)} ${SHORTER}`,
    ];
  }
  if (toollessTexts.some((pattern) => pattern.test(failure.message)))
    return ['error', toolless(failure, context)];
  // Google answers a wrong key with 400.
  const isWrongKey = failure.code === 'API_KEY_INVALID';
  if (status === 401 || status === 403 || isWrongKey) return ['auth', authSentence(failure, context)];
  if (status === 429) return ['rate_limit', rateSentence(failure, context)];
  if (status === 529 || status === 503) {
    return ['overloaded', `${told(failure, context)} It is overloaded: run again later.`];
  }
  return ['error', `${told(failure, context)}${advice(status, failure, context)}`];
}

function unanswered(failure: ApiFailure, context: FailureContext): Judged {
  if (failure.type === 'connection' || failure.type === 'timeout')
    return ['error', connectionSentence(failure, context)];
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
  if (isOverflow(failure)) return ['context_overflow', `${sentence} ${SHORTER}`];
  return ['error', `${sentence} Run again later.`];
}

function namesToolChoice(failure: ApiFailure): boolean {
  return failure.param === 'tool_choice' || /tool[_ ]choice/i.test(failure.message);
}

function isOverflow(failure: ApiFailure): boolean {
  if (overflowCodes.has(failure.code ?? '') || overflowCodes.has(failure.type ?? '')) return true;
  if (failure.status === 413) return true;
  if (failure.status !== 400 && failure.status !== 422 && failure.status !== null) return false;
  return overflowTexts.some((pattern) => pattern.test(failure.message));
}

function toolless(failure: ApiFailure, context: FailureContext): string {
  return `${told(failure, context)} It offers no tool calls for this model, and the agent works with nothing else: choose a model that has them, or turn them on in the server.`;
}

function authSentence(failure: ApiFailure, context: FailureContext): string {
  const { host, model, keySource } = context;
  if (!context.hasKey) {
    return `${host} refused the request for ${model} (${failure.status}): no key was given.${quoted(failure.message)} Set \`api-key\`.`;
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

function advice(status: number, failure: ApiFailure, { chatHint }: FailureContext): string {
  if (status === 404 || status === 405 || status === 410) {
    const hint = chatHint
      ? ' A server that speaks chat completions only needs `provider: openai-compatible`.'
      : '';
    return ` Model or endpoint not found: check \`model\` and \`base-url\`.${hint}`;
  }
  if (status >= 300 && status < 400) return ' Redirects are not followed: check `base-url`.';
  if (status === 200) return ' That is no completion: check `base-url`, which often ends in /v1.';
  if (isMarkup(failure.message))
    return ' Check `base-url`, and what stands between this machine and the API.';
  if (status === 402) return ' Check the plan and billing of the key.';
  return status >= 500 ? ' Every retry failed: run again later.' : '';
}

function connectionSentence(failure: ApiFailure, context: FailureContext): string {
  const lost = networkError(failure.cause);
  if (lost !== null) return `No connection to ${context.host}. ${lost.message}`;
  const code = causeCode(failure.cause);
  // Undici waits five minutes for the beginning of an answer that is not streamed, unless told otherwise.
  if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT')
    return `${context.host} gave no answer for ${context.model} within the time limit of one request. Set \`stream: on\`, so that it shows signs of life, or give the model less to do.`;
  const where = `No connection to ${context.host}${code === null ? '' : ` (${code})`}.`;
  if (code !== null && certificateCodes.has(code)) {
    return `${where} Its certificate is not trusted: name your authority's file in NODE_EXTRA_CA_CERTS.`;
  }
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return `${where} The name does not resolve: check \`base-url\`.`;
  return `${where} Check \`base-url\` and the network.`;
}

/** What stands between this machine and the server, where the way out knew it. */
function networkError(error: unknown): NetworkError | null {
  let current = error;
  for (let depth = 0; depth < 5 && current instanceof Error; depth += 1) {
    if (current instanceof NetworkError) return current;
    current = current.cause;
  }
  return null;
}

/** The first `code` down a chain of causes; Node hides the system's own error below one or two others. */
function causeCode(error: unknown): string | null {
  let current = error;
  for (let depth = 0; depth < 5 && current instanceof Error; depth += 1) {
    if ('code' in current && typeof current.code === 'string') return current.code;
    current = current.cause;
  }
  return null;
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
  const words = line.length > maxServerText ? `${line.slice(0, maxServerText)}…` : line.replace(/\.+$/, '');
  return ` It said: "${words}".`;
}
