/** A YAML file as a tree of our own, each node with the offset where it begins. */
import type { Document, ErrorCode, ParsedNode, Node as YamlNode } from 'yaml';
import { yamlFix } from './yaml-fix.ts';

/** Where something is in a file; lines and columns begin with 1. */
export interface SourceLocation {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** A node; offsets count characters of the file's text. */
export type Node = Scalar | List | Mapping;

/** A single value. */
export interface Scalar {
  readonly kind: 'scalar';
  readonly value: string | number | boolean | null;
  /** As the runner hands it on: empty for null. */
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** Values in order. */
export interface List {
  readonly kind: 'list';
  readonly items: readonly Node[];
  readonly start: number;
}

/** Keys with their values. */
export interface Mapping {
  readonly kind: 'map';
  readonly entries: readonly Entry[];
  readonly start: number;
}

/** A key with its value. */
export interface Entry {
  readonly key: string;
  readonly start: number;
  readonly value: Node;
}

/** A file that was read. */
export interface YamlFile {
  readonly name: string;
  /** null where the file is empty. */
  readonly root: Node | null;
  readonly locate: (offset: number) => SourceLocation;
  /** Where a part of a scalar is: `part` begins at `offset` of its text. */
  readonly locatePart: (scalar: Scalar, offset: number, part: string) => SourceLocation;
}

/** The file, or the first thing that is wrong with it. */
export type YamlReading =
  | { readonly ok: true; readonly file: YamlFile }
  | { readonly ok: false; readonly location: SourceLocation; readonly problem: string; readonly fix: string };

/** More nodes than any workflow has; aliases of aliases would otherwise multiply without end. */
const MAX_NODES = 100_000;
const MAX_DEPTH = 100;
/** A workflow of the size that GitHub runs has fewer, whatever is in it: reading so many takes under a second. */
const MAX_LEXEMES = 250_000;
/**
 * The characters that are searched for parts of scalars, in one file: each part is searched for in all that is before it.
 * After that, a part is where its scalar is.
 */
const MAX_SEARCHED = 50_000_000;

/** Reads a text as YAML 1.2, as GitHub does; the library is loaded when it is first needed. */
export async function readYaml(name: string, text: string): Promise<YamlReading> {
  // A bundle gives a CommonJS module no named exports.
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
      // Both would take the square of the length: keys are compared and aliases looked up below.
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
      // Read again as a part of what another alias names, it still means the anchor that was before it.
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

/** Calls what makes an error object of each mistake in a text: most of their cost is the stack that each records. */
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

/** What is written differs from what is meant by indents, quotes and folds: the part is looked up by its own text. */
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

/** The value under a key, whatever its case; null where there is none. */
export function valueAt(node: Node | null, key: string): Node | null {
  return entryAt(node, key)?.value ?? null;
}

/** The entry under a key; null where there is none. */
export function entryAt(node: Node | null, key: string): Entry | null {
  if (node?.kind !== 'map') return null;
  return node.entries.find((entry) => entry.key.toLowerCase() === key) ?? null;
}

/** The text of a scalar under a key; null where there is none. */
export function textAt(node: Node | null, key: string): string | null {
  const value = valueAt(node, key);
  return value?.kind === 'scalar' ? value.text : null;
}

/** Each scalar below a node, with the keys on the way to it. */
export function* scalarsOf(
  node: Node,
  keys: readonly string[] = [],
): Generator<{ readonly scalar: Scalar; readonly keys: readonly string[] }> {
  if (node.kind === 'scalar') yield { scalar: node, keys };
  else if (node.kind === 'list') for (const item of node.items) yield* scalarsOf(item, keys);
  else for (const { key, value } of node.entries) yield* scalarsOf(value, [...keys, key]);
}
