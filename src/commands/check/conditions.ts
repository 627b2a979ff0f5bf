/**
 * Finds what a condition makes of an empty output, which every output of the payload is without a verdict. Expressions
 * are parsed and evaluated by GitHub's own library.
 */
import {
  Binary,
  ContextAccess,
  type Expr,
  FunctionCall,
  Grouping,
  IndexAccess,
  Literal,
  Logical,
  Unary,
} from '@actions/expressions/ast';
import { Dictionary } from '@actions/expressions/data/dictionary';
import type { ExpressionData } from '@actions/expressions/data/expressiondata';
import { StringData } from '@actions/expressions/data/string';
import { Evaluator } from '@actions/expressions/evaluator';
import { Lexer, TokenType } from '@actions/expressions/lexer';
import { Parser } from '@actions/expressions/parser';
import { truthy } from '@actions/expressions/result';
import type { Output } from './outputs.ts';

/** Returns the texts of the expressions in a text; a condition without `${{ }}` is one expression. */
export function expressionsIn(text: string, isCondition: boolean): readonly string[] {
  if (isCondition && !text.includes('${{')) return [text];
  const [, ...parts] = text.split('${{');
  return parts.flatMap((part) => /^(?:'[^']*'|[^'}]|\}(?!\}))*(?=\}\})/u.exec(part)?.[0] ?? []);
}

/** Parses an expression; returns null if it is invalid, which other linters report. */
export function parseExpression(text: string): Expr | null {
  try {
    const { tokens } = new Lexer(text).lex();
    // Every name is declared to the parser: what exists is not judged here.
    const names = tokens.flatMap(({ type, lexeme }) => (type === TokenType.IDENTIFIER ? [lexeme] : []));
    const call = () => new StringData('');
    const functions = names.map((name) => ({ name, minArgs: 0, maxArgs: 255, call }));
    return new Parser(tokens, names, functions).parse() ?? null;
  } catch {
    return null;
  }
}

function childrenOf(expr: Expr): readonly Expr[] {
  if (expr instanceof Grouping) return [expr.group];
  if (expr instanceof Unary) return [expr.expr];
  if (expr instanceof Binary) return [expr.left, expr.right];
  if (expr instanceof Logical || expr instanceof FunctionCall) return expr.args;
  return expr instanceof IndexAccess ? [expr.expr, expr.index] : [];
}

/** A name such as `steps.x.outputs.y`, in lower-case segments, with `*` for a filter. */
export type Path = readonly string[];

function pathOf(expr: Expr): Path | null {
  if (expr instanceof ContextAccess) return [expr.name.lexeme.toLowerCase()];
  if (!(expr instanceof IndexAccess)) return null;
  const before = pathOf(expr.expr);
  if (before === null || readsIn(expr.index).length > 0) return null;
  return [...before, expr.index instanceof Literal ? expr.index.literal.coerceString().toLowerCase() : '*'];
}

/** Returns the paths that an expression reads, each as a whole: not `steps.x` of `steps.x.outputs.y`. */
export function readsIn(expr: Expr): readonly Path[] {
  const own = pathOf(expr);
  return own === null ? childrenOf(expr).flatMap(readsIn) : [own];
}

/** What a part of a condition does wrong. */
export interface Weakness {
  /** `bare`: it only asks whether there is a text. `never`: no value makes it true. `open`: it passes without a verdict. */
  readonly kind: 'bare' | 'never' | 'open';
  readonly path: Path;
}

/**
 * Returns the weak parts of an expression.
 * @param isTested whether the whole is a condition; of a value only comparisons are judged
 * @param outputOf the output of this action that a path is; null for none
 */
export function weaknessesIn(
  expr: Expr,
  isTested: boolean,
  outputOf: (path: Path) => Output | null,
  isNegated = false,
): readonly Weakness[] {
  if (expr instanceof Grouping) return weaknessesIn(expr.group, isTested, outputOf, isNegated);
  if (expr instanceof Unary) return weaknessesIn(expr.expr, true, outputOf, !isNegated);
  if (!(expr instanceof Logical)) return weaknessOf(expr, isTested, outputOf, isNegated);
  const isAnd = expr.operator.type === TokenType.AND;
  const found = expr.args.flatMap((each, at) => {
    const isLast = at === expr.args.length - 1;
    return weaknessesIn(each, isTested || (isAnd && !isLast), outputOf, isNegated);
  });
  // Beside a part that asks for the verdict, it does not matter that another is true without one.
  const isClosed = isAnd && !isNegated && expr.args.some((each) => asksForVerdict(each, outputOf));
  const defaults = isAnd ? [] : expr.args.flatMap((each, at) => defaultOf(each, expr.args[at + 1], outputOf));
  return [...found.filter(({ kind }) => !isClosed || kind !== 'open'), ...defaults];
}

/** `x || 'true'`: a value that passes takes the place of an empty one. */
function defaultOf(
  expr: Expr,
  next: Expr | undefined,
  outputOf: (path: Path) => Output | null,
): readonly Weakness[] {
  const path = pathOf(expr);
  const good = path === null ? null : (outputOf(path)?.good ?? null);
  const passes = next instanceof Literal && next.literal.coerceString() === good;
  return path !== null && passes ? [{ kind: 'open', path }] : [];
}

function asksForVerdict(expr: Expr, outputOf: (path: Path) => Output | null): boolean {
  const [path, ...others] = readsIn(expr);
  if (!(expr instanceof Binary) || path === undefined || others.length > 0) return false;
  return outputOf(path) !== null && !holds(expr, path, '');
}

function weaknessOf(
  expr: Expr,
  isTested: boolean,
  outputOf: (path: Path) => Output | null,
  isNegated: boolean,
): readonly Weakness[] {
  const [path, ...others] = readsIn(expr);
  const output = path === undefined || others.length > 0 ? null : outputOf(path);
  if (path === undefined || output === null) return [];
  // Whether there is a text at all is a fair question to ask of a text.
  if (pathOf(expr) !== null) return isTested && output.kind !== 'text' ? [{ kind: 'bare', path }] : [];
  // `== ''` asks whether there is a verdict.
  const isEmpty = (each: Expr) => each instanceof Literal && each.literal.coerceString() === '';
  if (!(isTested || expr instanceof Binary) || childrenOf(expr).some(isEmpty)) return [];
  const isTrue = (value: string) => holds(expr, path, value) !== isNegated;
  if (output.values.length > 0 && !output.values.some(isTrue)) return [{ kind: 'never', path }];
  // `!= 'true'` is true without a verdict too, but asks what does not pass.
  return isTrue('') && (output.good === null || isTrue(output.good)) ? [{ kind: 'open', path }] : [];
}

/** Evaluates an expression that reads one path only. Where it fails, GitHub fails the step. */
function holds(expr: Expr, path: Path, value: string): boolean {
  const [context = '', ...keys] = path;
  const inner = keys.reduceRight<ExpressionData>(
    (below, key) => new Dictionary({ key, value: below }),
    new StringData(value),
  );
  try {
    return truthy(new Evaluator(expr, new Dictionary({ key: context, value: inner })).evaluate());
  } catch {
    return false;
  }
}
