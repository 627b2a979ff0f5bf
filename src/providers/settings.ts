/** What the person asked for about the model, and what the adapters make of it. */
import type { FailureContext } from './failures.ts';

/** The settings of a provider; nothing else, least of all the environment, decides where a request goes. */
export interface ProviderSettings {
  readonly provider: 'openai' | 'anthropic' | 'openai-compatible';
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
  readonly userAgent: string;
}

/** Settings with every choice made. */
export interface AdapterSettings {
  readonly provider: ProviderSettings['provider'];
  readonly model: string;
  readonly apiKey: string | null;
  readonly baseUrl: string;
  /** Whether the endpoint is the vendor's own. */
  readonly isVendor: boolean;
  readonly maxOutputTokens: number | null;
  readonly stream: boolean;
  readonly userAgent: string;
  readonly failureContext: Omit<FailureContext, 'forced'>;
}
