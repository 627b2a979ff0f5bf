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

type WriteAnnotation = (message: string, properties?: AnnotationProperties) => void;
type Annotate = Readonly<Record<'error' | 'warning' | 'notice', WriteAnnotation>>;

/** What an annotation is about; lines are 1-based. */
interface AnnotationProperties {
  readonly title?: string;
  /** A path relative to the repository root; the runner converts an absolute path below GITHUB_WORKSPACE. */
  readonly file?: string;
  readonly startLine?: number;
  readonly endLine?: number;
}

/** The log. Any text passed to it may be hostile. */
export interface Log extends Annotate {
  /** Returns a text as one line of at most `max` characters, with secrets masked before truncation. */
  excerpt(text: string, max: number): string;
  /** Writes one line, indented by two spaces per level of `indent`; an empty text writes an empty line. */
  info(text: string, indent?: number): void;
  /** Writes a folded block of untrusted text under a title. */
  group(title: string, body: string): void;
}

/** Prefix of each line of untrusted text, so that nothing in it is at the start of a line. */
const PREFIX = '  | ';

/**
 * @param token returns a new random string, such as a UUID; null for a terminal, which has no commands to stop.
 */
export function createLog(core: Commands, secrets: Secrets, token: (() => string) | null): Log {
  const toText = (text: string, maxRead?: number) => breakCommands(sanitize(text, secrets, maxRead));
  const toLine = (text: string, max: number) => singleLine(toText(text), max);
  const annotate =
    (command: keyof Annotate): WriteAnnotation =>
    (message, { title, file, ...lines } = {}) => {
      core[command](truncate(toText(message).trim(), DISPLAY.message), {
        ...(title === undefined ? {} : { title: toLine(title, DISPLAY.phrase) }),
        ...(file === undefined ? {} : { file: toLine(file, DISPLAY.wholePath) }),
        ...lines,
      });
    };
  return {
    excerpt: toLine,
    info: (text, indent = 0) => core.info(`${'  '.repeat(indent)}${toLine(text, DISPLAY.line)}`.trimEnd()),
    error: annotate('error'),
    warning: annotate('warning'),
    notice: annotate('notice'),
    group(title, body) {
      const lines = toText(body, DISPLAY.block).split('\n');
      const block = lines.map((line) => `${PREFIX}${line}`.trimEnd()).join('\n');
      const stop = token?.();
      core.startGroup(toLine(title, DISPLAY.phrase));
      // Written at once: a region left open would suppress our own annotations.
      core.info(stop === undefined ? block : `::stop-commands::${stop}\n${block}\n::${stop}::`);
      core.endGroup();
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
