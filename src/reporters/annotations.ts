/** Findings as annotations: shown beside the line in the pull request, in the list of the run, and in the log. */
import { DISPLAY } from '../text/limits.ts';
import { counted } from '../text/messages.ts';
import type { Log } from './log.ts';
import { findingsToShow } from './places.ts';
import type { Locate, Reporter } from './report-types.ts';

/** Annotations that the runner keeps per level and step (`_maxCountPerIssueType`); the rest appear only in the log. */
const MAX_ANNOTATIONS = 10;

/**
 * Annotates the most severe findings of a published payload that have a place in the repository, and counts the others.
 * @param elsewhere where to read all of them, in words such as `the job summary`
 */
export function createAnnotations(log: Log, locate: Locate, elsewhere: string): Reporter {
  return {
    name: 'annotations',
    async report(report) {
      const findings = findingsToShow(report, locate);
      // The verdict's own error is one of them.
      const most = MAX_ANNOTATIONS - (report.verdict.error === null ? 0 : 1);
      let shown = 0;
      for (const { severity, place, title, rule, message, isDoubted } of findings) {
        // Beside a line of the file, or at its top, what is not proven would be believed.
        if (place === null || isDoubted || shown === most) continue;
        if (log.excerpt(place.path, DISPLAY.wholePath) !== place.path) continue;
        const { path: file, line, endLine } = place;
        log[severity === 'note' ? 'notice' : severity](message, {
          title: title ?? rule ?? 'Finding',
          file,
          ...(line === null ? {} : { startLine: line }),
          ...(endLine === null ? {} : { endLine }),
        });
        shown += 1;
      }
      const left = findings.length - shown;
      if (left > 0) log.info(`and ${counted(left, 'more finding')}: see ${elsewhere}.`);
    },
  };
}
