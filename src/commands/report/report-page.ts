/** Writes the report page at the end of a run. */
import { typedEnvelope } from '../../envelope/envelope.ts';
import { writePrivateFile } from '../../files/private-file.ts';
import { envelope } from '../../reporters/envelope.ts';
import { createMessages, type MessagesOptions } from '../../reporters/messages.ts';
import type { Reporter } from '../../reporters/report-types.ts';
import type { Secrets } from '../../text/secrets.ts';

export interface ReportPageOptions extends MessagesOptions {
  /** An absolute path; its folder is a real path. */
  readonly file: string;
  readonly secrets: Secrets;
}

/** Collects the lines of the transcript, and writes the page at the end, readable by its owner only. */
export function createReportPage({ file, secrets, ...options }: ReportPageOptions): Reporter {
  const messages = createMessages(options);
  const lines: string[] = [];
  return {
    name: 'report page',
    event: (event) => void lines.push(...messages(event).map((message) => JSON.stringify(message))),
    async report(report) {
      const whole = typedEnvelope(envelope(report, secrets.mask));
      const { renderReportPage } = await loadPage();
      const page = renderReportPage({ envelope: whole, transcript: lines.join('\n'), secrets });
      writePrivateFile(file, page);
    },
  };
}

/** Loads the page when it is needed. Imported in two places, the bundle would have it twice. */
export const loadPage = () => import('./html-page.ts');
