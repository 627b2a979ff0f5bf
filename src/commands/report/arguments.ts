/** Arguments of a tool call as people read them. */
import { indentedJson, isObject, parseStrictJson } from '../../text/json.ts';
import type { Json } from '../../types.ts';
import type { Showing, Shown } from './visible.ts';

/** One argument by its name, or the raw text where it is not what a tool would read. */
export interface Argument {
  readonly name: string | null;
  readonly text: Shown;
}

const STRUCTURED_OUTPUT_NAME = 'structured_output';
const MAX_NAMES = 50;
/** An argument with a longer indented form is shown on one line: that form may be hundreds of times as long. */
const MAX_INDENTED = 60_000;

/**
 * The arguments of a call one by one, texts without their quotes. Those of `structured_output`, however the model garbled
 * the name, and those of a tool that is not among the offered ones never appear, whatever the transcript holds of them.
 */
export function argumentsOf(
  name: string,
  raw: string | null,
  offered: readonly string[],
  showing: Showing,
): readonly Argument[] {
  if (name.includes(STRUCTURED_OUTPUT_NAME) || !offered.includes(name)) {
    return [{ name: null, text: showing.text('These arguments are not recorded.') }];
  }
  if (raw === null || raw.trim() === '') return [];
  const read = parseStrictJson(raw);
  const entries = read.ok && isObject(read.value) ? Object.entries(read.value) : null;
  if (entries === null || entries.length > MAX_NAMES) return [{ name: null, text: showing.text(raw) }];
  return entries.map(([key, value]) => ({
    name: showing.label(key),
    text: showing.text(typeof value === 'string' ? value : readable(value)),
  }));
}

function readable(value: Json): string {
  return indentedJson(value, MAX_INDENTED) ?? JSON.stringify(value);
}
