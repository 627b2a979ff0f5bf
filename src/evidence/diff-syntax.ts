/** Names and headers as git writes them in a diff. */

const ESCAPES: Readonly<Record<string, string>> = {
  ...{ a: '\x07', b: '\b', t: '\t', n: '\n', v: '\v', f: '\f', r: '\r' },
};

/** Returns a path as git or `JSON.stringify` quotes it, or as it is, without the tab that ends one with blanks in a diff. */
export function readPath(text: string): string {
  const [, quoted] = /^"((?:[^"\\]|\\.)*)"/s.exec(text) ?? [];
  if (quoted === undefined) return text.endsWith('\t') ? text.slice(0, -1) : text;
  return quoted.replace(
    /(?:\\[0-3][0-7]{2})+|\\u([0-9a-fA-F]{4})|\\(.)/gs,
    (sequence: string, hex?: string, letter?: string) => {
      if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16));
      if (letter !== undefined) return ESCAPES[letter] ?? letter;
      // git escapes each byte of a character above ASCII.
      const bytes = sequence.slice(1).split('\\');
      return Buffer.from(bytes.map((digits) => Number.parseInt(digits, 8))).toString('utf8');
    },
  );
}

/** Returns the second name behind `diff --git `, with its prefix; empty for a rename, whose names follow in other lines. */
export function readGitHeader(text: string): string {
  const middle = (text.length - 1) / 2;
  const [old, now] = [text.slice(0, middle), text.slice(middle + 1)].map(readPath);
  return text[middle] === ' ' && now !== undefined && old?.slice(2) === now.slice(2) ? now : '';
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
