/** The interface of tools. */
import type { JsonObject, ToolSpec } from '../types.ts';

export interface ToolAnswer {
  readonly content: string;
  readonly isError: boolean;
}

/** A tool that the model may call. All expected failures are answers; an exception is a bug and ends the run. */
export interface Tool {
  readonly spec: ToolSpec;
  /** A short label of the call for logs (a path, or the first line of a command). Untrusted text. */
  target(input: JsonObject): string;
  /** The path or the whole command that the answer shows the contents of; absent if it shows none. Untrusted text. */
  source?(input: JsonObject): string;
  run(input: JsonObject, signal: AbortSignal): Promise<ToolAnswer>;
}

/** Returns the longest prefix of a text of at most `maxBytes` bytes in UTF-8; never cuts a character. */
export function cutToBytes(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  let end = Math.max(0, maxBytes);
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.subarray(0, end).toString('utf8');
}

/** Returns the first `maxCharacters` UTF-16 code units of a line, or one less if that would split a character. */
export function cutToCharacters(line: string, maxCharacters: number): string {
  if (line.length <= maxCharacters) return line;
  const last = line.charCodeAt(maxCharacters - 1);
  return line.slice(0, last >= 0xd800 && last <= 0xdbff ? maxCharacters - 1 : maxCharacters);
}
