/** Findings as annotations: shown beside the line in the pull request, in the list of the run, and in the log. */

import { DISPLAY } from '../text/limits.ts';
import { counted } from '../text/messages.ts';
import { isDoubted, type Severity, type SourcePlace } from './findings.ts';
import { weighFindings } from './grounding.ts';
import type { AnnotationLevel, Log } from './log.ts';
import type { Reporter } from './report-types.ts';
import { type Locate, locateByEvidence } from './source-locations.ts';

/** Annotations that the runner keeps per level and step (`_maxCountPerIssueType`); the rest appear only in the log. */
const KEPT_BY_RUNNER = 10;

export interface AnnotationsOptions {
  readonly log: Log;
  readonly locate: Locate;
  /** Where to read all findings, in words such as `the job summary`. */
  readonly elsewhere: string;
}

const MAX_ANNOTATIONS = 10;
/**
 * Of the annotations of a level that the runner shows, those reserved for what is reported after the findings: the
 * verdict's own error; outputs or a comment that failed.
 */
const RESERVED: Readonly<Record<AnnotationLevel, number>> = { error: 1, warning: 2, notice: 0 };
const LEVELS: Readonly<Record<Severity, AnnotationLevel>> = {
  error: 'error',
  warning: 'warning',
  note: 'notice',
};

/** Annotates the gravest findings of a published payload that have a place in the repository, and counts the others. */
export function createAnnotations({ log, locate, elsewhere }: AnnotationsOptions): Reporter {
  return {
    name: 'annotations',
    async report(report) {
      const find = locateByEvidence(report, locate);
      const findings = weighFindings(report);
      let shown = 0;
      for (const { severity, place: written, title, rule, message, evidence } of findings) {
        const level = LEVELS[severity];
        // The change may have provoked any number of findings, to hide the warnings about its own policy files.
        const reserved = RESERVED[level] + (level === 'warning' ? report.policyChanges.length : 0);
        const isFull = shown === MAX_ANNOTATIONS || log.annotated(level) >= KEPT_BY_RUNNER - reserved;
        // Beside a line of the file, or at its top, what is not proven would be believed.
        const place = written === null || isFull || isDoubted(evidence) ? null : find(written);
        if (place === null || log.excerpt(place.path, DISPLAY.wholePath) !== place.path) continue;
        log[level](message, { title: title ?? rule ?? 'Finding', ...propertiesOf(place) });
        shown += 1;
      }
      const left = findings.length - shown;
      if (left > 0) log.info(`and ${counted(left, 'more finding')}: see ${elsewhere}.`);
    },
  };
}

function propertiesOf({ path: file, line, endLine }: SourcePlace) {
  return { file, ...(line === null ? {} : { line }), ...(endLine === null ? {} : { endLine }) };
}
