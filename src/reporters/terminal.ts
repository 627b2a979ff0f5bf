/** What a terminal can show: a line that is rewritten in place, colours, so and so many columns. */

/** How progress is shown. */
export interface TerminalStyle {
  /** Whether a line is rewritten in place; plain lines otherwise. */
  readonly live: boolean;
  readonly color: boolean;
  /** Asked before each drawing: windows change their size. */
  readonly columns: () => number;
}

/** What is known of the streams. */
export interface TerminalFacts {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Where progress goes; `columns` is absent or 0 where nobody knows. */
  readonly stderr: { readonly isTTY?: boolean; readonly columns?: number };
  /** Whether a terminal shows what stdout prints while the run goes on: that would be written into the live line. */
  readonly stdoutShows: boolean;
}

/**
 * Chooses a style. `FORCE_COLOR` (anything but `0` and `false`) wins over `NO_COLOR` (anything), as in Node itself; a
 * dumb terminal has neither colours of its own accord nor a line that could be rewritten.
 */
export function terminalStyle({ environment, stderr, stdoutShows }: TerminalFacts): TerminalStyle {
  const able = stderr.isTTY === true && environment['TERM'] !== 'dumb';
  const force = environment['FORCE_COLOR'] ?? '';
  const forbidden = (environment['NO_COLOR'] ?? '') !== '';
  const color = force === '' ? able && !forbidden : force !== '0' && force !== 'false';
  return { live: able && !stdoutShows, color, columns: () => stderr.columns || 80 };
}

/** From here on characters may be two columns wide; what comes before is one wide at most. */
const FIRST_WIDE = 0x1100;

/**
 * A clean text on one line, cut to at most `columns` columns. Terminals disagree on the width of many characters: each
 * one beyond Latin, Greek, Cyrillic, Semitic and Indic letters counts as two, so that a line is rather too short.
 */
export function fitColumns(text: string, columns: number): string {
  let used = 0;
  let kept = '';
  let room = '';
  for (const character of text) {
    used += widthOf(character);
    if (used > columns) return columns < 2 ? '' : `${room}…`;
    kept += character;
    // What still fits when an ellipsis, which may be two wide, has to follow.
    if (used <= columns - 2) room = kept;
  }
  return kept;
}

function widthOf(character: string): number {
  return (character.codePointAt(0) ?? 0) < FIRST_WIDE ? 1 : 2;
}
