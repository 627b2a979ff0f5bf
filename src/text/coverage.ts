/** Coverage as a share. */
import type { Coverage } from '../types.ts';

/**
 * Returns the share of the required files from 0 to 1; 1 if nothing had to be seen, null if it is unknown what changed, or
 * none of it was given.
 */
export function coverageShare({ status, files }: Coverage): number | null {
  if (status === 'unknown' || (status === 'partial' && files.changed === 0)) return null;
  return files.required === 0 ? 1 : files.shown / files.required;
}
