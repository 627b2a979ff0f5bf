/** What GitHub makes of an expression, by its own loose rules: an empty text equals 0 there, and false. */
import type { Expression, Operator } from './expression.ts';

/** A value; undefined where it cannot be told. */
export type Value = string | number | boolean | null | undefined;

/** Evaluates an expression; `known` gives what is known of a name or a member, and undefined otherwise. */
export function evaluate(node: Expression, known: (node: Expression) => Value): Value {
  switch (node.kind) {
    case 'literal':
      return node.value;
    case 'name':
    case 'member':
      return known(node);
    case 'not': {
      const [operand] = node.operands;
      const value = operand === undefined ? undefined : evaluate(operand, known);
      return value === undefined ? undefined : !isTruthy(value);
    }
    case 'call': {
      return call(
        node.name,
        node.operands.map((each) => evaluate(each, known)),
      );
    }
    case 'binary': {
      const [left, right] = node.operands.map((each) => evaluate(each, known));
      return join(node.operator, left, right);
    }
  }
}

/** Whether a value counts as true: everything but false, 0, null and the empty text. */
export function isTruthy(value: Exclude<Value, undefined>): boolean {
  return value !== false && value !== null && value !== '' && value !== 0 && !Number.isNaN(value);
}

function join(operator: Operator, left: Value, right: Value): Value {
  if (operator === '&&' || operator === '||') {
    const decisive = operator === '||';
    // Whatever is not known: one side alone can decide whether the whole is true.
    if (left === undefined) return right !== undefined && isTruthy(right) === decisive ? decisive : undefined;
    return isTruthy(left) === decisive ? left : right;
  }
  if (left === undefined || right === undefined) return undefined;
  const [one, other] = comparable(left, right);
  switch (operator) {
    case '==':
      return one === other;
    case '!=':
      return one !== other;
    case '<':
      return one < other;
    case '<=':
      return one <= other;
    case '>':
      return one > other;
    case '>=':
      return one >= other;
  }
}

/** Texts are compared without case, all else as numbers. */
function comparable(
  left: Exclude<Value, undefined>,
  right: Exclude<Value, undefined>,
): readonly [string, string] | readonly [number, number] {
  if (typeof left === 'string' && typeof right === 'string') return [left.toUpperCase(), right.toUpperCase()];
  return [numberOf(left), numberOf(right)];
}

function numberOf(value: Exclude<Value, undefined>): number {
  return typeof value === 'string' ? Number(value.trim()) : Number(value);
}

function call(name: string, operands: readonly Value[]): Value {
  // As long as nobody cancels.
  if (name === 'always') return true;
  if (name === 'cancelled') return false;
  const [within, part] = operands;
  if (typeof within !== 'string' || typeof part !== 'string') return undefined;
  const [text, wanted] = [within.toUpperCase(), part.toUpperCase()];
  if (name === 'contains') return text.includes(wanted);
  if (name === 'startswith') return text.startsWith(wanted);
  return name === 'endswith' ? text.endsWith(wanted) : undefined;
}
