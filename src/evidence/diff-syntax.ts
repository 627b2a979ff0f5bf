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

/** A line of a hunk. */
export interface HunkLine {
  readonly mark: string;
  readonly text: string;
  /** On the new side or, for a removed line, on the old one, and then negative. */
  readonly number: number;
  /** The number of the line above it on the new side. */
  readonly above: number;
}

const HUNK_HEADER = /^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@/;

/** Creates a reader of hunks, whose lines are counted by their headers: a line can look like any header. */
export function createHunkReader() {
  let [old, now, oldLeft, newLeft] = [0, 0, 0, 0];
  const isOpen = () => oldLeft > 0 || newLeft > 0;
  /** Reads the next line of a text; null if it is not part of a hunk, which ends an open one. */
  function read(line: string): HunkLine | 'header' | null {
    const mark = line[0] ?? ' ';
    if (!isOpen()) {
      const header = HUNK_HEADER.exec(line);
      if (header === null) return null;
      const [, oldStart, oldCount = '1', newStart, newCount = '1'] = header;
      [oldLeft, newLeft] = [Number(oldCount), Number(newCount)];
      // A side without lines starts, for git, at the line above.
      [old, now] = [Number(oldStart), Number(newStart) + (newLeft === 0 ? 1 : 0)];
      return 'header';
    }
    // "\ No newline at end of file"
    if (mark === '\\') return 'header';
    const found = { mark, text: line.slice(1), number: mark === '-' ? -old : now, above: now - 1 };
    if (mark !== '+') [old, oldLeft] = [old + 1, oldLeft - 1];
    if (mark !== '-') [now, newLeft] = [now + 1, newLeft - 1];
    if (' +-'.includes(mark) && oldLeft >= 0 && newLeft >= 0) return found;
    [oldLeft, newLeft] = [0, 0];
    return null;
  }
  return { isOpen, read };
}
