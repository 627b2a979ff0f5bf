/** Terminal progress: detection of terminal capabilities, and the line that is rewritten in place. */
import { DISPLAY } from '../text/limits.ts';
import { spent, tokensOf } from './format.ts';
import type { CallRef, RunEvent, Totals } from './report-types.ts';
import type { Sink } from './sink.ts';

/** The time between two drawings of the progress line. */
const REDRAW_MS = 250;

export interface TerminalStyle {
  /** Whether a line is rewritten in place; otherwise plain lines are printed. */
  readonly live: boolean;
  readonly color: boolean;
  /** Called before each redraw, because a window may be resized. */
  readonly columns: () => number;
}

interface TerminalFacts {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The stream for progress; `columns` is absent or 0 if unknown. */
  readonly stderr: { readonly isTTY?: boolean; readonly columns?: number };
  /** Whether stdout writes to a terminal during the run, which would garble the live line. */
  readonly stdoutShows: boolean;
}

/**
 * Chooses a style. As in Node, `FORCE_COLOR` (any value but `0` and `false`) takes precedence over `NO_COLOR` (any
 * value). A dumb terminal has no colours by default and no line that can be rewritten.
 */
export function terminalStyle({ environment, stderr, stdoutShows }: TerminalFacts): TerminalStyle {
  const able = stderr.isTTY === true && environment['TERM'] !== 'dumb';
  const force = environment['FORCE_COLOR'] ?? '';
  const forbidden = (environment['NO_COLOR'] ?? '') !== '';
  const color = force === '' ? able && !forbidden : force !== '0' && force !== 'false';
  return { live: able && !stdoutShows, color, columns: () => stderr.columns || 80 };
}

/** Characters from this code point on may be two columns wide; those below are at most one column wide. */
const FIRST_WIDE = 0x1100;

/**
 * Truncates a sanitized single-line text to at most `columns` columns. Terminals disagree on the width of many
 * characters: every character beyond the Latin, Greek, Cyrillic, Semitic and Indic ranges counts as two columns, so a
 * line may be shorter than necessary but never too long.
 */
export function fitColumns(text: string, columns: number): string {
  let used = 0;
  let kept = '';
  let room = '';
  for (const character of text) {
    used += widthOf(character);
    if (used > columns) return columns < 2 ? '' : `${room}…`;
    kept += character;
    // The text that still fits if an ellipsis, up to two columns wide, has to follow.
    if (used <= columns - 2) room = kept;
  }
  return kept;
}

function widthOf(character: string): number {
  return (character.codePointAt(0) ?? 0) < FIRST_WIDE ? 1 : 2;
}

interface LiveLineOptions {
  readonly sink: Sink;
  /** Called before each redraw. */
  readonly columns: () => number;
  readonly elapsed: () => string;
  /** Returns hostile text as part of a line, at most `max` characters. */
  readonly excerpt: (text: string, max: number) => string;
}

/** A line shown from the first event until `end`. Other output is written between `erase` and `draw`. */
interface LiveLine {
  event(event: RunEvent): void;
  erase(): void;
  draw(): void;
  /** Removes the line permanently. */
  end(): void;
}

/** Returns to the start of the line and erases it. */
const ERASE = '\r\x1b[2K';
/**
 * Disables wrapping: a terminal that measures text as wider must not start a second line, which would not be erased.
 */
const NO_WRAP = '\x1b[?7l';
const WRAP = '\x1b[?7h';

/** Content of the line. The turn and totals come before hostile text, because a narrow window truncates the end. */
interface Shown {
  turn: number;
  totals: Totals | null;
  activity: string;
}

/** Creates a line such as `turn 3 · 42 s · 6,420 tokens · $0.0123 · shell npm test`. */
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
    // Leave the last column free: some terminals wrap as soon as it is filled.
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
    `${excerpt(name, DISPLAY.label)} ${excerpt(target, DISPLAY.phrase)}`.trim();
  switch (event.type) {
    case 'run_started':
      return { activity: excerpt(event.model, DISPLAY.label) };
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
      return { activity: excerpt(event.text, DISPLAY.phrase) };
    case 'user_message':
      return {};
  }
}
