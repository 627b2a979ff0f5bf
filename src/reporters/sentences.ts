/** What every reporter says in the same words: numbers, and sentences about a verdict's basis. Paths in them are hostile. */
import { LISTED } from '../text/limits.ts';
import { counted, grouped } from '../text/messages.ts';
import type { Coverage, NotRequired, PolicyChange, Usage } from '../types.ts';
import type { CallEvent, Evidence, Report, Totals } from './report-types.ts';

export function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Formats a duration in milliseconds as `40 ms`, `1.2 s`, `42 s` or `3 min 05 s`. */
export function duration(ms: number): string {
  if (ms < 99.5) return `${Math.round(Math.max(0, ms))} ms`;
  const seconds = ms / 1000;
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  return `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, '0')} s`;
}

/** Formats US dollars, with four decimals below one dollar and two from there on. */
export function dollars(usd: number): string {
  return `$${usd.toFixed(usd < 1 ? 4 : 2)}`;
}

export function tokensOf(usage: Usage): number {
  return usage.inputTokens + usage.outputTokens;
}

/** Formats what a run has used so far: `3,210 tokens · $0.0042`, without the cost if the price is unknown. */
export function spent({ usage, costUsd }: Pick<Totals, 'usage' | 'costUsd'>): string {
  const tokens = counted(tokensOf(usage), 'token');
  return costUsd === null ? tokens : `${tokens} · ${dollars(costUsd)}`;
}

/** Matches how a command ended: the last line of the shell tool's result, which the tool itself writes. */
const COMMAND_ENDING = /^\[(exit code \d+|killed by \w+|timed out after \d+ s)(?!\w)[^\]\n]*\]$/;

/** Returns how a command ended, such as `exit code 1`; null for any other call. A call that ran may still have failed. */
export function commandEnding({ call, decision, result }: CallEvent): string | null {
  if (call.name !== 'shell' || decision !== 'ok') return null;
  return COMMAND_ENDING.exec(result.content.slice(result.content.lastIndexOf('\n') + 1))?.[1] ?? null;
}

export function policyChangeSentence({ what, path, applied }: PolicyChange): string {
  const file = `\`${path}\` (${what === 'workflow' ? 'this workflow' : what})`;
  const used = applied ? 'The changed version was used' : 'The version of the base branch was used';
  const advice = applied && what !== 'workflow' ? '; trusted-files: base uses that of the base branch' : '';
  return `The change modifies ${file}, which judges it. ${used}${advice}.`;
}

/** What a verdict should be based on and is not. */
export type Weakness = 'no_diff' | 'part_of_diff' | 'no_tool_call' | 'unseen_files' | 'partly_known';

export function findWeaknesses(evidence: Evidence, hasPayload: boolean): readonly Weakness[] {
  const { context, toolCalls, coverage = null } = evidence;
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

/** Describes what a verdict is based on: its weaknesses, of which an incomplete coverage is one, and the rest as notes. */
export function describeBasis({ evidence, payload, subject }: Report) {
  if (evidence == null) return { warnings: [], notes: [] };
  const provide = subject?.event
    ? 'It is not known whether the change modifies its own schema, gate, prompt or workflow. A checkout with fetch-depth: 0, and a github-token with pull-requests: read, provide it.'
    : 'A clone that has the commits of both sides provides it.';
  const coverage = coverageSentence(evidence.coverage);
  const sentences: Readonly<Record<Weakness, string>> = {
    no_diff: `The model was not given the diff of the change, and the log says why. ${provide}`,
    part_of_diff:
      'The model was given only a part of the diff of the change. Split the change, or ask in the prompt to read the changed files themselves.',
    no_tool_call:
      'The payload was accepted without a single tool call: the model opened no file and ran no command.',
    unseen_files: coverage ?? '',
    partly_known: coverage ?? '',
  };
  const weaknesses = findWeaknesses(evidence, payload !== null).map((weakness) => sentences[weakness]);
  const warnings = [...new Set(weaknesses)];
  const notes = [coverage, groundingSentence(evidence)].filter((note) => note !== null);
  return { warnings, notes: notes.filter((note) => !warnings.includes(note)) };
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
  const total = evidence.findings.length;
  const parts = [
    { count: exact + moved, what: 'proven' },
    { count: unproven, what: 'not proven' },
    { count: total - exact - moved - unproven, what: 'about no file' },
  ].filter(({ count }) => count > 0);
  if (total === 0) return null;
  return `${counted(total, 'finding')}: ${parts.map(({ count, what }) => `${count} ${what}`).join(', ')}.`;
}
