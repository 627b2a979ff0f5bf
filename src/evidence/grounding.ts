/**
 * Whether findings are there: compares what each one quotes with the files as they were before the agent, and with the
 * lines that the change removed. A quote proves where a text is, not that the finding about it is right.
 */
import { DISPLAY } from '../text/limits.ts';
import { truncate } from '../text/messages.ts';
import type { GroundingCounts, GroundingLabel, GroundingStatus, Issue } from '../types.ts';
import type { Change } from './change.ts';
import type { Claim } from './claims.ts';
import { type Library, openLibrary, type Shelf, type SourceTexts } from './library.ts';
import { findLiteralPart, normalizeLine, type QuoteForm, readQuote, splitLines } from './normalize.ts';
import {
  choosePlace,
  containsLine,
  linesOfPlace,
  type Place,
  type Places,
  type QuoteSearch,
  searchesFor,
} from './places.ts';
import type { LineIds } from './sources.ts';

export interface Grounded {
  readonly path: string | null;
  /** The proven line or, without a proof, the claimed one; from 1. */
  readonly line: number | null;
  /** Within the proven lines and greater than `line`; null otherwise. */
  readonly endLine: number | null;
  /** The claimed line if the quote stands elsewhere; null otherwise. */
  readonly lineWas: number | null;
  /** null for a finding about no file, which is exempt. */
  readonly status: GroundingStatus | null;
  /** null unless the place is proven and the change is known. */
  readonly label: GroundingLabel | null;
  /** For `ambiguous` where the quote stands, for `refuted` where the missing text is; at most 5. */
  readonly lines: readonly number[];
}

/** Lines and characters of a claimed secret that are tried, so that a key of several lines is seen as a whole. */
const SECRET = { lines: 100, characters: 16_384 } as const;
/** Characters of a missing text that is searched for. */
const MAX_MISSING = 1_000;
const MAX_LISTED = 5;

/**
 * Checks each finding; the result has the order of the claims. The work of a run is bounded: a finding behind that is
 * `unproven`.
 */
export async function groundFindings(
  claims: readonly Claim[],
  files: SourceTexts,
  change: Change | null,
): Promise<readonly Grounded[]> {
  const quotes = claims.map(({ quote }) => (quote === null ? [] : readQuote(quote)));
  const ids = numberLines(quotes.flat());
  const library = openLibrary(files, change, ids);
  const search: Search = { files, ids, library, inFiles: new Map(), elsewhere: [] };
  // The same quote is looked for once: a model that repeats itself must not use up the work of a run.
  const known = new Map<string, Result>();
  const results = claims.map((claim, at) => {
    const key = JSON.stringify(claim);
    const result = known.get(key) ?? planClaim(claim, quotes[at] ?? [], search);
    known.set(key, result);
    return result;
  });
  // Each file is read once for all that is looked for in it, and then let go: a change may have thousands. Those that are
  // named come first, as a run may not read every other one.
  for (const [path, looks] of search.inFiles) {
    const shelves = library.open(path);
    for (const look of looks) await look(shelves);
  }
  if (search.elsewhere.length > 0) {
    const wanted = new Set(search.elsewhere.flatMap(({ parts }) => parts));
    for (const { shelves, held } of library.openChanged(wanted))
      for (const { parts, look } of search.elsewhere)
        if (parts.some((part) => held.has(part))) shelves.forEach(look);
  }
  return results.map((result) => result());
}

/** What is known of a claim once all texts have been looked at. */
type Result = () => Grounded;

/** What is looked for in the texts. */
interface Search {
  readonly files: SourceTexts;
  readonly library: Library;
  readonly ids: LineIds;
  /** Called with the texts of one path. */
  readonly inFiles: Map<string, ((shelves: readonly Shelf[]) => void | Promise<void>)[]>;
  /** Called with the texts of each changed file that holds one of the parts. */
  readonly elsewhere: { readonly parts: readonly string[]; readonly look: (shelf: Shelf) => void }[];
}

function lookInFile(
  { inFiles }: Search,
  path: string,
  look: (shelves: readonly Shelf[]) => void | Promise<void>,
): void {
  const looks = inFiles.get(path) ?? [];
  looks.push(look);
  inFiles.set(path, looks);
}

function numberLines(forms: readonly QuoteForm[]): LineIds {
  const ids = new Map<string, number>();
  for (const { lines } of forms) for (const line of lines) if (!ids.has(line)) ids.set(line, ids.size + 1);
  return ids;
}

function planClaim(claim: Claim, forms: readonly QuoteForm[], search: Search): Result {
  const refuted = planMissing(claim, search);
  const place = planPlace(claim, forms, search);
  return () => refuted() ?? place();
}

function planPlace(claim: Claim, forms: readonly QuoteForm[], search: Search): Result {
  const { path } = claim;
  if (!claim.namesFile) return () => unproven(claim, null);
  let result: Result = () => unproven(claim, 'unproven');
  if (claim.isSecret) {
    if (path !== null)
      lookInFile(search, path, async (shelves) => {
        const grounded = await groundSecret(claim, shelves, search);
        result = () => grounded;
      });
    return () => result();
  }
  // Too short a quote proves nothing, wherever it stands.
  if (forms.length === 0) return result;
  if (path === null) return lookElsewhere(claim, forms, true, search);
  lookInFile(search, path, (shelves) => {
    result = groundInFile(claim, path, forms, shelves, search);
  });
  return () => result();
}

/** Looks a quote up in its own file, and elsewhere if it is not there. */
function groundInFile(
  claim: Claim,
  path: string,
  forms: readonly QuoteForm[],
  shelves: readonly Shelf[],
  search: Search,
): Result {
  const { library, ids } = search;
  const found = findQuote(searchesFor(forms, claim.line, ids), shelves);
  // A search that broke off may have found the first of two places.
  if (library.isExhausted()) return () => unproven(claim, 'unproven');
  if (found === null) return lookElsewhere(claim, forms, library.isKnown(path, shelves), search);
  const place = choosePlace(found);
  const lines = found.first.flatMap((each) => linesOfPlace(each).line ?? []);
  const grounded =
    place === null ? { ...unproven(claim, 'ambiguous'), lines } : proven(claim, place, 'exact', library);
  return () => grounded;
}

/** @param isKnown whether the quote is certainly not in its own file. */
function lookElsewhere(
  claim: Claim,
  forms: readonly QuoteForm[],
  isKnown: boolean,
  { library, ids, elsewhere }: Search,
): Result {
  const searches = searchesFor(forms, null, ids);
  elsewhere.push({
    parts: forms.map(({ lines }) => findLiteralPart(lines.join(' '))),
    look(shelf) {
      if (shelf.path !== claim.path) findQuote(searches, [shelf]);
    },
  });
  return () => {
    const found = searches.map((each) => each.places()).find(({ count }) => count > 0);
    const [other] = found?.count === 1 ? found.first : [];
    // The searches of the changed files end together, and may have found the first of two places.
    if (library.hasChanged && library.isExhausted()) return unproven(claim, 'unproven');
    if (other !== undefined) return proven(claim, other, 'moved', library);
    return unproven(claim, isKnown ? 'ungrounded' : 'unproven');
  };
}

/** Searches texts as long as nothing that counts more was found; returns what was, and null if that is nothing. */
function findQuote(searches: readonly QuoteSearch[], shelves: readonly Shelf[]): Places | null {
  for (const search of searches) {
    for (const shelf of shelves) search.look(shelf);
    if (search.places().count > 0) return search.places();
  }
  return null;
}

function proven(claim: Claim, place: Place, status: 'exact' | 'moved', library: Library): Grounded {
  const { line: first, endLine: last } = linesOfPlace(place);
  const isClaimed = status === 'exact' && claim.line !== null && containsLine(place, claim.line);
  const line = isClaimed && place.shelf.old === null ? claim.line : first;
  const end = isClaimed ? Math.min(claim.endLine ?? 0, last) : last;
  return {
    path: place.shelf.path,
    line,
    endLine: line !== null && end > line ? end : null,
    lineWas: claim.line === null || isClaimed || overlaps(claim, first, last) ? null : claim.line,
    status,
    label: library.labelOf(place.shelf, place.run),
    lines: [],
  };
}

/** Whether the claimed lines contain one of the proven ones: the claim was too wide, but not wrong. */
function overlaps({ line, endLine }: Claim, first: number | null, last: number): boolean {
  return line !== null && endLine !== null && first !== null && line <= last && first <= endLine;
}

function unproven(claim: Claim, status: Exclude<GroundingStatus, 'exact' | 'moved'> | null): Grounded {
  const { path, line, endLine } = claim;
  return {
    path,
    line,
    endLine,
    lineWas: null,
    status,
    label: null,
    lines: [],
  };
}

/** A secret must not be quoted: the claimed lines must hold one. */
async function groundSecret(
  claim: Claim,
  shelves: readonly Shelf[],
  { files, library }: Search,
): Promise<Grounded> {
  const { line } = claim;
  const shelf = shelves.find(({ old }) => old === null);
  if (line === null || shelf === undefined) return unproven(claim, 'unproven');
  const last = Math.min(claim.endLine ?? line, line + SECRET.lines - 1);
  const text = shelf.source
    .lines({ first: line - 1, last: last - 1 })
    .join('\n')
    .slice(0, SECRET.characters);
  if (text === '' || !(await files.holdsSecret(text))) return unproven(claim, 'unproven');
  const label = library.labelOf(shelf, { first: line - 1, last: last - 1 });
  return { ...unproven(claim, null), status: 'exact', label, endLine: last > line ? last : null };
}

/**
 * Looks a claimed absence up; the result is null as long as it may be true, which proves nothing: anyone can name what no
 * one ever wrote.
 */
function planMissing(claim: Claim, search: Search): () => Grounded | null {
  const isUnknown = () => null;
  if (claim.missing === null) return isUnknown;
  const { path, text } = claim.missing;
  if (text === null) {
    const isThere = path !== null && search.files.exists(path);
    return () => (isThere ? unproven(claim, 'refuted') : null);
  }
  const normalized = splitLines(text.trim().slice(0, MAX_MISSING + 1))
    .map(normalizeLine)
    .join('\n');
  if (normalized === '' || normalized.length > MAX_MISSING) return isUnknown;
  let lines: number[] = [];
  // Of the first text that holds it.
  const look = ({ source, old }: Shelf) => {
    if (old !== null || lines.length > 0) return;
    const found: number[] = [];
    source.findText(normalized, ({ first }, at) => {
      const [before, after] = source.around(at, normalized.length);
      if (isWordPart(before, normalized.charAt(0)) || isWordPart(normalized.at(-1) ?? '', after))
        return false;
      if (found.at(-1) !== first + 1) found.push(first + 1);
      return found.length === MAX_LISTED;
    });
    lines = found;
  };
  const place = path ?? claim.path;
  if (place === null) search.elsewhere.push({ parts: [findLiteralPart(normalized)], look });
  else
    lookInFile(search, place, (shelves) => {
      for (const shelf of shelves) look(shelf);
    });
  return () => (lines.length > 0 ? { ...unproven(claim, 'refuted'), lines } : null);
}

/** Whether two neighbouring characters belong to one word, so that `test` is not found in `latest`. */
function isWordPart(one: string, other: string): boolean {
  return /^[\p{L}\p{N}_]{2}$/u.test(one + other);
}

/** Describes for the model what is wrong with a finding at a JSON Pointer; null if it may stand. */
export function groundingIssue(pointer: string, claim: Claim, { status, lines }: Grounded): Issue | null {
  const file = truncate(claim.path ?? 'any changed file, and no file of that path was found', DISPLAY.path);
  const quoteIssue = (message: string) => ({ path: `${pointer}/quote`, keyword: 'quote', message });
  switch (status) {
    case 'ungrounded':
      return quoteIssue(`is not in ${file}; copy whole lines as they are in the file, without omissions.`);
    case 'ambiguous': {
      const where = lines.length === 0 ? 'several places' : `lines ${lines.join(', ')}`;
      return quoteIssue(`stands at ${where} of ${file}; quote one line more.`);
    }
    case 'refuted': {
      const name = claim.missing?.text === null ? 'path' : 'text';
      const where = truncate(claim.missing?.path ?? claim.path ?? 'a changed file', DISPLAY.path);
      const message =
        name === 'path'
          ? `${where} exists.`
          : `is in ${where}, at ${lines.length === 1 ? 'line' : 'lines'} ${lines.join(', ')}.`;
      return { path: `${pointer}/missing/${name}`, keyword: 'missing', message };
    }
    default:
      return null;
  }
}

export function countGrounding(all: readonly Grounded[]): GroundingCounts {
  const count = (wanted: GroundingStatus) => all.filter(({ status }) => status === wanted).length;
  return {
    exact: count('exact'),
    moved: count('moved'),
    unproven: count('unproven'),
    ambiguous: count('ambiguous'),
    ungrounded: count('ungrounded'),
    refuted: count('refuted'),
    corrected_lines: all.filter(({ status, lineWas }) => status === 'exact' && lineWas !== null).length,
  };
}
