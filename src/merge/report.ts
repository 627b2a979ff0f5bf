/** How a merge is reported: its view, for reporters that know nothing about merges. */
import { RUN_OUTPUTS } from '../reporters/outputs.ts';
import { lineLink } from '../reporters/places.ts';
import type { Report, ReportView, View, ViewFacts } from '../reporters/report-types.ts';
import { duration, spent } from '../reporters/sentences.ts';
import { commonView, maskWith } from '../reporters/view.ts';
import { headlineOf } from '../text/exit-codes.ts';
import { addUsage, NO_USAGE } from '../text/figures.ts';
import { LISTED } from '../text/limits.ts';
import { counted } from '../text/messages.ts';
import type { JsonObject } from '../types.ts';
import { mergedJson } from './count-votes.ts';
import { byName } from './legs.ts';
import type { Merged, MergedFinding, MergedVote, VoteOutcome } from './types.ts';
import { legReasons, legWord, listed, mergeWarnings, tallyWords } from './words.ts';

/**
 * Turns the report of a step in which no agent ran into the report of a merge, whose turns, usage and cost are the sums
 * over its legs.
 * @param merged null if the merge failed before counting.
 */
export function describeMerge(report: Report, merged: Merged | null): Report {
  const show: ReportView['show'] = (shown, options) => showMerge(shown, merged, options);
  const described = { ...report, outputNames: ['passed'], view: { show, outputs: MERGE_RUN_OUTPUTS } };
  if (merged === null) return described;
  // The cost of replaced attempts is not included: it was reported where they ran.
  const votes = merged.legs.flatMap((leg) => leg.votes);
  const models = new Set(votes.flatMap(({ model }) => (model === '' ? [] : [model])));
  return {
    ...described,
    turnCount: votes.reduce((sum, { turns }) => sum + turns, 0),
    usage: votes.map(({ usage }) => usage).reduce(addUsage, NO_USAGE),
    costUsd: totalCost(votes),
    model: [...models].toSorted(byName).join(', '),
    view: {
      ...described.view,
      envelope: (mask) => ({ merged: mergedJson(merged, mask) }),
      outvoted: OUTVOTED,
    },
  };
}

/** Returns the sum in US dollars; null when a cost is unknown. */
function totalCost(votes: readonly MergedVote[]): number | null {
  const known = votes.flatMap(({ costUsd }) => costUsd ?? []);
  return known.length < votes.length ? null : known.reduce((sum, cost) => sum + cost, 0);
}

/** Outputs of an agent run that a merge does not have. */
const OF_AN_AGENT = ['run-turns', 'run-sandbox', 'run-coverage', 'run-sarif-file', 'run-patch-file'];

/** The outputs about a merge. */
export const MERGE_RUN_OUTPUTS: ReportView['outputs'] = Object.fromEntries(
  Object.entries(RUN_OUTPUTS).filter(([name]) => !OF_AN_AGENT.includes(name)),
);

/** Explains a finding that decided nothing, for a reader who sees it beside a passing leg. */
const OUTVOTED = 'Outvoted: only failing runs have the finding, and their leg passes all the same.';

function showMerge(report: Report, merged: Merged | null, options: ViewFacts): View {
  const { verdict } = report;
  const mask = maskWith(options.secrets);
  const headline = headlineOf(verdict.reason, true, false);
  return {
    ...commonView(report, options),
    outcome: merged === null ? headline : `${headline} · ${tallyWords(merged)}`,
    warnings: merged === null ? [] : mergeWarnings(merged).map(mask),
    summary: null,
    // The outcome and the table of the legs say which leg does not pass.
    reason: verdict.error === null || verdict.reason === 'gate_not_met' ? null : mask(verdict.error),
    notes: merged === null ? [] : notesOf(merged),
    ...(merged === null ? { tables: {}, rows: new Map() } : tablesOf(report, merged, options)),
    facts: [
      `conclusion ${verdict.conclusion}`,
      `reason ${verdict.reason}`,
      ...(merged?.votes == null ? [] : [`votes ${merged.votes}`]),
      `exit code ${verdict.exitCode}`,
    ],
    costs: [mask(report.model), usedWords(report, merged)].filter((fact) => fact !== ''),
    json: null,
  };
}

function notesOf({ findings, findingsLeftOut: left }: Merged): readonly string[] {
  const more = `${counted(left, 'more finding')} ${left === 1 ? 'is' : 'are'} in the envelopes of the legs.`;
  return [...(findings.some(({ outvoted }) => outvoted) ? [OUTVOTED] : []), ...(left === 0 ? [] : [more])];
}

function usedWords(report: Report, merged: Merged | null): string {
  const took = duration(report.durationMs);
  if (merged === null) return took;
  const runs = merged.legs.flatMap(({ votes }) => votes.filter(({ reason }) => reason !== 'missing'));
  return `${counted(runs.length, 'run')} · ${counted(report.turnCount, 'turn')} · ${spent(report)} · merged in ${took}`;
}

/** Marks that make outcomes easy to recognize. */
const MARKS: Readonly<Record<VoteOutcome, string>> = { pass: '✅', fail: '❌', abstain: '⬜' };

const GRAVEST_FIRST: readonly VoteOutcome[] = ['fail', 'abstain', 'pass'];

/** The legs, those that do not pass first, and the findings. */
function tablesOf(
  { subject }: Report,
  merged: Merged,
  { secrets, serverUrl }: ViewFacts,
): Pick<View, 'tables' | 'rows'> {
  const mask = maskWith(secrets);
  const legs = GRAVEST_FIRST.flatMap((each) => merged.legs.filter(({ outcome }) => outcome === each));
  const rows = legs.map(
    (leg): JsonObject => ({
      leg: `${MARKS[leg.outcome]} ${mask(leg.leg)}`,
      says: legWord(leg),
      ...(merged.votes === null ? {} : { votes: leg.votes.map(({ outcome }) => MARKS[outcome]).join('') }),
      why: legReasons(leg).map(mask).join('\n'),
    }),
  );
  const findings = merged.findings.map((finding) => findingRow(finding, mask));
  return {
    tables: { legs: rows, ...(findings.length === 0 ? {} : { findings }) },
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
