/** The share of the change that the model was shown, as outputs, gates and reports state it. */
import type { Coverage } from '../types.ts';

/** Returns the share of the required files from 0 to 1; 1 if nothing had to be seen, null if it is unknown what changed. */
export function coverageShare({ status, files }: Coverage): number | null {
  if (status === 'unknown') return null;
  return files.required === 0 ? 1 : files.shown / files.required;
}

/** The coverage of a run whose change is not known. @param why one sentence for people. */
export function unknownCoverage(why: string): Coverage {
  return {
    status: 'unknown',
    why,
    files: { changed: 0, required: 0, shown: 0, unseen: [], notRequired: [] },
  };
}
