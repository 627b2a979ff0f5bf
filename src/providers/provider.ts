/** The interface of all models, and the settings of their adapters. */
import type { AssistantMessage, Message, StopReason, ToolSpec, Usage } from '../types.ts';
import type { Dialect } from './wire-schema.ts';

export interface CompletionRequest {
  readonly system: string;
  readonly tools: readonly ToolSpec[];
  /**
   * Append-only, except for results that were dropped after a context overflow; a request starts with the previous one.
   */
  readonly messages: readonly Message[];
  /** `auto`, or the name of the one tool that must be called. */
  readonly toolChoice: 'auto' | { readonly tool: string };
  /** Aborts all waits, including pauses between retries; the promise then rejects with the signal's reason. */
  readonly signal: AbortSignal;
  /** Called while the promise is pending, with one sentence for the log, for example that a request is repeated. */
  readonly notify: (text: string) => void;
}

export interface Completion {
  readonly message: AssistantMessage;
  readonly stopReason: StopReason;
  /** null if the server reported none. */
  readonly usage: Usage | null;
  /** The model name reported by the server, otherwise the requested one. */
  readonly model: string;
}

export interface Provider {
  /** The name of its row in the registry. */
  readonly name: string;
  readonly model: string;
  /** Host and port of the endpoint; absent if nothing is sent. */
  readonly host?: string;
  /**
   * Requests one completion, including retries.
   * @throws ProviderError if the API returns none; the signal's reason if it was aborted; ReplayError by a replay.
   */
  complete(request: CompletionRequest): Promise<Completion>;
  /** Called when a payload is accepted. @throws ReplayError if it was not accepted in the recording. */
  readonly accepted?: () => void;
}

/** The settings of an adapter, with all defaults resolved. */
export interface AdapterSettings {
  readonly provider: string;
  readonly model: string;
  readonly baseUrl: string;
  /** Host and port of the endpoint. */
  readonly host: string;
  /** Whether that is the vendor's own endpoint, which needs no `base-url`. */
  readonly isVendor: boolean;
  /** Where the key came from; never the key itself. */
  readonly keySource: string;
  readonly hasKey: boolean;
  readonly dialect: Dialect;
  readonly maxTokensField: 'max_tokens' | 'max_completion_tokens';
  readonly maxOutputTokens: number | null;
  readonly reasoningEffort: string | null;
  readonly idleTimeoutMs: number;
  readonly retryPauseMs: number;
  /** The user agent, the key and the user's own; names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: typeof fetch;
}
