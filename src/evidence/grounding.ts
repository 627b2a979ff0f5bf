/**
 * Whether findings are there: compares what each one quotes with the files as they were before the agent, and with the
 * lines that the change removed. A quote proves where a text is, not that the finding about it is right.
 */
import { readText } from '../text/json-fields.ts';
import { DISPLAY } from '../text/limits.ts';
import { truncate } from '../text/messages.ts';
import type { GroundingCounts, GroundingStatus, JsonObject } from '../types.ts';
import type { Change } from './change.ts';
import { type QuoteForm, readQuote } from './normalize.ts';
import { openTexts, type SourceTexts, type Text, type Texts } from './texts.ts';

/** Findings that are looked up; those behind them are unproven. */
const MAX_CHECKED = 200;

/** What a finding claims. All of it is text of the model. */
export interface Claim {
  /** Relative to the repository root; null if the finding is about no file, or the path that it names was not found. */
  readonly path: string | null;
  readonly namesFile: boolean;
  /** 1-based, like `endLine`. */
  readonly line: number | null;
  readonly endLine: number | null;
  /** Text copied from the file; null if there is none. */
  readonly quote: string | null;
}

/** The place that a finding names; the path is resolved, and null if no file was found. */
export type ClaimedPlace = Pick<Claim, 'path' | 'line' | 'endLine'>;

export interface Grounded {
  readonly path: string | null;
  /** The proven line or, without a proof, the claimed one; from 1. */
  readonly line: number | null;
  /** The claimed line if the quote stands elsewhere; null otherwise. */
  readonly lineWas: number | null;
  /** null for a finding about no file, which is exempt. */
  readonly status: GroundingStatus | null;
  /** For the model: what is wrong with the quote; null if it proves its place, or if another one would not help. */
  readonly issue: string | null;
}

/** Reads a row of findings; `place` is null if the row names no file. */
export function readClaim(row: JsonObject, place: ClaimedPlace | null): Claim {
  const quote = readText(row, 'quote');
  return {
    path: place?.path ?? null,
    namesFile: place !== null,
    line: place?.line ?? null,
    endLine: place?.endLine ?? null,
    quote: quote === null || quote.trim() === '' ? null : quote,
  };
}

/**
 * Checks each finding; the result has the order of the claims. The work of a run is bounded: a finding behind that is
 * `unproven`.
 */
export async function groundFindings(
  claims: readonly Claim[],
  files: SourceTexts,
  change: Change | null,
): Promise<readonly Grounded[]> {
  const checked = claims.slice(0, MAX_CHECKED);
  const quotes = checked.map(({ quote }) => (quote === null ? [] : readQuote(quote)));
  const wanted = new Set(quotes.flatMap((forms) => forms.flatMap(({ folded }) => folded)));
  const texts = openTexts(files, change, wanted);
  // Files that findings name come first: not all of a large change may be read.
  for (const [at, { path }] of checked.entries())
    if (path !== null && quotes[at]?.length !== 0) texts.open(path);
  const results: Grounded[] = [];
  for (const [at, claim] of claims.entries()) {
    results.push(at < checked.length ? groundClaim(claim, quotes[at] ?? [], texts) : unproven(claim));
    // Lets signals and timers run.
    await new Promise<void>((resolve) => void setImmediate(resolve));
  }
  return results;
}

function groundClaim(claim: Claim, forms: readonly QuoteForm[], texts: Texts): Grounded {
  if (!claim.namesFile || claim.quote === null) return unproven(claim);
  if (forms.length === 0) return unproven(claim, 'is too short to prove anything; quote a whole line.');
  const own = claim.path === null ? [] : texts.open(claim.path);
  const found = findQuote(forms, own);
  if (found.length > 0) return proven(claim, nearest(found, claim.line), 'exact');
  const others = texts.changed
    .filter((path) => path !== claim.path)
    .map((path) => findQuote(forms, texts.open(path)))
    .filter((places) => places.length > 0);
  const [other = []] = others;
  if (others.length === 1 && !texts.isCut()) return proven(claim, nearest(other, null), 'moved');
  if (claim.path === null)
    return unproven(claim, 'is in no changed file, and the file that the finding names was not found.');
  // Without the text of its file, it is not known whether the quote is wrong.
  if (own.length === 0) return unproven(claim);
  const file = truncate(claim.path, DISPLAY.path);
  return unproven(
    claim,
    forms.some((form) => findFragments(form, own).length > 1)
      ? `stands at several places of ${file}; quote a whole line.`
      : `is not in ${file}; copy whole lines as they are in the file, without omissions.`,
  );
}

/** A place of a quote: so many lines from an index of a text on. */
interface Place {
  readonly text: Text;
  readonly first: number;
  readonly count: number;
}

/**
 * Returns the places of a quote in its most literal form: whole lines before a part of a line, which proves its place only
 * if it is there once, and the file before what the change removed.
 */
function findQuote(forms: readonly QuoteForm[], texts: readonly Text[]): readonly Place[] {
  for (const form of forms) {
    for (const text of texts) {
      const places = findLines(form, text);
      const literal = places.filter(({ first }) =>
        form.lines.every((line, at) => text.lines[first + at] === line),
      );
      if (places.length > 0) return literal.length > 0 ? literal : places;
    }
  }
  for (const form of forms) {
    const places = findFragments(form, texts);
    if (places.length === 1) return places;
  }
  return [];
}

function findLines({ folded }: QuoteForm, text: Text): readonly Place[] {
  // The rarest of the lines: the others have to stand around it.
  let rarest: readonly number[] | null = null;
  let offset = 0;
  for (const [at, line] of folded.entries()) {
    const places = text.places.get(line) ?? [];
    if (rarest !== null && places.length >= rarest.length) continue;
    rarest = places;
    offset = at;
  }
  return (rarest ?? [])
    .filter((index) => folded.every((line, at) => text.folded[index - offset + at] === line))
    .map((index) => ({ text, first: index - offset, count: folded.length }))
    .filter(isOfSide);
}

/** Returns the first two places of a part of a line in the first text that has it. */
function findFragments({ folded, isFragment }: QuoteForm, texts: readonly Text[]): readonly Place[] {
  const [fragment = ''] = folded;
  if (!isFragment) return [];
  for (const text of texts) {
    const places: Place[] = [];
    for (const [first, line] of text.folded.entries()) {
      const place = { text, first, count: 1 };
      for (let at = line.indexOf(fragment); at !== -1; at = line.indexOf(fragment, at + 1)) {
        if (places.length < 2 && isOfSide(place)) places.push(place);
        if (places.length === 2) return places;
      }
    }
    if (places.length > 0) return places;
  }
  return [];
}

/** Whether a place counts: on the old side of a diff only with a line that was removed. */
function isOfSide({ text: { old }, first, count }: Place): boolean {
  return old === null || old.slice(first, first + count).some(({ isRemoved }) => isRemoved);
}

/** Returns the place that is nearest to a line, the first one if no line is claimed. */
function nearest(places: readonly Place[], line: number | null): Place | null {
  const distance = (place: Place) => (line === null ? 0 : distanceTo(place, line));
  let [best = null] = places;
  for (const place of places) if (best !== null && distance(place) < distance(best)) best = place;
  return best;
}

/** A removed line is at its old number as well as where it is shown. */
function distanceTo({ text: { old }, first, count }: Place, line: number): number {
  const rows = old?.slice(first, first + count);
  if (rows === undefined) return Math.max(0, first + 1 - line, line - first - count);
  return Math.min(
    ...rows.flatMap(({ number, newNumber }) => [Math.abs(number - line), Math.abs(newNumber - line)]),
  );
}

function proven(claim: Claim, place: Place | null, status: 'exact' | 'moved'): Grounded {
  if (place === null) return unproven(claim);
  const { text, first, count } = place;
  // What was removed is shown at the line above it.
  const row = text.old?.[first];
  const start = row === undefined ? first + 1 : row.newNumber;
  const end = row === undefined ? first + count : row.newNumber;
  const isClaimed = status === 'exact' && claim.line !== null && distanceTo(place, claim.line) === 0;
  // A claim may be too wide and not be wrong.
  const isWithin = claim.line !== null && claim.line <= end && start <= (claim.endLine ?? claim.line);
  const shown = isClaimed && row === undefined ? claim.line : start;
  return {
    path: text.path,
    line: shown === 0 ? null : shown,
    lineWas: isClaimed || (status === 'exact' && isWithin) ? null : claim.line,
    status,
    issue: null,
  };
}

function unproven({ path, namesFile, line }: Claim, issue: string | null = null): Grounded {
  return { path, line, lineWas: null, status: namesFile ? 'unproven' : null, issue };
}

export function countGrounding(all: readonly Grounded[]): GroundingCounts {
  const count = (wanted: GroundingStatus) => all.filter(({ status }) => status === wanted).length;
  return { exact: count('exact'), moved: count('moved'), unproven: count('unproven') };
}
