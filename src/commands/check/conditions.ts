/** Conditions on outputs that hold although nothing was judged: an output without a verdict is an empty text. */
import { type Expression, evaluate, isTruthy, nodesOf, partsOf } from './expression.ts';
import { doubtful, type Fault, wrong } from './finding.ts';
import type { Output } from './outputs.ts';

/** An output of the action that an expression reads. */
export interface Read {
  readonly node: Expression;
  readonly output: Output;
}

/** The smallest part of a condition that is true or false by itself, under the negations above it. */
export interface Atom {
  readonly node: Expression;
  readonly negated: boolean;
  readonly reads: readonly Read[];
}

/** The parts of an expression that decide by an output of the action. */
export function atomsOf(root: Expression, isCondition: boolean, reads: readonly Read[]): readonly Atom[] {
  const found: Atom[] = [];
  const visit = (node: Expression, negated: boolean, isAsked: boolean): void => {
    if (node.kind === 'not') {
      visit(node.operands[0], !negated, true);
    } else if (node.kind === 'logical') {
      for (const part of node.operands) {
        // As a value, what comes before an && is only asked whether it is true.
        visit(part, negated, isAsked || (node.operator === '&&' && part !== node.operands.at(-1)));
      }
    } else if (node.kind === 'comparison' || (node.kind === 'call' && TESTS.has(node.name))) {
      add(node, negated);
    } else if (node.kind === 'call') {
      for (const part of node.operands) visit(part, false, false);
    } else if (isAsked) add(node, negated);
  };
  const add = (node: Expression, negated: boolean) => {
    const inside = reads.filter((read) => holdsNode(node, read.node));
    if (inside.length > 0) found.push({ node, negated, reads: inside });
  };
  visit(root, false, isCondition);
  return found;
}

const TESTS = new Set(['contains', 'startswith', 'endswith']);

/** Whether an atom holds where the outputs that it reads have this value; undefined where that cannot be told. */
export function holds({ node, negated, reads }: Atom, value: string): boolean | undefined {
  const result = evaluate(node, (each) => (reads.some((read) => read.node === each) ? value : undefined));
  return result === undefined ? undefined : isTruthy(result) !== negated;
}

/**
 * What is wrong with one atom; null where it is false without a verdict, and can be true with one.
 * @param text the atom as it is written.
 * @param failsJob whether what the condition starts makes the job red, which is what a missing verdict should do.
 */
export function atomFault(atom: Atom, text: string, failsJob: boolean): Fault | null {
  const [read] = atom.reads;
  if (read === undefined) return null;
  const { output } = read;
  if (atom.node === read.node) return bareFault(output, text);
  if (isAbsenceTest(atom.node)) return null;
  const empty = holds(atom, '');
  const known = listed(output).map((value) => holds(atom, value));
  const isNever = known.length > 0 && known.every((each) => each === false);
  if (isNever && empty !== undefined) return neverTrue(output, text, empty);
  if (empty !== true) return null;
  if (known.length > 0 && known.every((each) => each === true)) return alwaysTrue(output, text);
  const good = output.good === null ? undefined : holds(atom, output.good);
  if (good !== true && failsJob) return null;
  return good === false ? alsoEmpty(output, text) : failsOpen(output, text);
}

/** Values that are all there are. */
function listed({ kind, values }: Output): readonly string[] {
  return kind === 'boolean' || kind === 'word' ? values : [];
}

function bareFault({ kind, name, values }: Output, text: string): Fault | null {
  if (kind === 'text' || kind === 'json' || (kind === 'word' && values.length === 0)) return null;
  const example = kind === 'boolean' ? 'false' : kind === 'number' ? '0' : (values.at(-1) ?? '');
  return wrong(
    'text-as-condition',
    `${text} asks whether ${name} is empty: '${example}' is a text, and counts as true.`,
    `Compare it: ${name} == '${goodOf(kind, values)}'.`,
  );
}

function goodOf(kind: Output['kind'], values: readonly string[]): string {
  return kind === 'number' ? '0' : (values[0] ?? '');
}

/** `x == ''` and `x != ''` say that they are about the absence. */
function isAbsenceTest(node: Expression): boolean {
  if (node.kind !== 'comparison') return false;
  return node.operands.some((each) => each.kind === 'literal' && each.value === '');
}

function neverTrue({ name, values }: Output, text: string, empty: boolean): Fault {
  const words = values.map((value) => `'${value}'`).join(', ');
  const when = empty ? 'true only where there is no verdict' : 'never true';
  return wrong(
    'never-true',
    `${text} is ${when}: ${name} is one of the texts ${words}.`,
    'Compare it with one of those texts.',
  );
}

function alwaysTrue({ name }: Output, text: string): Fault {
  return wrong(
    'always-true',
    `${text} is true whatever ${name} is, without a verdict too.`,
    'Compare with == and one value.',
  );
}

function alsoEmpty({ name, good, values }: Output, text: string): Fault {
  const bad = values.find((value) => value !== good);
  return doubtful(
    'true-without-verdict',
    `${text} is true as well where there is no verdict: ${name} is empty then.`,
    bad === undefined ? 'Compare with ==.' : `Write ${name} == '${bad}' where a verdict is meant.`,
  );
}

function failsOpen({ name, good, kind }: Output, text: string): Fault {
  const why = kind === 'number' ? 'an empty text counts as 0' : `${name} is empty then`;
  const fix =
    kind === 'number'
      ? "Ask for the verdict as well: steps.ID.outputs.run-conclusion == 'success' && …"
      : `Compare with ==${good === null ? '' : `: ${name} == '${good}'`}.`;
  return wrong('fails-open', `${text} is true where there is no verdict: ${why}.`, fix);
}

/** Outputs with a default that lets pass: `x || 'true'`. */
export function openDefaults(
  root: Expression,
  reads: readonly Read[],
): readonly { node: Expression; fault: Fault }[] {
  return nodesOf(root).flatMap((node) => {
    if (node.kind !== 'logical' || node.operator !== '||') return [];
    return node.operands.flatMap((left, at) => {
      const right = node.operands[at + 1];
      const output = reads.find((read) => read.node === left)?.output;
      if (output === undefined || output.good === null || right?.kind !== 'literal') return [];
      if (String(right.value) !== output.good) return [];
      const message = `Without a verdict ${output.name} is empty, and '${output.good}' takes its place here.`;
      return [{ node, fault: wrong('default-passes', message, 'Take the default out.') }];
    });
  });
}

function holdsNode(node: Expression, wanted: Expression): boolean {
  return node === wanted || partsOf(node).some((part) => holdsNode(part, wanted));
}
