/** Findings as annotations: beside the line in the pull request, in the list of the run, and in the log. */

import { counted } from '../text/messages.ts';
import { type Finding, type Severity, type WrittenLocation, weighFindings } from './findings.ts';
import type { AnnotationLevel, AnnotationProperties, Log } from './log.ts';
import type { Report, Reporter } from './report-types.ts';
import { type Locate, locateByEvidence, type SourceLocation } from './source-locations.ts';

/** The world of annotations. */
export interface AnnotationsOptions {
  readonly log: Log;
  readonly mode: 'findings' | 'none';
  readonly locate: Locate;
  /** Where all findings are, in words such as `the job summary`. */
  readonly elsewhere: string;
}

/** A finding and how loudly it is said. */
interface Said {
  readonly finding: Finding;
  readonly level: AnnotationLevel;
  /** What stands before its message; empty where nothing is to be said of it. */
  readonly remark: string;
}

/** A finding and where it is; null where it names no file of the repository. */
interface Placed extends Said {
  readonly place: SourceLocation | null;
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
 * A finding that did not decide the verdict is a notice, however grave: beside a green verdict red would contradict it.
 */
export function createAnnotations({ log, mode, locate, elsewhere }: AnnotationsOptions): Reporter {
  return {
    name: 'annotations',
    async report(report: Report) {
      if (mode === 'none' || report.payload === null) return;
      const { deciding, minor } = weighFindings(report.payload, report);
      const remark = `${report.view?.minor?.remark ?? ''}\n`;
      const said = [...deciding.map(loud), ...minor.map((finding) => quiet(finding, remark))];
      const all = unique(said, locateByEvidence(report, locate));
      let left = 0;
      for (const level of new Set(Object.values(LEVELS))) {
        const placed = all.filter((each) => each.level === level).toSorted(placedFirst);
        // That a change edits its own judge is told after the findings, of which it may have provoked any number.
        const kept = KEPT[level] + (level === 'warning' ? report.policyChanges.length : 0);
        const room = Math.max(0, PER_LEVEL - kept - log.annotated(level));
        for (const each of placed.slice(0, room)) annotate(each, log);
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

function loud(finding: Finding): Said {
  return { finding, level: LEVELS[finding.severity], remark: '' };
}

function quiet(finding: Finding, remark: string): Said {
  return { finding, level: 'notice', remark };
}

/** The same words at the same place are one finding, however often they were said. */
function unique(said: readonly Said[], locate: Locate): readonly Placed[] {
  const seen = new Map<string, Placed>();
  for (const each of said) {
    const { finding } = each;
    const place = finding.place === null ? null : locate(finding.place);
    const where = place === null ? finding.place : { path: place.path, line: place.line };
    const key = JSON.stringify([finding.severity, where, finding.title, finding.message]);
    if (!seen.has(key)) seen.set(key, { ...each, place });
  }
  return [...seen.values()];
}

function placedFirst(one: Placed, other: Placed): number {
  return Number(one.place === null) - Number(other.place === null);
}

function annotate({ finding, place, level, remark }: Placed, log: Log): void {
  const title = { title: finding.title ?? finding.rule ?? 'Finding' };
  const properties = place === null ? null : propertiesOf(place, log);
  // A file that is not in the repository, or whose name would not survive the way to the runner, is said in words.
  const where = finding.place === null || properties !== null ? '' : placeWords(finding.place, log);
  log[level](remark + where + finding.message, { ...title, ...properties });
}

function placeWords({ path: file, line }: WrittenLocation, log: Log): string {
  return `${log.excerpt(line === null ? file : `${file}, line ${line}`, MAX_PLACE)}: `;
}

/** null for a path that the log would write otherwise than it is. */
function propertiesOf(place: SourceLocation, log: Log): AnnotationProperties | null {
  const { path: file, line, endLine, column } = place;
  if (log.excerpt(file, MAX_PATH) !== file) return null;
  return {
    file,
    ...(line === null ? {} : { line }),
    ...(endLine === null ? {} : { endLine }),
    ...(column === null || endLine !== null ? {} : { col: column }),
  };
}
