/** How a merge is reported: the view for reporters, which know nothing about merges. */

import { dollars, duration, spent, tokensOf } from '../reporters/format.ts';
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
import { counted, grouped } from '../text/messages.ts';
import type { Conclusion, JsonObject } from '../types.ts';
import { mergedJson } from './merge.ts';
import { type LegTableOptions, legTables, voteTable } from './tables.ts';
import type { Merged, MergedFinding, MergedLeg, Outcome } from './types.ts';
import { gravestLegs, legReasons, legWord, mergeWarnings, runWords, tallyWords } from './words.ts';

/**
 * Turns the report of a step in which no agent ran into the report of a merge, whose turns, usage and cost are the sums
 * over its legs.
 * @param counted null if the merge failed before counting.
 * @param mask applied to model names, which other jobs wrote and outputs repeat.
 */
export function describeMerge(
  report: Report,
  counted: Merged | null,
  mask: (text: string) => string,
): Report {
  const outputNames = ['passed'];
  if (counted === null) return { ...report, outputNames, view: FAILED };
  const merged = { ...counted, models: counted.models.map(mask) };
  const { turns, rejections, usage, costUsd, models } = merged;
  const took = { turnCount: turns, rejections, usage, costUsd, model: models.join(', ') };
  return { ...report, ...took, outputNames, view: viewOf(merged) };
}

function viewOf(merged: Merged): ReportView {
  const titleOf = ({ verdict }: Report) => `${TITLES[verdict.conclusion]}: ${tallyWords(merged)}`;
  return {
    title: (report) => (isCounted(report) ? titleOf(report) : null),
    facts: (sanitizer) => ruleFacts(merged, sanitizer),
    sections: (report, page, sanitizer) => mergeSections(report, merged, page, sanitizer),
    hidesGate: true,
    logLines: (report, excerpt) => mergeLines(report, merged, excerpt),
    warnings: mergeWarnings(merged),
    outputs: mergeOutputs(merged),
    envelope: (mask) => ({ merged: mergedJson(merged, mask) }),
    statusText: (report) => (isCounted(report) ? statusText(report, titleOf(report), merged) : null),
    statusCommit: judgedCommit,
    minor: { isMinor: (row) => row['outvoted'] === true, remark: OUTVOTED },
    sarifNote: sarifNote(merged),
  };
}

const TITLES: Readonly<Record<Conclusion, string>> = {
  success: '✅ Success',
  failure: '❌ Failure',
  inconclusive: '⚠️ Undecided',
  skipped: '⏭️ Skipped',
};

/** Explains a finding that decided nothing, for a reader who sees it beside a passing verdict. */
const OUTVOTED = 'Outvoted: only failing runs have the finding, and the vote passes all the same.';

const DOUBTED =
  'Not proven: no run that reports the finding could show by a quote that it stands in the files.';

/** Whether the tally decided the verdict, rather than something else that ended the merge. */
function isCounted({ verdict }: Report): boolean {
  return ['accepted', 'gate_not_met', 'undecided'].includes(verdict.reason);
}

/** What to do about a merge, if anything. */
const HINTS: Readonly<Record<Outcome, string>> = { pass: '', fail: '', abstain: '. Re-run failed jobs' };

function statusText({ verdict }: Report, title: string, { rule, outcome }: Merged): string {
  return `${title.replace(/^\S+ /, '')} (rule ${rule})${verdict.error === null ? '' : HINTS[outcome]}`;
}

/**
 * Returns the commit that the legs judged, regardless of what the merge's own job has checked out; null if they do not
 * state it. Envelopes of earlier versions contain only the event's commit.
 */
function judgedCommit({ subject }: Report): string | null | undefined {
  if (subject === null) return undefined;
  return subject.checked_out === undefined ? subject.sha : subject.checked_out;
}

/** A merge may be decided without all of its legs; their findings then look as if they were fixed. */
function sarifNote({ tally: { abstain }, findingsLeftOut }: Merged): string {
  const who = abstain === 1 ? 'it' : 'they';
  return [
    findingsLeftOut === 0 ? '' : ` ${counted(findingsLeftOut, 'finding')} too many for one payload left out.`,
    abstain === 0
      ? ''
      : ` ${counted(abstain, 'leg')} without a verdict: code scanning closes alerts that only ${who} would find again.`,
  ].join('');
}

/** Variants of the leg table, from complete to shortest. */
const LEGS: readonly LegTableOptions[] = [
  { maxReason: 400, maxLegs: 500, passing: true },
  { maxReason: 120, maxLegs: 500, passing: true },
  { maxReason: 120, maxLegs: 60, passing: false },
  { maxReason: 40, maxLegs: 10, passing: false },
];
const MAX_REASONS = [400, 120];
const REFUSED = [100, 10];

function mergeSections(
  report: Report,
  merged: Merged,
  page: PageOptions,
  sanitizer: MarkdownSanitizer,
): readonly Section[] {
  return [
    { name: 'the legs', rank: 0, texts: LEGS.map((options) => legTables(merged, options, sanitizer)) },
    {
      name: 'the votes',
      rank: 4,
      texts: [
        ...MAX_REASONS.map((max) => voteTable(merged, 'all', max, sanitizer)),
        ...MAX_REASONS.map((max) => voteTable(merged, 'grave', max, sanitizer)),
      ],
    },
    {
      name: 'the files that did not count',
      rank: 3,
      texts: REFUSED.map((max) => refused(merged, max, sanitizer)),
    },
    { name: 'the findings', rank: 1, texts: page.rows.map((rows) => findings(merged, page, rows)) },
    { name: 'the costs', rank: 2, texts: [mergeCosts(report, merged, sanitizer)] },
  ];
}

/** The merged findings; for an undecided merge, those reported so far. */
function findings(merged: Merged, { tables }: PageOptions, maxRows: number): string {
  if (merged.findings.length === 0) return '';
  const name = merged.outcome === 'abstain' ? 'findings so far' : 'findings';
  const has = (key: 'path' | 'rule') => merged.findings.some((each) => each[key] !== null);
  const columns = { path: has('path'), rule: has('rule') };
  const rows = merged.findings.map((finding) => findingRow(finding, columns));
  const more =
    merged.findingsLeftOut === 0
      ? ''
      : `… and ${counted(merged.findingsLeftOut, 'more finding')}: the envelopes of the legs hold them all.\n\n`;
  const shown = merged.findings.slice(0, maxRows);
  const outvoted = shown.some((each) => each.outvoted) ? `${OUTVOTED}\n\n` : '';
  const doubted = shown.some((each) => each.doubted) ? `${DOUBTED}\n\n` : '';
  return tables({ [name]: rows }, maxRows) + more + outvoted + doubted;
}

/** All rows have the same keys, so that the column order is fixed. */
function findingRow(finding: MergedFinding, columns: Readonly<Record<'path' | 'rule', boolean>>): JsonObject {
  return {
    severity: finding.severity,
    ...(columns.path ? { path: place(finding) } : {}),
    ...(columns.rule ? { rule: finding.rule ?? '' } : {}),
    message: said(finding),
    'found by': agreeing(finding),
  };
}

/** Title and message in one cell, without repeating the title. */
function said({ title, message }: MergedFinding): string {
  return title === null || message.startsWith(title) ? message : `${title}\n${message}`;
}

/** A path with its line range as a suffix, as links and readers expect it. */
function place({ path, line, endLine }: MergedFinding): string {
  if (path === null || line === null) return path ?? '';
  return endLine === null || endLine <= line ? `${path}:${line}` : `${path}:${line}-${endLine}`;
}

function agreeing({ legs, votes, outvoted, doubted = false }: MergedFinding): string {
  const named = legs.slice(0, LISTED.few).join(', ');
  const more = legs.length > LISTED.few ? ` and ${legs.length - LISTED.few} more` : '';
  const runs = votes > legs.length ? ` · ${counted(votes, 'run')}` : '';
  return `${named}${more}${runs}${outvoted ? ' · outvoted' : ''}${doubted ? ' · not proven' : ''}`;
}

function mergeCosts(
  report: Pick<Report, 'durationMs'>,
  merged: Merged,
  sanitizer: MarkdownSanitizer,
): string {
  const { usage, models, turns, rejections, costUsd } = merged;
  const tokens = `${counted(tokensOf(usage), 'token')} (${grouped(usage.inputTokens)} in, ${grouped(usage.outputTokens)} out)`;
  const parts = [
    ...(models.length === 0 ? [] : [`**${sanitizer.inline(models.join(', '), DISPLAY.sentence)}**`]),
    runWords(merged),
    ...(turns === 0 ? [] : [counted(turns, 'turn')]),
    ...(rejections === 0 ? [] : [`${counted(rejections, 'call')} rejected`]),
    ...(tokensOf(usage) === 0 ? [] : [tokens]),
    costUsd === null ? 'price unknown' : dollars(costUsd),
    `merged in ${duration(report.durationMs)}`,
  ];
  return `${parts.join(' · ')}\n\n`;
}

function refused({ refused: files }: Merged, max: number, sanitizer: MarkdownSanitizer): string {
  if (files.length === 0) return '';
  const lines = files
    .slice(0, max)
    .map(
      ({ file, why }) =>
        `- ${sanitizer.code(file, DISPLAY.phrase)}: ${sanitizer.prose(why, DISPLAY.phrase)}\n`,
    );
  const more = files.length > max ? `- … and ${counted(files.length - max, 'more file')}\n` : '';
  const title = `${counted(files.length, 'file')} did not count`;
  const list = `${lines.join('')}${more}\n`;
  if (files.length <= LISTED.few) return `**${title}:**\n\n${list}`;
  return `<details><summary>${title}</summary>\n\n${list}</details>\n\n`;
}

/** The rules by which the verdict was counted, for its line of facts. */
function ruleFacts({ rule, votes }: Merged, sanitizer: MarkdownSanitizer): readonly string[] {
  return [
    `rule ${sanitizer.code(rule, DISPLAY.label)}`,
    ...(votes === null ? [] : [`votes ${sanitizer.code(votes, DISPLAY.label)}`]),
  ];
}

const MARKS = { passes: '✓', fails: '✗', missing: '–', undecided: '?' } as const;

/** Returns log lines about the legs, the usage and refused files. `excerpt` sanitizes hostile text for the log. */
function mergeLines(
  report: Report,
  merged: Merged,
  excerpt: (text: string, max: number) => string,
): readonly string[] {
  const grave = gravestLegs(merged).filter(({ outcome }) => outcome !== 'pass');
  const votes = merged.votes === null ? '' : `, votes ${excerpt(merged.votes, DISPLAY.name)}`;
  const legLine = (leg: MergedLeg) => {
    const name = leg.leg === null ? '(no name)' : excerpt(leg.leg, DISPLAY.name);
    const why = legReasons(leg).map((reason) => `: ${excerpt(reason, DISPLAY.sentence)}`);
    return `${MARKS[legWord(leg)]} ${name} ${WORDS[legWord(leg)]}${why[0] ?? ''}`;
  };
  return [
    `${tallyWords(merged)} (rule ${excerpt(merged.rule, DISPLAY.name)}${votes})`,
    ...listed(grave.map(legLine), 'more leg'),
    ...listed(
      merged.refused.map(
        ({ file, why }) =>
          `• ${excerpt(file, DISPLAY.sentence)} did not count: ${excerpt(why, DISPLAY.sentence)}`,
      ),
      'more file',
    ),
    [runWords(merged), counted(merged.turns, 'turn'), spent(merged), duration(report.durationMs)].join(' · '),
  ];
}

const WORDS = { passes: 'passes', fails: 'fails', missing: 'is missing', undecided: 'is undecided' } as const;

function listed(lines: readonly string[], noun: string): readonly string[] {
  const left = lines.length - LISTED.many;
  return left <= 0 ? lines : [...lines.slice(0, LISTED.many), `… and ${counted(left, noun)}`];
}

/** The outputs shared with a run, described for a merge. A run has more: a merge calls no model and changes no file. */
const SHARED: Readonly<Record<string, string>> = {
  'run-conclusion': 'How the merge ended: success, failure or inconclusive.',
  'run-reason': 'Why it ended so: accepted, gate_not_met, undecided, config, cancelled and the like.',
  'run-exit-code': 'The exit code of the step.',
  'run-gate': 'met or not_met; empty where no verdict was reached.',
  'run-turns': 'How many model calls gave an answer, in all legs together.',
  'run-rejections': 'How many calls of structured_output did not satisfy the schema, in all legs together.',
  'run-input-tokens': 'The tokens read by the models, cached ones included.',
  'run-output-tokens': 'The tokens written by the models.',
  'run-cost-usd': 'The cost of all legs in US dollars; empty when one of them is not known.',
  'run-duration-seconds': 'The wall clock of the merge itself in seconds.',
  'run-model': 'The models that were asked, separated by commas.',
  'run-result-file': "The path of the merge's own result envelope, a JSON file.",
  'run-comment-url': 'The address of the comment on the pull request; empty where there is none.',
};
const TALLY =
  'How many legs pass, fail and abstain, and how many were expected, as JSON; empty where the merge failed before it could count.';
const PLAIN_MODEL = /^[\w.:/@+-]{1,200}$/;

/**
 * Returns the outputs of a merge, in the order in which they are declared and written.
 * @param merged null if the merge failed before counting.
 */
export function mergeOutputs(merged: Merged | null): readonly RunOutput[] {
  const tally = { name: 'run-tally', description: TALLY, value: () => tallyJson(merged) };
  const shared = RUN_OUTPUTS.flatMap(({ name, value }) => {
    const description = SHARED[name];
    const own = name === 'run-model' ? () => plainModels(merged) : value;
    return description === undefined ? [] : [{ name, description, value: own }];
  });
  return [tally, ...shared];
}

/**
 * Model names come from files of other jobs, and workflows insert outputs into scripts, so only names without special
 * characters are included.
 */
function plainModels(merged: Merged | null): string {
  return (merged?.models ?? []).filter((model) => PLAIN_MODEL.test(model)).join(', ');
}

function tallyJson(merged: Merged | null): string {
  if (merged === null) return '';
  const { pass, fail, abstain, expected } = merged.tally;
  return JSON.stringify({ pass, fail, abstain, expected });
}

/** View of a merge that failed before counting. */
const FAILED: ReportView = {
  title: ({ verdict }) => (verdict.reason === 'config' ? '⚠️ Inconclusive: nothing was merged' : null),
  hidesGate: true,
  logLines: ({ durationMs }) => [duration(durationMs)],
  outputs: mergeOutputs(null),
};
