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
import type { JsonObject, Reason } from '../types.ts';
import { mergedJson } from './merge.ts';
import type { Merged, MergedFinding, VoteOutcome } from './types.ts';
import { legReasons, legWord, listed, mergeWarnings, tallyWords } from './words.ts';

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
  return {
    title: ({ verdict: { reason } }) =>
      COUNTED.includes(reason) ? `${TITLES[merged.outcome]}: ${tallyWords(merged)}` : null,
    facts: (sanitizer) =>
      merged.votes === null ? [] : [`votes ${sanitizer.code(merged.votes, DISPLAY.label)}`],
    sections: (report, page, sanitizer) => mergeSections(report, merged, page, sanitizer),
    hidesGate: true,
    logLines: (report) => [usedWords(report, merged)],
    warnings: mergeWarnings(merged),
    outputs: MERGE_RUN_OUTPUTS,
    envelope: (mask) => ({ merged: mergedJson(merged, mask) }),
    // The commit that the legs judged, whatever this job has checked out.
    statusCommit: ({ subject }) => (subject?.checked_out === undefined ? subject?.sha : subject.checked_out),
    minor: { isMinor: (row) => row['outvoted'] === true, remark: OUTVOTED },
  };
}

const TITLES: Readonly<Record<VoteOutcome, string>> = {
  pass: '✅ Success',
  fail: '❌ Failure',
  abstain: '⚠️ Undecided',
};

/** Explains a finding that decided nothing, for a reader who sees it beside a passing leg. */
const OUTVOTED = 'Outvoted: only failing runs have the finding, and their leg passes all the same.';

/** The reasons for which the tally decided, rather than something else that ended the merge. */
const COUNTED: readonly Reason[] = ['accepted', 'gate_not_met', 'undecided'];

/** Legs in the summary, and in the one that fits a comment whose texts are as long as they can be. */
const MAX_LEGS = [50, 10];

function mergeSections(
  report: Report,
  merged: Merged,
  page: PageOptions,
  sanitizer: MarkdownSanitizer,
): readonly Section[] {
  const costs = [...merged.models.map((model) => sanitizer.inline(model)), usedWords(report, merged)];
  return [
    { name: 'the legs', rank: 0, texts: MAX_LEGS.map((max) => legTable(merged, max, sanitizer)) },
    { name: 'the findings', rank: 1, texts: page.rows.map((rows) => findings(merged, page, rows)) },
    { name: 'the costs', rank: 2, texts: [`${costs.join(' · ')}\n\n`] },
  ];
}

/** Marks that make outcomes easy to recognize. */
const MARKS: Readonly<Record<VoteOutcome, string>> = { pass: '✅', fail: '❌', abstain: '⬜' };

const GRAVEST_FIRST: readonly VoteOutcome[] = ['fail', 'abstain', 'pass'];

/** Renders the worst legs as a table. */
function legTable(merged: Merged, max: number, sanitizer: MarkdownSanitizer): string {
  const legs = GRAVEST_FIRST.flatMap((each) => merged.legs.filter(({ outcome }) => outcome === each));
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
  ].join('');
}

/** All rows have the same keys, so that the column order is fixed. */
function findingRow(finding: MergedFinding): JsonObject {
  const { severity, path, line, rule, title, message, legs, votes, outvoted, doubted } = finding;
  const runs = votes > legs.length ? ` · ${counted(votes, 'run')}` : '';
  const marks = `${outvoted ? ' · outvoted' : ''}${doubted ? ' · not proven' : ''}`;
  return {
    severity,
    path: path === null || line === null ? (path ?? '') : `${path}:${line}`,
    rule: rule ?? '',
    message: title === null || message.startsWith(title) ? message : `${title}\n${message}`,
    'found by': `${listed(legs, LISTED.few)}${runs}${marks}`,
  };
}

function usedWords({ durationMs }: Report, merged: Merged): string {
  const used = `${counted(merged.runs, 'run')} · ${counted(merged.turns, 'turn')} · ${spent(merged)}`;
  return `${used} · merged in ${duration(durationMs)}`;
}

/** View of a merge that failed before counting. */
const FAILED: ReportView = {
  title: ({ verdict }) => (verdict.reason === 'config' ? '⚠️ Inconclusive: nothing was merged' : null),
  hidesGate: true,
  logLines: ({ durationMs }) => [duration(durationMs)],
  outputs: MERGE_RUN_OUTPUTS,
};
