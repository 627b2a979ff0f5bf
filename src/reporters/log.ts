/**
 * The one log sink of the Action: everything that reaches stdout goes through here. The runner takes commands from that
 * stream, so untrusted text is cleaned, prefixed and its command markers are broken, and blocks of it stand inside a
 * region where commands are off. Each of the two holds alone.
 */

import { truncate } from '../text/messages.ts';
import { breakCommands, sanitize, singleLine } from '../text/sanitize.ts';
import type { Secrets } from '../text/secrets.ts';

/**
 * What the log needs of @actions/core, which is handed in by the action: the command line and the library never load it.
 * Nothing here trusts its escapes to make a text harmless; they only keep a text within its command.
 */
export interface Commands {
  info(message: string): void;
  error(message: string, properties?: CommandProperties): void;
  warning(message: string, properties?: CommandProperties): void;
  notice(message: string, properties?: CommandProperties): void;
  setSecret(value: string): void;
  startGroup(title: string): void;
  endGroup(): void;
}

interface CommandProperties {
  title?: string | undefined;
  file?: string | undefined;
  startLine?: number | undefined;
  endLine?: number | undefined;
  startColumn?: number | undefined;
}

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

/** What a log is made from. */
export interface LogOptions {
  readonly core: Commands;
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
/** Characters of a block of untrusted text; tools give the model less. */
const MAX_BLOCK = 1024 * 1024;
/** Shorter lines of a secret would mask ordinary words all over the job. */
const MIN_MASKED = 4;

/** A log over a stream. */
export function createLog(options: LogOptions): Log {
  const { core, secrets } = options;

  const toText = (text: string, maxRead?: number) => breakCommands(sanitize(text, secrets, maxRead));
  const toLine = (text: string, max: number) => singleLine(toText(text), max);
  const annotated = { error: 0, warning: 0, notice: 0 };
  const annotate = (command: AnnotationLevel, message: string, properties: AnnotationProperties = {}) => {
    const { title, file, line, endLine, col } = properties;
    annotated[command] += 1;
    core[command](truncate(toText(message).trim(), MAX_MESSAGE), {
      title: title && toLine(title, MAX_TITLE),
      file: file && toLine(file, MAX_PATH),
      startLine: line,
      endLine,
      startColumn: col,
    });
  };
  const region = (text: string) => {
    const body = toText(text, MAX_BLOCK);
    const token = unusedToken(body, options.token);
    const lines = body.split('\n').map((each) => `${PREFIX}${each}`.trimEnd());
    try {
      core.info(`::stop-commands::${token}\n${lines.join('\n')}`);
    } finally {
      // Even after a failed write: a region left open would swallow our own annotations.
      core.info(`::${token}::`);
    }
  };

  return {
    excerpt: toLine,
    info: (text, indent = 0) => core.info(`${'  '.repeat(indent)}${toLine(text, MAX_LINE)}`.trimEnd()),
    error: (message, properties) => annotate('error', message, properties),
    warning: (message, properties) => annotate('warning', message, properties),
    notice: (message, properties) => annotate('notice', message, properties),
    annotated: (level) => annotated[level],
    mask(value) {
      const parts = new Set([value.trim(), ...value.split(/[\r\n]+/).map((each) => each.trim())]);
      for (const part of parts) if (part.length >= MIN_MASKED) core.setSecret(part);
    },
    group(title, body) {
      core.startGroup(toLine(title, MAX_TITLE));
      try {
        region(body);
      } finally {
        core.endGroup();
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
