/** The legs and votes of a merge as Markdown tables that stay readable with 256 legs. */

import { dollars } from '../reporters/format.ts';
import type { MarkdownSanitizer } from '../reporters/report-types.ts';
import { DISPLAY, LISTED } from '../text/limits.ts';
import { counted, grouped } from '../text/messages.ts';
import type { Merged, MergedLeg, MergedVote } from './types.ts';
import { gravestLegs, legReasons, legWord, OUTCOME_MARKS, voteWarnings } from './words.ts';

/** How detailed a table of legs is. */
export interface LegTableOptions {
  /** Maximum characters per reason. */
  readonly maxReason: number;
  /** Maximum number of legs that do not pass. */
  readonly maxLegs: number;
  /** Whether passing legs have rows. */
  readonly passing: boolean;
}

/** Up to this many legs are shown in one table. */
const SMALL = 12;
/** Maximum number of vote marks shown individually; more are shown as counts. */
const MAX_MARKS = 9;
/** URL of a run attempt without Markdown syntax. */
const PAGE = /^https?:\/\/[\w.:[\]-]{1,300}\/[\w./-]{1,500}$/;

/** A table row: one leg, or all missing legs of unknown name. */
interface Row {
  readonly leg: MergedLeg;
  readonly count: number;
}

interface Column {
  readonly name: string;
  readonly right?: boolean;
  readonly cell: (row: Row) => string;
}

/** Renders the legs, failing or undecided ones first; if there are many, passing legs are folded. */
export function legTables(merged: Merged, options: LegTableOptions, sanitizer: MarkdownSanitizer): string {
  const rows = rowsOf(gravestLegs(merged));
  const show = (some: readonly Row[]) => table(columnsOf(merged, some, options, sanitizer), some);
  if (rows.length <= SMALL) return show(rows);
  const grave = rows.filter(({ leg }) => leg.outcome !== 'pass');
  const passing = rows.slice(grave.length);
  const kept = grave.slice(0, options.maxLegs);
  const left = grave.length - kept.length;
  return [
    show(kept.slice(0, LISTED.openRows)),
    fold(`${kept.length - LISTED.openRows} more that do not pass`, kept.slice(LISTED.openRows), show),
    left === 0 ? '' : `… and ${counted(left, 'more leg')} that ${left === 1 ? 'does' : 'do'} not pass.\n\n`,
    passingLegs(passing, options, show),
  ].join('');
}

function passingLegs(
  rows: readonly Row[],
  { passing }: LegTableOptions,
  show: (rows: readonly Row[]) => string,
): string {
  const words = `✅ ${counted(rows.length, 'leg')} ${rows.length === 1 ? 'passes' : 'pass'}`;
  if (passing || rows.length === 0) return fold(words, rows, show);
  return `${words}.\n\n`;
}

/** Combines missing legs of unknown name in one row, since they do not differ. */
function rowsOf(legs: readonly MergedLeg[]): readonly Row[] {
  const nameless = legs.filter(isNameless);
  const [first] = nameless;
  return legs.flatMap((leg) => {
    if (!isNameless(leg)) return [{ leg, count: 1 }];
    return leg === first ? [{ leg, count: nameless.length }] : [];
  });
}

function isNameless(leg: MergedLeg): boolean {
  return leg.leg === null && legWord(leg) === 'missing';
}

/** Columns that are empty or the same in every row are omitted. */
function columnsOf(
  merged: Merged,
  rows: readonly Row[],
  { maxReason }: LegTableOptions,
  sanitizer: MarkdownSanitizer,
): readonly Column[] {
  const why = ({ leg }: Row) =>
    [...legReasons(leg), ...voteWarnings(leg.votes), ...reusedWords(leg)]
      .map((reason) => sanitizer.prose(reason, maxReason))
      .join('<br>');
  const weighted = merged.legs.some(({ weight }) => weight !== 1);
  const models = merged.votes === null && merged.models.length > 1;
  const attempted = rows.some(({ leg }) => leg.votes.some(({ attempt }) => attempt !== null));
  return [
    {
      name: 'Leg',
      cell: (row) => `${mark(row.leg)}${weakMark(row.leg.votes)}&nbsp;${legName(row, sanitizer)}`,
    },
    { name: 'Says', cell: ({ leg }) => legWord(leg) },
    ...(merged.votes === null ? [] : [{ name: 'Votes', cell: ({ leg }: Row) => voteMarks(leg) }]),
    ...(weighted ? [{ name: 'Weight', right: true, cell: ({ leg }: Row) => String(leg.weight) }] : []),
    ...(rows.some((row) => why(row) !== '') ? [{ name: 'Why', cell: why }] : []),
    ...(models ? [{ name: 'Model', cell: ({ leg }: Row) => modelCell(leg.votes[0], sanitizer) }] : []),
    { name: 'Turns', right: true, cell: ({ leg }) => grouped(sum(leg.votes, (vote) => vote.turns)) },
    { name: 'Cost', right: true, cell: ({ leg }) => cost(leg.votes) },
    ...(attempted ? [{ name: 'Attempt', cell: ({ leg }: Row) => attempts(leg.votes) }] : []),
  ];
}

/**
 * Renders each vote in a folded table; empty if each leg has one vote.
 * @param which `all`, or `grave` for the votes of legs that do not pass or do not agree.
 */
export function voteTable(
  merged: Merged,
  which: 'all' | 'grave',
  maxReason: number,
  sanitizer: MarkdownSanitizer,
): string {
  if (merged.votes === null) return '';
  const legs = gravestLegs(merged).filter(
    ({ outcome, votes }) =>
      which === 'all' || outcome !== 'pass' || votes.some((vote) => vote.outcome !== 'pass'),
  );
  const models = merged.models.length > 1;
  const rows = legs.flatMap((leg) =>
    leg.votes.map((vote) => {
      const why = [
        ...(vote.why === null ? [] : [vote.why]),
        ...voteWarnings([vote]),
        ...(vote.reused ? [REUSED] : []),
      ];
      return line([
        legName({ leg, count: 1 }, sanitizer),
        `${mark(vote)}${weakMark([vote])}${vote.vote === null ? '' : `&nbsp;${sanitizer.inline(vote.vote, DISPLAY.name)}`}`,
        why.map((each) => sanitizer.prose(each, maxReason)).join('<br>'),
        ...(models ? [modelCell(vote, sanitizer)] : []),
        grouped(vote.turns),
        cost([vote]),
        attempts([vote]),
      ]);
    }),
  );
  if (rows.length === 0) return '';
  const title = which === 'all' ? 'Each vote' : 'The votes of legs that do not agree or do not pass';
  const names = ['Leg', 'Vote', 'Why', ...(models ? ['Model'] : []), 'Turns', 'Cost', 'Attempt'];
  const ruler = names.map((name) => (name === 'Turns' || name === 'Cost' ? '---:' : ':---'));
  return `<details><summary>${title} (${rows.length})</summary>\n\n${line(names)}${line(ruler)}${rows.join('')}\n</details>\n\n`;
}

function weakMark(votes: readonly MergedVote[]): string {
  return voteWarnings(votes).length === 0 ? '' : '⚠️';
}

const REUSED = 'Reused: no model was asked.';

function reusedWords({ votes }: MergedLeg): readonly string[] {
  const reused = votes.filter((vote) => vote.reused).length;
  if (reused === 0) return [];
  return [votes.length === 1 ? REUSED : `${reused} of ${votes.length} reused: no model was asked for them.`];
}

function legName({ leg, count }: Row, sanitizer: MarkdownSanitizer): string {
  if (leg.leg !== null) return `**${sanitizer.inline(leg.leg, DISPLAY.name) || '–'}**`;
  return count === 1 ? '(no name)' : `${grouped(count)} legs (no names)`;
}

function modelCell(vote: MergedVote | undefined, sanitizer: MarkdownSanitizer): string {
  return sanitizer.inline(vote?.model ?? '', DISPLAY.label) || '–';
}

/** The attempts of the votes, each linked to its page. */
function attempts(votes: readonly MergedVote[]): string {
  const links = votes.flatMap(({ attempt, url }) => {
    if (attempt === null) return [];
    return [url !== null && PAGE.test(url) ? `[${attempt}](${url})` : String(attempt)];
  });
  return [...new Set(links)].join(', ') || '–';
}

function cost(votes: readonly MergedVote[]): string {
  if (votes.some(({ costUsd }) => costUsd === null)) return 'unknown';
  const total = sum(votes, ({ costUsd }) => costUsd ?? 0);
  return total === 0 ? '–' : dollars(total);
}

function mark({ outcome }: MergedLeg | MergedVote): string {
  return OUTCOME_MARKS[outcome];
}

/** The mark of each vote, or the number of votes per mark. */
function voteMarks({ votes }: MergedLeg): string {
  if (votes.length <= MAX_MARKS) return votes.map(mark).join('');
  const marks = Object.entries(OUTCOME_MARKS).flatMap(([outcome, shown]) => {
    const count = votes.filter((vote) => vote.outcome === outcome).length;
    return count === 0 ? [] : [`${shown}&nbsp;${count}`];
  });
  return marks.join(' ');
}

function sum(votes: readonly MergedVote[], value: (vote: MergedVote) => number): number {
  return votes.reduce((total, vote) => total + value(vote), 0);
}

function table(columns: readonly Column[], rows: readonly Row[]): string {
  if (rows.length === 0) return '';
  const head = line(columns.map(({ name }) => name));
  const ruler = line(columns.map(({ right }) => (right === true ? '---:' : ':---')));
  return `${head}${ruler}${rows.map((row) => line(columns.map(({ cell }) => cell(row)))).join('')}\n`;
}

function line(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |\n`;
}

function fold(title: string, rows: readonly Row[], show: (rows: readonly Row[]) => string): string {
  return rows.length === 0 ? '' : `<details><summary>${title}</summary>\n\n${show(rows)}</details>\n\n`;
}
