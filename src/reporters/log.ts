/**
 * The only log sink: everything that the action writes to stdout, and the command line to stderr, goes through it. The
 * runner reads workflow commands from these streams, so untrusted text is sanitized, prefixed and stripped of command
 * markers, and blocks of it are written inside a `stop-commands` region. Each of the two measures is sufficient alone.
 */
import { DISPLAY } from '../text/limits.ts';
import { truncate } from '../text/messages.ts';
import { breakCommands, sanitize, singleLine } from '../text/sanitize.ts';
import { MIN_MASKED, type Secrets } from '../text/secrets.ts';

/**
 * The part of @actions/core that the log needs, passed in by the action so that the command line and the library never
 * load it. Its escaping is not relied on to make text harmless; it only keeps text within its command.
 */
export interface Commands extends Annotate {
  info(message: string): void;
  startGroup(title: string): void;
  endGroup(): void;
}

export type AnnotationLevel = 'error' | 'warning' | 'notice';
type Annotate = Readonly<
  Record<AnnotationLevel, (message: string, properties?: AnnotationProperties) => void>
>;

/** What an annotation is about; lines are 1-based. */
export interface AnnotationProperties {
  readonly title?: string;
  /** A path relative to the repository root; the runner converts an absolute path below GITHUB_WORKSPACE. */
  readonly file?: string;
  readonly startLine?: number;
  readonly endLine?: number;
}

export interface LogOptions {
  readonly core: Commands;
  readonly secrets: Secrets;
  /** Returns a new random string, such as a UUID; null for a terminal, which has no commands to stop. */
  readonly token: (() => string) | null;
}

/** The log. Any text passed to it may be hostile. */
export interface Log extends Annotate {
  /** Returns a text as one line of at most `max` characters, with secrets masked before truncation. */
  excerpt(text: string, max: number): string;
  /** Writes one line, indented by two spaces per level of `indent`; an empty text writes an empty line. */
  info(text: string, indent?: number): void;
  /** Returns how many annotations of a level this log has written: the runner shows the first ten of each. */
  annotated(level: AnnotationLevel): number;
  /** Writes a folded block of untrusted text under a title. */
  group(title: string, body: string): void;
}

/** Prefix of each line of untrusted text, so that nothing in it is at the start of a line. */
const PREFIX = '  | ';

export function createLog({ core, secrets, token }: LogOptions): Log {
  const toText = (text: string, maxRead?: number) => breakCommands(sanitize(text, secrets, maxRead));
  const toLine = (text: string, max: number) => singleLine(toText(text), max);
  const annotated = { error: 0, warning: 0, notice: 0 };
  const annotate =
    (command: AnnotationLevel) =>
    (message: string, { title, file, ...lines }: AnnotationProperties = {}) => {
      annotated[command] += 1;
      core[command](truncate(toText(message).trim(), DISPLAY.message), {
        ...(title === undefined ? {} : { title: toLine(title, DISPLAY.phrase) }),
        ...(file === undefined ? {} : { file: toLine(file, DISPLAY.wholePath) }),
        ...lines,
      });
    };
  const writeBlock = (text: string) => {
    const body = toText(text, DISPLAY.block);
    const block = body
      .split('\n')
      .map((each) => `${PREFIX}${each}`.trimEnd())
      .join('\n');
    if (token === null) {
      core.info(block);
      return;
    }
    const stop = unusedToken(body, token);
    try {
      core.info(`::stop-commands::${stop}\n${block}`);
    } finally {
      // Also after a failed write: a region left open would suppress our own annotations.
      core.info(`::${stop}::`);
    }
  };

  return {
    excerpt: toLine,
    info: (text, indent = 0) => core.info(`${'  '.repeat(indent)}${toLine(text, DISPLAY.line)}`.trimEnd()),
    error: annotate('error'),
    warning: annotate('warning'),
    notice: annotate('notice'),
    annotated: (level) => annotated[level],
    group(title, body) {
      core.startGroup(toLine(title, DISPLAY.phrase));
      try {
        writeBlock(body);
      } finally {
        core.endGroup();
      }
    },
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
