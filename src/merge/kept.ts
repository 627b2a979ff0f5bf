/** The findings of one run as a merge keeps them until it knows which ones it tells. */
import type { Finding, Severity } from '../reporters/findings.ts';
import { clipped, type Known } from './clipped.ts';

/** More than anybody reads of one run, whose own envelope has all of them. */
const MAX_OF_RUN = 300;
const MAX_MESSAGE = 4_000;
const MAX_WORDS = 300;

/** One finding, its texts bounded. */
export interface KeptFinding {
  readonly severity: Severity;
  /** As it was written. */
  readonly path: string | null;
  readonly line: number | null;
  readonly endLine: number | null;
  readonly rule: string | null;
  readonly title: string | null;
  readonly message: string;
  /** Where `rule` is only a kind: what tells it from others of its kind at the same place. null for others. */
  readonly inShort: string | null;
}

/** The gravest findings of one run, and how many more it has. */
export interface Kept {
  /** Gives the same ones each time. */
  readonly read: () => readonly KeptFinding[];
  readonly leftOut: number;
}

type Row = readonly [
  severity: Severity,
  path: string | null,
  line: number | null,
  endLine: number | null,
  rule: string | null,
  title: string | null,
  message: string,
  inShort: string | null,
];

/**
 * Keeps findings outside of the heap, as text: hundreds of runs have more of them than are ever told, and what survives
 * a few collections makes V8's heap grow by a multiple.
 */
export function keep(findings: readonly Finding[], known: Known): Kept {
  if (findings.length === 0) return { read: () => [], leftOut: 0 };
  const text = Buffer.from(JSON.stringify(findings.slice(0, MAX_OF_RUN).map((each) => rowOf(each, known))));
  return {
    read: () => rowsOf(text).map(findingOf),
    leftOut: Math.max(0, findings.length - MAX_OF_RUN),
  };
}

function rowOf({ severity, place, rule, isKind, title, message }: Finding, known: Known): Row {
  return [
    severity,
    place?.path ?? null,
    place?.line ?? null,
    place?.endLine ?? null,
    clipped(rule, MAX_WORDS, known),
    clipped(title, MAX_WORDS, known),
    clipped(message, MAX_MESSAGE, known),
    isKind ? clipped(title ?? message, MAX_WORDS, known) : null,
  ];
}

function rowsOf(text: Buffer): readonly Row[] {
  return JSON.parse(text.toString());
}

function findingOf([severity, path, line, endLine, rule, title, message, inShort]: Row): KeptFinding {
  return { severity, path, line, endLine, rule, title, message, inShort };
}
