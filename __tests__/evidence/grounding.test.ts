/**
 * Which findings are proven by what they quote, and where. Whatever a file holds: its lines are found again, however they are
 * copied, and nothing else ever is.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Change } from '../../src/evidence/change.ts';
import { type Claim, countGrounding, groundFindings } from '../../src/evidence/grounding.ts';
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
const LONG = Array.from({ length: 60 }, (_, at) => `word${at}`).join(' ');
const FILES = { 'src/a.ts': A, 'src/b.ts': B, 'src/c.ts': C, 'src/long.ts': LONG };
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

type Files = Readonly<Record<string, string>>;

async function ground(claim: Partial<Claim>, change = CHANGE, files: Files = FILES): Promise<string> {
  const [found] = await groundFindings([makeClaim(claim)], sourcesOf(files), change);
  const { path, line, lineWas, grounding } = found ?? {};
  if (grounding === 'unproven') return 'unproven';
  const was = lineWas === null ? '' : ` was ${lineWas}`;
  return `${grounding}${path === 'src/a.ts' ? '' : ` ${path}`} ${line}${was}`;
}

/** Ways to copy lines, and to invent them, are below. Each with its status, its line, and the line that it had. */
const CASES: readonly (readonly [string, Partial<Claim>, string])[] = [
  ['at its line', { quote: 'import { readFile } from "node:fs/promises";', line: 1 }, 'exact 1'],
  ['without a line', { quote: LAST }, 'exact 15'],
  ['at another line', { quote: LAST, line: 3 }, 'exact 15 was 3'],
  ['at a line that does not exist', { quote: LAST, line: 999 }, 'exact 15 was 999'],
  ['with a line inside the quote', { quote: LOAD, line: 4 }, 'exact 4'],
  ['a diff mark on one line of two', { quote: `export async function load() {\n+${TEXT}` }, 'unproven'],
  ['a line that has a mark itself', { quote: '+ const added = "in a list";' }, 'exact 13'],
  ['at three places, of which one is claimed', { quote: 'return JSON.parse(text);', line: 16 }, 'exact 16'],
  ['at three places, not there', { quote: '  return JSON.parse(text);', line: 8 }, 'exact 10 was 8'],
  ['at three places without a line', { quote: '  return JSON.parse(text);' }, 'exact 5'],
  ['blank lines around it', { quote: `\n${LAST}\n\n` }, 'exact 15'],
  ['a long fragment', { path: 'src/long.ts', quote: LONG.slice(0, 300) }, 'exact src/long.ts 1'],
  ['one whose end is invented', { path: 'src/long.ts', quote: `${LONG.slice(0, 300)} and` }, 'unproven'],
  ['a fragment', { quote: 'import { readFile } from "node:' }, 'exact 1'],
  ['a fragment that is there twice', { quote: 'const text = await readFile(path', line: 4 }, 'unproven'],
  ['a short fragment', { quote: 'load("last.json")' }, 'unproven'],
  ['short lines', { quote: '}\n\nexport' }, 'unproven'],
  ['no quote', { line: 4 }, 'unproven'],
  ['lines that are not consecutive', { quote: `${TEXT}\n}` }, 'unproven'],
  ['an invented line', { quote: FIRST, line: 15 }, 'unproven'],
  ['a removed line', { quote: 'const gone = load("gone.json");', line: 2 }, 'exact 2'],
  [
    'two removed lines',
    { quote: 'const gone = load("gone.json");\nconst alsoGone = load("also.json");' },
    'exact 2',
  ],
  ['removed and kept lines', { quote: `const alsoGone = load("also.json");\n${LOAD}` }, 'unproven'],
  ['in the other changed file', { quote: 'only in the other file', line: 7 }, 'moved src/b.ts 1 was 7'],
  ['in a file that did not change', { quote: 'never changed, never shown at all' }, 'unproven'],
  ['no such file', { path: null, quote: 'export const shared = 12345678;' }, 'moved src/b.ts 2'],
  ['no such file, no such text', { path: null, quote: 'export const shared = 87654321;' }, 'unproven'],
  ['a file that did not change', { path: 'src/c.ts', quote: C.trimEnd() }, 'exact src/c.ts 1'],
  ['a file that cannot be read', { path: 'build/a.js', quote: FIRST }, 'unproven'],
  ['more than ten lines', { quote: A.split('\n').slice(2, 13).join('\n') }, 'unproven'],
  ['more than 1,000 characters', { quote: 'x'.repeat(1_001) }, 'unproven'],
];

it.each(CASES)('a finding with %s', async (_, claim, expected) => {
  expect(await ground(claim)).toBe(expected);
});

it('all findings are counted by status, in their order, but not those about no file', async () => {
  const claims = [null, ...CASES.map(([, claim]) => makeClaim(claim))];
  const all = await groundFindings(claims, sourcesOf(FILES), CHANGE);
  const count = (wanted: string) => CASES.filter(([, , expected]) => expected.startsWith(wanted)).length;
  const counts = { exact: count('exact'), moved: count('moved'), unproven: count('unproven') };
  expect([all[0]?.grounding, countGrounding(all)]).toEqual([null, counts]);
});

const [one, two] = ['const one = "first";', 'const two = "second";'];
const top: HunkLines = [`-${one}`, `-${two}`];
const apart = changeOf(file('src/a.ts', [[`-${one}`], [`-${two}`]]));
const kept = changeOf(file('src/a.ts', [[`-${one}`, ' kept', `-${two}`]]));
const [lines, other] = [`${one}\n${two}`, 'only in the other file'];
const [b, d] = [file('src/b.ts', []), file('src/d.ts', [])];
const load = LOAD.split('\n')[0] ?? '';
const noFiles = { 'src/a.ts': '' };

it.each<[string, string, Change, Files, string]>([
  ['at the top of a file', one, changeOf(file('src/a.ts', [top])), noFiles, 'exact null'],
  ['of a removed file', two, changeOf(file('src/a.ts', [top], { isRemoved: true })), {}, 'exact null'],
  ['over two hunks', lines, apart, {}, 'unproven'],
  ['over a kept line', lines, kept, {}, 'unproven'],
  ['that the change keeps, and the file has not', load, CHANGE, noFiles, 'unproven'],
  ['in one other changed file', other, changeOf(b), FILES, 'moved src/b.ts 1'],
  ['in two other changed files', other, changeOf(b, d), { ...FILES, 'src/d.ts': B }, 'unproven'],
])('a line %s', async (_, quote, change, files, expected) => {
  expect(await ground({ quote }, change, files)).toBe(expected);
});

it('behind what a run looks at, findings are unproven', async () => {
  const many = Array.from({ length: 201 }, () => makeClaim({ quote: LAST }));
  const found = await groundFindings(many, sourcesOf(FILES), changeOf());
  expect(found.slice(-2).map(({ grounding }) => grounding)).toEqual(['exact', 'unproven']);
  const names = Array.from({ length: 10 }, (_, at) => `${at}.ts`);
  const sources = (text: string, others = text) =>
    sourcesOf(Object.fromEntries(names.map((name, at) => [name, at === 0 ? text : others])));
  const [large, blank] = ['a', ' '].map((each) => `${each.repeat(1_000_000)}\n${LAST}`);
  // A file of blanks costs as much as any other.
  for (const text of [large, blank]) {
    const claims = names.map((path) => makeClaim({ path, quote: LAST }));
    const all = await groundFindings(claims, sources(text ?? ''), changeOf());
    const expected = names.map((_, at) => (at < 8 ? 'exact' : 'unproven'));
    expect(all.map(({ grounding }) => grounding)).toEqual(expected);
  }
  // A file that is not read may have the text, too.
  for (const [count, expected] of [
    [8, 'moved'],
    [10, 'unproven'],
  ] as const) {
    const change = changeOf(...names.slice(0, count).map((name) => file(name, [])));
    const claim = makeClaim({ path: null, quote: LAST });
    const [only] = await groundFindings([claim], sources(large ?? '', 'a'.repeat(1e6)), change);
    expect(only?.grounding).toBe(expected);
  }
});

const numRuns = Number(process.env['FUZZ_RUNS'] ?? 300);

/** Pieces of lines, among them those of diffs, line numbers, blanks and control characters. */
const piece = fc.oneof(
  fc.constantFrom('a', 'b', 'foo', ' ', '  ', '\t', '+', '-', '12:', '3\t', '7 | ', '}'),
  fc.constantFrom('\r', '\0', '\ufffd'),
  fc.constantFrom('é', 'e\u0301', '\u212b', '한', '\u1112\u1161\u11ab', '\ufeff', '\u2028', '\ud800'),
  fc.string({ unit: 'grapheme', maxLength: 4 }).map((text) => text.replaceAll('\n', '')),
);
const anyLine = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(''));
/** Files with few different lines, so that lines and runs of them are there more than once. */
const anyFile = fc
  .array(anyLine, { minLength: 1, maxLength: 5 })
  .chain((kinds) => fc.array(fc.constantFrom(...kinds), { minLength: 1, maxLength: 30 }));

/** What copying makes of a line, given its number. */
const COPIES: Readonly<Record<string, (line: string, number: number) => string>> = {
  'as it is': (text) => text,
  'with a diff mark': (text) => `+${text}`,
  'with the mark of a removed line': (text) => `-${text}`,
  'with a line number and a tab': (text, number) => `${String(number).padStart(6)}\t${text}`,
  'with a line number and a colon': (text, number) => `${number}:${text}`,
  'with a line number and a bar': (text, number) => `${number} | ${text}`,
  'with a line number and a diff mark': (text, number) => `${number}\t+${text}`,
  'with CRLF': (text) => `${text}\r`,
  'with blanks behind': (text) => `${text} \t`,
  'with other blanks': (text) => text.replace(/[ \t]+/g, ' \t '),
  'without indentation': (text) => text.trimStart(),
};

const count = fc.integer({ min: 1, max: 10 });
/** Some lines of a file, of which each is made unique or has letters enough, and the index of the first one. */
const taken = (make: (text: string, at: number) => string) =>
  fc.tuple(anyFile, fc.nat(), count).map(([kinds, from, length]) => {
    const first = from % kinds.length;
    const lines = kinds.map(make);
    return { lines, first, quoted: lines.slice(first, first + length) };
  });
const unique = taken((text, at) => `${text}unique00${at}end`);
const table = { lines: ['|unique000end'], first: 0, quoted: ['|unique000end'] };

it.each(Object.entries(COPIES))(
  'lines are found at their line, elsewhere and when removed: %s',
  async (_, copy) => {
    const ending = fc.constantFrom('\n', '\r\n');
    const property = fc.asyncProperty(unique, ending, async ({ lines, first, quoted }, end) => {
      const quote = quoted.map((text, at) => copy(text, first + at + 1)).join('\n');
      fc.pre(quote.length <= 1_000);
      const files = sourcesOf({ 'src/a.ts': lines.join(end), 'src/b.ts': 'nothing\n' });
      const [found] = await groundFindings([makeClaim({ quote, line: 999 })], files, changeOf());
      expect(found).toMatchObject({ grounding: 'exact', line: first + 1, lineWas: 999 });
      const change = changeOf(file('src/a.ts', [['+x']]), file('src/b.ts', []));
      const elsewhere = makeClaim({ path: 'src/b.ts', quote });
      const [moved] = await groundFindings([elsewhere], files, change);
      expect(moved).toMatchObject({ grounding: 'moved', path: 'src/a.ts', line: first + 1 });
      const removed = changeOf(file('src/a.ts', [lines.map((text) => `-${text.replace(/\r$/u, '')}`)]));
      const [gone] = await groundFindings([elsewhere], sourcesOf({}), removed);
      expect(gone).toMatchObject({ grounding: 'moved', path: 'src/a.ts' });
    });
    // Such as a row of a Markdown table.
    await fc.assert(property, { numRuns, examples: [[table, '\n']] });
  },
);

it('lines are found at their line, even if they are there more than once', async () => {
  const property = fc.asyncProperty(
    taken((text) => `${text}12345678`),
    async ({ lines, first, quoted }) => {
      const quote = quoted.join('\n');
      fc.pre(quote.length <= 1_000);
      const claim = makeClaim({ quote, line: first + 1 });
      const [found] = await groundFindings([claim], sourcesOf({ 'src/a.ts': lines.join('\n') }), changeOf());
      expect(found).toMatchObject({ grounding: 'exact', line: first + 1, lineWas: null });
    },
  );
  await fc.assert(property, { numRuns });
});

it('a proven quote is in the file', async () => {
  // The simplest way to compare: without blanks, marks and numbers, which all ways of copying add or change.
  const reduce = (text: string) => text.replace(/[\s+\-:|\d]/g, '');
  const property = fc.asyncProperty(anyFile, anyFile, anyFile, async (kinds, otherKinds, quoted) => {
    const [text = '', other = ''] = [kinds, otherKinds].map((each) => each.join('\n'));
    const quote = quoted.slice(0, 3).join('\n');
    fc.pre(quote.length <= 1_000);
    const files = sourcesOf({ 'src/a.ts': text, 'src/b.ts': other });
    const [found] = await groundFindings([makeClaim({ quote })], files, changeOf(file('src/b.ts', [])));
    if (found?.grounding === 'exact') expect(reduce(text)).toContain(reduce(quote));
    if (found?.grounding === 'moved') expect(reduce(other)).toContain(reduce(quote));
  });
  await fc.assert(property, { numRuns: numRuns * 5 });
});

it('a text that is nowhere is never proven', async () => {
  const property = fc.asyncProperty(unique, fc.nat(), async ({ lines, first, quoted }, place) => {
    const quote = quoted.toSpliced(place % (quoted.length + 1), 0, 'invented00line').join('\n');
    const change = changeOf(file('src/a.ts', [[` ${lines[0]}`, '-removed line 0']]));
    const claim = makeClaim({ quote, line: first + 1 });
    const [found] = await groundFindings([claim], sourcesOf({ 'src/a.ts': lines.join('\n') }), change);
    expect(found?.grounding).toBe('unproven');
  });
  await fc.assert(property, { numRuns });
});
