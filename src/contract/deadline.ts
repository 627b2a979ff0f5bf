/**
 * Runs a synchronous computation that cannot be interrupted from within, such as a catastrophic pattern, under a time
 * limit.
 */
import { createContext, Script } from 'node:vm';

/** How a computation under a deadline ended. */
export type Timed<T> =
  | { readonly kind: 'done'; readonly value: T }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'threw'; readonly error: unknown };

const idle = (): void => undefined;
let current: () => void = idle;
// The same function every time: each value assigned to this global keeps what it refers to alive until the next full
// garbage collection.
const world = { task: (): void => current() };
const script = new Script('task()');
let contextified = false;

/**
 * Runs a synchronous task for at most the given number of milliseconds. V8 interrupts it at any point, including inside
 * regular expressions. Whatever it throws, including a stack overflow, is returned as a value. A task must not start
 * another one.
 */
export function underDeadline<T>(task: () => T, milliseconds: number): Timed<T> {
  // A context takes half a millisecond to create, so it is created on first use and kept.
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

/** The error comes from the other context and is not an instance of this realm's Error. */
function isTimeout(error: unknown): boolean {
  return (
    typeof error === 'object' &&
    error !== null &&
    'code' in error &&
    error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
  );
}
