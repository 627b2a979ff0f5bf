/** Writes the report page next to a transcript, for upload as an artifact. */
import { messageOf, ReportError } from '../../errors.ts';
import { writePrivateFile } from '../../files/private-file.ts';
import { envelope } from '../../reporters/envelope.ts';
import type { Reporter } from '../../reporters/report-types.ts';
import { toWire } from '../../reporters/transcript.ts';
import type { Secrets } from '../../text/secrets.ts';
import { createStory } from './story.ts';
import { createShowing } from './visible.ts';

export interface ReportPageOptions {
  /** An absolute path; its folder is a real path. */
  readonly file: string;
  readonly secrets: Secrets;
  /** Writes a plain line to the log. */
  readonly notify: (text: string) => void;
}

/**
 * Receives the same events as the transcript, in the same form, and writes the page at the end, readable by its owner
 * only. It does not read the transcript file, which may be in the workspace, where an agent could have changed it.
 * `report` rejects with a ReportError when the page cannot be written.
 */
export function createReportPage({ file, secrets, notify }: ReportPageOptions): Reporter {
  const showing = createShowing(secrets.mask);
  const teller = createStory(showing);
  return {
    name: 'report-file',
    repeatable: true,
    event: (event) => teller.add(toWire(event, secrets.mask)),
    async report(report) {
      try {
        const { reportPage } = await import('./page.ts');
        const whole = envelope(report, secrets.mask);
        writePrivateFile(
          file,
          reportPage({ story: teller.story(), envelope: whole, showing, withPayload: true, notes: [] }),
        );
        notify(`report page: ${file}`);
      } catch (cause) {
        throw new ReportError(`${file} could not be written: ${messageOf(cause)}`, { cause });
      }
    },
  };
}
