/** The one API behind which every model sits. The front door of this folder. */
import type { AssistantMessage, Message, StopReason, ToolSpec, Usage } from '../types.ts';
import type { FailureContext } from './errors.ts';

/** The providers that can be chosen. */
export const PROVIDERS = ['openai', 'anthropic', 'gemini', 'azure-openai', 'openai-compatible'] as const;
export type ProviderName = (typeof PROVIDERS)[number];

const MODEL_PREFIXES: readonly (readonly [prefix: RegExp, provider: ProviderName])[] = [
  [/^claude-/u, 'anthropic'],
  [/^gemini-/u, 'gemini'],
  [/^(?:gpt-|chatgpt-|o[134](?:-|$))/u, 'openai'],
];

/** The provider that a model's name tells, null where it tells none; a key in the environment never chooses one. */
export function providerByName(model: string): ProviderName | null {
  return MODEL_PREFIXES.find(([prefix]) => prefix.test(model))?.[1] ?? null;
}

/** One request for a completion. */
export interface CompletionRequest {
  readonly system: string;
  /** The same array object on every turn of a run, so that an adapter may project it once. */
  readonly tools: readonly ToolSpec[];
  /** Append-only, but for results that were dropped after a context overflow: a request begins with the one before. */
  readonly messages: readonly Message[];
  /** `auto`, or the name of the one tool that must be called. */
  readonly toolChoice: 'auto' | { readonly tool: string };
  /** Ends every wait, those between retries included; the promise then rejects with the signal's reason. */
  readonly signal: AbortSignal;
  /** Told while the promise is pending: one sentence for the log, such as that a try failed and another follows. */
  readonly notify: (text: string) => void;
}

/** What the model answered. */
export interface Completion {
  readonly message: AssistantMessage;
  readonly stopReason: StopReason;
  /** null where the server reported none. */
  readonly usage: Usage | null;
  /** The model's name as the server gives it, else the requested one. */
  readonly model: string;
}

/** A model behind its API. */
export interface Provider {
  readonly name: ProviderName;
  readonly model: string;
  /**
   * One completion, retries included.
   * @throws ProviderError when the API gives none; the signal's reason when it was aborted; ReplayError by a replay.
   */
  complete(request: CompletionRequest): Promise<Completion>;
  /** Told once a payload was accepted. @throws ReplayError where that was not so when it was recorded. */
  readonly accepted?: () => void;
}

/** Settings with every choice made. */
export interface AdapterSettings {
  readonly provider: ProviderName;
  readonly model: string;
  readonly baseUrl: string;
  /** Whether the endpoint is the vendor's own. */
  readonly isVendor: boolean;
  readonly maxOutputTokens: number | null;
  readonly stream: boolean;
  readonly reasoningEffort: string | null;
  readonly idleTimeoutMs: number;
  readonly retryPauseMs: number;
  /** All that goes out beside what the API itself asks for: who we are, the key in its header, the user's own. */
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: typeof fetch;
  readonly failureContext: Omit<FailureContext, 'forced'>;
}
