/** Regular expressions take linear time: many of them read text of an attacker, and nothing interrupts a match. */
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { analyse } from 'scslre';
import ts from 'typescript';
import { expect, it } from 'vitest';

/** Expressions that need not be linear, and why. */
const BOUNDED: Readonly<Record<string, string>> = {
  'text/messages.ts /\\B(?=(?:\\d{3})+$)/g': 'String(count) of a number: at most 25 characters',
  'reporters/outputs.ts /\\.?0+$/': 'toFixed of a number: at most 122 characters',
};

/** Files that build expressions at run time, of literals and of texts that they escape. */
const BUILDERS = ['replay/replay.ts'];

const src = path.join(import.meta.dirname, '../src');

/** The expressions of a file, and whether it builds others at run time. */
function readExpressions(file: string) {
  const tree = ts.createSourceFile(file, readFileSync(path.join(src, file), 'utf8'), ts.ScriptTarget.Latest);
  const literals: string[] = [];
  let builds = false;
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) literals.push(node.text);
    if (ts.isNewExpression(node) || ts.isCallExpression(node))
      builds ||= ts.isIdentifier(node.expression) && node.expression.text === 'RegExp';
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return { file, literals, builds };
}

const files = globSync('**/*.ts', { cwd: src }).map(readExpressions);

it('every regular expression is linear', () => {
  const slow = files.flatMap(({ file, literals }) =>
    literals
      .filter((literal) => {
        const [, source = '', flags = ''] = /^\/(.*)\/(\w*)$/su.exec(literal) ?? [];
        const { reports } = analyse({ source, flags }, { assumeRejectingSuffix: false });
        return reports.length > 0 && !(`${file} ${literal}` in BOUNDED);
      })
      .map((literal) => `${file} ${literal}`),
  );
  expect(slow).toEqual([]);
});

it('expressions are built at run time in known files only', () => {
  const builders = files.filter(({ builds }) => builds).map(({ file }) => file);
  expect(BUILDERS).toEqual(expect.arrayContaining(builders));
});
