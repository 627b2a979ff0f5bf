/** The interface of all models, and the settings of their adapters. */
import type { AssistantMessage, Message, StopReason, ToolSpec, Usage } from '../types.ts';
import type { Dialect } from './wire-schema.ts';

export interface CompletionRequest {
  readonly system: string;
  readonly tools: readonly ToolSpec[];
  /** A request starts with the previous one, except for results that were dropped after a context overflow. */
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

/** The settings of an adapter; they alone determine where a request is sent, never the environment. */
export interface AdapterSettings {
  readonly provider: string;
  readonly model: string;
  /** Where the key came from, such as `the input api-key`, mentioned if the key is rejected; null without a key. */
  readonly keySource: string | null;
  readonly baseUrl: string;
  /** Host and port of the endpoint. */
  readonly host: string;
  /** Sent with every request, with the key and the user agent; names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** null for the provider's default. */
  readonly maxOutputTokens: number | null;
  /** Passed unchanged in the provider's own field; null for the provider's default. */
  readonly reasoningEffort: string | null;
  /** Maximum silence in a stream, in milliseconds. */
  readonly idleTimeoutMs: number;
  /** The pause before a request whose response broke off is repeated, in milliseconds; doubled for the next retry. */
  readonly retryPauseMs: number;
  /** Sends requests, with support for proxies and certificates. */
  readonly fetch: typeof fetch;
  readonly dialect: Dialect;
}
