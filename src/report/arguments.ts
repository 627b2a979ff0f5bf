/** Arguments of a tool call as people read them. */
import { isObject, parseStrictJson } from '../json.ts';
import type { Showing, Shown } from './visible.ts';

/** One argument by its name, or the raw text where it is not what a tool would read. */
export interface Argument {
  readonly name: string | null;
  readonly text: Shown;
}

const STRUCTURED_OUTPUT_NAME = 'structured_output';
const MAX_NAMES = 50;

/**
 * The arguments of a call one by one, texts without their quotes. Those of `structured_output` never appear, whatever
 * the transcript holds of them, and however the model garbled the name.
 */
export function argumentsOf(name: string, raw: string | null, showing: Showing): readonly Argument[] {
  if (name.includes(STRUCTURED_OUTPUT_NAME)) {
    return [{ name: null, text: showing.text('Arguments of structured_output are not recorded.') }];
  }
  if (raw === null || raw.trim() === '') return [];
  const read = parseStrictJson(raw);
  const entries = read.ok && isObject(read.value) ? Object.entries(read.value) : null;
  if (entries === null || entries.length > MAX_NAMES) return [{ name: null, text: showing.text(raw) }];
  return entries.map(([key, value]) => ({
    name: showing.label(key),
    text: showing.text(typeof value === 'string' ? value : JSON.stringify(value, null, 2)),
  }));
}
