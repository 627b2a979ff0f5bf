/** A terminal screen that supports the sequences of the live line and shows what a user would see. */

/** The rows of the screen after some output, without trailing blanks; `isWide` returns whether a character has two columns. */
export function screenOf(output: string, columns: number, isWide = isWideHere): readonly string[] {
  const rows: string[][] = [[]];
  let row = 0;
  let column = 0;
  let wraps = true;
  const write = (character: string) => {
    const width = isWide(character) ? 2 : 1;
    if (column + width > columns) {
      if (wraps) {
        row += 1;
        column = 0;
      } else {
        column = columns - width;
      }
    }
    while (rows.length <= row) rows.push([]);
    const cells = rows[row] ?? [];
    while (cells.length < column) cells.push(' ');
    cells[column] = character;
    if (width === 2) cells[column + 1] = '';
    column += width;
  };
  for (const [part] of output.matchAll(/\x1b\[[0-?]*[ -/]*[@-~]|[\s\S]/gu)) {
    if (part === '\r') column = 0;
    else if (part === '\n') {
      row += 1;
      column = 0;
      while (rows.length <= row) rows.push([]);
    } else if (part === '\x1b[2K') rows[row] = [];
    else if (part === '\x1b[?7l') wraps = false;
    else if (part === '\x1b[?7h') wraps = true;
    else if (/^\x1b\[\d*m$/.test(part)) continue;
    else if (/^[\x00-\x1f\x7f-\x9f]/.test(part))
      throw new Error(`unexpected control: ${JSON.stringify(part)}`);
    else write(part);
  }
  return rows.map((cells) => cells.join('').trimEnd());
}

/** Follows the usual width tables for the characters in the tests. */
function isWideHere(character: string): boolean {
  return /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Emoji_Presentation}\uff01-\uff60]/u.test(
    character,
  );
}
