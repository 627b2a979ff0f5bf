/**
 * The only log sink of the Action: everything written to stdout goes through it. The runner reads workflow commands
 * from that stream, so untrusted text is sanitized, prefixed and stripped of command markers, and blocks of it are
 * written inside a `stop-commands` region. Each of the two measures is sufficient alone.
 */

import { DISPLAY } from '../text/limits.ts';
import { truncate } from '../text/messages.ts';
import { breakCommands, sanitize, singleLine } from '../text/sanitize.ts';
import { MIN_MASKED, type Secrets } from '../text/secrets.ts';

/**
 * The part of @actions/core that the log needs, passed in by the action so that the command line and the library never
 * load it. Its escaping is not relied on to make text harmless; it only keeps text within its command.
 */
export interface Commands {
  info(message: string): void;
  error(message: string, properties?: CommandProperties): void;
  warning(message: string, properties?: CommandProperties): void;
  notice(message: string, properties?: CommandProperties): void;
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

/** The location that an annotation points to; `line` is 1-based. */
export interface AnnotationProperties {
  readonly title?: string;
  /** A path relative to the repository root; the runner converts an absolute path below GITHUB_WORKSPACE. */
  readonly file?: string;
  readonly line?: number;
  readonly endLine?: number;
  /** Ignored by the runner if `endLine` differs from `line`. */
  readonly col?: number;
}

export type AnnotationLevel = 'error' | 'warning' | 'notice';

export interface LogOptions {
  readonly core: Commands;
  readonly secrets: Secrets;
  /** Returns a new random string, such as a UUID. */
  readonly token: () => string;
}

/** The log. Any text passed to it may be hostile. */
export interface Log {
  /** Returns a text as one line of at most `max` characters, with secrets masked before truncation. */
  excerpt(text: string, max: number): string;
  /** Writes one line, indented by two spaces per level of `indent`; an empty text writes an empty line. */
  info(text: string, indent?: number): void;
  error(message: string, properties?: AnnotationProperties): void;
  warning(message: string, properties?: AnnotationProperties): void;
  notice(message: string, properties?: AnnotationProperties): void;
  /** Returns how many annotations of a level this log has written: the runner shows the first ten of each. */
  annotated(level: AnnotationLevel): number;
  /** Writes a folded block of untrusted text under a title. */
  group(title: string, body: string): void;
  /** Writes a block of untrusted text with a prefix before each line. */
  untrusted(text: string): void;
}

/** Prefix of each line of untrusted text, so that nothing in it is at the start of a line. */
const PREFIX = '  | ';

export function createLog(options: LogOptions): Log {
  const { core, secrets } = options;

  const toText = (text: string, maxRead?: number) => breakCommands(sanitize(text, secrets, maxRead));
  const toLine = (text: string, max: number) => singleLine(toText(text), max);
  const annotated = { error: 0, warning: 0, notice: 0 };
  const annotate = (command: AnnotationLevel, message: string, properties: AnnotationProperties = {}) => {
    const { title, file, line, endLine, col } = properties;
    annotated[command] += 1;
    core[command](truncate(toText(message).trim(), DISPLAY.message), {
      title: title && toLine(title, DISPLAY.phrase),
      file: file && toLine(file, DISPLAY.wholePath),
      startLine: line,
      endLine,
      startColumn: col,
    });
  };
  const region = (text: string) => {
    const body = toText(text, DISPLAY.block);
    const token = unusedToken(body, options.token);
    const lines = body.split('\n').map((each) => `${PREFIX}${each}`.trimEnd());
    try {
      core.info(`::stop-commands::${token}\n${lines.join('\n')}`);
    } finally {
      // Also after a failed write: a region left open would suppress our own annotations.
      core.info(`::${token}::`);
    }
  };

  return {
    excerpt: toLine,
    info: (text, indent = 0) => core.info(`${'  '.repeat(indent)}${toLine(text, DISPLAY.line)}`.trimEnd()),
    error: (message, properties) => annotate('error', message, properties),
    warning: (message, properties) => annotate('warning', message, properties),
    notice: (message, properties) => annotate('notice', message, properties),
    annotated: (level) => annotated[level],
    group(title, body) {
      core.startGroup(toLine(title, DISPLAY.phrase));
      try {
        region(body);
      } finally {
        core.endGroup();
      }
    },
    untrusted: region,
  };
}

/**
 * Returns the commands that ask the runner to mask a value in every log of the job: the whole and, because the log is
 * searched by lines, each line of it. They are written before the log is open.
 */
export function maskCommands(value: string): string {
  const escaped = (text: string) =>
    text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
  const parts = new Set([value.trim(), ...value.split(/[\r\n]+/).map((each) => each.trim())]);
  const long = [...parts].filter((part) => part.length >= MIN_MASKED);
  return long.map((part) => `::add-mask::${escaped(part)}\n`).join('');
}

/** Returns a token that does not occur in the text; the runner compares tokens case-insensitively. */
function unusedToken(text: string, token: () => string): string {
  const lower = text.toLowerCase();
  let word = token();
  while (lower.includes(word.toLowerCase())) word += token();
  return word;
}
