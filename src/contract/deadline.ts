/** Runs a computation that cannot be interrupted from within, such as a catastrophic pattern, under a time limit. */
import { runInNewContext } from 'node:vm';

/** How long a validation may take, with what it awaits: a pattern may take exponential time. */
export const VALIDATION_MS = 1_000;

/** How a computation under a deadline ended. */
export type Timed<T> =
  | { readonly kind: 'done'; readonly value: T }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'threw'; readonly error: unknown };

/**
 * Runs a synchronous task for at most the given number of milliseconds. V8 interrupts it at any point, including inside
 * regular expressions. Whatever it throws, including a stack overflow, is returned as a value.
 */
export function underDeadline<T>(task: () => T, milliseconds: number): Timed<T> {
  try {
    return { kind: 'done', value: runInNewContext('task()', { task }, { timeout: milliseconds }) };
  } catch (error) {
    // The error comes from the other context, so it is not an instance of this one's Error.
    const isTimeout = Object(error).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
    return isTimeout ? { kind: 'timeout' } : { kind: 'threw', error };
  }
}
