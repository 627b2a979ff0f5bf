/** Findings as annotations: shown beside the line in the pull request, in the list of the run, and in the log. */
import { DISPLAY } from '../text/limits.ts';
import { counted } from '../text/messages.ts';
import { weighFindings } from './findings.ts';
import type { Log } from './log.ts';
import { type Locate, locateByEvidence } from './places.ts';
import type { Reporter } from './report-types.ts';

/** Annotations that the runner keeps per level and step (`_maxCountPerIssueType`); the rest appear only in the log. */
const MAX_ANNOTATIONS = 10;

export interface AnnotationsOptions {
  readonly log: Log;
  readonly locate: Locate;
  /** Where to read all findings, in words such as `the job summary`. */
  readonly elsewhere: string;
}

/** Annotates the most severe findings of a published payload that have a place in the repository, and counts the others. */
export function createAnnotations({ log, locate, elsewhere }: AnnotationsOptions): Reporter {
  return {
    name: 'annotations',
    async report(report) {
      const find = locateByEvidence(report, locate);
      const findings = weighFindings(report);
      let shown = 0;
      for (const { severity, place: written, title, rule, message, isDoubted } of findings) {
        const level = severity === 'note' ? 'notice' : severity;
        // The verdict's own error was written before.
        const isFull = shown === MAX_ANNOTATIONS || log.annotated(level) >= MAX_ANNOTATIONS;
        // Beside a line of the file, or at its top, what is not proven would be believed.
        const place = written === null || isFull || isDoubted ? null : find(written);
        if (place === null || log.excerpt(place.path, DISPLAY.wholePath) !== place.path) continue;
        const { path: file, line, endLine } = place;
        log[level](message, {
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
