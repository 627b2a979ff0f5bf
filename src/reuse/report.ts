/** How a reused verdict is reported: whose it is, and that no model was asked. */

import { runPage } from '../reporters/links.ts';
import type { MarkdownSanitizer, Report, Reuse } from '../reporters/report-types.ts';

type Origin = NonNullable<Reuse['from']>;

/** The report of a run whose payload is an earlier run's; a payload that is not published after all is nobody's verdict. */
export function describeReuse(report: Report, from: Origin): Report {
  if (report.payload === null) return report;
  const view = {
    remark: 'reused',
    isWithoutModel: true,
    // The number is another run's word.
    logClause: `reused: the verdict of run ${from.run_id}, no model was asked`,
    paragraph: ({ subject }: Report, serverUrl: string | null, sanitizer: MarkdownSanitizer) => {
      const page = runPage(subject === null ? null : { ...subject, ...from }, serverUrl);
      const run = `run ${sanitizer.inline(from.run_id, 30)}`;
      return `♻️ **Reused:** this is the verdict of ${page === null ? run : `[${run}](${page})`}. No model was asked: files, judge and model are the same as there.\n\n`;
    },
  };
  return { ...report, view };
}
