/** Reads GitHub's expressions: the text between `${{` and `}}`, or of an `if:`, as a tree. */

/** A node; `at` and `end` are offsets into the expression's text. */
export type Expression =
  | {
      readonly kind: 'literal';
      readonly value: string | number | boolean | null;
      readonly at: number;
      readonly end: number;
    }
  | { readonly kind: 'name'; readonly name: string; readonly at: number; readonly end: number }
  /** `object.key`, `object[key]`; a key of null is the filter `*`. */
  | {
      readonly kind: 'member';
      readonly object: Expression;
      readonly key: Expression | null;
      readonly at: number;
      readonly end: number;
    }
  | {
      readonly kind: 'call';
      readonly name: string;
      readonly operands: readonly Expression[];
      readonly at: number;
      readonly end: number;
    }
  | {
      readonly kind: 'not';
      readonly operands: readonly Expression[];
      readonly at: number;
      readonly end: number;
    }
  | {
      readonly kind: 'binary';
      readonly operator: Operator;
      readonly operands: readonly [Expression, Expression];
      readonly at: number;
      readonly end: number;
    };

/** The operators between two operands. */
type Operator = '||' | '&&' | '==' | '!=' | '<' | '<=' | '>' | '>=';

/** From the loosest to the tightest. */
const LEVELS: readonly (readonly Operator[])[] = [['||'], ['&&'], ['==', '!='], ['<=', '>=', '<', '>']];
/** Deeper nesting is not read; no workflow needs it. */
const MAX_DEPTH = 50;
interface Cursor {
  readonly tokens: readonly Token[];
  next: number;
  depth: number;
}

/** The expression as a tree; null where it is none. */
export function parseExpression(text: string): Expression | null {
  const tokens = tokensOf(text);
  if (tokens === null || tokens.length === 0) return null;
  const cursor: Cursor = { tokens, next: 0, depth: 0 };
  const expression = readLevel(cursor, 0);
  return cursor.next === tokens.length ? expression : null;
}

/** A part of a text that is an expression, without `${{` and `}}`. */
export interface Embedded {
  readonly text: string;
  /** Where the expression's text begins. */
  readonly at: number;
}

/** The expressions that a text holds between `${{` and `}}`; one that is not closed is none. */
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

/** Where the next `}}` outside quotes stands; two quotes within quotes are one, which changes nothing here. */
function closing(text: string, from: number): number {
  let isQuoted = false;
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === "'") isQuoted = !isQuoted;
    else if (!isQuoted && text.startsWith('}}', at)) return at;
  }
  return -1;
}

/** The tree's nodes, the outermost first. */
export function* nodesOf(root: Expression): Generator<Expression> {
  yield root;
  for (const part of partsOf(root)) yield* nodesOf(part);
}

/** What a node is made of. */
export function partsOf(node: Expression): readonly Expression[] {
  switch (node.kind) {
    case 'literal':
    case 'name':
      return [];
    case 'member':
      return node.key === null ? [node.object] : [node.object, node.key];
    default:
      return node.operands;
  }
}

/** `steps.x.outputs.y` as lower-case segments, `*` for a filter; null for what is computed. */
export function pathOf(node: Expression): readonly string[] | null {
  if (node.kind === 'name') return [node.name.toLowerCase()];
  if (node.kind !== 'member') return null;
  const before = pathOf(node.object);
  if (before === null) return null;
  if (node.key === null) return [...before, '*'];
  if (node.key.kind !== 'literal' || typeof node.key.value !== 'string') return null;
  return [...before, node.key.value.toLowerCase()];
}

function take(cursor: Cursor, ...marks: readonly string[]): Token | null {
  const token = cursor.tokens[cursor.next];
  if (token?.kind !== 'mark' || !marks.includes(token.text)) return null;
  cursor.next += 1;
  return token;
}

function readLevel(cursor: Cursor, level: number): Expression | null {
  const operators = LEVELS[level];
  if (operators === undefined) return readNot(cursor);
  let left = readLevel(cursor, level + 1);
  for (;;) {
    const token = left === null ? null : take(cursor, ...operators);
    if (left === null || token === null) return left;
    const right = readLevel(cursor, level + 1);
    const operator = operators.find((each) => each === token.text);
    if (right === null || operator === undefined) return null;
    left = { kind: 'binary', operator, operands: [left, right], at: left.at, end: right.end };
  }
}

function readNot(cursor: Cursor): Expression | null {
  const token = take(cursor, '!');
  if (token === null) return readChain(cursor);
  cursor.depth += 1;
  const operand = cursor.depth > MAX_DEPTH ? null : readNot(cursor);
  cursor.depth -= 1;
  return operand === null ? null : { kind: 'not', operands: [operand], at: token.at, end: operand.end };
}

/** A value with whatever is read out of it. */
function readChain(cursor: Cursor): Expression | null {
  let object = readValue(cursor);
  for (;;) {
    const token = object === null ? null : take(cursor, '.', '[');
    if (object === null || token === null) return object;
    const key = token.text === '.' ? readKey(cursor) : readIndex(cursor);
    if (key === undefined) return null;
    const end = cursor.tokens[cursor.next - 1]?.end ?? token.end;
    object = { kind: 'member', object, key, at: object.at, end };
  }
}

/** What stands after a dot; undefined where it cannot stand there. */
function readKey(cursor: Cursor): Expression | null | undefined {
  if (take(cursor, '*') !== null) return null;
  const token = cursor.tokens[cursor.next];
  if (token?.kind !== 'name') return undefined;
  cursor.next += 1;
  return { kind: 'literal', value: token.text, at: token.at, end: token.end };
}

function readIndex(cursor: Cursor): Expression | null | undefined {
  const key = take(cursor, '*') === null ? readInside(cursor) : null;
  if (key === undefined || take(cursor, ']') === null) return undefined;
  return key;
}

/** An expression between brackets; undefined where there is none. */
function readInside(cursor: Cursor): Expression | undefined {
  cursor.depth += 1;
  const inside = cursor.depth > MAX_DEPTH ? null : readLevel(cursor, 0);
  cursor.depth -= 1;
  return inside ?? undefined;
}

const WORDS: ReadonlyMap<string, boolean | null | number> = new Map<string, boolean | null | number>([
  ['true', true],
  ['false', false],
  ['null', null],
  ['nan', Number.NaN],
  ['infinity', Number.POSITIVE_INFINITY],
]);

function readValue(cursor: Cursor): Expression | null {
  if (take(cursor, '(') !== null) {
    const inside = readInside(cursor);
    return inside === undefined || take(cursor, ')') === null ? null : inside;
  }
  const token = cursor.tokens[cursor.next];
  if (token === undefined || token.kind === 'mark') return null;
  cursor.next += 1;
  const { text, at, end } = token;
  if (token.kind === 'string') {
    return { kind: 'literal', value: text.slice(1, -1).replaceAll("''", "'"), at, end };
  }
  if (token.kind === 'number') return { kind: 'literal', value: Number(text), at, end };
  if (take(cursor, '(') !== null) return readCall(cursor, token);
  const word = WORDS.get(text.toLowerCase());
  return word === undefined
    ? { kind: 'name', name: text, at, end }
    : { kind: 'literal', value: word, at, end };
}

function readCall(cursor: Cursor, { text, at }: Token): Expression | null {
  const operands: Expression[] = [];
  for (let closed = take(cursor, ')'); ; closed = take(cursor, ')')) {
    if (closed !== null) return { kind: 'call', name: text.toLowerCase(), operands, at, end: closed.end };
    if (operands.length > 0 && take(cursor, ',') === null) return null;
    const operand = readInside(cursor);
    if (operand === undefined) return null;
    operands.push(operand);
  }
}

/** More than any condition that a person can follow; trees grow as deep as their operators are many. */
const MAX_TOKENS = 2000;
const TOKEN =
  /\s*(?:(?<string>'(?:[^']|'')*')|(?<number>[+-]?(?:0x[0-9a-f]+|0o[0-7]+|(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?))|(?<name>[a-z_][\w-]*)|(?<mark>\|\||&&|==|!=|<=|>=|[<>!()[\],.*]))/iy;

/** A token; offsets are into the expression's text. */
interface Token {
  readonly kind: 'string' | 'number' | 'name' | 'mark';
  readonly text: string;
  readonly at: number;
  readonly end: number;
}

/** The tokens of an expression; null where it holds what is none, or too many. */
function tokensOf(text: string): readonly Token[] | null {
  const tokens: Token[] = [];
  const pattern = new RegExp(TOKEN);
  const length = text.trimEnd().length;
  for (let at = 0; at < length; ) {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match === null) return null;
    const kinds = ['string', 'number', 'name', 'mark'] as const;
    const kind = kinds.find((each) => match.groups?.[each] !== undefined) ?? 'mark';
    const own = match.groups?.[kind] ?? '';
    at = pattern.lastIndex;
    if (tokens.length === MAX_TOKENS) return null;
    tokens.push({ kind, text: own, at: at - own.length, end: at });
  }
  return tokens;
}

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
