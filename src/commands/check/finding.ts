/** What a check found: where, how grave, what, and what to do about it. */
import { suggest } from '../../text/messages.ts';
import { entryAt, type Mapping, type Node, type SourceLocation, type YamlFile } from './yaml-file.ts';

/** One thing that was found. */
export interface Finding extends SourceLocation {
  /** An error is what a run would refuse, or what lets something pass without a verdict; all else is a warning. */
  readonly severity: 'error' | 'warning';
  /** The kind of finding, in kebab-case; stable. */
  readonly rule: string;
  /** One sentence that says what is wrong. */
  readonly message: string;
  /** What to do about it. */
  readonly fix: string;
}

/** What is found somewhere, before it is known where. */
export type Fault = Omit<Finding, keyof SourceLocation>;

/** A mapping of a file: a job, a step, a workflow. */
export interface Owner {
  readonly file: YamlFile;
  readonly node: Mapping;
  /** Where its own key, or its dash, is. */
  readonly start: number;
}

/** Takes findings in; the same one twice counts once. */
export interface Findings {
  add(location: SourceLocation, fault: Fault): void;
  /** Adds what is wrong with the entry that the keys lead to, else with what is above it; nothing for no fault. */
  report(owner: Owner, keys: readonly string[], fault: Fault | null | false): void;
  /** In the order of files as they were given, then of lines. */
  list(): readonly Finding[];
}

/** An empty list of findings. */
export function createFindings(): Findings {
  const found = new Map<string, Finding>();
  const files: string[] = [];
  const add: Findings['add'] = ({ file, line, column }, fault) => {
    if (!files.includes(file)) files.push(file);
    const finding = { file, line, column, ...fault };
    found.set(JSON.stringify(finding), finding);
  };
  return {
    add,
    report(owner, keys, fault) {
      if (fault !== null && fault !== false) add(locate(owner, ...keys), fault);
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

/** Where an entry of a mapping is; else where the mapping's owner is. */
export function locate({ file, node, start }: Owner, ...keys: readonly string[]): SourceLocation {
  let at: Node | null = node;
  let found = start;
  for (const key of keys) {
    const entry = entryAt(at, key);
    if (entry === null) break;
    found = entry.start;
    at = entry.value;
  }
  return file.locate(found);
}

export function error(rule: string, message: string, fix: string): Fault {
  return { severity: 'error', rule, message, fix };
}

export function warning(rule: string, message: string, fix: string): Fault {
  return { severity: 'warning', rule, message, fix };
}

/**
 * The sentences of an error that was thrown on purpose: by the rule for those (see errors.ts) the first says what is
 * wrong, and what follows says what to do about it.
 */
export function refused(rule: string, text: string): Fault {
  const parts = /^(.+?[.?!]) (?=\p{Lu})(.+)$/su.exec(text);
  const [, first = text, rest = 'Correct it, or take it out.'] = parts ?? [];
  return error(rule, first, rest);
}

/** The advice for a name that there is not: the nearest of those that there are, else something else. */
export function didYouMean(name: string, candidates: readonly string[], otherwise: string): string {
  const near = suggest(name, candidates);
  return near.length === 0 ? otherwise : `Did you mean ${near.join(' or ')}?`;
}
