/** Sample coverage of a change; each test changes the part that it is about. */
import type { Coverage } from '../../src/types.ts';

interface CoverageChanges extends Partial<Pick<Coverage, 'status' | 'why'>> {
  readonly files?: Partial<Coverage['files']>;
}

/** A change of 43 files, all shown. */
export function sampleCoverage({ files, ...changes }: CoverageChanges = {}): Coverage {
  return {
    status: 'measured',
    why: null,
    ...changes,
    files: { changed: 43, required: 43, shown: 43, unseen: [], notRequired: [], ...files },
  };
}

/** 41 of 43 files were shown, one of the others in part; three more need not be. */
export const unseenCoverage = sampleCoverage({
  files: {
    changed: 46,
    shown: 41,
    unseen: ['src/billing/tax.ts', 'src/billing/invoice.ts'],
    notRequired: [
      { path: 'package-lock.json', why: 'lock_file' },
      { path: 'docs/logo.png', why: 'binary' },
      { path: 'docs/mark.png', why: 'binary' },
    ],
  },
});

export const unknownCoverage = sampleCoverage({
  status: 'unknown',
  why: 'There is no known change: the run was started by a schedule.',
  files: { changed: 0, required: 0, shown: 0 },
});

export const partialCoverage = sampleCoverage({
  status: 'partial',
  why: 'GitHub lists only the first 3,000 files of a change.',
  files: { changed: 3_000, required: 3_000, shown: 3_000 },
});
