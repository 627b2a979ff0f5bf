/** What is in src: expressions that take linear time, because nothing interrupts a match, and exported names. */
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
const names: string[] = [];
for (const file of globSync('**/*.ts', { cwd: src })) {
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) literals.push({ file, literal: node.text });
    const called = ts.isNewExpression(node) || ts.isCallExpression(node) ? node.expression : null;
    if (called !== null && ts.isIdentifier(called) && called.text === 'RegExp') builders.add(file);
    ts.forEachChild(node, visit);
  };
  const text = readFileSync(path.join(src, file), 'utf8');
  const declared = text.matchAll(
    /^export (?:abstract class|async function|class|const|enum|function|interface|let|type)\*? ([\w$]+)/gmu,
  );
  names.push(...new Set(Array.from(declared, ([, name = '']) => name)));
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

it('no exported name is declared in two files', () => {
  expect(names.length).toBeGreaterThan(500);
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
});
