/** GitHub expressions: the text between `${{` and `}}`, or of an `if:`, parsed by GitHub's own lexer and parser. */
import {
  Binary,
  ContextAccess,
  type Expr,
  FunctionCall,
  Grouping,
  IndexAccess,
  Literal,
  Logical,
  Star,
  Unary,
} from '@actions/expressions/ast';
import { Lexer, type Token, TokenType } from '@actions/expressions/lexer';
import { Parser } from '@actions/expressions/parser';

/** A node of our own tree, with its position: `at` and `end` are offsets into the expression's text. */
export type Expression = (
  | { readonly kind: 'literal'; readonly value: string | number | boolean | null }
  | { readonly kind: 'name'; readonly name: string }
  /** `object.key` or `object[key]`; a null key is the filter `*`. */
  | { readonly kind: 'member'; readonly object: Expression; readonly key: Expression | null }
  | { readonly kind: 'call'; readonly name: string; readonly operands: readonly Expression[] }
  | { readonly kind: 'not'; readonly operands: readonly [Expression] }
  | { readonly kind: 'logical'; readonly operator: '||' | '&&'; readonly operands: readonly Expression[] }
  | {
      readonly kind: 'comparison';
      readonly operator: string;
      readonly operands: readonly [Expression, Expression];
    }
) & { readonly at: number; readonly end: number };

/** More than in any readable condition. GitHub's own limits are 21,000 characters and a depth of 50. */
const MAX_TOKENS = 2000;

/** Parses an expression; returns null when it is invalid or too long. */
export function parseExpression(text: string): Expression | null {
  try {
    // Line breaks count as spaces; replacing them makes the columns of tokens offsets.
    const { tokens } = new Lexer(text.replaceAll(/[\r\n]/gu, ' ')).lex();
    if (tokens.length < 2 || tokens.length > MAX_TOKENS) return null;
    // Every name is declared to the parser; its value is determined later.
    const names = tokens.flatMap(({ type, lexeme }) => (type === TokenType.IDENTIFIER ? [lexeme] : []));
    const functions = names.map((name) => ({ name, minArgs: 0, maxArgs: 255, call: unused }));
    return treeOf(new Parser(tokens, names, functions).parse(), text, tokens);
  } catch {
    return null;
  }
}

function unused(): never {
  throw new Error('Nothing is called while an expression is read.');
}

/** A node with the indexes of its first and last token. */
interface Span {
  readonly node: Expression;
  readonly first: number;
  readonly last: number;
}

/**
 * Builds a tree with positions. GitHub's tree refers to few of its tokens; the positions of the others follow from
 * their order.
 */
function treeOf(root: Expr, text: string, tokens: readonly Token[]): Expression {
  const indexes = new Map(tokens.map((token, index) => [token, index]));
  const typeAt = (index: number) => tokens[index]?.type;
  const span = (first: number, last: number, make: (at: number, end: number) => Expression): Span => ({
    first,
    last,
    node: make(tokens[first]?.range.start.column ?? 0, tokens[last]?.range.end.column ?? 0),
  });
  const convert = (expr: Expr): Span => {
    if (expr instanceof Literal) {
      const index = indexes.get(expr.token) ?? 0;
      return span(index, index, (at, end) => ({
        kind: 'literal',
        value: literalValue(expr.token, text),
        at,
        end,
      }));
    }
    if (expr instanceof ContextAccess) {
      const index = indexes.get(expr.name) ?? 0;
      return span(index, index, (at, end) => ({ kind: 'name', name: expr.name.lexeme, at, end }));
    }
    if (expr instanceof Grouping) {
      const { node, first, last } = convert(expr.group);
      return { node, first: first - 1, last: last + 1 };
    }
    if (expr instanceof Unary) {
      const { node, last } = convert(expr.expr);
      const first = indexes.get(expr.operator) ?? 0;
      return span(first, last, (at, end) => ({ kind: 'not', operands: [node], at, end }));
    }
    if (expr instanceof FunctionCall) {
      const first = indexes.get(expr.functionName) ?? 0;
      const parts = expr.args.map(convert);
      const close = (parts.at(-1)?.last ?? first + 1) + 1;
      const operands = parts.map(({ node }) => node);
      const name = expr.functionName.lexeme.toLowerCase();
      // The last argument may be followed by a comma.
      const last = typeAt(close) === TokenType.COMMA ? close + 1 : close;
      return span(first, last, (at, end) => ({ kind: 'call', name, operands, at, end }));
    }
    if (expr instanceof IndexAccess) {
      const { node: object, first, last: before } = convert(expr.expr);
      const index = expr.index instanceof Star ? null : convert(expr.index);
      const isDotted = typeAt(before + 1) === TokenType.DOT;
      const last = isDotted ? before + 2 : (index?.last ?? before + 2) + 1;
      return span(first, last, (at, end) => ({ kind: 'member', object, key: index?.node ?? null, at, end }));
    }
    if (expr instanceof Binary) {
      const [left, right] = [convert(expr.left), convert(expr.right)];
      const operator = expr.operator.lexeme;
      const operands = [left.node, right.node] as const;
      return span(left.first, right.last, (at, end) => ({ kind: 'comparison', operator, operands, at, end }));
    }
    if (!(expr instanceof Logical)) throw new TypeError('an unknown node');
    const parts = expr.args.map(convert);
    const operator = expr.operator.type === TokenType.AND ? '&&' : '||';
    const operands = parts.map(({ node }) => node);
    return span(parts[0]?.first ?? 0, parts.at(-1)?.last ?? 0, (at, end) => ({
      kind: 'logical',
      operator,
      operands,
      at,
      end,
    }));
  };
  return convert(root).node;
}

function literalValue({ type, lexeme, value, range }: Token, text: string): string | number | boolean | null {
  if (type === TokenType.STRING)
    return text.slice(range.start.column + 1, range.end.column - 1).replaceAll("''", "'");
  if (type === TokenType.IDENTIFIER) return lexeme;
  if (type === TokenType.NULL) return null;
  return type === TokenType.NUMBER ? Number(value) : type === TokenType.TRUE;
}

/** An expression inside a text, without `${{` and `}}`. */
export interface Embedded {
  readonly text: string;
  /** The offset at which the expression's text begins. */
  readonly at: number;
}

/** Returns the expressions between `${{` and `}}` in a text; an unclosed one does not count. */
export function embedded(text: string): readonly Embedded[] {
  const found: Embedded[] = [];
  for (let open = text.indexOf('${{'); open !== -1; ) {
    const end = closing(text, open + 3);
    if (end === -1) break;
    found.push({ text: text.slice(open + 3, end), at: open + 3 });
    open = text.indexOf('${{', end + 2);
  }
  return found;
}

/** Parses a condition; returns null when it is invalid or has text around `${{ }}`. */
export function conditionOf(text: string): Expression | null {
  if (!text.includes('${{')) return parseExpression(text);
  const [first, ...others] = embedded(text);
  if (first === undefined || others.length > 0) return null;
  return text.replace(`\${{${first.text}}}`, '').trim() === '' ? parseExpression(first.text) : null;
}

/**
 * Returns the offset of the next `}}` outside quotes. A doubled quote inside quotes is an escaped one, which makes no
 * difference here.
 */
function closing(text: string, from: number): number {
  let isQuoted = false;
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === "'") isQuoted = !isQuoted;
    else if (!isQuoted && text.startsWith('}}', at)) return at;
  }
  return -1;
}

/** Returns the nodes of the tree, the outermost first. */
export function nodesOf(root: Expression): readonly Expression[] {
  const found: Expression[] = [];
  const rest = [root];
  for (let node = rest.pop(); node !== undefined; node = rest.pop()) {
    found.push(node);
    rest.push(...partsOf(node).toReversed());
  }
  return found;
}

export function partsOf(node: Expression): readonly Expression[] {
  if (node.kind === 'member') return node.key === null ? [node.object] : [node.object, node.key];
  return 'operands' in node ? node.operands : [];
}

/** Returns `steps.x.outputs.y` as lower-case segments, with `*` for a filter; null for a computed name. */
export function pathOf(node: Expression): readonly string[] | null {
  if (node.kind === 'name') return [node.name.toLowerCase()];
  if (node.kind !== 'member') return null;
  const before = pathOf(node.object);
  if (before === null) return null;
  if (node.key === null) return [...before, '*'];
  if (node.key.kind !== 'literal' || typeof node.key.value !== 'string') return null;
  return [...before, node.key.value.toLowerCase()];
}

/** A value; undefined when unknown. */
export type Value = string | number | boolean | null | undefined;

/** Evaluates an expression. `known` returns the value of a name or a member, or undefined when it is unknown. */
export function evaluate(node: Expression, known: (node: Expression) => Value): Value {
  switch (node.kind) {
    case 'literal':
      return node.value;
    case 'name':
    case 'member':
      return known(node);
    case 'not': {
      const value = evaluate(node.operands[0], known);
      return value === undefined ? undefined : !isTruthy(value);
    }
    case 'call':
      return call(
        node.name,
        node.operands.map((each) => evaluate(each, known)),
      );
    case 'logical':
      return node.operands
        .map((each) => evaluate(each, known))
        .reduce((left, right) => joinLogically(left, right, node.operator === '||'));
    case 'comparison': {
      const [left, right] = node.operands;
      return compare(node.operator, evaluate(left, known), evaluate(right, known));
    }
  }
}

/** Whether a value is truthy: everything except false, 0, null and the empty string. */
export function isTruthy(value: Exclude<Value, undefined>): boolean {
  return value !== false && value !== null && value !== '' && value !== 0 && !Number.isNaN(value);
}

/** One operand alone can decide the result, even if the other is unknown. */
function joinLogically(left: Value, right: Value, decisive: boolean): Value {
  if (left === undefined) return right !== undefined && isTruthy(right) === decisive ? decisive : undefined;
  return isTruthy(left) === decisive ? left : right;
}

function compare(operator: string, left: Value, right: Value): Value {
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
    default:
      return one >= other;
  }
}

/** Strings are compared ignoring case, everything else as numbers. */
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
  // True as long as the run is not cancelled.
  if (name === 'always') return true;
  if (name === 'cancelled') return false;
  const [within, part] = operands;
  if (typeof within !== 'string' || typeof part !== 'string') return undefined;
  const [text, wanted] = [within.toUpperCase(), part.toUpperCase()];
  if (name === 'contains') return text.includes(wanted);
  if (name === 'startswith') return text.startsWith(wanted);
  return name === 'endswith' ? text.endsWith(wanted) : undefined;
}
