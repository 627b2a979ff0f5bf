/** Texts about a verdict shared by reporters: its title, the gate's requirements, policy changes, coverage, and weaknesses. */

import type { CoverageCounts } from '../text/coverage.ts';
import { DISPLAY, LISTED } from '../text/limits.ts';
import { counted, grouped } from '../text/messages.ts';
import type { ContextStatus, Coverage, NotRequired, PolicyChange, Reason, Subject } from '../types.ts';
import type { MarkdownSanitizer, Report } from './report-types.ts';

/** Prefix of everything reported about a replay. */
export const REPLAY_MARK = 'Replay, judged by no model. ';

/** Returns the title with a prominent mark, on one line; trusted text only. */
export function verdictTitle(report: Report): string {
  const title = titleOf(report);
  return report.replayed === true ? `🔁 ${REPLAY_MARK}${title.replace(/^\S+ /u, '')}` : title;
}

function titleOf(report: Report): string {
  const { verdict, gate, view } = report;
  const title = view?.title?.(report) ?? null;
  if (title !== null) return title;
  const remark = view?.remark === undefined ? '' : ` (${view.remark})`;
  switch (verdict.conclusion) {
    case 'success':
      // Without a gate nothing checked whether the payload is good news.
      return gate?.status === 'none'
        ? `☑️ Accepted${remark}: no gate was asked for`
        : `✅ Success${remark}: the gate is met`;
    case 'failure':
      return `❌ Failure${remark}: the gate is not met`;
    case 'inconclusive':
      return `⚠️ Inconclusive: ${WHY[verdict.reason]}`;
    case 'skipped':
      return '⏭️ Skipped: nothing was judged';
  }
}

const WHY: Readonly<Record<Reason, string>> = {
  accepted: 'no verdict',
  gate_not_met: 'no verdict',
  plain_text: 'the model gave no verdict',
  refusal: 'the model refused',
  provider_auth: "the model's API refused the key",
  provider_rate_limit: "the model's API has a rate limit",
  provider_overloaded: "the model's API is overloaded",
  provider_error: "the model's API failed",
  context_overflow: 'the conversation is too long for the model',
  replay_mismatch: 'the recording does not fit',
  secret_in_payload: 'the payload holds a secret',
  tampered: 'a protected file was changed',
  internal: 'an internal error',
  sandbox: 'no working sandbox',
  config: 'the run could not start',
  max_turns: 'out of turns',
  timeout: 'out of time',
  max_tokens: 'out of tokens',
  max_cost: 'out of money',
  cancelled: 'cancelled',
  missing_key: 'there is no key for the model',
  undecided: 'missing legs could change the verdict',
  unsupported: 'too little of the change was shown to the model',
};

type Gated = Pick<Report, 'verdict' | 'gate'>;

/**
 * Returns why the gate is not met, one line per requirement, for use in a block quote; empty if one sentence suffices.
 */
export function gateReasons({ verdict, gate }: Gated, sanitizer: MarkdownSanitizer): readonly string[] {
  const issues = gate?.issues ?? [];
  if (verdict.reason !== 'gate_not_met' || issues.length < 2) return [];
  return [
    'The gate is not met:',
    '',
    ...issues.map(({ message }) => `- ${sanitizer.prose(message, DISPLAY.reason)}.`),
  ];
}

/** Returns why the gate is not met as one paragraph; empty if it is met, or if the verdict's sentence says so. */
export function gateParagraph({ verdict, gate }: Gated, sanitizer: MarkdownSanitizer): string {
  const issues = gate?.issues ?? [];
  if (verdict.reason === 'gate_not_met' || issues.length === 0) return '';
  const clauses = issues.map(({ message }) => sanitizer.prose(message, DISPLAY.reason));
  return `The gate is not met: ${clauses.join('; ')}.\n\n`;
}

/** Returns one sentence about a policy change; `path` is inserted as it is. */
export function policyChangeSentence(
  { what, applied, unlisted = false }: PolicyChange,
  path: string,
): string {
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

/** Renders policy changes as a block for the summary and the comment; empty if there are none. */
export function policyChangeBlock(
  { policyChanges }: Pick<Report, 'policyChanges'>,
  sanitizer: MarkdownSanitizer,
): string {
  if (policyChanges.length === 0) return '';
  const lines = policyChanges.map(
    (change) => `> - ${policyChangeSentence(change, sanitizer.code(change.path, DISPLAY.path))}`,
  );
  return `> [!WARNING]\n> **This pull request changes what judges it:**\n${lines.join('\n')}\n\n`;
}

interface Looked {
  readonly context: ContextStatus;
  readonly toolCalls: number;
  readonly coverage?: CoverageCounts | null;
}

export type Weakness = 'no_diff' | 'part_of_diff' | 'no_tool_call' | 'unseen_files' | 'partly_known';

const NO_TOOL_CALL =
  'The payload was accepted without a single tool call: the model opened no file and ran no command. Ask in the prompt for checks that need one.';

/** What a run judged, and how to get its diff where it is missing. */
interface ChangeWords {
  readonly name: string;
  readonly missing: string;
  /** Whether git can know more than what GitHub gives. */
  readonly isFromGitHub: boolean;
}

const CHANGES: Readonly<Record<'pull_request' | 'merge_group' | 'push' | 'base', ChangeWords>> = {
  pull_request: {
    name: 'this pull request',
    missing:
      'neither GitHub nor git provided it. The log says why. A github-token with pull-requests: read, or a checkout with fetch-depth: 0, provides it.',
    isFromGitHub: true,
  },
  merge_group: {
    name: 'this merge group',
    missing:
      'neither git nor GitHub provided it. The log says why. A checkout with fetch-depth: 0 provides it.',
    isFromGitHub: true,
  },
  push: {
    name: 'this push',
    missing:
      'git did not provide it. The log says why. A checkout with fetch-depth: 0 provides it, unless the push was forced.',
    isFromGitHub: false,
  },
  base: {
    name: 'the change since its base',
    missing:
      'git did not provide it. The log says why. A clone that has the commits of both, and a sandbox with a shell, provide it.',
    isFromGitHub: false,
  },
};

/** Outside GitHub there is no subject, and the change is what was made since a base. */
function changeWords(subject: Pick<Subject, 'event'> | null): ChangeWords {
  if (subject === null) return CHANGES.base;
  const { event } = subject;
  return CHANGES[event === 'push' || event === 'merge_group' ? event : 'pull_request'];
}

function noDiffSentence({ name, missing }: ChangeWords): string {
  return `The model was not given the diff of ${name}: ${missing}`;
}

function partOfDiffSentence({ name, isFromGitHub }: ChangeWords): string {
  const why = isFromGitHub
    ? ', or GitHub did not give it. A checkout with fetch-depth: 0 provides it where it is not too large; else split'
    : '. Split';
  return `The model was given only a part of the diff of ${name}: the rest is too large or binary${why} the change, or ask in the prompt to read the changed files themselves.`;
}

export function findWeaknesses(
  { context, toolCalls, coverage = null }: Looked,
  hasPayload: boolean,
): readonly Weakness[] {
  const isKnown = hasPayload && coverage !== null && coverage.status !== 'unknown';
  return [
    ...(context === 'missing' ? (['no_diff'] as const) : []),
    ...(context === 'truncated' ? (['part_of_diff'] as const) : []),
    ...(hasPayload && toolCalls === 0 ? (['no_tool_call'] as const) : []),
    ...(isKnown && coverage.files.shown < coverage.files.required ? (['unseen_files'] as const) : []),
    ...(isKnown && coverage.status === 'partial' ? (['partly_known'] as const) : []),
  ];
}

/** Returns one sentence for each weakness of a verdict; names in them may be hostile. */
export function evidenceWarnings({
  evidence = null,
  payload,
  subject,
  view,
}: Pick<Report, 'evidence' | 'payload' | 'subject' | 'view'>): readonly string[] {
  if (view?.warnings !== undefined) return view.warnings;
  return evidence === null ? [] : warningsAbout(evidence, payload !== null, subject);
}

/** Returns the same sentences for the evidence in an envelope. */
export function warningsAbout(
  looked: Omit<Looked, 'coverage'> & { readonly coverage?: Coverage | null },
  hasPayload: boolean,
  subject: Pick<Subject, 'event'> | null,
): readonly string[] {
  const { coverage = null } = looked;
  const change = changeWords(subject);
  const sentences: Readonly<Record<Weakness, () => string>> = {
    no_diff: () => noDiffSentence(change),
    part_of_diff: () => partOfDiffSentence(change),
    no_tool_call: () => NO_TOOL_CALL,
    unseen_files: () => (coverage === null ? '' : unseenSentence(coverage)),
    partly_known: () => (coverage === null ? '' : partlyKnownSentence(coverage)),
  };
  return findWeaknesses(looked, hasPayload).map((weakness) => sentences[weakness]());
}

/** The files come last: where they are long, the advice must not be cut off. */
function unseenSentence(coverage: Coverage): string {
  const { required, shown } = coverage.files;
  const files = listUnseen(coverage, quotePath);
  const missing = `${grouped(required - shown)} of ${grouped(required)} ${required - shown === 1 ? 'is' : 'are'} missing in whole or in part`;
  return `The model was not shown every changed file: ${missing}. Give it more turns, split the change, or mark generated and vendored files in .gitattributes. ${capitalize(files)}.`;
}

function partlyKnownSentence({ why }: Coverage): string {
  return `How much of the change the model was shown is known in part only${why === null ? '.' : `: ${asClause(why)}.`}`;
}

/** Quotes a path for a text whose reader sanitizes it as a whole; backticks are rendered as code. */
function quotePath(path: string): string {
  return path.includes('`') ? `“${path}”` : `\`${path}\``;
}

/** How a reporter shows a hostile path, and a sentence that may contain hostile text. */
export interface Shows {
  readonly path: (path: string) => string;
  readonly sentence: (text: string) => string;
}

/**
 * Returns one line about how much of the change was shown to the model; null if it is not known what changed, or nothing
 * did.
 */
export function coverageSentence(coverage: Coverage | null | undefined, shows: Shows): string | null {
  if (coverage == null || coverage.status === 'unknown' || coverage.files.changed === 0) return null;
  const { why, files } = coverage;
  const rest = files.changed - files.required;
  const others = rest === 0 ? '' : `, ${restWords(coverage, rest)}`;
  const unseen = files.shown < files.required ? `; ${listUnseen(coverage, shows.path)}` : '';
  const partly =
    coverage.status === 'partial' && why !== null
      ? ` This is known in part only: ${shows.sentence(asClause(why))}.`
      : '';
  return `${shownWords(coverage)}${others}${unseen}.${partly}`;
}

function shownWords({ files: { required, shown } }: Coverage): string {
  if (required === 0) return 'No changed file had to be shown to the model';
  const which =
    shown === required && required > 1
      ? `All ${grouped(required)}`
      : `${grouped(shown)} of ${grouped(required)}`;
  return `${which} changed ${required === 1 ? 'file' : 'files'} ${shown === 1 || required === 1 ? 'was' : 'were'} shown to the model`;
}

const KINDS: Readonly<Record<NotRequired, string>> = {
  lock_file: 'lock files',
  binary: 'binary files',
  generated: 'generated files',
  vendored: 'vendored files',
  outside_working_directory: 'files outside working-directory',
};

function restWords({ files: { required, notRequired } }: Coverage, rest: number): string {
  const kinds = [...new Set(notRequired.map(({ why }) => KINDS[why]))];
  const others =
    required === 0 ? counted(rest, 'file') : `${grouped(rest)} ${rest === 1 ? 'other' : 'others'}`;
  return `${others} need${rest === 1 ? 's' : ''} not be${kinds.length === 0 ? '' : ` (${kinds.join(', ')})`}`;
}

/** Lists unseen files in a clause, those of which nothing was shown first. */
function listUnseen({ files }: Coverage, show: (path: string) => string): string {
  const never = files.unseen.filter(({ shownHunks }) => shownHunks === 0);
  const partly = files.unseen.filter(({ shownHunks }) => shownHunks > 0);
  const unlisted = files.required - files.shown - files.unseen.length;
  const parts = [
    listSome(
      'never shown',
      never.map(({ path }) => show(path)),
    ),
    listSome(
      'shown in part',
      partly.map(
        ({ path, hunks, shownHunks }) => `${show(path)} (${grouped(shownHunks)} of ${grouped(hunks)} hunks)`,
      ),
    ),
    unlisted <= 0
      ? ''
      : `${counted(unlisted, files.unseen.length === 0 ? 'file' : 'more file')} not shown in whole`,
  ];
  return parts.filter((part) => part !== '').join('; ');
}

function listSome(words: string, files: readonly string[]): string {
  if (files.length === 0) return '';
  const more = files.length > LISTED.some ? ` and ${grouped(files.length - LISTED.some)} more` : '';
  return `${words}: ${files.slice(0, LISTED.some).join(', ')}${more}`;
}

/** A sentence without its final period, to continue another one. */
function asClause(sentence: string): string {
  return sentence.trim().replace(/\.$/u, '');
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
