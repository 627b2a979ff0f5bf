/** Findings that did not decide the verdict, apart from the others: beside a green verdict nothing of them is shown red. */
import { isArray, isObject } from '../text/json.ts';
import type { Json, JsonObject } from '../types.ts';
import { type Finding, readFindings } from './findings.ts';
import type { Report } from './report-types.ts';

/** A payload's findings, the gravest first in each list. */
export interface WeighedFindings {
  readonly deciding: readonly Finding[];
  /** Their severity is what the payload says. */
  readonly minor: readonly Finding[];
}

/** Separates the findings of a payload that the report's view calls minor; without such a view all of them decide. */
export function weighFindings(payload: JsonObject, { view }: Pick<Report, 'view'>): WeighedFindings {
  const { findings: rows } = payload;
  const rule = view?.minor;
  if (rule === undefined || !isArray(rows)) return { deciding: readFindings(payload), minor: [] };
  const isMinor = (row: Json) => isObject(row) && rule.isMinor(row);
  const deciding = rows.filter((row) => !isMinor(row));
  return {
    deciding: readFindings({ ...payload, findings: deciding }),
    minor: readFindings({ findings: rows.filter(isMinor) }),
  };
}
