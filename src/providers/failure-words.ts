/** What a server's error means where no status says it: the only place that reads the prose of errors. */

/** A failure in the server's words. */
export interface ServerWords {
  /** null when there was no HTTP answer, or when the error came inside a stream. */
  readonly status: number | null;
  /** The server's word, or one of ours: `connection` and `timeout` when no answer came, `cut` when it broke off. */
  readonly type: string | null;
  readonly code: string | null;
  readonly param: string | null;
  /** What the server said; empty when it said nothing. */
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
export function namesToolChoice(failure: ServerWords): boolean {
  return failure.param === 'tool_choice' || /tool[_ ]choice/i.test(failure.message);
}

/** Whether the conversation is too long for the model. */
export function isOverflow(failure: ServerWords): boolean {
  if (overflowCodes.has(failure.code ?? '') || overflowCodes.has(failure.type ?? '')) return true;
  if (failure.status === 413) return true;
  if (failure.status !== 400 && failure.status !== 422 && failure.status !== null) return false;
  return overflowTexts.some((pattern) => pattern.test(failure.message));
}

/** Whether the server offers no tool calls for the model. */
export function isToolless(failure: ServerWords): boolean {
  return toollessTexts.some((pattern) => pattern.test(failure.message));
}
