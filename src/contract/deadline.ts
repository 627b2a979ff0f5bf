/** Runs a computation that nothing inside it can stop, such as a catastrophic pattern, under a time limit. */
import { createContext, Script } from 'node:vm';

/** How a computation under a deadline ended. */
export type Timed<T> =
  | { readonly kind: 'done'; readonly value: T }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'threw'; readonly error: unknown };

const idle = (): void => undefined;
let current: () => void = idle;
// The same function for ever: each value that this global gets keeps what it holds alive until the next full collection.
const world = { task: (): void => current() };
const script = new Script('task()');
let contextified = false;

/**
 * Runs a synchronous task for at most so many milliseconds. V8 stops it wherever it is, regular expressions included;
 * what it throws, a stack overflow too, is a value. A task must not start another one.
 */
export function underDeadline<T>(task: () => T, milliseconds: number): Timed<T> {
  // A context costs half a millisecond: made on first use, used ever after.
  if (!contextified) createContext(world);
  contextified = true;
  const results: T[] = [];
  current = () => {
    results.push(task());
  };
  try {
    script.runInContext(world, { timeout: milliseconds });
  } catch (error) {
    return isTimeout(error) ? { kind: 'timeout' } : { kind: 'threw', error };
  } finally {
    current = idle;
  }
  return results.map((value): Timed<T> => ({ kind: 'done', value }))[0] ?? { kind: 'timeout' };
}

/** The error comes from the context and is no instance of this realm's Error. */
function isTimeout(error: unknown): boolean {
  return (
    typeof error === 'object' &&
    error !== null &&
    'code' in error &&
    error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
  );
}
