/** What a tool is. */
import type { JsonObject, ToolSpec } from '../types.ts';

/** What a tool answers the model. */
export interface ToolAnswer {
  readonly content: string;
  readonly isError: boolean;
}

/** A tool the model may call. Everything expected is an answer; whatever it throws is a bug and ends the run. */
export interface Tool {
  readonly spec: ToolSpec;
  /** A short label of what a call is about (a path, the first line of a command) for logs; hostile text. */
  target(input: JsonObject): string;
  run(input: JsonObject, signal: AbortSignal): Promise<ToolAnswer>;
}

/** The longest beginning of a text that has at most `maxBytes` bytes of UTF-8; never half a character. */
export function cutToBytes(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  let end = Math.max(0, maxBytes);
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.subarray(0, end).toString('utf8');
}

/** The first `maxCharacters` UTF-16 units of a line, one less where that would split a character. */
export function cutToCharacters(line: string, maxCharacters: number): string {
  if (line.length <= maxCharacters) return line;
  const last = line.charCodeAt(maxCharacters - 1);
  return line.slice(0, last >= 0xd800 && last <= 0xdbff ? maxCharacters - 1 : maxCharacters);
}
