/** Progress on stderr: a live line on a terminal, plain lines elsewhere, and one sentence if a run failed. */

import { DISPLAY } from '../text/limits.ts';
import { breakCommands, sanitize, singleLine } from '../text/sanitize.ts';
import type { Secrets } from '../text/secrets.ts';
import { createLiveLog, type RunLog } from './live-log.ts';
import type { Report, Reporter } from './report-types.ts';
import type { Sink } from './sink.ts';
import { createLiveLine, type TerminalStyle } from './terminal.ts';

export interface ProgressOptions {
  /** Sink for stderr. */
  readonly sink: Sink;
  readonly style: TerminalStyle;
  /** Whether to print only the sentence of a failure. */
  readonly quiet: boolean;
  /** `full` adds the model's prose, prompts and tool output, and disables the live line. */
  readonly level: 'summary' | 'full';
  readonly secrets: Secrets;
  /** Monotonic, in milliseconds. */
  readonly now: () => number;
}

export interface Progress {
  /** Receives events during the run; `report` removes the live line permanently. */
  readonly reporter: Reporter;
  /** Prints a warning that belongs to no event, on lines of its own. */
  warn(text: string): void;
  /**
   * Prints the last lines, for the verdict that the exit code reflects: what the run used and, if it failed, the
   * sentence.
   * @param files lines about files that the report does not name.
   */
  conclude(report: Report, files?: readonly string[]): Promise<void>;
  /** Prints the sentence of a failure that occurs before there is a report. */
  fail(sentence: string): void;
}

const COLORS = { red: '\x1b[31m', green: '\x1b[32m', yellow: '\x1b[33m', dim: '\x1b[2m' } as const;
const PLAIN = '\x1b[0m';

/**
 * Creates the progress of one run and starts its clock. The model's prose and tool output are printed at level `full`
 * only.
 */
export function createProgress(options: ProgressOptions): Progress {
  const { sink, style, quiet, level, secrets, now } = options;
  const started = now();
  const elapsed = () => seconds(now() - started);
  const toText = (text: string, maxRead?: number) => breakCommands(sanitize(text, secrets, maxRead));
  const excerpt = (text: string, max: number) => singleLine(toText(text), max);
  const { columns } = style;
  const live =
    style.live && !quiet && level === 'summary' ? createLiveLine({ sink, columns, elapsed, excerpt }) : null;
  const line = (text: string) => {
    live?.erase();
    sink.write(`${text.trimEnd()}\n`);
    live?.draw();
  };
  const paint: Paint = (text, color) => (style.color ? `${COLORS[color]}${text}${PLAIN}` : text);
  const lines: Lines = { line, paint, toText, quiet };
  const events = createLiveLog({ log: createRunLog(lines, () => paint(`[${elapsed()}] `, 'dim')), level });
  const verdict = createLiveLog({ log: createRunLog(lines, () => ''), level: 'summary' });
  const { info, warning, error } = createRunLog(lines, () => '');

  return {
    reporter: {
      name: 'progress',
      event(event) {
        if (live === null) events.event?.(event);
        else if (event.type === 'notice' && event.level === 'warning') warning(event.text);
        else live.event(event);
      },
      async report() {
        live?.end();
      },
    },
    warn: (text) => warning(text),
    async conclude(report, files = []) {
      live?.end();
      await verdict.report?.(report, new AbortController().signal);
      for (const text of files) info(text, 1);
    },
    fail(sentence) {
      live?.end();
      error(sentence);
    },
  };
}

type Paint = (text: string, color: keyof typeof COLORS) => string;

interface Lines {
  readonly line: (text: string) => void;
  readonly paint: Paint;
  /** Masks secrets and makes the text inert, keeping its lines. */
  readonly toText: (text: string, maxRead?: number) => string;
  readonly quiet: boolean;
}

/**
 * Creates a log that prefixes its lines, except warnings and the sentence of a failure, which have labels of their own.
 */
function createRunLog({ line, paint, toText, quiet }: Lines, prefix: () => string): RunLog {
  const excerpt = (text: string, max: number) => singleLine(toText(text), max);
  return {
    excerpt,
    info(text, indent = 0) {
      if (!quiet) line(`${prefix()}${'  '.repeat(indent)}${marked(excerpt(text, DISPLAY.line), paint)}`);
    },
    warning(text) {
      if (quiet) return;
      // Keep the line breaks of a stack trace.
      for (const each of toText(text).trim().split('\n'))
        line(`${paint('warning:', 'yellow')} ${singleLine(each, DISPLAY.line)}`);
    },
    error: (text) => line(`${paint('structured-agent:', 'red')} ${excerpt(text, DISPLAY.message)}`),
    group(title, body) {
      if (quiet) return;
      line(`${prefix()}${excerpt(title, DISPLAY.line)}`);
      for (const each of toText(body, DISPLAY.block).trimEnd().split('\n'))
        line(`${prefix()}  ${singleLine(each, DISPLAY.line)}`);
    },
  };
}

/** Colours the mark at the start of one of our lines. */
function marked(text: string, paint: Paint): string {
  if (text.startsWith('✓')) return `${paint('✓', 'green')}${text.slice(1)}`;
  if (text.startsWith('✗')) return `${paint('✗', 'red')}${text.slice(1)}`;
  return text;
}

/** Formats whole seconds, so that a line that is redrawn four times a second does not flicker. */
function seconds(ms: number): string {
  const whole = Math.floor(Math.max(0, ms) / 1000);
  if (whole < 60) return `${whole} s`;
  return `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, '0')} s`;
}
