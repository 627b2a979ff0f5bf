/** Reads a workflow file: its jobs, the steps that use this action, and the position of everything in the file. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import yaml, { type Node, type Scalar, type YAMLMap } from 'yaml';
import type { Output } from './outputs.ts';
import { type Fault, refused } from './rules.ts';

export interface Mistake extends Fault {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** A workflow, or a composite action, whose steps are represented as those of one job. */
export interface Workflow {
  readonly node: YAMLMap;
  readonly isComposite: boolean;
  readonly events: readonly string[];
  readonly jobs: readonly Job[];
  /** Reports a fault at the deepest key below a node that exists. */
  readonly report: (at: Node, keys: readonly string[], fault: Fault) => void;
  /** Reports a fault at the part of a text that the expression is. */
  readonly reportIn: (scalar: Scalar, part: string, fault: Fault) => void;
}

export interface Job {
  /** In lower case, as expressions look it up. */
  readonly id: string;
  readonly node: YAMLMap;
  readonly needs: readonly string[];
  /** The labels of GitHub's own runners. */
  readonly labels: readonly string[];
  readonly steps: readonly StepNode[];
}

export interface StepNode {
  readonly index: number;
  /** In lower case; null when it has none. */
  readonly id: string | null;
  readonly node: YAMLMap;
  /** Empty for a step that runs a script. */
  readonly uses: string;
  /** The part of this action that the step uses; null for any other step. */
  readonly part: 'run' | 'merge' | null;
  /** What its schema declares; null as long as that is not known. */
  outputs: readonly Output[] | null;
}

/** A step of the action, and where it is. */
export interface Place {
  readonly workflow: Workflow;
  readonly job: Job;
  readonly step: StepNode;
}

/** A condition that lets something run after a red step or job. */
export const RUNS_ANYHOW = /\balways\s*\(|!\s*cancelled\s*\(/iu;

/** The checkout that local paths refer to, and other names of the action. */
export interface Home {
  readonly root: string;
  readonly actions: readonly string[];
}

/** Reads a workflow; reports what keeps it from being read, and returns null then, as for any other file. */
export function readWorkflow(file: string, text: string, home: Home, findings: Mistake[]): Workflow | null {
  const lineCounter = new yaml.LineCounter();
  const document = yaml.parseDocument(text, { lineCounter, logLevel: 'silent', prettyErrors: false });
  const addAt = (offset: number, fault: Fault) => {
    const { line, col } = lineCounter.linePos(offset);
    findings.push({ file, line, column: col, ...fault });
  };
  const [broken] = document.errors;
  if (broken !== undefined) {
    const fix = yamlFix(text, broken.pos[0]);
    addAt(broken.pos[0], refused('yaml', `This is not YAML: ${broken.message}. ${fix}`));
    return null;
  }
  yaml.visit(document, {
    Alias(_, alias, ancestors) {
      const target = alias.resolve(document);
      return target === undefined || ancestors.includes(target) ? yaml.visit.REMOVE : target;
    },
  });
  const node = document.contents;
  if (!yaml.isMap(node)) return null;
  const isComposite = scalarAt(node, 'runs', 'using') === 'composite';
  const jobs = isComposite ? [['', valueAt(node, 'runs')] as const] : entriesOf(valueAt(node, 'jobs'));
  return {
    node,
    isComposite,
    events: namesIn(valueAt(node, 'on')),
    jobs: jobs.flatMap(([id, job]) => (yaml.isMap(job) ? [readJob(id.toLowerCase(), job, home)] : [])),
    report: (at, keys, fault) => addAt(offsetOf(at, keys), fault),
    reportIn: (scalar, part, fault) => {
      const [start = 0, end = 0] = scalar.range ?? [];
      const at = text.indexOf(part, start);
      addAt(at === -1 || at > end ? start : at, fault);
    },
  };
}

function readJob(id: string, node: YAMLMap, home: Home): Job {
  const list = valueAt(node, 'steps');
  const steps = (yaml.isSeq(list) ? list.items : []).flatMap((step, index): StepNode[] => {
    if (!yaml.isMap(step)) return [];
    const uses = scalarAt(step, 'uses') ?? '';
    const stepId = scalarAt(step, 'id')?.toLowerCase() ?? null;
    return [{ index, id: stepId, node: step, uses, part: partOf(uses, home), outputs: null }];
  });
  const runsOn = namesIn(valueAt(node, 'runs-on'));
  const labels = runsOn.filter((label) => /^(?:ubuntu|windows|macos)-[\w.-]+$/u.test(label));
  return { id, node, needs: namesIn(valueAt(node, 'needs')), labels, steps };
}

/** Since 2026-07-30 `$/path` means the workflow's own repository, as `./path` does after a checkout. */
function partOf(uses: string, { root, actions }: Home): StepNode['part'] {
  const isLocal = /^(?:\.{1,2}|\$)\//u.test(uses);
  const [name = '', ref] = isLocal ? [uses.replace('$/', './')] : uses.split('@');
  const isOurs = (each: string) =>
    actions.includes(each) ||
    (isLocal ? holdsAction(path.join(root, each)) : ref !== undefined && /\/structured-agent$/iu.test(each));
  if (isOurs(name)) return 'run';
  return path.posix.basename(name) === 'merge' && isOurs(path.posix.dirname(name)) ? 'merge' : null;
}

function holdsAction(folder: string): boolean {
  const file = path.join(folder, 'action.yml');
  return existsSync(file) && /^name: *["']?structured-agent["']?\s/mu.test(readFileSync(file, 'utf8'));
}

/** The mistake of the first hour is `schema: @path`; for the others the parser's own words are enough. */
function yamlFix(text: string, position: number): string {
  const line = text.slice(text.lastIndexOf('\n', position - 1) + 1).split(/\r?\n/u, 1)[0] ?? '';
  const [, key, value] = /^\s*(?:- )?([\w.-]+):\s+([@`].*)$/u.exec(line) ?? [];
  if (key !== undefined) return `Put the value into quotes: ${key}: ${JSON.stringify(value)}`;
  return 'Compare the indentation of this line with those around it, or put its value into quotes.';
}

/** Returns the entries of a mapping, or of a list by index; none for any other node. */
export function entriesOf(node: unknown): readonly (readonly [string, Node | null])[] {
  const items = yaml.isSeq(node) ? node.items.map((value, at) => ({ key: `${at}`, value })) : [];
  return (yaml.isMap(node) ? node.items : items).map(({ key, value }) => [
    scalarOf(key) ?? String(key),
    yaml.isNode(value) ? value : null,
  ]);
}

export function valueAt(node: unknown, ...keys: readonly string[]): Node | null {
  const found = yaml.isMap(node) ? node.getIn(keys, true) : null;
  return yaml.isNode(found) ? found : null;
}

/** Returns a scalar as the runner passes it on; null for anything else. */
export function scalarAt(node: unknown, ...keys: readonly string[]): string | null {
  return scalarOf(valueAt(node, ...keys));
}

export function scalarOf(node: unknown): string | null {
  return yaml.isScalar(node) ? String(node.value ?? '') : null;
}

/** Returns the position of the deepest of the keys that exists. */
function offsetOf(node: Node, keys: readonly string[]): number {
  let at: unknown = node;
  let offset = node.range?.[0] ?? 0;
  for (const key of keys) {
    const pair = yaml.isMap(at) ? at.items.find((each) => scalarOf(each.key) === key) : undefined;
    if (!yaml.isNode(pair?.key)) break;
    offset = pair.key.range?.[0] ?? offset;
    at = pair.value;
  }
  return offset;
}

/** Returns one name, a list of names, or the keys of a mapping; in lower case. */
function namesIn(node: Node | null): readonly string[] {
  const nodes = yaml.isMap(node) ? node.items.map(({ key }) => key) : yaml.isSeq(node) ? node.items : [node];
  return nodes.flatMap((each) => scalarOf(each)?.toLowerCase() ?? []);
}

/** Yields each scalar below a node, with the keys and indexes that lead to it. */
export function* scalarsIn(node: Node | null, keys: string[] = []): Generator<[Scalar, string[]]> {
  if (yaml.isScalar(node)) yield [node, keys];
  for (const [key, value] of entriesOf(node)) if (yaml.isNode(value)) yield* scalarsIn(value, [...keys, key]);
}

/** Whether any text below a node contains a part, ignoring case. */
export function mentions(node: Node, part: string): boolean {
  const wanted = part.toLowerCase();
  return [...scalarsIn(node)].some(([scalar]) => String(scalar.value).toLowerCase().includes(wanted));
}
