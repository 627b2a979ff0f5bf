/** Parses a YAML file into a tree of our own, in which each node has its start offset. */
import type { Document, ErrorCode, ParsedNode, Node as YamlNode } from 'yaml';
import { yamlFix } from './yaml-fix.ts';

/** A position in a file; lines and columns start at 1. */
export interface SourceLocation {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** A node; offsets count characters of the file's text. */
export type Node = Scalar | List | Mapping;

export interface Scalar {
  readonly kind: 'scalar';
  readonly value: string | number | boolean | null;
  /** As the runner passes it on: empty for null. */
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

export interface List {
  readonly kind: 'list';
  readonly items: readonly Node[];
  readonly start: number;
}

export interface Mapping {
  readonly kind: 'map';
  readonly entries: readonly Entry[];
  readonly start: number;
}

export interface Entry {
  readonly key: string;
  readonly start: number;
  readonly value: Node;
}

export interface YamlFile {
  readonly name: string;
  /** null when the file is empty. */
  readonly root: Node | null;
  readonly locate: (offset: number) => SourceLocation;
  /** Returns the location of a part of a scalar: `part` starts at `offset` of the scalar's text. */
  readonly locatePart: (scalar: Scalar, offset: number, part: string) => SourceLocation;
}

/** The file, or its first error. */
export type YamlReading =
  | { readonly ok: true; readonly file: YamlFile }
  | { readonly ok: false; readonly location: SourceLocation; readonly problem: string; readonly fix: string };

/** More nodes than any workflow has. Without a limit, aliases of aliases would multiply endlessly. */
const MAX_NODES = 100_000;
const MAX_DEPTH = 100;
/** Almost twice as many as a dense workflow of the size that GitHub accepts has; reading these takes under a second. */
const MAX_LEXEMES = 200_000;
/**
 * The maximum number of characters searched for parts of scalars in one file, because each part is searched for in all
 * of the text before it. Beyond that, a part is located at its scalar.
 */
const MAX_SEARCHED = 50_000_000;

/** Parses a text as YAML 1.2, as GitHub does. The library is imported on first use. */
export async function readYaml(name: string, text: string): Promise<YamlReading> {
  // A bundled CommonJS module has no named exports.
  const { default: yaml } = await import('yaml');
  const { Lexer, parseDocument, LineCounter, isAlias, isMap, isNode, isScalar, isSeq } = yaml;
  const lines = new LineCounter();
  const locate = (offset: number): SourceLocation => {
    const { line, col } = lines.linePos(offset);
    return { file: name, line: Math.max(1, line), column: Math.max(1, col) };
  };
  const problem = 'The file has more parts, or deeper ones, than a workflow can have';
  const excessive: YamlReading = { ok: false, location: locate(0), problem, fix: 'Name a workflow file.' };
  let lexemes = 0;
  for (const _ of new Lexer().lex(text)) {
    lexemes += 1;
    if (lexemes > MAX_LEXEMES) return excessive;
  }
  const document: Document.Parsed = withoutStacks(() =>
    parseDocument(text, {
      lineCounter: lines,
      logLevel: 'silent',
      // Both would take quadratic time: keys are compared and aliases looked up below.
      uniqueKeys: false,
      prettyErrors: false,
    }),
  );
  const refuse = (code: ErrorCode, at: number, problem: string): YamlReading => {
    const [first = 'is wrong'] = problem.split(/ at line \d+|\n/u);
    return { ok: false, location: locate(at), problem: first, fix: yamlFix(text, code, at, first) };
  };
  const [fault] = document.errors;
  if (fault !== undefined) return refuse(fault.code, fault.pos[0], fault.message);
  const anchored = new Map<string, YamlNode>();
  const known = new Set<YamlNode>();
  const targets = new Map<YamlNode, YamlNode | undefined>();
  let repeated: number | null = null;
  const remember = (node: YamlNode | ParsedNode | null | undefined): void => {
    if (!isNode(node) || isAlias(node) || node.anchor === undefined || known.has(node)) return;
    known.add(node);
    anchored.set(node.anchor, node);
  };
  let count = 0;
  let tooLarge = false;
  const convert = (node: YamlNode | ParsedNode | null | undefined, depth: number, near: number): Node => {
    count += 1;
    const start = node?.range?.[0] ?? near;
    if (count > MAX_NODES || depth > MAX_DEPTH) {
      tooLarge = true;
      return { kind: 'scalar', value: null, text: '', start, end: start };
    }
    if (isAlias(node)) {
      // An alias that is read again inside the target of another one still refers to the anchor before it.
      if (!targets.has(node)) targets.set(node, anchored.get(node.source));
      return convert(targets.get(node), depth + 1, start);
    }
    remember(node);
    if (isSeq<YamlNode>(node)) {
      return { kind: 'list', items: node.items.map((item) => convert(item, depth + 1, start)), start };
    }
    if (isMap<YamlNode, YamlNode | null>(node)) {
      const keys = new Set<unknown>();
      const entries = node.items.map(({ key, value }): Entry => {
        const at = key.range?.[0] ?? start;
        remember(key);
        if (isScalar(key) && keys.has(key.value)) repeated ??= at;
        if (isScalar(key)) keys.add(key.value);
        return {
          key: isScalar(key) ? String(key.value) : '',
          start: at,
          value: convert(value, depth + 1, at),
        };
      });
      return { kind: 'map', entries, start };
    }
    const value = isScalar(node) ? plain(node.value) : null;
    return { kind: 'scalar', value, text: String(value ?? ''), start, end: node?.range?.[1] ?? start };
  };
  const root = document.contents === null ? null : convert(document.contents, 0, 0);
  if (repeated !== null) return refuse('DUPLICATE_KEY', repeated, 'Map keys must be unique');
  if (tooLarge) return excessive;
  let searched = 0;
  const locatePart: YamlFile['locatePart'] = (scalar, offset, part) => {
    searched += scalar.end - scalar.start + offset;
    if (searched > MAX_SEARCHED) return locate(scalar.start);
    return locate(find(text.slice(scalar.start, scalar.end), scalar, offset, part));
  };
  return { ok: true, file: { name, root, locate, locatePart } };
}

/**
 * Runs code without recording stack traces. The parser creates an error object for each mistake in a text, most of
 * whose cost is the stack.
 */
function withoutStacks<T>(work: () => T): T {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return work();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

function plain(value: unknown): Scalar['value'] {
  return typeof value === 'number' || typeof value === 'boolean' || value === null ? value : String(value);
}

/** The source differs from the value by indentation, quotes and folding, so the part is searched for by its text. */
function find(source: string, { start, text }: Scalar, offset: number, part: string): number {
  if (part === '') return start;
  let at = source.indexOf(part);
  let earlier = text.indexOf(part);
  while (at !== -1 && earlier !== -1 && earlier + part.length <= offset) {
    at = source.indexOf(part, at + part.length);
    earlier = text.indexOf(part, earlier + part.length);
  }
  return at === -1 ? start : start + at;
}

/** Returns the value under a key, ignoring case; null when there is none. */
export function valueAt(node: Node | null, key: string): Node | null {
  return entryAt(node, key)?.value ?? null;
}

/** Returns the entry under a key; null when there is none. */
export function entryAt(node: Node | null, key: string): Entry | null {
  if (node?.kind !== 'map') return null;
  return node.entries.find((entry) => entry.key.toLowerCase() === key) ?? null;
}

/** Returns the text of a scalar under a key; null when there is none. */
export function textAt(node: Node | null, key: string): string | null {
  const value = valueAt(node, key);
  return value?.kind === 'scalar' ? value.text : null;
}

/** Yields each scalar below a node, with the keys that lead to it. */
export function* scalarsOf(
  node: Node,
  keys: readonly string[] = [],
): Generator<{ readonly scalar: Scalar; readonly keys: readonly string[] }> {
  if (node.kind === 'scalar') yield { scalar: node, keys };
  else if (node.kind === 'list') for (const item of node.items) yield* scalarsOf(item, keys);
  else for (const { key, value } of node.entries) yield* scalarsOf(value, [...keys, key]);
}
