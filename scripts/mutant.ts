/** What a mutant of `mutate-walls.ts` is. */
import type { Isolation } from '../src/types.ts';

/** One layer taken out: a text of a source file replaced by another. */
export interface Mutant {
  readonly name: string;
  /** Relative to the project. */
  readonly file: string;
  /** Stands exactly once in the file, or the table is stale. */
  readonly cut: string;
  readonly put: string;
}

/** Mutants that the same tests ought to notice. */
export interface Group {
  readonly name: string;
  /** The walls behind which it is tried; empty where no wall is part of it. */
  readonly walls: readonly Isolation[];
  /** Which of the attacks are tried, as the beginning of their ids; all where it is left out. */
  readonly attacks?: string;
  /** Test files, beside the attacks where there are walls. */
  readonly tests: readonly string[];
  readonly mutants: readonly Mutant[];
}

/** What it is called, what is cut, what is put there; nothing where that is left out. */
type Row = readonly [name: string, cut: string, put?: string];

/** Mutants of one file. */
export function inFile(file: string, rows: readonly Row[]): readonly Mutant[] {
  return rows.map(([name, cut, put = '']) => ({ name, file, cut, put }));
}

/** Mutants that take one word out of a list of text literals. */
export function words(file: string, names: readonly string[], around = (name: string) => `'${name}', `) {
  return inFile(
    file,
    names.map((name) => [name, around(name)]),
  );
}
