/** What the system said, without looking at the words. */

/** The `code` of a system error (`ENOENT`, `EACCES`, …); null for anything else, which is a bug and wants throwing on. */
export function errorCode(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error)) return null;
  return typeof error.code === 'string' ? error.code : null;
}
