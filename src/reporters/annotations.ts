/**
 * Findings as annotations: shown beside the line in the pull request, in the run's list of annotations, and in the log.
 */

import { DISPLAY, GITHUB } from '../text/limits.ts';
import { counted } from '../text/messages.ts';
import { type Finding, isDoubted, type Severity, type WrittenLocation, weighFindings } from './findings.ts';
import { placeFindings } from './grounding.ts';
import type { AnnotationLevel, AnnotationProperties, Log } from './log.ts';
import type { Report, Reporter } from './report-types.ts';
import { type Locate, locateByEvidence, type SourceLocation } from './source-locations.ts';

export interface AnnotationsOptions {
  readonly log: Log;
  readonly locate: Locate;
  /** Where to read all findings, in words such as `the job summary`. */
  readonly elsewhere: string;
}

interface Said {
  readonly finding: Finding;
  readonly level: AnnotationLevel;
  /** Prefix of the message; empty for none. */
  readonly remark: string;
}

/** A finding and its location; `place` is null if the finding names no file of the repository. */
interface Placed extends Said {
  readonly place: SourceLocation | null;
}

/**
 * Annotations reserved for what is reported after the findings: the verdict's own error; outputs or a comment that
 * failed.
 */
const KEPT: Readonly<Record<AnnotationLevel, number>> = { error: 1, warning: 2, notice: 0 };
const LEVELS: Readonly<Record<Severity, AnnotationLevel>> = {
  error: 'error',
  warning: 'warning',
  note: 'notice',
};

/**
 * Annotates the findings of a published payload: as many of each level as the runner shows, those with a location
 * first. A finding without a location is still annotated: GitHub lists it beside the run, and the most severe finding
 * may concern no file; one that was checked and is not proven says so, and stands at no place. A finding that did not decide the verdict becomes a notice whatever its severity, because an
 * error beside a green verdict would contradict it.
 */
export function createAnnotations({ log, locate, elsewhere }: AnnotationsOptions): Reporter {
  return {
    name: 'annotations',
    async report(report: Report) {
      if (report.payload === null) return;
      const { payload, byRow } = placeFindings(report.payload, report.evidence);
      const { deciding, minor } = weighFindings(payload, report, byRow);
      const remark = `${report.view?.minor?.remark ?? ''}\n`;
      const said = [...deciding.map(loud), ...minor.map((finding) => quiet(finding, remark))];
      const all = unique(said, locateByEvidence(report, locate));
      let left = 0;
      for (const level of new Set(Object.values(LEVELS))) {
        const placed = all.filter((each) => each.level === level).toSorted(placedFirst);
        // Warnings that a change edits its own policy files are logged after the findings. The change may have provoked
        // any number of findings, so slots are reserved for those warnings.
        const kept = KEPT[level] + (level === 'warning' ? report.policyChanges.length : 0);
        const room = Math.max(0, GITHUB.annotations - kept - log.annotated(level));
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

/** Removes duplicates: findings with the same severity, location, title and message count as one. */
function unique(said: readonly Said[], locate: Locate): readonly Placed[] {
  const seen = new Map<string, Placed>();
  for (const each of said) {
    const { finding } = each;
    const doubted = isDoubted(finding.evidence);
    // Beside a line of the file, or at its top, it would be believed.
    const place = finding.place === null || doubted ? null : locate(finding.place);
    const where = place === null ? finding.place : { path: place.path, line: place.line };
    const key = JSON.stringify([finding.severity, where, finding.title, finding.message]);
    const remark = doubted ? `${each.remark}Not proven. ` : each.remark;
    if (!seen.has(key)) seen.set(key, { ...each, remark, place });
  }
  return [...seen.values()];
}

function placedFirst(one: Placed, other: Placed): number {
  return Number(one.place === null) - Number(other.place === null);
}

function annotate({ finding, place, level, remark }: Placed, log: Log): void {
  const title = { title: finding.title ?? finding.rule ?? 'Finding' };
  const properties = place === null ? null : propertiesOf(place, log);
  // A file outside the repository, or a path that the log would alter, is named in the message instead.
  const where = finding.place === null || properties !== null ? '' : placeWords(finding.place, log);
  log[level](remark + where + finding.message, { ...title, ...properties });
}

function placeWords({ path: file, line }: WrittenLocation, log: Log): string {
  return `${log.excerpt(line === null ? file : `${file}, line ${line}`, DISPLAY.path)}: `;
}

/** Returns null for a path that the log would alter. */
function propertiesOf(place: SourceLocation, log: Log): AnnotationProperties | null {
  const { path: file, line, endLine, column } = place;
  if (log.excerpt(file, DISPLAY.wholePath) !== file) return null;
  return {
    file,
    ...(line === null ? {} : { line }),
    ...(endLine === null ? {} : { endLine }),
    ...(column === null || endLine !== null ? {} : { col: column }),
  };
}
