/** How a merge is reported: the view for reporters, which know nothing about merges. */
import { duration, spent } from '../reporters/format.ts';
import { RUN_OUTPUTS } from '../reporters/outputs.ts';
import type {
  MarkdownSanitizer,
  PageOptions,
  Report,
  ReportView,
  RunOutput,
  Section,
} from '../reporters/report-types.ts';
import { DISPLAY, LISTED } from '../text/limits.ts';
import { counted } from '../text/messages.ts';
import type { Conclusion, JsonObject } from '../types.ts';
import { mergedJson } from './merge.ts';
import type { Merged, MergedFinding, Outcome } from './types.ts';
import {
  gravestLegs,
  legReasons,
  legWord,
  listed,
  mergeWarnings,
  presentVotes,
  tallyWords,
} from './words.ts';

/**
 * Turns the report of a step in which no agent ran into the report of a merge, whose turns, usage and cost are the sums
 * over its legs.
 * @param merged null if the merge failed before counting.
 */
export function describeMerge(report: Report, merged: Merged | null): Report {
  const outputNames = ['passed'];
  if (merged === null) return { ...report, outputNames, view: FAILED };
  const { turns, usage, costUsd, models } = merged;
  const took = { turnCount: turns, usage, costUsd, model: models.join(', ') };
  return { ...report, ...took, outputNames, view: viewOf(merged) };
}

const OUTPUTS = [
  'run-conclusion',
  'run-reason',
  'run-exit-code',
  'run-input-tokens',
  'run-output-tokens',
  'run-cost-usd',
  'run-results',
  'run-result-file',
];

/** The outputs about a merge: those of a run that it has. */
export const MERGE_RUN_OUTPUTS: readonly RunOutput[] = RUN_OUTPUTS.filter(({ name }) =>
  OUTPUTS.includes(name),
);

function viewOf(merged: Merged): ReportView {
  const titleOf = ({ verdict }: Report) =>
    isCounted(verdict) ? `${TITLES[verdict.conclusion]}: ${tallyWords(merged)}` : null;
  return {
    title: titleOf,
    facts: (sanitizer) =>
      merged.votes === null ? [] : [`votes ${sanitizer.code(merged.votes, DISPLAY.label)}`],
    sections: (report, page, sanitizer) => mergeSections(report, merged, page, sanitizer),
    hidesGate: true,
    logLines: (report, excerpt) => mergeLines(report, merged, excerpt),
    warnings: mergeWarnings(merged),
    outputs: MERGE_RUN_OUTPUTS,
    envelope: (mask) => ({ merged: mergedJson(merged, mask) }),
    statusText: (report) => {
      const hint = report.verdict.reason === 'undecided' ? '. Re-run failed jobs' : '';
      const title = titleOf(report)?.replace(/^\S+ /u, '');
      return title === undefined ? null : `${title}${hint}`;
    },
    statusCommit: judgedCommit,
    minor: { isMinor: (row) => row['outvoted'] === true, remark: OUTVOTED },
  };
}

const TITLES: Readonly<Record<Conclusion, string>> = {
  success: '✅ Success',
  failure: '❌ Failure',
  inconclusive: '⚠️ Undecided',
  skipped: '⏭️ Skipped',
};

/** Explains a finding that decided nothing, for a reader who sees it beside a passing leg. */
const OUTVOTED = 'Outvoted: only failing runs have the finding, and their leg passes all the same.';
const DOUBTED =
  'Not proven: no run that reports the finding could show by a quote that it stands in the files.';

/** Whether the tally decided the verdict, rather than something else that ended the merge. */
function isCounted({ reason }: Report['verdict']): boolean {
  return ['accepted', 'gate_not_met', 'undecided'].includes(reason);
}

/** Returns the commit that the legs judged, whatever the merge's own job has checked out; null if unknown. */
function judgedCommit({ subject }: Report): string | null | undefined {
  if (subject === null) return undefined;
  return subject.checked_out === undefined ? subject.sha : subject.checked_out;
}

/** Legs in the summary, and in the one that fits a comment whose texts are as long as they can be. */
const MAX_LEGS = [50, 10];

function mergeSections(
  report: Report,
  merged: Merged,
  page: PageOptions,
  sanitizer: MarkdownSanitizer,
): readonly Section[] {
  return [
    { name: 'the legs', rank: 0, texts: MAX_LEGS.map((max) => legTable(merged, max, sanitizer)) },
    { name: 'the findings', rank: 1, texts: page.rows.map((rows) => findings(merged, page, rows)) },
    { name: 'the costs', rank: 2, texts: [costs(report, merged, sanitizer)] },
  ];
}

/** Marks that make outcomes easy to recognize. */
const MARKS: Readonly<Record<Outcome, string>> = { pass: '✅', fail: '❌', abstain: '⬜' };

/** Renders the worst legs as a table. */
function legTable(merged: Merged, max: number, sanitizer: MarkdownSanitizer): string {
  const legs = gravestLegs(merged);
  const rows = legs.slice(0, max).map((leg) => {
    const attempts = new Set(leg.votes.flatMap(({ attempt }) => attempt ?? []));
    return [
      `${MARKS[leg.outcome]}&nbsp;**${sanitizer.inline(leg.leg, DISPLAY.name) || '–'}**`,
      legWord(leg),
      ...(merged.votes === null ? [] : [leg.votes.map(({ outcome }) => MARKS[outcome]).join('')]),
      legReasons(leg)
        .map((text) => sanitizer.prose(text, DISPLAY.phrase))
        .join('<br>'),
      [...attempts].join(', ') || '–',
    ];
  });
  const names = ['Leg', 'Says', ...(merged.votes === null ? [] : ['Votes']), 'Why', 'Attempt'];
  const ruler = names.map(() => ':---');
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |\n`;
  const more = legs.length > max ? `… and ${counted(legs.length - max, 'more leg')}.\n\n` : '';
  return `${[names, ruler, ...rows].map(line).join('')}\n${more}`;
}

/** The merged findings; for an undecided merge, those reported so far. */
function findings(merged: Merged, { tables }: PageOptions, maxRows: number): string {
  if (merged.findings.length === 0) return '';
  const name = merged.outcome === 'abstain' ? 'findings so far' : 'findings';
  const rows = merged.findings.map(findingRow);
  const more = `… and ${counted(merged.findingsLeftOut, 'more finding')}: the envelopes of the legs hold them all.\n\n`;
  const shown = merged.findings.slice(0, maxRows);
  return [
    tables({ [name]: rows }, maxRows),
    merged.findingsLeftOut === 0 ? '' : more,
    shown.some(({ outvoted }) => outvoted) ? `${OUTVOTED}\n\n` : '',
    shown.some(({ doubted }) => doubted) ? `${DOUBTED}\n\n` : '',
  ].join('');
}

/** All rows have the same keys, so that the column order is fixed. */
function findingRow(finding: MergedFinding): JsonObject {
  const { severity, rule, title, message, legs, votes, outvoted, doubted } = finding;
  const runs = votes > legs.length ? ` · ${counted(votes, 'run')}` : '';
  const marks = `${outvoted ? ' · outvoted' : ''}${doubted ? ' · not proven' : ''}`;
  return {
    severity,
    path: place(finding),
    rule: rule ?? '',
    message: title === null || message.startsWith(title) ? message : `${title}\n${message}`,
    'found by': `${listed(legs, LISTED.few)}${runs}${marks}`,
  };
}

/** A path with its line range as a suffix, as links and readers expect it. */
function place({ path, line, endLine }: MergedFinding): string {
  if (path === null || line === null) return path ?? '';
  return endLine === null || endLine <= line ? `${path}:${line}` : `${path}:${line}-${endLine}`;
}

function costs(report: Report, merged: Merged, sanitizer: MarkdownSanitizer): string {
  const models = sanitizer.inline(merged.models.join(', '), DISPLAY.sentence);
  return `${models === '' ? '' : `**${models}** · `}${usedWords(report, merged)}\n\n`;
}

function usedWords({ durationMs }: Report, merged: Merged): string {
  return [
    counted(presentVotes(merged.legs).length, 'run'),
    counted(merged.turns, 'turn'),
    spent(merged),
    `merged in ${duration(durationMs)}`,
  ].join(' · ');
}

/** Returns log lines about the legs and the usage. `excerpt` sanitizes hostile text for the log. */
function mergeLines(
  report: Report,
  merged: Merged,
  excerpt: (text: string, max: number) => string,
): readonly string[] {
  const grave = gravestLegs(merged).filter(({ outcome }) => outcome !== 'pass');
  const lines = grave.slice(0, LISTED.many).map((leg) => {
    const [why] = legReasons(leg).map((reason) => `: ${excerpt(reason, DISPLAY.sentence)}`);
    return `${leg.outcome === 'fail' ? '✗' : '?'} ${excerpt(leg.leg, DISPLAY.name)} ${legWord(leg)}${why ?? ''}`;
  });
  const left = grave.length - lines.length;
  return [
    `${tallyWords(merged)}${merged.votes === null ? '' : ` (votes ${merged.votes})`}`,
    ...lines,
    ...(left === 0 ? [] : [`… and ${counted(left, 'more leg')}`]),
    usedWords(report, merged),
  ];
}

/** View of a merge that failed before counting. */
const FAILED: ReportView = {
  title: ({ verdict }) => (verdict.reason === 'config' ? '⚠️ Inconclusive: nothing was merged' : null),
  hidesGate: true,
  logLines: ({ durationMs }) => [duration(durationMs)],
  outputs: MERGE_RUN_OUTPUTS,
};
