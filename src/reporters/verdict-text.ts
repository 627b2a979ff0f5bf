/** Texts about a verdict shared by reporters: its title, the gate's requirements, policy changes, and weaknesses. */

import { DISPLAY } from '../text/limits.ts';
import type { ContextStatus, PolicyChange, Reason } from '../types.ts';
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
  config: 'the configuration is wrong',
  max_turns: 'out of turns',
  timeout: 'out of time',
  max_tokens: 'out of tokens',
  max_cost: 'out of money',
  cancelled: 'cancelled',
  missing_key: 'there is no key for the model',
  undecided: 'missing legs could change the verdict',
};

type Gated = Pick<Report, 'verdict' | 'gate'>;

/**
 * Returns why the gate is not met, one line per requirement, for use in a block quote; empty if one sentence suffices.
 */
export function gateReasons({ verdict, gate }: Gated, sanitizer: MarkdownSanitizer): readonly string[] {
  const words = gate?.words ?? [];
  if (verdict.reason !== 'gate_not_met' || words.length < 2) return [];
  return [
    'The gate is not met:',
    '',
    ...words.map((clause) => `- It ${sanitizer.prose(clause, DISPLAY.reason)}.`),
  ];
}

/**
 * Returns the gate's requirements as one paragraph; empty if the verdict's sentence states them or there is no gate.
 */
export function gateParagraph({ verdict, gate }: Gated, sanitizer: MarkdownSanitizer): string {
  const words = gate?.words ?? [];
  if (verdict.reason === 'gate_not_met' || words.length === 0) return '';
  return `${words.map((clause) => `The gate ${sanitizer.prose(clause, DISPLAY.reason)}.`).join(' ')}\n\n`;
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
}

export type Weakness = 'no_diff' | 'part_of_diff' | 'no_tool_call';

const SENTENCES: Readonly<Record<Weakness, string>> = {
  no_diff:
    'The model was not given the diff of this pull request: neither GitHub nor git provided it. The log says why. A github-token with pull-requests: read, or a checkout with fetch-depth: 0, provides it.',
  part_of_diff:
    'The model was given only a part of the diff of this pull request: the rest is too large or binary, or GitHub did not give it. A checkout with fetch-depth: 0 provides it where it is not too large; else split the change, or ask in the prompt to read the changed files themselves.',
  no_tool_call:
    'The payload was accepted without a single tool call: the model opened no file and ran no command. Ask in the prompt for checks that need one.',
};

export function findWeaknesses({ context, toolCalls }: Looked, hasPayload: boolean): readonly Weakness[] {
  return [
    ...(context === 'missing' ? (['no_diff'] as const) : []),
    ...(context === 'truncated' ? (['part_of_diff'] as const) : []),
    ...(hasPayload && toolCalls === 0 ? (['no_tool_call'] as const) : []),
  ];
}

/** Returns one sentence for each weakness of a verdict; names in them may be hostile. */
export function evidenceWarnings({
  evidence = null,
  payload,
  view,
}: Pick<Report, 'evidence' | 'payload' | 'view'>): readonly string[] {
  if (view?.warnings !== undefined) return view.warnings;
  return evidence === null ? [] : warningsAbout(evidence, payload !== null);
}

/** Returns the same sentences for the evidence in an envelope. */
export function warningsAbout(looked: Looked, hasPayload: boolean): readonly string[] {
  return findWeaknesses(looked, hasPayload).map((weakness) => SENTENCES[weakness]);
}
