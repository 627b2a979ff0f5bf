/** The share of the change that the model was shown, as outputs, gates and reports state it. */
import type { Coverage } from '../types.ts';

/** What a share counts: required files, or the changed lines of required files. */
export type ShareOf = 'files' | 'lines';

/** Returns the share from 0 to 1; 1 if nothing had to be seen, null if it is unknown what changed. */
export function coverageShare({ status, files, lines }: Coverage, of: ShareOf): number | null {
  if (status === 'unknown') return null;
  const [shown, all] = of === 'files' ? [files.shown, files.required] : [lines.shown, lines.changed];
  return all === 0 ? 1 : shown / all;
}

/** The coverage of a run whose change is not known. @param why one sentence for people. */
export function unknownCoverage(why: string): Coverage {
  const files = { changed: 0, required: 0, shown: 0, unseen: [], notRequired: [] };
  return { status: 'unknown', why, files, lines: { changed: 0, shown: 0 } };
}
