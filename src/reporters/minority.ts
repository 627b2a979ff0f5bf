/** Findings that decided nothing in a merge, apart from the others: beside a green verdict nothing red is told of them. */
import { isArray, isObject } from '../text/json.ts';
import type { Json, JsonObject } from '../types.ts';
import { type Finding, readFindings } from './findings.ts';

/** A payload's findings, the gravest first in each list. */
export interface Weighed {
  readonly counted: readonly Finding[];
  /** Their severity is what the runs said. */
  readonly outvoted: readonly Finding[];
}

/**
 * Parts the findings of a merge's payload by `outvoted`.
 * @param ofMerge false for the payload of a model, whose own `outvoted` means nothing.
 */
export function weighedFindings(payload: JsonObject, ofMerge: boolean): Weighed {
  const { findings: rows } = payload;
  if (!ofMerge || !isArray(rows)) return { counted: readFindings(payload), outvoted: [] };
  const others = rows.filter((row) => !isOutvoted(row));
  return {
    counted: readFindings({ ...payload, findings: others }),
    outvoted: readFindings({ findings: rows.filter(isOutvoted) }),
  };
}

function isOutvoted(row: Json): boolean {
  return isObject(row) && row['outvoted'] === true;
}
