/** The interface of all models, and the settings of their adapters. */
import type { AssistantMessage, Message, StopReason, ToolSpec, Usage } from '../types.ts';
import type { FailureContext } from './errors.ts';
import type { Dialect } from './schema/project.ts';

export interface CompletionRequest {
  readonly system: string;
  /** The same array object on every turn of a run, so that an adapter can project it once. */
  readonly tools: readonly ToolSpec[];
  /**
   * Append-only, except for results that were dropped after a context overflow; a request starts with the previous one.
   */
  readonly messages: readonly Message[];
  /** `auto`, or the name of the one tool that must be called. */
  readonly toolChoice: 'auto' | { readonly tool: string };
  /** Aborts all waits, including pauses between retries; the promise then rejects with the signal's reason. */
  readonly signal: AbortSignal;
  /**
   * Called while the promise is pending, with one sentence for the log, for example that an attempt failed and is
   * retried.
   */
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
  readonly dialect: Dialect;
  readonly maxTokensField: 'max_tokens' | 'max_completion_tokens';
  readonly maxOutputTokens: number | null;
  readonly stream: boolean;
  readonly reasoningEffort: string | null;
  readonly idleTimeoutMs: number;
  readonly retryPauseMs: number;
  /** All headers except those of the API: the user agent, the header with the key, and the user's own. */
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: typeof fetch;
  readonly failureContext: Omit<FailureContext, 'forced'>;
}
