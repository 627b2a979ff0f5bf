/** The findings of a check: location, severity, message and fix. */
import { suggest } from '../../text/messages.ts';
import { entryAt, type Mapping, type Node, type SourceLocation, type YamlFile } from './yaml-file.ts';

export interface Finding extends SourceLocation {
  /** `error` for what a run would refuse, or what continues without a verdict; `warning` for everything else. */
  readonly severity: 'error' | 'warning';
  /** The kind of finding, in kebab-case; stable. */
  readonly rule: string;
  readonly message: string;
  readonly fix: string;
}

export type Fault = Omit<Finding, keyof SourceLocation>;

/** A mapping in a file: a job, a step, a workflow. */
export interface Owner {
  readonly file: YamlFile;
  readonly node: Mapping;
  /** The offset of its own key, or of its dash. */
  readonly start: number;
}

/** Collects findings; duplicates count once. */
export interface Findings {
  add(location: SourceLocation, fault: Fault): void;
  /** Adds a fault at the entry under the keys, or at its nearest existing parent. Does nothing without a fault. */
  report(owner: Owner, keys: readonly string[], fault: Fault | null | false): void;
  /** In the order of the files as given, then of lines. */
  list(): readonly Finding[];
}

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

/** Returns the location of an entry of a mapping, or else of the mapping's owner. */
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
 * Splits the message of an error thrown on purpose: by the convention for those (see errors.ts) the first sentence
 * names the problem, and the rest the fix.
 */
export function refused(rule: string, text: string): Fault {
  const parts = /^(.+?[.?!]) (?=\p{Lu})(.+)$/su.exec(text);
  const [, first = text, rest = 'Correct it, or take it out.'] = parts ?? [];
  return error(rule, first, rest);
}

/** Returns the advice for an unknown name: the closest known name, or else `otherwise`. */
export function didYouMean(name: string, candidates: readonly string[], otherwise: string): string {
  const near = suggest(name, candidates);
  return near.length === 0 ? otherwise : `Did you mean ${near.join(' or ')}?`;
}
