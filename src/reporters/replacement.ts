/** What a finding would put in the place of the lines that it quotes. */
import type { Finding } from './findings.ts';
import { type SourceLocation, squeezeLine } from './source-locations.ts';

/** Maximum lines of a replacement. */
const MAX_LINES = 20;

/** A replacement of whole lines, in or near the change. */
export interface Replacement {
  /** The lines to be replaced, as they are in the file. */
  readonly before: readonly string[];
  /** The lines to put there; empty to delete them. */
  readonly after: readonly string[];
}

/**
 * Returns what a finding would replace; null if it does not say, its place is not exact or too far from the change, or
 * the file does not have all of the quoted lines there: of a long quote only the beginning was looked up, and the rest
 * of a line that is quoted in part must not be lost.
 * @param place of the finding in the judged files.
 */
export function replacementOf(
  { evidence, quote = null, replacement = null }: Finding,
  place: Pick<SourceLocation, 'line' | 'source'> | null,
): Replacement | null {
  if (evidence?.grounding !== 'exact' || replacement === null || quote === null) return null;
  if (evidence.label !== 'in_change' && evidence.label !== 'near') return null;
  const { line = null, source = null } = place ?? {};
  if (line === null || source === null) return null;
  const [quoted, after] = [linesOf(quote), linesOf(replacement)];
  const isShort = quoted.length <= MAX_LINES && after.length <= MAX_LINES;
  if (!isShort || quoted.length === 0 || line + quoted.length - 1 > source.lineCount) return null;
  const before = quoted.map((_, at) => source.line(line + at));
  const stands = before.every((text, at) => squeezeLine(text) === squeezeLine(quoted[at] ?? ''));
  return stands ? { before, after } : null;
}

function linesOf(text: string): readonly string[] {
  const lines = text.replaceAll('\r\n', '\n').split('\n');
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
}
