/** What people are told where a pull request changes its own judge. */

import type { PolicyChange } from '../types.ts';
import type { MarkdownSanitizer, Report } from './report-types.ts';

/** One sentence for a change; `path` as it is to be shown. */
export function judgeSentence({ what, applied, unlisted = false }: PolicyChange, path: string): string {
  if (unlisted) {
    const judged =
      what === 'workflow' ? 'it ran' : applied ? 'it judged' : 'the one of the base branch judged';
    return `${path} (${what === 'workflow' ? 'this workflow' : what}): perhaps changed, for GitHub lists only the first 3,000 files of a change, and no files of a commit that was pushed over. If it is, ${judged}${applied ? ' as the pull request has it' : ''}.`;
  }
  if (what === 'workflow') return `${path} (this workflow): it ran as the pull request has it.`;
  return applied
    ? `${path} (${what}): the changed version judged. With trusted-files: base the one of the base branch would.`
    : `${path} (${what}): not the changed version judged, but the one of the base branch.`;
}

/** A block for summary and comment; empty where nothing of the judge is changed. */
export function judgeBlock(
  { policyChanges }: Pick<Report, 'policyChanges'>,
  sanitizer: MarkdownSanitizer,
): string {
  if (policyChanges.length === 0) return '';
  const lines = policyChanges.map(
    (change) => `> - ${judgeSentence(change, sanitizer.code(change.path, 300))}`,
  );
  return `> [!WARNING]\n> **This pull request changes what judges it:**\n${lines.join('\n')}\n\n`;
}
