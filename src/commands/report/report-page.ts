/** Writes the report page at the end of a run. */
import { messageOf, ReportError } from '../../errors.ts';
import { writePrivateFile } from '../../files/private-file.ts';
import { envelope } from '../../reporters/envelope.ts';
import { createMessages, type MessagesOptions } from '../../reporters/messages.ts';
import type { Reporter } from '../../reporters/report-types.ts';
import type { Secrets } from '../../text/secrets.ts';

export interface ReportPageOptions extends MessagesOptions {
  /** An absolute path; its folder is a real path. */
  readonly file: string;
  readonly secrets: Secrets;
  /** Writes a plain line to the log. */
  readonly notify: (text: string) => void;
}

/**
 * Collects the lines of the transcript, and writes the page at the end, readable by its owner
 * only. `report` rejects with a ReportError when the page cannot be written.
 */
export function createReportPage({ file, secrets, notify, ...options }: ReportPageOptions): Reporter {
  const messages = createMessages(options);
  const lines: string[] = [];
  return {
    name: 'report page',
    event: (event) => void lines.push(...messages(event).map((message) => JSON.stringify(message))),
    async report(report) {
      try {
        const whole = envelope(report, secrets.mask);
        const { renderReportPage } = await loadPage();
        const page = renderReportPage({ envelope: whole, transcript: lines.join('\n'), secrets });
        writePrivateFile(file, page);
        notify(`report page: ${file}`);
      } catch (cause) {
        throw new ReportError(`${file} could not be written: ${messageOf(cause)}`, { cause });
      }
    },
  };
}

/** Loads the page when it is needed. Imported in two places, the bundle would have it twice. */
export const loadPage = () => import('./page.ts');
