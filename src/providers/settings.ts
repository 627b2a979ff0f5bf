/** What the person asked for about the model, and what the adapters make of it. */
import type { FailureContext } from './failures.ts';
import type { ProviderName } from './provider.ts';

/** The settings of a provider; nothing else, least of all the environment, decides where a request goes. */
export interface ProviderSettings {
  readonly provider: ProviderName;
  readonly model: string;
  readonly apiKey: string | null;
  /** Where the key came from, such as `the input api-key`; named when it is refused. */
  readonly keySource: string;
  /** null for the vendor's own endpoint. */
  readonly baseUrl: string | null;
  /** null for the provider's default. */
  readonly maxOutputTokens: number | null;
  /** `auto`: on at a vendor's own endpoint, off at a base URL. */
  readonly stream: 'auto' | 'on' | 'off';
  /** Sent with every request beside our own; names and values that a request may carry. */
  readonly headers: Readonly<Record<string, string>>;
  /** `bearer`: the key goes out as `Authorization: Bearer`, whatever the provider's own way is. */
  readonly authScheme: 'provider' | 'bearer';
  /** Passed on as it is, in the provider's own field; null for the provider's default. */
  readonly reasoningEffort: string | null;
  /** The longest silence in a streamed answer, in milliseconds. */
  readonly idleTimeoutMs: number;
  /** Before an answer that broke off is asked for again, in milliseconds; twice as long the next time. */
  readonly retryPauseMs: number;
  /** How requests leave this machine: through its proxies, trusting its authorities. */
  readonly fetch: typeof fetch;
  readonly userAgent: string;
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
