/** The job summary. */
import { statSync } from 'node:fs';
import { messageOf, ReportError } from '../errors.ts';
import { appendWithoutWaiting } from '../files/private-file.ts';
import { counted } from '../text/messages.ts';
import { renderPage } from './page.ts';
import type { Reporter } from './report-types.ts';
import { createTimeline } from './timeline.ts';
import { type ViewOptions, viewOf } from './view.ts';

/** Bytes of the step summary; the runner rejects a larger one entirely. */
const MAX_SUMMARY = 1024 ** 2;
/** Rows of each list before the rest is folded. */
const OPEN_ROWS = 25;

export interface SummaryOptions extends ViewOptions {
  /** The file named by GITHUB_STEP_SUMMARY. */
  readonly file: string;
}

/**
 * Creates a reporter that appends the summary to the step's summary file. `report` rejects with a ReportError if the
 * file cannot be written.
 */
export function createSummary({ file, ...options }: SummaryOptions): Reporter {
  const timeline = createTimeline(options.secrets);
  return {
    name: 'summary',
    event: timeline.event,
    async report(report) {
      try {
        const room = MAX_SUMMARY - (statSync(file, { throwIfNoEntry: false })?.size ?? 0);
        const limits = { bytes: room, openRows: OPEN_ROWS };
        const text = renderPage(viewOf(report, options), limits, timeline.render());
        if (Buffer.byteLength(text, 'utf8') > room)
          throw new Error(`the file has room for ${counted(Math.max(0, room), 'byte')} only`);
        appendWithoutWaiting(file, text);
      } catch (cause) {
        throw new ReportError(`The job summary could not be written: ${messageOf(cause)}`, { cause });
      }
    },
  };
}
