/** Where a quote stands in one text, and which of several places is meant. */
import type { Shelf } from './library.ts';
import type { QuoteForm } from './normalize.ts';
import type { LineIds, Run } from './sources.ts';

const MAX_LISTED = 5;

/** A place of a quote. */
export interface Place {
  readonly shelf: Shelf;
  /** Line indexes in the text of the shelf. */
  readonly run: Run;
}

/** All places of a quote in the texts that were searched. */
export interface Places {
  count: number;
  /** The first of them, at most 5. */
  readonly first: Place[];
  /** The last one that contains the claimed line. */
  containing: Place | null;
  /** Those inside a hunk of the change. */
  inHunks: number;
  lastInHunk: Place | null;
}

/** A search for a quote in one way to read it, on one side of the change. */
export interface QuoteSearch {
  /** Searches one more text, unless it is of the other side. */
  look(shelf: Shelf): void;
  places(): Places;
}

/**
 * Returns the searches for a quote, the one that counts most first: whole lines before a part of a line, the most literal
 * reading before others, files before what the change removed.
 */
export function searchesFor(
  forms: readonly QuoteForm[],
  line: number | null,
  ids: LineIds,
): readonly QuoteSearch[] {
  const wholes = forms.filter(({ isWhole }) => isWhole);
  const fragments = forms.filter(({ isFragment }) => isFragment);
  return [
    ...wholes.flatMap((form) => SIDES.map((isOld) => searchWholeLines(form, isOld, line, ids))),
    ...fragments.flatMap((form) => SIDES.map((isOld) => searchFragment(form, isOld))),
  ];
}

const SIDES = [false, true];

/** Searches for whole lines; those exactly as quoted are preferred over those that differ in blanks or the like. */
function searchWholeLines(form: QuoteForm, isOld: boolean, line: number | null, ids: LineIds): QuoteSearch {
  const [written, others] = [noPlaces(), noPlaces()];
  const numbers = form.lines.map((each) => ids.get(each) ?? 0);
  return {
    look(shelf) {
      if ((shelf.old !== null) !== isOld) return;
      shelf.source.findLines(numbers, (run) => {
        if (!isPlace(shelf, run)) return;
        const isWritten = form.written !== null && shelf.source.isWritten(form.written, run.first);
        addPlace(isWritten ? written : others, { shelf, run }, line);
      });
    },
    places: () => (written.count > 0 ? written : others),
  };
}

/** Searches for a part of one line, which proves its place only if it is there once. */
function searchFragment(form: QuoteForm, isOld: boolean): QuoteSearch {
  const places = noPlaces();
  const [fragment = ''] = form.lines;
  return {
    look(shelf) {
      if ((shelf.old !== null) !== isOld || places.count === MAX_LISTED) return;
      shelf.source.findText(fragment, (run) => {
        if (!isPlace(shelf, run)) return false;
        places.count += 1;
        places.first.push({ shelf, run });
        return places.count === MAX_LISTED;
      });
    },
    places: () => places,
  };
}

/** Returns the place that is meant: the only one, else the one at the claimed line, else the only one inside a hunk. */
export function choosePlace({ count, first, containing, inHunks, lastInHunk }: Places): Place | null {
  if (count === 1) return first[0] ?? null;
  return containing ?? (inHunks === 1 ? lastInHunk : null);
}

/** Whether a run of lines counts: of the old side only lines of one hunk of which one was removed. */
function isPlace({ old }: Shelf, { first, last }: Run): boolean {
  if (old === null) return true;
  const rows = old.slice(first, last + 1);
  return rows[0]?.hunk === rows.at(-1)?.hunk && rows.some(({ isRemoved }) => isRemoved);
}

function noPlaces(): Places {
  return { count: 0, first: [], containing: null, inHunks: 0, lastInHunk: null };
}

function addPlace(places: Places, place: Place, line: number | null): void {
  places.count += 1;
  if (places.first.length < MAX_LISTED) places.first.push(place);
  if (line !== null && containsLine(place, line)) places.containing = place;
  const { shelf, run } = place;
  if (shelf.old === null && !shelf.changed?.isInHunk(run.first + 1, run.last + 1)) return;
  places.inHunks += 1;
  places.lastInHunk = place;
}

/** Whether a place contains a line; a removed one by its old number or by where it is shown. */
export function containsLine({ shelf, run: { first, last } }: Place, line: number): boolean {
  if (shelf.old === null) return first < line && line <= last + 1;
  return shelf.old
    .slice(first, last + 1)
    .some(({ number, newNumber }) => number === line || newNumber === line);
}

/** Returns the lines of a place in the file, from 1; of removed lines only the line above, and null if there is none. */
export function linesOfPlace({ shelf, run }: Place): {
  readonly line: number | null;
  readonly endLine: number;
} {
  const row = shelf.old?.[run.first];
  if (row === undefined) return { line: run.first + 1, endLine: run.last + 1 };
  return { line: row.newNumber === 0 ? null : row.newNumber, endLine: row.newNumber };
}
