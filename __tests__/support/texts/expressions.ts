/** The regular expressions of a source folder, found by the TypeScript parser, so that a new one is not overlooked. */
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

/** A regular expression as it is written in a source file. */
export interface Expression {
  /** File and line, relative to the folder. */
  readonly at: string;
  readonly file: string;
  readonly source: string;
  readonly flags: string;
}

/** A regular expression that is put together at run time: only its code can be shown. */
export interface BuiltExpression {
  readonly file: string;
  readonly code: string;
}

/** What is found in a folder. */
export interface Expressions {
  readonly literals: readonly Expression[];
  readonly built: readonly BuiltExpression[];
}

/** Methods that make a regular expression of an argument that is none. */
const CONVERTING = new Set(['match', 'matchAll', 'search']);

/** Finds the literals of all TypeScript files in a folder, and every place that makes an expression of text. */
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

/** Also where `RegExp` goes by another name: whatever is neither its constructor's call nor a type is shown. */
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
