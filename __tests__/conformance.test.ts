import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const tests = import.meta.dirname;
const shared = path.join(tests, '..', '..', 'shared', 'conformance');

/** The behaviors that must have a test with their id in its title. P1 and P2 are not among them. */
const CASES = [
  ...ids('A', 13),
  ...ids('S', 12),
  ...['S9b', 'S9c', 'S9d'],
  ...ids('N', 9),
  ...ids('E', 19),
  ...['P3', 'P4', 'P5', 'P6', 'P7'],
];

function ids(letter: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => `${letter}${at + 1}`);
}

/** The titles of every test: the first string of an `it`, and the rows of tables that name their own. */
function titles(): string {
  const files = readdirSync(tests, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.test.ts') && name !== 'conformance.test.ts',
  );
  return files
    .flatMap(
      (name) =>
        readFileSync(path.join(tests, name), 'utf8').match(
          /(?:\bit(?:\.each\([\s\S]*?\)|\.runIf\([^)]*\))?\(\s*|\[\s*)(['"`]).*?\1/gu,
        ) ?? [],
    )
    .join('\n');
}

describe('the conformance cases', () => {
  const all = titles();

  it.each(CASES)('%s is in the title of a test', (id) => {
    expect(all).toMatch(new RegExp(`\\b${id}\\b`, 'u'));
  });

  it.each(['root-schemas.json', 'attacks.json'])('the copy of %s equals the original', (name) => {
    const copy = readFileSync(path.join(tests, 'fixtures', name), 'utf8');
    expect(JSON.parse(copy).length).toBeGreaterThan(50);
    if (existsSync(shared)) expect(copy).toBe(readFileSync(path.join(shared, name), 'utf8'));
  });

  it('every shared case is listed here', () => {
    if (!existsSync(shared)) return;
    const text = readFileSync(path.join(shared, 'cases.md'), 'utf8');
    const listed = new Set([...text.matchAll(/(?:^|[.;] )([ASNEP]\d+[a-z]?) /gmu)].map((match) => match[1]));
    const known = new Set<string | undefined>([...CASES, 'P1', 'P2']);
    expect([...listed].filter((id) => !known.has(id))).toEqual([]);
    expect(listed.size).toBeGreaterThan(50);
  });
});
