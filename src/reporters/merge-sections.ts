/** What job summary and comment show of a merge: its legs, the findings of all of them, what they took, what did not count. */

import type { Merged, MergedFinding } from '../merge/types.ts';
import { counted, grouped } from '../text/messages.ts';
import type { JsonObject } from '../types.ts';
import type { Section } from './fit.ts';
import { dollars, duration, tokensOf } from './format.ts';
import { type LegTableOptions, legTables, voteTable } from './merge-tables.ts';
import { OUTVOTED, runWords } from './merge-words.ts';
import { payloadTables, type TableOptions } from './payload-tables.ts';
import type { Report } from './report-types.ts';
import type { Say } from './say.ts';

/** Where a merge is shown. */
export interface MergeView extends Omit<TableOptions, 'maxRows'> {
  /** Rows of findings, and how many are left where those would not fit. */
  readonly rows: readonly number[];
}

/** The legs in full, and what is left of them where space is short. */
const LEGS: readonly LegTableOptions[] = [
  { maxReason: 400, maxLegs: 500, passing: true },
  { maxReason: 120, maxLegs: 500, passing: true },
  { maxReason: 120, maxLegs: 60, passing: false },
  { maxReason: 40, maxLegs: 10, passing: false },
];
const MAX_REASONS = [400, 120];
const REFUSED = [100, 10];
/** Refused files that stand open. */
const OPEN_REFUSED = 3;
const MAX_FILE = 200;
const MAX_MODELS = 300;
/** Legs that are named as agreeing on a finding. */
const MAX_AGREEING = 3;

/** The parts of a page about a merge, in the order in which they are shown. */
export function mergeSections(report: Report, merged: Merged, view: MergeView, say: Say): readonly Section[] {
  return [
    { name: 'the legs', rank: 0, texts: LEGS.map((options) => legTables(merged, options, say)) },
    {
      name: 'the votes',
      rank: 4,
      texts: [
        ...MAX_REASONS.map((max) => voteTable(merged, 'all', max, say)),
        ...MAX_REASONS.map((max) => voteTable(merged, 'grave', max, say)),
      ],
    },
    { name: 'the files that did not count', rank: 3, texts: REFUSED.map((max) => refused(merged, max, say)) },
    { name: 'the findings', rank: 1, texts: view.rows.map((rows) => findings(merged, view, rows, say)) },
    { name: 'the costs', rank: 2, texts: [mergeCosts(report, merged, say)] },
  ];
}

/** The legs' findings, each once; those of an undecided merge are all that there are so far. */
function findings(merged: Merged, view: MergeView, maxRows: number, say: Say): string {
  if (merged.findings.length === 0) return '';
  const name = merged.ballot === 'abstain' ? 'findings so far' : 'findings';
  const has = (key: 'path' | 'rule') => merged.findings.some((each) => each[key] !== null);
  const columns = { path: has('path'), rule: has('rule') };
  const rows = merged.findings.map((finding) => findingRow(finding, columns));
  const more =
    merged.findingsLeftOut === 0
      ? ''
      : `… and ${counted(merged.findingsLeftOut, 'more finding')}: the envelopes of the legs hold them all.\n\n`;
  const outvoted = merged.findings.slice(0, maxRows).some((each) => each.outvoted) ? `${OUTVOTED}\n\n` : '';
  return payloadTables({ [name]: rows }, { ...view, maxRows }, say) + more + outvoted;
}

/** Every row has the same keys, so that the columns stand in one order. */
function findingRow(finding: MergedFinding, columns: Readonly<Record<'path' | 'rule', boolean>>): JsonObject {
  return {
    severity: finding.severity,
    ...(columns.path ? { path: place(finding) } : {}),
    ...(columns.rule ? { rule: finding.rule ?? '' } : {}),
    message: said(finding),
    'found by': agreeing(finding),
  };
}

/** Title and message in one cell, the title once. */
function said({ title, message }: MergedFinding): string {
  return title === null || message.startsWith(title) ? message : `${title}\n${message}`;
}

/** With its lines behind it, as links and people read it. */
function place({ path, line, endLine }: MergedFinding): string {
  if (path === null || line === null) return path ?? '';
  return endLine === null || endLine <= line ? `${path}:${line}` : `${path}:${line}-${endLine}`;
}

function agreeing({ legs, votes, outvoted }: MergedFinding): string {
  const named = legs.slice(0, MAX_AGREEING).join(', ');
  const more = legs.length > MAX_AGREEING ? ` and ${legs.length - MAX_AGREEING} more` : '';
  const runs = votes > legs.length ? ` · ${counted(votes, 'run')}` : '';
  return `${named}${more}${runs}${outvoted ? ' · outvoted' : ''}`;
}

/** What the runs took together, on one line. */
function mergeCosts(report: Pick<Report, 'durationMs'>, merged: Merged, say: Say): string {
  const { usage, models, turns, rejections, costUsd } = merged;
  const tokens = `${counted(tokensOf(usage), 'token')} (${grouped(usage.inputTokens)} in, ${grouped(usage.outputTokens)} out)`;
  const parts = [
    ...(models.length === 0 ? [] : [`**${say.inline(models.join(', '), MAX_MODELS)}**`]),
    runWords(merged),
    ...(turns === 0 ? [] : [counted(turns, 'turn')]),
    ...(rejections === 0 ? [] : [`${counted(rejections, 'call')} rejected`]),
    ...(tokensOf(usage) === 0 ? [] : [tokens]),
    costUsd === null ? 'price unknown' : dollars(costUsd),
    `merged in ${duration(report.durationMs)}`,
  ];
  return `${parts.join(' · ')}\n\n`;
}

function refused({ refused: files }: Merged, max: number, say: Say): string {
  if (files.length === 0) return '';
  const lines = files
    .slice(0, max)
    .map(({ file, why }) => `- ${say.code(file, MAX_FILE)}: ${say.prose(why, MAX_FILE)}\n`);
  const more = files.length > max ? `- … and ${counted(files.length - max, 'more file')}\n` : '';
  const title = `${counted(files.length, 'file')} did not count`;
  const list = `${lines.join('')}${more}\n`;
  if (files.length <= OPEN_REFUSED) return `**${title}:**\n\n${list}`;
  return `<details><summary>${title}</summary>\n\n${list}</details>\n\n`;
}

/** The verdict's own line of facts: by which rules it was counted. */
export function ruleFacts({ rule, votes }: Merged, say: Say): readonly string[] {
  return [`rule ${say.code(rule, 60)}`, ...(votes === null ? [] : [`votes ${say.code(votes, 60)}`])];
}
