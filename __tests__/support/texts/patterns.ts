/**
 * The regular expressions of a source directory, found by the TypeScript parser so that none is missed, and texts on which
 * an expression is slow if it can be: a matching prefix, a matching part repeated many times, and an end that fails.
 */

import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { type AST, parseRegExpLiteral } from '@eslint-community/regexpp';
import ts from 'typescript';

/** A regular expression literal in a source file. */
export interface Expression {
  /** File and line, relative to the folder. */
  readonly at: string;
  readonly file: string;
  readonly source: string;
  readonly flags: string;
}

/** A regular expression built at run time, of which only the code is known. */
interface BuiltExpression {
  readonly file: string;
  readonly code: string;
}

/** The regular expressions of a directory. */
interface Expressions {
  readonly literals: readonly Expression[];
  readonly built: readonly BuiltExpression[];
}

/** Methods that convert a string argument to a regular expression. */
const CONVERTING = new Set(['match', 'matchAll', 'search']);

/** Finds the literals in all TypeScript files of a directory, and all code that builds an expression from text. */
export function findExpressions(folder: string): Expressions {
  const literals: Expression[] = [];
  const built: BuiltExpression[] = [];
  for (const file of globSync('**/*.ts', { cwd: folder })) {
    const text = readFileSync(path.join(folder, file), 'utf8');
    const found = readSource(file, text);
    literals.push(...found.literals);
    built.push(...found.built);
  }
  return { literals, built };
}

/** The same for the text of one file. */
export function readSource(file: string, text: string): Expressions {
  const literals: Expression[] = [];
  const built: BuiltExpression[] = [];
  const tree = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf('/');
      const line = tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1;
      const [source, flags] = [node.text.slice(1, end), node.text.slice(end + 1)];
      literals.push({ at: `${file}:${line}`, file, source, flags });
    }
    if (makesExpression(node)) built.push({ file, code: node.getText(tree) });
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return { literals, built };
}

/** Also detects aliases of `RegExp`: every use that is neither a constructor call nor a type is reported. */
function makesExpression(node: ts.Node): boolean {
  if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
    const [argument] = node.arguments;
    return (
      CONVERTING.has(node.expression.name.text) &&
      argument !== undefined &&
      (ts.isStringLiteralLike(argument) || ts.isTemplateExpression(argument))
    );
  }
  if (ts.isNewExpression(node) || ts.isCallExpression(node)) return isRegExp(node.expression);
  return isRegExp(node) && !isCalled(node) && !ts.isTypeNode(node.parent) && !isRightOfInstanceof(node);
}

function isRegExp(node: ts.Node): boolean {
  return ts.isIdentifier(node) && node.text === 'RegExp';
}

function isCalled(node: ts.Node): boolean {
  const { parent } = node;
  return (ts.isNewExpression(parent) || ts.isCallExpression(parent)) && parent.expression === node;
}

function isRightOfInstanceof(node: ts.Node): boolean {
  const { parent } = node;
  return ts.isBinaryExpression(parent) && parent.operatorToken.kind === ts.SyntaxKind.InstanceOfKeyword;
}

/** Characters of many classes, to match `\w`, `\s`, `.` or `[^x]` in a pattern. */
const COMMON = ['a', '0', ' ', '\n', '\t', '-', '_', '.', '/', '"', '\u00e9'];
/** Ends that most patterns do not match: a line break for `.*$`, a NUL for nearly all others. */
const ENDS = ['\n\0', '\0'];
const MAX_BEGINNINGS = 4;
const MAX_PUMPS = 60;

/** Texts of about `length` characters for one expression. */
export function* makePumpedTexts(source: string, flags: string, length: number): Generator<string> {
  const { pattern } = parseRegExpLiteral(`/${source}/${flags}`);
  const { beginnings, pumps } = collect(pattern, flags);
  for (const beginning of ['', ...beginnings].slice(0, MAX_BEGINNINGS))
    for (const pump of pumps.slice(0, MAX_PUMPS))
      for (const end of ENDS) yield beginning + pump.repeat(Math.ceil(length / pump.length)) + end;
}

function collect(pattern: AST.Pattern, flags: string): { beginnings: string[]; pumps: string[] } {
  const letters = [...new Set([...literalsOf(pattern), ...COMMON])];
  const sample = (node: AST.Element | AST.Alternative): string => sampleOf(node, letters, flags);
  const beginnings = new Set<string>();
  const pumps = new Set<string>();
  const visit = (alternative: AST.Alternative, before: string): void => {
    let taken = before;
    for (const element of alternative.elements) {
      const inner = element.type === 'Quantifier' ? element.element : element;
      if (element.type === 'Quantifier' && element.max === Number.POSITIVE_INFINITY) {
        beginnings.add(taken);
        pumps.add(sample(inner));
        // Letters that several parts of the pattern match can be divided in many ways.
        for (const letter of letters) if (takes(inner, letter, flags)) pumps.add(letter);
        // A search starts again at each of these.
        for (const gap of ['', ' ']) pumps.add(taken + gap).add(taken + sample(element) + gap);
      }
      if ('alternatives' in inner) for (const each of inner.alternatives) visit(each, taken);
      taken += sample(element);
    }
    pumps.add(taken);
  };
  for (const alternative of pattern.alternatives) visit(alternative, '');
  pumps.delete('');
  beginnings.delete('');
  return { beginnings: [...beginnings], pumps: [...pumps] };
}

function literalsOf(pattern: AST.Pattern): readonly string[] {
  const found: string[] = [];
  const visit = (node: AST.Node): void => {
    if (node.type === 'Character') found.push(String.fromCodePoint(node.value));
    else if (node.type === 'CharacterClassRange') visit(node.min);
    else if (node.type === 'Quantifier') visit(node.element);
    else if ('alternatives' in node) node.alternatives.forEach(visit);
    else if ('elements' in node) node.elements.forEach(visit);
  };
  visit(pattern);
  return found.slice(0, 8);
}

/** A text that the node matches, ignoring assertions. */
function sampleOf(node: AST.Element | AST.Alternative, letters: readonly string[], flags: string): string {
  switch (node.type) {
    case 'Alternative':
      return node.elements.map((each) => sampleOf(each, letters, flags)).join('');
    case 'Group':
    case 'CapturingGroup':
      return node.alternatives[0] === undefined ? '' : sampleOf(node.alternatives[0], letters, flags);
    case 'Quantifier':
      return sampleOf(node.element, letters, flags).repeat(Math.max(1, node.min));
    case 'Character':
      return String.fromCodePoint(node.value);
    case 'Assertion':
    case 'Backreference':
      return '';
    default:
      return letters.find((letter) => takes(node, letter, flags)) ?? '';
  }
}

function takes(node: AST.Element, letter: string, flags: string): boolean {
  return (
    !/\\k|\\\d/u.test(node.raw) && new RegExp(`^(?:${node.raw})$`, flags.replace(/[gym]/gu, '')).test(letter)
  );
}
