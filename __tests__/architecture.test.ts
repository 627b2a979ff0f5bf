/** What the rules of imports do not say. */
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

const src = path.join(import.meta.dirname, '../src');

it('no exported name is declared in two files', () => {
  const files = globSync('**/*.ts', { cwd: src });
  const names = files.flatMap((file) => {
    const text = readFileSync(path.join(src, file), 'utf8');
    const declared = text.matchAll(
      /^export (?:abstract class|async function|class|const|enum|function|interface|let|type)\*? ([\w$]+)/gmu,
    );
    return [...new Set([...declared].map(([, name = '']) => name))];
  });
  expect(names.length).toBeGreaterThan(500);
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
});
