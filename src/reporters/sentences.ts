/** Sentences about what a verdict is based on, the same in every reporter. Paths in them are hostile. */
import { LISTED } from '../text/limits.ts';
import { counted, grouped } from '../text/messages.ts';
import type { Coverage, NotRequired, PolicyChange } from '../types.ts';
import type { Evidence } from './report-types.ts';

/** Returns one sentence about a policy file that the change modifies. */
export function policyChangeSentence({ what, path, applied, unlisted = false }: PolicyChange): string {
  const file = `\`${path}\` (${what === 'workflow' ? 'this workflow' : what})`;
  const used = applied ? 'The changed version was used' : 'The version of the base branch was used';
  if (unlisted)
    return `The change may modify ${file}, which judges it: GitHub does not list all of its files.`;
  const advice = applied && what !== 'workflow' ? '; trusted-files: base uses that of the base branch' : '';
  return `The change modifies ${file}, which judges it. ${used}${advice}.`;
}

type Looked = Pick<Evidence, 'context' | 'toolCalls' | 'coverage'>;

/** What a verdict should be based on and is not. */
export type Weakness = 'no_diff' | 'part_of_diff' | 'no_tool_call' | 'unseen_files' | 'partly_known';

export function findWeaknesses(
  { context, toolCalls, coverage = null }: Looked,
  hasPayload: boolean,
): readonly Weakness[] {
  const known = hasPayload && coverage?.status !== 'unknown' ? coverage : null;
  const found: readonly (Weakness | false)[] = [
    context === 'missing' && 'no_diff',
    context === 'truncated' && 'part_of_diff',
    // The diff may have been in the first message.
    hasPayload && toolCalls === 0 && !coverage?.files.shown && 'no_tool_call',
    known !== null && known.files.shown < known.files.required && 'unseen_files',
    known?.status === 'partial' && 'partly_known',
  ];
  return found.filter((weakness) => weakness !== false);
}

/** Returns one sentence for each weakness; an incomplete coverage is one. */
export function warningsAbout(looked: Looked, hasPayload: boolean, isOnGitHub: boolean): readonly string[] {
  const provide = isOnGitHub
    ? 'A checkout with fetch-depth: 0, and a github-token with pull-requests: read, provide it.'
    : 'A clone that has the commits of both sides provides it.';
  const coverage = coverageSentence(looked.coverage) ?? '';
  const sentences: Readonly<Record<Weakness, string>> = {
    no_diff: `The model was not given the diff of the change, and the log says why. ${provide}`,
    part_of_diff:
      'The model was given only a part of the diff of the change. Split the change, or ask in the prompt to read the changed files themselves.',
    no_tool_call:
      'The payload was accepted without a single tool call: the model opened no file and ran no command.',
    unseen_files: coverage,
    partly_known: coverage,
  };
  return [...new Set(findWeaknesses(looked, hasPayload).map((weakness) => sentences[weakness]))];
}

const KINDS: Readonly<Record<NotRequired, string>> = {
  lock_file: 'lock files',
  binary: 'binary files',
  generated: 'generated files',
  vendored: 'vendored files',
  outside_working_directory: 'files outside working-directory',
};

/**
 * Returns how much of the change was shown to the model; null if it is not known what changed, or nothing did. The paths
 * come last, so that a long one cuts off no advice.
 */
export function coverageSentence(coverage: Coverage | null | undefined): string | null {
  if (coverage == null || coverage.status === 'unknown' || coverage.files.changed === 0) return null;
  const { changed, required, shown, unseen, notRequired } = coverage.files;
  const kinds = [...new Set(notRequired.map(({ why }) => KINDS[why]))].join(', ');
  const rest = changed - required;
  const others = rest === 0 ? '' : ` (${grouped(rest)} need not be: ${kinds})`;
  const partly =
    coverage.status === 'partial' ? ` This is known in part only. ${coverage.why?.trim() ?? ''}` : '';
  const count = required === 0 ? 'nothing' : `${grouped(shown)} of ${counted(required, 'changed file')}`;
  const missing = required - shown;
  const names = unseen.slice(0, LISTED.some).map((path) => `\`${path}\``);
  const more = missing > names.length ? [`${grouped(missing - names.length)} more`] : [];
  const not = missing > 0 ? ` Not shown, or in part only: ${[...names, ...more].join(', ')}.` : '';
  return `Shown to the model: ${count}${others}.${partly}${not}`;
}

/** Returns one line about how many findings are proven; null if findings were not checked, or there are none. */
export function groundingSentence(evidence: Evidence | null | undefined): string | null {
  if (evidence?.grounding == null) return null;
  const { exact, moved, unproven } = evidence.grounding;
  const checked = exact + moved + unproven;
  const total = Math.max(checked, evidence.findings.length);
  const parts = [
    { count: exact + moved, what: 'proven' },
    { count: unproven, what: 'not proven' },
    { count: total - checked, what: 'about no file' },
  ].filter(({ count }) => count > 0);
  if (total === 0) return null;
  return `${counted(total, 'finding')}: ${parts.map(({ count, what }) => `${count} ${what}`).join(', ')}.`;
}
