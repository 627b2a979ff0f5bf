/** Every case of the conformance list has a test with its id in the title. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

const ids = (letter: string, from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, at) => `${letter}${from + at}`);
const LISTS = [ids('A', 1, 13), ids('S', 1, 12), ids('N', 1, 9), ids('E', 1, 19), ids('P', 3, 7)];
const CASES = [...LISTS.flat(), 'S9b', 'S9c', 'S9d'];

/** The first string of each `it`, and of each row of a table: there stand the titles. */
const TITLE =
  /(?:\bit(?:\.each(?:<[^(]*>)?\([\s\S]*?\)|\.runIf\([^)]*\))?\(\s*|\[\s*|title: )(['"`]).*?\1|^ *'.*?': \{$/gmu;

const titles = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts') && name !== 'conformance.test.ts')
  .flatMap((name) => readFileSync(path.join(import.meta.dirname, name), 'utf8').match(TITLE) ?? [])
  .join('\n');

it.each(CASES)('%s is in the title of a test', (id) => {
  expect(titles).toMatch(new RegExp(`\\b${id}\\b`, 'u'));
});
