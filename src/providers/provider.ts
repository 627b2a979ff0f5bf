/** The interface of every model, and the settings of its adapter. */
import type { AssistantMessage, Message, StopReason, ToolSpec, Usage } from '../types.ts';
import type { FailureContext } from './errors.ts';
import type { Dialect } from './schema/project.ts';

/** One request for a completion. */
export interface CompletionRequest {
  readonly system: string;
  /** The same array object on every turn of a run, so that an adapter may project it once. */
  readonly tools: readonly ToolSpec[];
  /** Append-only, but for results that were dropped after a context overflow: a request begins with the one before. */
  readonly messages: readonly Message[];
  /** `auto`, or the name of the one tool that must be called. */
  readonly toolChoice: 'auto' | { readonly tool: string };
  /** Ends every wait, the pauses between retries included; the promise then rejects with the signal's reason. */
  readonly signal: AbortSignal;
  /** Called while the promise is pending with one sentence for the log, such as that a try failed and another follows. */
  readonly notify: (text: string) => void;
}

/** A completion. */
export interface Completion {
  readonly message: AssistantMessage;
  readonly stopReason: StopReason;
  /** null where the server reported none. */
  readonly usage: Usage | null;
  /** The name of the model that the server reports, else the requested one. */
  readonly model: string;
}

/** A model behind its API. */
export interface Provider {
  /** The name of its row in the registry. */
  readonly name: string;
  readonly model: string;
  /**
   * One completion, retries included.
   * @throws ProviderError when the API gives none; the signal's reason when it was aborted; ReplayError by a replay.
   */
  complete(request: CompletionRequest): Promise<Completion>;
  /** Called once a payload was accepted. @throws ReplayError where that was not so when it was recorded. */
  readonly accepted?: () => void;
}

/** The settings of an adapter, with every choice made. */
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
  /** Every header besides those of the API: the user agent, the key in its header, the user's own. */
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: typeof fetch;
  readonly failureContext: Omit<FailureContext, 'forced'>;
}
