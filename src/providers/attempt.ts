/** One completion over an unreliable line: waits end with the signal, and answers cut in the middle are asked again. */
import type { ProviderError } from '../errors.ts';
import type { CompletionRequest } from './provider.ts';

/** How often a whole request is made when its answer breaks off; the retries before an answer live in the SDKs. */
export const maxAttempts = 3;

/** What one request gave: a value, or why it did not. */
export type Attempt<T> =
  | { readonly ok: true; readonly value: T }
  | {
      readonly ok: false;
      /** Whether the answer was cut, so that another try may be whole. */
      readonly again: boolean;
      /** With `again`, what the log says of it, such as `host.example broke off its answer`. */
      readonly why?: string;
      readonly error: ProviderError;
    };

/**
 * Makes a request, again when its answer was cut, `maxAttempts` times in all; each further try is told.
 * `once` is given a signal that also aborts when this promise settles, so that nothing is left running.
 * @param pauseMs before the second try; twice that before the third.
 * @throws the last attempt's error; the signal's reason as soon as it aborts.
 */
export async function attempt<T>(
  { signal, notify }: Pick<CompletionRequest, 'signal' | 'notify'>,
  pauseMs: number,
  once: (signal: AbortSignal) => Promise<Attempt<T>>,
): Promise<T> {
  signal.throwIfAborted();
  const scope = new AbortController();
  let onAbort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
  });
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    for (let tries = 1; ; tries += 1) {
      const work = once(scope.signal);
      // The loser of the race may still reject (the openai SDK sleeps between retries without seeing any signal).
      work.catch(() => undefined);
      const result = await Promise.race([work, aborted]);
      if (result.ok) return result.value;
      if (!result.again || tries >= maxAttempts) throw result.error;
      notify(`${result.why ?? 'the answer ended with an error'}: try ${tries + 1} of ${maxAttempts} follows`);
      await Promise.race([new Promise((resolve) => setTimeout(resolve, pauseMs * tries)), aborted]);
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
    scope.abort();
  }
}
