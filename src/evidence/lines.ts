/** Lines of hostile texts, and paths as git writes them. */

/** Yields the lines of a text without their ending, which is `\n` or `\r\n`; a last empty line is left out. */
export function* linesOf(text: string): Generator<string> {
  for (let start = 0; start < text.length; ) {
    const found = text.indexOf('\n', start);
    const end = found === -1 ? text.length : found;
    yield text.slice(start, end > start && text[end - 1] === '\r' ? end - 1 : end);
    start = end + 1;
  }
}

/** Returns the last index of sorted starts that is not behind a place. */
export function indexAt(starts: Uint32Array, at: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((starts[middle] ?? 0) <= at) low = middle;
    else high = middle - 1;
  }
  return low;
}

const ESCAPES: Readonly<Record<string, string>> = {
  ...{ a: '\x07', b: '\b', t: '\t', n: '\n', v: '\v', f: '\f', r: '\r' },
  ...{ '"': '"', '\\': '\\', '/': '/' },
};

/**
 * Reads a text in quotes, as git or `JSON.stringify` writes it. Returns its value and the index behind the closing
 * quote; null if there is no such text at the start.
 */
export function readQuoted(text: string, start = 0): { readonly value: string; readonly end: number } | null {
  if (text[start] !== '"') return null;
  let value = '';
  // git escapes each byte of a character above ASCII.
  let bytes: number[] = [];
  const flush = () => {
    if (bytes.length === 0) return;
    value += Buffer.from(bytes).toString('utf8');
    bytes = [];
  };
  for (let at = start + 1; at < text.length; ) {
    const character = text[at] ?? '';
    if (character === '"') {
      flush();
      return { value, end: at + 1 };
    }
    if (character !== '\\') {
      flush();
      value += character;
      at += 1;
      continue;
    }
    const octal = /^[0-3][0-7]{2}$/u.exec(text.slice(at + 1, at + 4));
    if (octal !== null) {
      bytes.push(Number.parseInt(octal[0], 8));
      at += 4;
      continue;
    }
    flush();
    const hex = /^\\u[0-9a-fA-F]{4}$/u.test(text.slice(at, at + 6)) ? text.slice(at + 2, at + 6) : null;
    if (hex !== null) {
      value += String.fromCharCode(Number.parseInt(hex, 16));
      at += 6;
    } else {
      value += ESCAPES[text[at + 1] ?? ''] ?? text[at + 1] ?? '';
      at += 2;
    }
  }
  return null;
}

/** Returns a path without quotes, if it has some, and without the tab that ends a path with blanks in a diff. */
export function readPath(text: string): string {
  const quoted = readQuoted(text);
  if (quoted !== null) return quoted.value;
  return text.endsWith('\t') ? text.slice(0, -1) : text;
}

/** The two names behind `diff --git `, with their prefixes; null for a plain rename, whose names follow in other lines. */
export function readGitHeader(text: string): { readonly old: string; readonly now: string } | null {
  const first = readQuoted(text);
  if (first !== null) return { old: first.value, now: readPath(text.slice(first.end + 1)) };
  const second = text.endsWith('"') ? text.indexOf(' "') : -1;
  if (second !== -1) return { old: text.slice(0, second), now: readPath(text.slice(second + 1)) };
  const middle = (text.length - 1) / 2;
  if (!Number.isInteger(middle) || text[middle] !== ' ') return null;
  const [old, now] = [text.slice(0, middle), text.slice(middle + 1)];
  return old.slice(2) === now.slice(2) ? { old, now } : null;
}

/** The numbers of a hunk header. */
export interface HunkHeader {
  readonly oldStart: number;
  readonly oldCount: number;
  readonly newStart: number;
  readonly newCount: number;
}

/** Reads `@@ -1,2 +3,4 @@`, where a missing count is 1; null if the line is none. */
export function readHunkHeader(line: string): HunkHeader | null {
  const found = /^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@/u.exec(line);
  if (found === null) return null;
  const [, oldStart, oldCount = '1', newStart, newCount = '1'] = found;
  return {
    ...{ oldStart: Number(oldStart), oldCount: Number(oldCount) },
    ...{ newStart: Number(newStart), newCount: Number(newCount) },
  };
}
