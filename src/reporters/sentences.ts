/** Sentences about what a verdict rests on, the same in every reporter. Paths in them are hostile. */
import { LISTED } from '../text/limits.ts';
import { counted, grouped } from '../text/messages.ts';
import type { ContextStatus, Coverage, NotRequired, PolicyChange, Subject } from '../types.ts';

/** Returns one sentence about a policy file that the change modifies. */
export function policyChangeSentence({ what, path, applied, unlisted = false }: PolicyChange): string {
  const file = `\`${path}\` (${what === 'workflow' ? 'this workflow' : what})`;
  const used = applied ? 'The changed version was used' : 'The version of the base branch was used';
  if (unlisted)
    return `The change may modify ${file}, which judges it: GitHub does not list all of its files.`;
  const advice = applied && what !== 'workflow' ? '; trusted-files: base uses that of the base branch' : '';
  return `The change modifies ${file}, which judges it. ${used}${advice}.`;
}

/** What a run looked at, as far as it is known. */
interface Looked {
  readonly context: ContextStatus;
  readonly toolCalls: number;
  readonly coverage?:
    | (Pick<Coverage, 'status'> & { files: Pick<Coverage['files'], 'required' | 'shown'> })
    | null;
}

/** What a verdict should rest on and does not. */
export type Weakness = 'no_diff' | 'part_of_diff' | 'no_tool_call' | 'unseen_files' | 'partly_known';

export function findWeaknesses(
  { context, toolCalls, coverage = null }: Looked,
  hasPayload: boolean,
): readonly Weakness[] {
  const isKnown = hasPayload && coverage !== null && coverage.status !== 'unknown';
  const found: Readonly<Record<Weakness, boolean>> = {
    no_diff: context === 'missing',
    part_of_diff: context === 'truncated',
    // The diff may have been in the first message.
    no_tool_call: hasPayload && toolCalls === 0 && !coverage?.files.shown,
    unseen_files: isKnown && coverage.files.shown < coverage.files.required,
    partly_known: isKnown && coverage.status === 'partial',
  };
  return WEAKNESSES.filter((weakness) => found[weakness]);
}

const WEAKNESSES: readonly Weakness[] = [
  'no_diff',
  'part_of_diff',
  'no_tool_call',
  'unseen_files',
  'partly_known',
];

/** Returns one sentence for each weakness that the coverage does not show. */
export function warningsAbout(
  looked: Looked,
  hasPayload: boolean,
  subject: Pick<Subject, 'event'> | null,
): readonly string[] {
  const change = changeName(subject);
  const provide =
    change === LOCAL_CHANGE
      ? 'A clone that has the commits of both sides provides it.'
      : 'A checkout with fetch-depth: 0, and a github-token with pull-requests: read, provide it.';
  const sentences: Partial<Record<Weakness, string>> = {
    no_diff: `The model was not given the diff of ${change}, and the log says why. ${provide}`,
    part_of_diff: `The model was given only a part of the diff of ${change}. Split the change, or ask in the prompt to read the changed files themselves.`,
    no_tool_call:
      'The payload was accepted without a single tool call: the model opened no file and ran no command.',
  };
  return findWeaknesses(looked, hasPayload).flatMap((weakness) => sentences[weakness] ?? []);
}

const LOCAL_CHANGE = 'the change since its base';

function changeName(subject: Pick<Subject, 'event'> | null): string {
  switch (subject?.event) {
    // On the command line no event has started the run.
    case undefined:
    case '':
      return LOCAL_CHANGE;
    case 'push':
      return 'this push';
    case 'merge_group':
      return 'this merge group';
    default:
      return 'this pull request';
  }
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
  const { changed, required, shown, notRequired } = coverage.files;
  const kinds = [...new Set(notRequired.map(({ why }) => KINDS[why]))].join(', ');
  const rest = changed - required;
  const others = rest === 0 ? '' : ` (${grouped(rest)} need not be: ${kinds})`;
  const partly =
    coverage.status === 'partial' ? ` This is known in part only. ${coverage.why?.trim() ?? ''}` : '';
  const count = required === 0 ? 'nothing' : `${grouped(shown)} of ${counted(required, 'changed file')}`;
  return `Shown to the model: ${count}${others}.${partly}${unseenWords(coverage)}`;
}

function unseenWords({ files: { required, shown, unseen } }: Coverage): string {
  const missing = required - shown;
  if (missing <= 0) return '';
  const names = unseen.slice(0, LISTED.some).map((path) => `\`${path}\``);
  const more = missing > names.length ? [`${grouped(missing - names.length)} more`] : [];
  return ` Not shown, or in part only: ${[...names, ...more].join(', ')}.`;
}
