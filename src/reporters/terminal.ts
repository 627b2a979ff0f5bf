/** Progress on a terminal: what the terminal can show, and the line that is rewritten in place. */
import { spent, tokensOf } from './format.ts';
import type { CallRef, RunEvent, Totals } from './report-types.ts';
import type { Sink } from './sink.ts';

/** How progress is shown. */
export interface TerminalStyle {
  /** Whether a line is rewritten in place; plain lines otherwise. */
  readonly live: boolean;
  readonly color: boolean;
  /** Asked before each drawing: windows change their size. */
  readonly columns: () => number;
}

/** What is known of the streams. */
interface TerminalFacts {
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

/** The world of a live line. */
interface LiveLineOptions {
  readonly sink: Sink;
  /** Asked before each drawing. */
  readonly columns: () => number;
  /** How long the run has taken so far, in words. */
  readonly elapsed: () => string;
  /** A hostile text as a part of a line, of at most `max` characters. */
  readonly excerpt: (text: string, max: number) => string;
}

/** A line that is there from the first event to `end`. Whatever else is written comes between `erase` and `draw`. */
interface LiveLine {
  event(event: RunEvent): void;
  erase(): void;
  draw(): void;
  /** Takes the line away, for good. */
  end(): void;
}

const REDRAW_MS = 250;
const MAX_NAME = 60;
const MAX_TEXT = 200;

/** To the line's start, everything on it gone. */
const ERASE = '\r\x1b[2K';
/** A terminal that counts wider than we do must not begin a second line: that one would stay. */
const NO_WRAP = '\x1b[?7l';
const WRAP = '\x1b[?7h';

/** What the line shows, the turn and its totals before what is hostile: the end is what a narrow window cuts. */
interface Shown {
  turn: number;
  totals: Totals | null;
  activity: string;
}

/** Makes a line such as `turn 3 · 42 s · 6,420 tokens · $0.0123 · shell npm test`. */
export function createLiveLine({ sink, columns, elapsed, excerpt }: LiveLineOptions): LiveLine {
  const now: Shown = { turn: 0, totals: null, activity: '' };
  let timer: NodeJS.Timeout | null = null;
  let ended = false;
  let shown = '';

  const erase = () => {
    if (shown !== '') sink.write(ERASE);
    shown = '';
  };
  const draw = () => {
    if (timer === null) return;
    // The last column is left free: some terminals wrap as soon as it is taken.
    const text = fitColumns(wordsOf(now, elapsed()), columns() - 1);
    if (text === shown) return;
    sink.write(`${ERASE}${NO_WRAP}${text}${WRAP}`);
    shown = text;
  };

  return {
    erase,
    draw,
    event(event) {
      if (ended) return;
      timer ??= setInterval(draw, REDRAW_MS).unref();
      Object.assign(now, changesOf(event, excerpt));
      draw();
    },
    end() {
      ended = true;
      if (timer !== null) clearInterval(timer);
      timer = null;
      erase();
    },
  };
}

function wordsOf({ turn, totals, activity }: Shown, elapsed: string): string {
  const used = totals === null || tokensOf(totals.usage) === 0 ? '' : spent(totals);
  const parts = [turn === 0 ? 'starting' : `turn ${turn}`, elapsed, used, activity];
  return parts.filter((part) => part !== '').join(' · ');
}

function changesOf(event: RunEvent, excerpt: LiveLineOptions['excerpt']): Partial<Shown> {
  const named = ({ name, target }: CallRef) =>
    `${excerpt(name, MAX_NAME)} ${excerpt(target, MAX_TEXT)}`.trim();
  switch (event.type) {
    case 'run_started':
      return { activity: excerpt(event.model, MAX_NAME) };
    case 'turn_started':
      return {
        turn: event.turn,
        activity: event.forced ? 'waiting for the model, asked once more' : 'waiting for the model',
      };
    case 'turn_completed':
      return { totals: event.totals, activity: '' };
    case 'tool_started':
      return { activity: named(event.call) };
    case 'tool_finished':
      return {
        totals: event.totals,
        activity: event.decision === 'ok' ? '' : `${named(event.call)}: ${event.decision}`,
      };
    case 'notice':
      return { activity: excerpt(event.text, MAX_TEXT) };
    case 'user_message':
      return {};
  }
}
