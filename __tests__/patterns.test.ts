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
const literals: { file: string; literal: string }[] = [];
const builders = new Set<string>();
for (const file of globSync('**/*.ts', { cwd: src })) {
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) literals.push({ file, literal: node.text });
    const called = ts.isNewExpression(node) || ts.isCallExpression(node) ? node.expression : null;
    if (called !== null && ts.isIdentifier(called) && called.text === 'RegExp') builders.add(file);
    ts.forEachChild(node, visit);
  };
  const text = readFileSync(path.join(src, file), 'utf8');
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest));
}

it('every regular expression is linear', () => {
  const slow = literals.filter(({ file, literal }) => {
    const [, source = '', flags = ''] = /^\/(.*)\/(\w*)$/su.exec(literal) ?? [];
    const { reports } = analyse({ source, flags }, { assumeRejectingSuffix: false });
    return reports.length > 0 && !(`${file} ${literal}` in BOUNDED);
  });
  expect(slow).toEqual([]);
});

it('expressions are built at run time in known files only', () => {
  expect(BUILDERS).toEqual(expect.arrayContaining([...builders]));
});
