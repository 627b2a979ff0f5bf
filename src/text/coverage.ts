/** Coverage as a share, and as it is in the envelope. */
import type { Coverage, Json } from '../types.ts';
import { DISPLAY } from './limits.ts';
import { truncate } from './messages.ts';

/** Files in each list of `evidence.coverage`: an envelope holds some hundred kilobytes of paths at most. */
const MAX_FILES = 200;
/** Characters of `evidence.coverage.why`. */
const MAX_WHY = 500;

/** The counts of a coverage, without its lists of files. */
export interface CoverageCounts {
  readonly status: Coverage['status'];
  readonly files: Pick<Coverage['files'], 'required' | 'shown'>;
}

/**
 * Returns the share of the required files from 0 to 1; 1 if nothing had to be seen, null if it is unknown what changed, or
 * none of it was given.
 */
export function coverageShare({ status, files }: Coverage): number | null {
  if (status === 'unknown' || (status === 'partial' && files.changed === 0)) return null;
  return files.required === 0 ? 1 : files.shown / files.required;
}

/** Returns a coverage as `evidence.coverage` of the envelope; paths are masked, and cut to the schema's length. */
export function coverageJson({ status, why, files }: Coverage, mask: (text: string) => string): Json {
  const { changed, required, shown, unseen, notRequired } = files;
  const cut = (text: string) => truncate(mask(text), DISPLAY.wholePath);
  return {
    status,
    why: why === null ? null : truncate(mask(why), MAX_WHY),
    files: {
      changed,
      required,
      shown,
      unseen: unseen.slice(0, MAX_FILES).map(cut),
      not_required: notRequired.slice(0, MAX_FILES).map(({ path, why }) => ({ path: cut(path), why })),
    },
  };
}
