/** Names and headers as git writes them in a diff. */

const ESCAPES: Readonly<Record<string, string>> = {
  ...{ a: '\x07', b: '\b', t: '\t', n: '\n', v: '\v', f: '\f', r: '\r' },
};

/** Reads a text in quotes, as git or `JSON.stringify` writes it; null if there is none at the start. */
function readQuoted(text: string): { readonly value: string; readonly rest: string } | null {
  const found = /^"((?:[^"\\]|\\.)*)"/s.exec(text);
  if (found === null) return null;
  const [whole, body = ''] = found;
  const value = body.replace(
    /(?:\\[0-3][0-7]{2})+|\\u([0-9a-fA-F]{4})|\\(.)/gs,
    (sequence: string, hex?: string, letter?: string) => {
      if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16));
      if (letter !== undefined) return ESCAPES[letter] ?? letter;
      // git escapes each byte of a character above ASCII.
      const bytes = sequence
        .slice(1)
        .split('\\')
        .map((digits) => Number.parseInt(digits, 8));
      return Buffer.from(bytes).toString('utf8');
    },
  );
  return { value, rest: text.slice(whole.length) };
}

/** Returns a path without quotes, if it has some, and without the tab that ends a path with blanks in a diff. */
export function readPath(text: string): string {
  return readQuoted(text)?.value ?? (text.endsWith('\t') ? text.slice(0, -1) : text);
}

/** The two names behind `diff --git `, with their prefixes; null for a plain rename, whose names follow in other lines. */
export function readGitHeader(text: string): { readonly old: string; readonly now: string } | null {
  const first = readQuoted(text);
  if (first !== null) return { old: first.value, now: readPath(first.rest.slice(1)) };
  const second = text.endsWith('"') ? text.indexOf(' "') : -1;
  if (second !== -1) return { old: text.slice(0, second), now: readPath(text.slice(second + 1)) };
  const middle = (text.length - 1) / 2;
  if (!Number.isInteger(middle) || text[middle] !== ' ') return null;
  const [old, now] = [text.slice(0, middle), text.slice(middle + 1)];
  return old.slice(2) === now.slice(2) ? { old, now } : null;
}

/** The numbers of a hunk header. */
interface HunkHeader {
  readonly oldStart: number;
  readonly oldCount: number;
  readonly newStart: number;
  readonly newCount: number;
}

/** Reads `@@ -1,2 +3,4 @@`, where a missing count is 1; null if the line is not one. */
export function readHunkHeader(line: string): HunkHeader | null {
  const found = /^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@/.exec(line);
  if (found === null) return null;
  const [oldStart = 0, oldCount = 1, newStart = 0, newCount = 1] = found
    .slice(1)
    .map((digits) => (digits === undefined ? undefined : Number(digits)));
  return { oldStart, oldCount, newStart, newCount };
}
