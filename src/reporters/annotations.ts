/** Findings as annotations: beside the line in the pull request, in the list of the run, and in the log. */
import type { Report, Reporter } from '../types.ts';
import { type Finding, readFindings, type WrittenPlace } from './findings.ts';
import { counted } from './format.ts';
import type { AnnotationLevel, AnnotationProperties, Log } from './log.ts';
import type { Locate, Place } from './places.ts';
import { SEVERITIES, type Severity } from './severity.ts';

/** The world of annotations. */
export interface AnnotationsOptions {
  readonly log: Log;
  readonly mode: 'findings' | 'none';
  readonly locate: Locate;
  /** Where all findings are, in words such as `the job summary`. */
  readonly elsewhere: string;
}

/** A finding and where it is; null where it names no file of the repository. */
interface Placed {
  readonly finding: Finding;
  readonly place: Place | null;
}

/**
 * What the runner keeps of each level of a step (`_maxCountPerIssueType`); the rest is in the log only. GitHub keeps 50
 * of a job, so that a job with many steps may show fewer.
 */
const PER_LEVEL = 10;
/** What is left for what is told after the findings: the verdict's own error; outputs or a comment that failed. */
const KEPT: Readonly<Record<AnnotationLevel, number>> = { error: 1, warning: 2, notice: 0 };
const LEVELS: Readonly<Record<Severity, AnnotationLevel>> = {
  error: 'error',
  warning: 'warning',
  note: 'notice',
};
const MAX_PLACE = 300;
/** The log finds nothing to change in a path of this length that it also leaves as it is. */
const MAX_PATH = 4_096;

/**
 * Annotates the findings of a published payload: of each level as many as the runner shows, those with a place first.
 * A finding without a place is still annotated: GitHub lists it beside the run, and the gravest may well be about no file.
 */
export function createAnnotations({ log, mode, locate, elsewhere }: AnnotationsOptions): Reporter {
  return {
    name: 'annotations',
    async report(report: Report) {
      if (mode === 'none' || report.payload === null) return;
      const all = unique(readFindings(report.payload), locate);
      let left = 0;
      for (const severity of SEVERITIES) {
        const level = LEVELS[severity];
        const placed = all.filter(({ finding }) => finding.severity === severity).toSorted(placedFirst);
        // That a change edits its own judge is told after the findings, of which it may have provoked any number.
        const kept = KEPT[level] + (level === 'warning' ? report.judgeChanges.length : 0);
        const room = Math.max(0, PER_LEVEL - kept - log.annotated(level));
        for (const each of placed.slice(0, room)) annotate(each, level, log);
        left += Math.max(0, placed.length - room);
      }
      if (left > 0) {
        const are = left === 1 ? 'is' : 'are';
        log.info(
          `${counted(left, 'more finding')} ${are} not annotated, because a step shows ten annotations of a kind: see ${elsewhere}.`,
        );
      }
    },
  };
}

/** The same words at the same place are one finding, however often they were said. */
function unique(findings: readonly Finding[], locate: Locate): readonly Placed[] {
  const seen = new Map<string, Placed>();
  for (const finding of findings) {
    const place = finding.place === null ? null : locate(finding.place);
    const where = place === null ? finding.place : { path: place.path, line: place.line };
    const key = JSON.stringify([finding.severity, where, finding.title, finding.message]);
    if (!seen.has(key)) seen.set(key, { finding, place });
  }
  return [...seen.values()];
}

function placedFirst(one: Placed, other: Placed): number {
  return Number(one.place === null) - Number(other.place === null);
}

function annotate({ finding, place }: Placed, level: AnnotationLevel, log: Log): void {
  const title = { title: finding.title ?? finding.rule ?? 'Finding' };
  const properties = place === null ? null : propertiesOf(place, log);
  // A file that is not in the repository, or whose name would not survive the way to the runner, is said in words.
  const where = finding.place === null || properties !== null ? '' : placeWords(finding.place, log);
  log[level](where + finding.message, { ...title, ...properties });
}

function placeWords({ path: file, line }: WrittenPlace, log: Log): string {
  return `${log.excerpt(line === null ? file : `${file}, line ${line}`, MAX_PLACE)}: `;
}

/** null for a path that the log would write otherwise than it is. */
function propertiesOf(place: Place, log: Log): AnnotationProperties | null {
  const { path: file, line, endLine, column } = place;
  if (log.excerpt(file, MAX_PATH) !== file) return null;
  return {
    file,
    ...(line === null ? {} : { line }),
    ...(endLine === null ? {} : { endLine }),
    ...(column === null || endLine !== null ? {} : { col: column }),
  };
}
