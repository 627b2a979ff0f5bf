/** Which findings are proven by what they quote, and where. */
import { describe, expect, it } from 'vitest';
import type { Change } from '../../src/evidence/change.ts';
import { type Claim, countGrounding, type Grounded, groundFindings } from '../../src/evidence/grounding.ts';
import { changeOf, file, type HunkLines, makeClaim, sourcesOf } from './files.ts';

const A = [
  'import { readFile } from "node:fs/promises";', // 1
  '',
  'export async function load(path: string) {',
  '  const text = await readFile(path, "utf8");',
  '  return JSON.parse(text);', // 5
  '}',
  '',
  'export async function store(path: string) {',
  '  const text = await readFile(path, "utf8");',
  '  return JSON.parse(text);', // 10
  '}',
  'const wide = "naive  text";',
  '+ const added = "in a list";',
  '',
  'const last = load("last.json");', // 15
  'return JSON.parse(text);',
].join('\n');
const B = 'only in the other file\nexport const shared = 12345678;\n';
const C = 'never changed, never shown at all\n';
const FILES = { 'src/a.ts': A, 'src/b.ts': B, 'src/c.ts': C };
/** Line 1 of `src/a.ts` was added, and two lines above line 3. */
const CHANGE = changeOf(
  file('src/a.ts', [
    [
      '+import { readFile } from "node:fs/promises";',
      ' ',
      '-const gone = load("gone.json");',
      '-const alsoGone = load("also.json");',
      ' export async function load(path: string) {',
    ],
  ]),
  file('src/b.ts', [['+only in the other file', '+export const shared = 12345678;']]),
);
const FIRST = 'const last = load("first.json");';
const LAST = 'const last = load("last.json");';
const LOAD = 'export async function load(path: string) {\n  const text = await readFile(path, "utf8");';
const TEXT = '  const text = await readFile(path, "utf8");';

async function ground(claim: Partial<Claim>, change: Change | null = CHANGE): Promise<Grounded> {
  const [grounded] = await groundFindings([makeClaim(claim)], sourcesOf(FILES), change);
  if (grounded === undefined) throw new Error('There is no result.');
  return grounded;
}

const NOT_THERE = 'is not in src/a.ts; copy whole lines as they are in the file, without omissions.';
const NOWHERE = 'is in no changed file, and the file that the finding names was not found.';
const NOTHING = 'proves nothing: quote one to three whole lines.';

/** Ways to copy lines, and to invent them, are in the fuzz test. A finding with its status, its line and the line that it had; or with what the model is told. */
const CASES: readonly (readonly [string, Partial<Claim>, string])[] = [
  ['at its line', { quote: 'import { readFile } from "node:fs/promises";', line: 1 }, 'exact 1'],
  ['without a line', { quote: LAST }, 'exact 15'],
  ['at another line', { quote: LAST, line: 3 }, 'exact 15 was 3'],
  ['at a line that does not exist', { quote: LAST, line: 999 }, 'exact 15 was 999'],
  ['with a line inside the quote', { quote: LOAD, line: 4 }, 'exact 4'],
  ['a diff mark on one line of two', { quote: `export async function load() {\n+${TEXT}` }, NOT_THERE],
  ['a line that has a mark itself', { quote: '+ const added = "in a list";' }, 'exact 13'],
  ['at three places, of which one is claimed', { quote: 'return JSON.parse(text);', line: 16 }, 'exact 16'],
  ['at three places, not there', { quote: '  return JSON.parse(text);', line: 8 }, 'exact 10 was 8'],
  ['at three places without a line', { quote: '  return JSON.parse(text);' }, 'exact 5'],
  ['a fragment', { quote: 'import { readFile } from "node:' }, 'exact 1'],
  ['a fragment that is there twice', { quote: 'const text = await readFile(path', line: 4 }, NOT_THERE],
  ['a short fragment', { quote: 'load("last.json")' }, NOT_THERE],
  ['short lines', { quote: '}\n\nexport' }, NOTHING],
  ['no quote', { line: 4 }, 'unproven'],
  ['lines that are not consecutive', { quote: `${TEXT}\n}` }, NOT_THERE],
  ['an invented line', { quote: FIRST, line: 15 }, NOT_THERE],
  ['a removed line', { quote: 'const gone = load("gone.json");', line: 2 }, 'exact 2'],
  [
    'two removed lines',
    { quote: 'const gone = load("gone.json");\nconst alsoGone = load("also.json");' },
    'exact 2',
  ],
  ['removed and kept lines', { quote: `const alsoGone = load("also.json");\n${LOAD}` }, NOT_THERE],
  ['in the other changed file', { quote: 'only in the other file', line: 7 }, 'moved src/b.ts 1 was 7'],
  ['in a file that did not change', { quote: 'never changed, never shown at all' }, NOT_THERE],
  ['no such file', { path: null, quote: 'export const shared = 12345678;' }, 'moved src/b.ts 2'],
  ['no such file, no such text', { path: null, quote: 'export const shared = 87654321;' }, NOWHERE],
  ['a file that did not change', { path: 'src/c.ts', quote: C.trimEnd() }, 'exact src/c.ts 1'],
  ['a file that cannot be read', { path: 'build/a.js', quote: FIRST }, 'unproven'],
  ['more than ten lines', { quote: A.split('\n').slice(2, 13).join('\n') }, NOTHING],
  ['more than 1,000 characters', { quote: 'x'.repeat(1_001) }, NOTHING],
];

function describeGrounded({ path, line, lineWas, status, issue }: Grounded): string {
  if (status !== 'exact' && status !== 'moved') return issue ?? status ?? '';
  const file = path === 'src/a.ts' ? '' : `${path} `;
  return `${status} ${file}${line}${lineWas === null ? '' : ` was ${lineWas}`}`;
}

it.each(CASES)('a finding with %s', async (_, claim, expected) => {
  expect(describeGrounded(await ground(claim))).toBe(expected);
});

it('all findings are counted by status, in their order, but not those about no file', async () => {
  const claims = [null, ...CASES.map(([, claim]) => makeClaim(claim))];
  const all = await groundFindings(claims, sourcesOf(FILES), CHANGE);
  const count = (wanted: RegExp) => CASES.filter(([, , expected]) => wanted.test(expected)).length;
  const proven = { exact: count(/^exact /), moved: count(/^moved /) };
  const unproven = CASES.length - proven.exact - proven.moved;
  expect([all[0]?.status, countGrounding(all)]).toEqual([null, { ...proven, unproven }]);
});

const [one, two] = ['const one = "first";', 'const two = "second";'];
const top: HunkLines = [`-${one}`, `-${two}`];
const apart = changeOf(file('src/a.ts', [[`-${one}`], [`-${two}`]]));
const kept = changeOf(file('src/a.ts', [[`-${one}`, ' kept', `-${two}`]]));
const [lines, other] = [`${one}\n${two}`, 'only in the other file'];
const [b, d] = [file('src/b.ts', []), file('src/d.ts', [])];
const load = LOAD.split('\n')[0] ?? '';

it.each<[string, string, Change, Readonly<Record<string, string>>, string]>([
  ['at the top of a file', one, changeOf(file('src/a.ts', [top])), {}, 'exact null'],
  ['of a removed file', two, changeOf(file('src/a.ts', [top], { isRemoved: true })), {}, 'exact null'],
  ['over two hunks', lines, apart, {}, NOT_THERE],
  ['over a kept line', lines, kept, {}, NOT_THERE],
  ['that the change keeps, and the file has not', load, CHANGE, { 'src/a.ts': '' }, NOT_THERE],
  ['in one other changed file', other, changeOf(b), FILES, 'moved src/b.ts 1'],
  ['in two other changed files', other, changeOf(b, d), { ...FILES, 'src/d.ts': B }, NOT_THERE],
])('a line %s', async (_, quote, change, files, expected) => {
  const [grounded] = await groundFindings([makeClaim({ quote })], sourcesOf(files), change);
  expect(grounded === undefined ? '' : describeGrounded(grounded)).toBe(expected);
});

describe('behind what a run looks at', () => {
  const large = `${'a'.repeat(1_000_000)}\n${LAST}`;
  const names = Array.from({ length: 10 }, (_, at) => `${at}.ts`);

  it('findings are unproven, and nothing is said of their quotes', async () => {
    const many = Array.from({ length: 201 }, () => makeClaim({ quote: LAST }));
    const found = await groundFindings(many, sourcesOf(FILES), null);
    expect(found.slice(-2)).toMatchObject([{ status: 'exact' }, { status: 'unproven', issue: null }]);
    const claims = names.map((path) => makeClaim({ path, quote: LAST }));
    // A file of blanks costs as much as any other.
    for (const text of [large, `${' '.repeat(1_000_000)}\n${LAST}`]) {
      const files = sourcesOf(Object.fromEntries(names.map((name) => [name, text])));
      const all = await groundFindings(claims, files, null);
      expect(all.map(({ status }) => status)).toEqual(names.map((_, at) => (at < 8 ? 'exact' : 'unproven')));
      expect(all.at(-1)?.issue).toBeNull();
    }
  });

  it('nothing is moved, as another file may have the text, too', async () => {
    const texts = names.map((name, at) => [name, at === 0 ? large : 'a'.repeat(1e6)]);
    const files = names.map((name) => file(name, []));
    const claims = [makeClaim({ path: null, quote: LAST })];
    for (const [count, status] of [
      [8, 'moved'],
      [10, 'unproven'],
    ] as const) {
      const change = changeOf(...files.slice(0, count));
      const [found] = await groundFindings(claims, sourcesOf(Object.fromEntries(texts)), change);
      expect(found?.status).toBe(status);
    }
  });
});
