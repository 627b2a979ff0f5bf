/** What a failed request hides down its chain of causes. */
import { NetworkError } from '../errors.ts';

/** Undici's codes of an answer that is not streamed and takes longer than the five minutes that it waits. */
const TOO_LATE: ReadonlySet<string> = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);

/** An error and its causes, from the outside in; Node hides the system's own error below one or two others. */
function chainOf(error: unknown): readonly Error[] {
  const chain: Error[] = [];
  for (let current = error; chain.length < 5 && current instanceof Error; current = current.cause)
    chain.push(current);
  return chain;
}

/** The first code down a chain of causes, such as `ECONNREFUSED`; null where there is none. */
export function causeCode(error: unknown): string | null {
  for (const each of chainOf(error)) if ('code' in each && typeof each.code === 'string') return each.code;
  return null;
}

/** What stands between this machine and the server, where the way out knew it; else null. */
export function networkError(error: unknown): NetworkError | null {
  return chainOf(error).find((each) => each instanceof NetworkError) ?? null;
}

/** Whether an answer took longer than Node waits for one: the next try would, too. */
export function isTooLate(error: unknown): boolean {
  return TOO_LATE.has(causeCode(error) ?? '');
}
