/** Finds conditions on outputs that are true without a verdict: without one, an output is an empty string. */
import { type Expression, evaluate, isTruthy, nodesOf } from './expression.ts';
import type { Fault } from './finding.ts';
import type { Output } from './outputs.ts';
import { CONDITION } from './rules.ts';

interface Read {
  readonly node: Expression;
  readonly output: Output;
}

/** The smallest part of a condition that is true or false on its own, with the negations that apply to it. */
export interface Atom {
  readonly node: Expression;
  readonly negated: boolean;
  /** The outputs that it reads; at least one. */
  readonly reads: readonly [Read, ...Read[]];
}

const TESTS = new Set(['contains', 'startswith', 'endswith']);

/** Returns the parts of an expression that depend on an output of the action. */
export function atomsOf(root: Expression, isCondition: boolean, reads: readonly Read[]): readonly Atom[] {
  const found: Atom[] = [];
  const visit = (node: Expression, negated: boolean, isAsked: boolean): void => {
    if (node.kind === 'not') visit(node.operands[0], !negated, true);
    else if (node.kind === 'logical') {
      for (const part of node.operands) {
        // In a value, the operands before the last of an && are only tested for truth.
        visit(part, negated, isAsked || (node.operator === '&&' && part !== node.operands.at(-1)));
      }
    } else if (node.kind === 'call' && !TESTS.has(node.name)) {
      for (const part of node.operands) visit(part, false, false);
    } else if (node.kind === 'call' || node.kind === 'comparison' || isAsked) {
      const inside = nodesOf(node);
      const [first, ...others] = reads.filter((read) => inside.includes(read.node));
      if (first !== undefined) found.push({ node, negated, reads: [first, ...others] });
    }
  };
  visit(root, false, isCondition);
  return found;
}

/** Whether an atom is true when the outputs it reads have the given value; undefined when unknown. */
export function holds({ node, negated, reads }: Atom, value: string): boolean | undefined {
  const result = evaluate(node, (each) => (reads.some((read) => read.node === each) ? value : undefined));
  return result === undefined ? undefined : isTruthy(result) !== negated;
}

/**
 * Returns the fault of an atom; null when it is false without a verdict and can be true with one.
 * @param text the source text of the atom
 * @param failsJob whether what the condition starts makes the job fail, which is what a missing verdict should do
 */
export function atomFault(atom: Atom, text: string, failsJob: boolean): Fault | null {
  const [read] = atom.reads;
  const { kind, name, values, good } = read.output;
  const isListed = kind === 'boolean' || kind === 'word';
  if (atom.node === read.node) {
    if (kind === 'text' || kind === 'json' || (kind === 'word' && values.length === 0)) return null;
    const example = kind === 'boolean' ? 'false' : kind === 'number' ? '0' : (values.at(-1) ?? '');
    return CONDITION.bare(text, name, example, kind === 'number' ? '0' : (values[0] ?? ''));
  }
  if (isAbsenceTest(atom.node)) return null;
  const empty = holds(atom, '');
  const known = isListed ? values.map((value) => holds(atom, value)) : [];
  const isNever = known.length > 0 && known.every((each) => each === false);
  if (isNever && empty !== undefined) return CONDITION.neverTrue(text, name, values, empty);
  if (empty !== true) return null;
  if (known.length > 0 && known.every((each) => each === true)) return CONDITION.alwaysTrue(text, name);
  const whenGood = good === null ? undefined : holds(atom, good);
  if (whenGood !== true && failsJob) return null;
  return whenGood === false
    ? CONDITION.alsoEmpty(
        text,
        name,
        values.find((value) => value !== good),
      )
    : CONDITION.failsOpen(text, name, kind === 'number', good);
}

/** `x == ''` and `x != ''` explicitly test for absence. */
function isAbsenceTest(node: Expression): boolean {
  if (node.kind !== 'comparison') return false;
  return node.operands.some((each) => each.kind === 'literal' && each.value === '');
}

/** Finds outputs with a default that passes: `x || 'true'`. */
export function openDefaults(
  root: Expression,
  reads: readonly Read[],
): readonly { node: Expression; fault: Fault }[] {
  return nodesOf(root).flatMap((node) => {
    if (node.kind !== 'logical' || node.operator !== '||') return [];
    return node.operands.flatMap((left, at) => {
      const right = node.operands[at + 1];
      const { name = '', good = null } = reads.find((read) => read.node === left)?.output ?? {};
      const passes = good !== null && right?.kind === 'literal' && String(right.value) === good;
      return passes ? [{ node, fault: CONDITION.default(name, good) }] : [];
    });
  });
}
