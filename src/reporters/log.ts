/**
 * The one log sink of the Action: everything that reaches stdout goes through here. The runner takes commands from that
 * stream, so untrusted text is cleaned, prefixed and its command markers are broken, and blocks of it stand inside a
 * region where commands are off. Each of the two holds alone.
 */

import { truncate } from '../text/messages.ts';
import { breakCommands, cleanText, singleLine } from '../text/sanitize.ts';
import type { Secrets } from '../text/secrets.ts';

/** What an annotation may point at; `line` counts from 1. */
export interface AnnotationProperties {
  readonly title?: string;
  /** A path relative to the repository's root; the runner makes one of an absolute path below GITHUB_WORKSPACE. */
  readonly file?: string;
  readonly line?: number;
  readonly endLine?: number;
  /** The runner drops it where `endLine` is another line. */
  readonly col?: number;
}

/** The kinds of annotations, by the runner's commands. */
export type AnnotationLevel = 'error' | 'warning' | 'notice';

/** The world of a log. */
export interface LogOptions {
  /** Writes to stdout. */
  readonly write: (text: string) => void;
  readonly secrets: Secrets;
  /** A fresh random word, such as a UUID. */
  readonly token: () => string;
}

/** The log. Any text given to it may be hostile. */
export interface Log {
  /** A text as a part of a line: one line of at most `max` characters, secrets masked before it is cut. */
  excerpt(text: string, max: number): string;
  /** One line, indented by two spaces for each level of `indent`; an empty text is an empty line. */
  info(text: string, indent?: number): void;
  /** An annotation that is red and counts as an error. */
  error(message: string, properties?: AnnotationProperties): void;
  warning(message: string, properties?: AnnotationProperties): void;
  notice(message: string, properties?: AnnotationProperties): void;
  /** How many annotations of a level this log has made: the runner shows the first ten of each. */
  annotated(level: AnnotationLevel): number;
  /** Asks the runner to mask a value in every log of the job, line by line where it has several. */
  mask(value: string): void;
  /** A folded block of untrusted text under a title. */
  group(title: string, body: string): void;
  /** A block of untrusted text, each line prefixed. */
  untrusted(text: string): void;
}

/** Stands before each line of untrusted text: whatever that line begins with, it is not at the start. */
const PREFIX = '  | ';
const MAX_LINE = 2_000;
/** The runner cuts an annotation at 4,096 characters. */
const MAX_MESSAGE = 4_000;
const MAX_TITLE = 200;
/** A path that is cut names another file. */
const MAX_PATH = 4_096;
/** Shorter lines of a secret would mask ordinary words all over the job. */
const MIN_MASKED = 4;

/** A log over a stream. */
export function createLog(options: LogOptions): Log {
  const { write, secrets } = options;

  // Masked twice: cleaning can join what a control character split, and take out what belonged to the value.
  const harmless = (text: string) => breakCommands(secrets.mask(cleanText(secrets.mask(text))));
  const line = (text: string, max: number) => singleLine(harmless(text), max);
  const annotated = { error: 0, warning: 0, notice: 0 };
  const annotate = (command: AnnotationLevel, message: string, properties: AnnotationProperties = {}) => {
    const given = Object.entries(properties).map(([key, value]) => {
      return `${key}=${escapeProperty(line(String(value), key === 'file' ? MAX_PATH : MAX_TITLE))}`;
    });
    annotated[command] += 1;
    const text = escapeData(truncate(harmless(message).trim(), MAX_MESSAGE));
    write(`::${command}${given.length === 0 ? '' : ` ${given.join(',')}`}::${text}\n`);
  };
  const region = (text: string) => {
    const body = harmless(text);
    const token = unusedToken(body, options.token);
    const lines = body.split('\n').map((each) => `${PREFIX}${each}`.trimEnd());
    try {
      write(`::stop-commands::${token}\n${lines.join('\n')}\n`);
    } finally {
      // Even after a failed write: a region left open would swallow our own annotations.
      write(`::${token}::\n`);
    }
  };

  return {
    excerpt: line,
    info: (text, indent = 0) => write(`${`${'  '.repeat(indent)}${line(text, MAX_LINE)}`.trimEnd()}\n`),
    error: (message, properties) => annotate('error', message, properties),
    warning: (message, properties) => annotate('warning', message, properties),
    notice: (message, properties) => annotate('notice', message, properties),
    annotated: (level) => annotated[level],
    mask(value) {
      const parts = new Set([value.trim(), ...value.split(/[\r\n]+/).map((each) => each.trim())]);
      for (const part of parts) if (part.length >= MIN_MASKED) write(`::add-mask::${escapeData(part)}\n`);
    },
    group(title, body) {
      write(`::group::${escapeData(line(title, MAX_TITLE))}\n`);
      try {
        region(body);
      } finally {
        write('::endgroup::\n');
      }
    },
    untrusted: region,
  };
}

/** A word that the text does not hold; the runner compares it without regard to case. */
function unusedToken(text: string, token: () => string): string {
  const lower = text.toLowerCase();
  let word = token();
  while (lower.includes(word.toLowerCase())) word += token();
  return word;
}

function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
