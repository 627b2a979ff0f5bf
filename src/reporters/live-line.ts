/** A line of a terminal that is rewritten in place and shows what goes on now. */

import { spent, tokensOf } from './format.ts';
import type { CallRef, RunEvent, Totals } from './report-types.ts';
import type { Sink } from './sink.ts';
import { fitColumns } from './terminal.ts';

/** The world of a live line. */
export interface LiveLineOptions {
  readonly sink: Sink;
  /** Asked before each drawing. */
  readonly columns: () => number;
  /** How long the run has taken so far, in words. */
  readonly elapsed: () => string;
  /** A hostile text as a part of a line, of at most `max` characters. */
  readonly excerpt: (text: string, max: number) => string;
}

/** A line that is there from the first event to `end`. Whatever else is written comes between `erase` and `draw`. */
export interface LiveLine {
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
