/** How a merge is reported: its view, for reporters that know nothing about merges. */
import { duration, spent } from '../reporters/format.ts';
import { lineLink } from '../reporters/links.ts';
import { RUN_OUTPUTS } from '../reporters/outputs.ts';
import type { Report, ReportView, RunOutput, View, ViewFacts } from '../reporters/report-types.ts';
import { commonView, maskWith } from '../reporters/view.ts';
import { LISTED } from '../text/limits.ts';
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
  if (merged === null) return { ...report, outputNames, view: reportViewOf(null) };
  const { turns, usage, costUsd, models } = merged;
  const took = { turnCount: turns, usage, costUsd, model: models.join(', ') };
  return { ...report, ...took, outputNames, view: reportViewOf(merged) };
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

function reportViewOf(merged: Merged | null): ReportView {
  const outputs = MERGE_RUN_OUTPUTS;
  const show: ReportView['show'] = (report, options) => showMerge(report, merged, options);
  if (merged === null) return { show, outputs };
  return {
    show,
    outputs,
    envelope: (mask) => ({ merged: mergedJson(merged, mask) }),
    // The commit that the legs judged, whatever this job has checked out.
    statusCommit: ({ subject }) => (subject?.checked_out === undefined ? subject?.sha : subject.checked_out),
    minor: { isMinor: (row) => row['outvoted'] === true, remark: OUTVOTED },
  };
}

/** Explains a finding that decided nothing, for a reader who sees it beside a passing leg. */
const OUTVOTED = 'Outvoted: only failing runs have the finding, and their leg passes all the same.';

/** The reasons for which the tally decided, rather than something else that ended the merge. */
const COUNTED: readonly Reason[] = ['accepted', 'gate_not_met', 'undecided'];

const OUTCOMES: Readonly<Record<VoteOutcome, string>> = {
  pass: 'passed',
  fail: 'not passed',
  abstain: 'undecided',
};

function showMerge(report: Report, merged: Merged | null, options: ViewFacts): View {
  const { verdict } = report;
  const mask = maskWith(options.secrets);
  const isCounted = merged !== null && COUNTED.includes(verdict.reason);
  const facts = [
    `conclusion ${verdict.conclusion}`,
    `reason ${verdict.reason}`,
    ...(merged?.votes == null ? [] : [`votes ${merged.votes}`]),
    `exit code ${verdict.exitCode}`,
  ];
  return {
    ...commonView(report, options),
    outcome: isCounted
      ? `${OUTCOMES[merged.outcome]} · ${tallyWords(merged)}`
      : `no verdict, because ${verdict.reason === 'config' ? 'nothing was merged' : 'the merge failed'}`,
    warnings: merged === null ? [] : mergeWarnings(merged).map(mask),
    summary: null,
    // The outcome and the table of the legs say which leg does not pass.
    reason: verdict.error === null || verdict.reason === 'gate_not_met' ? null : mask(verdict.error),
    notes: isCounted ? notesOf(merged) : [],
    ...(merged === null ? { tables: {}, rows: new Map() } : tablesOf(report, merged, options)),
    facts,
    costs: [...(merged?.models ?? []).map(mask), usedWords(report, merged)],
    json: null,
  };
}

function notesOf({ findings, findingsLeftOut: left }: Merged): readonly string[] {
  const more = `${counted(left, 'more finding')} ${left === 1 ? 'is' : 'are'} in the envelopes of the legs.`;
  return [...(findings.some(({ outvoted }) => outvoted) ? [OUTVOTED] : []), ...(left === 0 ? [] : [more])];
}

function usedWords({ durationMs }: Report, merged: Merged | null): string {
  if (merged === null) return duration(durationMs);
  const used = `${counted(merged.runs, 'run')} · ${counted(merged.turns, 'turn')} · ${spent(merged)}`;
  return `${used} · merged in ${duration(durationMs)}`;
}

/** Marks that make outcomes easy to recognize. */
const MARKS: Readonly<Record<VoteOutcome, string>> = { pass: '✅', fail: '❌', abstain: '⬜' };

const GRAVEST_FIRST: readonly VoteOutcome[] = ['fail', 'abstain', 'pass'];

/** The legs, those that do not pass first, and the findings; of an undecided merge those reported so far. */
function tablesOf(
  { subject }: Report,
  merged: Merged,
  { secrets, serverUrl }: ViewFacts,
): Pick<View, 'tables' | 'rows'> {
  const mask = maskWith(secrets);
  const legs = GRAVEST_FIRST.flatMap((each) => merged.legs.filter(({ outcome }) => outcome === each));
  const isRerun = legs.some(({ votes }) => votes.some(({ attempt }) => (attempt ?? 1) > 1));
  const rows = legs.map((leg): JsonObject => {
    const attempts = new Set(leg.votes.flatMap(({ attempt }) => attempt ?? []));
    return {
      leg: `${MARKS[leg.outcome]} ${mask(leg.leg)}`,
      says: legWord(leg),
      ...(merged.votes === null ? {} : { votes: leg.votes.map(({ outcome }) => MARKS[outcome]).join('') }),
      why: legReasons(leg).map(mask).join('\n'),
      ...(isRerun ? { attempt: [...attempts].join(', ') || '–' } : {}),
    };
  });
  const name = merged.outcome === 'abstain' ? 'findings so far' : 'findings';
  const findings = merged.findings.map((finding) => findingRow(finding, mask));
  return {
    tables: {
      legs: rows,
      ...(findings.length === 0 ? {} : { [name]: findings }),
    },
    rows: new Map(
      findings.map((row) => [row, { link: lineLink(row, subject, serverUrl), isDoubted: false }]),
    ),
  };
}

/** All rows have the same keys, so that the column order is fixed. */
function findingRow(finding: MergedFinding, mask: (text: string) => string): JsonObject {
  const { severity, path, line, rule, title, message, legs, votes, outvoted, doubted } = finding;
  const runs = votes > legs.length ? ` · ${counted(votes, 'run')}` : '';
  const marks = `${outvoted ? ' · outvoted' : ''}${doubted ? ' · not proven' : ''}`;
  return {
    severity,
    path: mask(path === null || line === null ? (path ?? '') : `${path}:${line}`),
    rule: mask(rule ?? ''),
    message: mask(title === null || message.startsWith(title) ? message : `${title}\n${message}`),
    'found by': mask(`${listed(legs, LISTED.few)}${runs}${marks}`),
  };
}
