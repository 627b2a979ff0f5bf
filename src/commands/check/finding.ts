/** What a check found: where, how grave, what, and what to do about it. */

/** One thing that was found; lines and columns begin with 1. */
export interface Finding {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** An error is what a run would refuse, or what lets something pass that nobody judged; all else is a warning. */
  readonly severity: 'error' | 'warning';
  /** The kind of finding, in kebab-case; stable. */
  readonly rule: string;
  /** One sentence that says what is wrong. */
  readonly message: string;
  /** What to do about it. */
  readonly fix: string;
}

/** A place in a file. */
export type Place = Pick<Finding, 'file' | 'line' | 'column'>;

/** What is found at one place, which is added where it is known. */
export type Fault = Omit<Finding, keyof Place>;

/** Takes findings in; the same one twice counts once. */
export interface Findings {
  add(place: Place, fault: Fault): void;
  /** In the order of files as they were given, then of lines. */
  list(): readonly Finding[];
}

/** An empty list of findings. */
export function createFindings(): Findings {
  const found = new Map<string, Finding>();
  const files: string[] = [];
  return {
    add({ file, line, column }, fault) {
      if (!files.includes(file)) files.push(file);
      const finding = { file, line, column, ...fault };
      found.set(JSON.stringify(finding), finding);
    },
    list: () =>
      [...found.values()].sort(
        (one, other) =>
          files.indexOf(one.file) - files.indexOf(other.file) ||
          one.line - other.line ||
          one.column - other.column,
      ),
  };
}

/** An error. */
export function wrong(rule: string, message: string, fix: string): Fault {
  return { severity: 'error', rule, message, fix };
}

/** A warning. */
export function doubtful(rule: string, message: string, fix: string): Fault {
  return { severity: 'warning', rule, message, fix };
}

/**
 * The sentences of an error that was thrown on purpose: by the rule for those (see errors.ts) the first says what is
 * wrong, and what follows says how to mend it.
 */
export function refused(rule: string, text: string): Fault {
  const parts = /^(.+?[.?!]) (?=\p{Lu})(.+)$/su.exec(text);
  const [, first = text, rest = 'Correct it, or take it out.'] = parts ?? [];
  return wrong(rule, first, rest);
}
