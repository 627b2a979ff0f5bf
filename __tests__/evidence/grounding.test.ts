/**
 * Which findings are proven by what they quote, and where. Whatever a file holds: its lines are found again, however they are
 * copied, and nothing else ever is.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Change } from '../../src/evidence/change.ts';
import { type Claim, groundFindings } from '../../src/evidence/grounding.ts';
import { changeOf, file } from './files.ts';

/** Lines that are there twice, behind the first line of the function. */
const BODY = ['  const text = await readFile(path, "utf8");', '  return JSON.parse(text);', '}', ''];
const LOAD = 'export async function load(path: string) {';
const LAST = 'const last = load("last.json");';
const A = [
  ...['import { readFile } from "node:fs/promises";', '', LOAD, ...BODY],
  ...['export async function store(path: string) {', ...BODY],
  ...['+ const added = "in a list";', '', LAST, 'return JSON.parse(text);'],
].join('\n');
const B = 'only in the other file\nexport const shared = 12345678;\n';
const C = 'never changed, never shown at all\n';
const LONG = Array.from({ length: 60 }, (_, at) => `word${at}`).join(' ');
const FILES = { 'src/a.ts': A, 'src/b.ts': B, 'src/c.ts': C, 'src/long.ts': LONG };
const [GONE, ALSO] = ['const gone = load("gone.json");', 'const alsoGone = load("also.json");'];
const REMOVED = `-${GONE}\n-${ALSO}`;
/** Line 1 of `src/a.ts` was added, and two lines above line 3 were removed. */
const CHANGE = changeOf(
  file('src/a.ts', `+import { readFile } from "node:fs/promises";\n \n${REMOVED}\n ${LOAD}`),
  file('src/b.ts', '+only in the other file\n+export const shared = 12345678;'),
);
const [TEXT = ''] = BODY;

type Files = Readonly<Record<string, string>>;

/** Looks claims up about `src/a.ts`, if they name no other file, in files as they were before the agent. */
function groundAll(claims: readonly Partial<Claim>[], files: Files, change: Change) {
  const whole = claims.map((claim) => ({ path: 'src/a.ts', line: null, quote: null, ...claim }));
  return groundFindings(whole, (name) => files[name] ?? null, change);
}

const [b, d] = [file('src/b.ts'), file('src/d.ts')];
const gone = changeOf(file('src/a.ts', REMOVED));
const apart = changeOf(file('src/a.ts', `-${GONE}`, `-${ALSO}`));
const kept = changeOf(file('src/a.ts', `-${GONE}\n kept\n-${ALSO}`));
const without = { 'src/a.ts': '' };
const x1001 = 'x'.repeat(1_001);

/** Ways to copy lines, and to invent them, are below. Each with its status, its line, and the line that it had. */
it.each<[string, Partial<Claim>, string, Change?, Files?]>([
  ['at its line', { quote: 'import { readFile } from "node:fs/promises";', line: 1 }, 'exact 1'],
  ['at another line', { quote: LAST, line: 3 }, 'exact 15 was 3'],
  ['with a line inside the quote', { quote: `${LOAD}\n${TEXT}`, line: 4 }, 'exact 4'],
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
  ['more than ten lines', { quote: A.split('\n').slice(2, 13).join('\n') }, 'unproven'],
  ['more than 1,000 characters', { quote: x1001 }, 'unproven', CHANGE, { 'src/a.ts': x1001 }],
  ['in the other changed file', { quote: 'only in the other file', line: 7 }, 'moved src/b.ts 1 was 7'],
  ['in two other changed files', { quote: B }, 'unproven', changeOf(b, d), { 'src/b.ts': B, 'src/d.ts': B }],
  ['in a file that did not change', { quote: C }, 'unproven'],
  ['a file that did not change', { path: 'src/c.ts', quote: C }, 'exact src/c.ts 1'],
  ['a removed line', { quote: GONE, line: 2 }, 'exact 2'],
  ['two removed lines', { quote: `${GONE}\n${ALSO}` }, 'exact 2'],
  ['removed and kept lines', { quote: `${ALSO}\n${LOAD}` }, 'unproven'],
  ['removed lines of two hunks', { quote: `${GONE}\n${ALSO}` }, 'unproven', apart, without],
  ['removed lines around another', { quote: `${GONE}\n${ALSO}` }, 'unproven', kept, without],
  ['a line of a removed file', { quote: ALSO }, 'exact null', gone, {}],
  ['a line that the change keeps, and the file has not', { quote: LOAD }, 'unproven', CHANGE, without],
])('a finding with %s', async (_, claim, expected, change = CHANGE, files = FILES) => {
  const [found] = await groundAll([claim], files, change);
  const { path, line, lineWas, grounding } = found ?? {};
  const [at, was] = [path === 'src/a.ts' ? '' : ` ${path}`, lineWas === null ? '' : ` was ${lineWas}`];
  expect(grounding === 'unproven' ? grounding : `${grounding}${at} ${line}${was}`).toBe(expected);
});

it('behind what a run looks at, findings are unproven', async () => {
  const statuses = async (...given: Parameters<typeof groundAll>) =>
    (await groundAll(...given)).map(({ grounding }) => grounding);
  const many = Array.from({ length: 201 }, () => ({ quote: LAST }));
  expect((await statuses(many, FILES, changeOf())).slice(-2)).toEqual(['exact', 'unproven']);
  const names = Array.from({ length: 10 }, (_, at) => `${at}.ts`);
  const fill = (text: string) => Object.fromEntries(names.map((name) => [name, text]));
  const claims = names.map((path) => ({ path, quote: LAST }));
  const expected = names.map((_, at) => (at < 8 ? 'exact' : 'unproven'));
  // A file of blanks costs as much as any other.
  for (const each of ['a', ' '])
    expect(await statuses(claims, fill(`${each.repeat(1e6)}\n${LAST}`), changeOf())).toEqual(expected);
  // A file that is not read may have the text, too.
  const files = { ...fill('a'.repeat(1e6)), '0.ts': LAST };
  const changed = (count: number) => changeOf(...names.slice(0, count).map((name) => file(name)));
  const only = [{ path: null, quote: LAST }];
  expect(await statuses(only, files, changed(8))).toEqual(['moved']);
  expect(await statuses(only, files, changed(10))).toEqual(['unproven']);
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
  'with blanks behind': (text) => `${text} \t`,
  'with other blanks': (text) => text.replace(/[ \t]+/g, ' \t '),
  'without indentation': (text) => text.trimStart(),
};

/** Some lines of a file, each made unique, and the index of the first one. */
const anyQuoted = fc
  .tuple(anyFile, fc.nat(), fc.integer({ min: 1, max: 10 }))
  .map(([kinds, from, length]) => {
    const lines = kinds.map((text, at) => `${text}unique00${at}end`);
    const first = from % lines.length;
    return { lines, first, quoted: lines.slice(first, first + length) };
  });
const table = { lines: ['|unique000end'], first: 0, quoted: ['|unique000end'] };

it.each(Object.entries(COPIES))('lines are found, also elsewhere and removed: %s', async (_, copy) => {
  const ending = fc.constantFrom('\n', '\r\n');
  const property = fc.asyncProperty(anyQuoted, ending, async ({ lines, first, quoted }, end) => {
    const quote = quoted.map((text, at) => copy(text, first + at + 1)).join('\n');
    fc.pre(quote.length <= 1_000);
    const files = { 'src/a.ts': lines.join(end), 'src/b.ts': 'nothing\n' };
    const change = changeOf(file('src/a.ts', '+x'), b);
    const exact = { grounding: 'exact', line: first + 1, lineWas: 999 };
    expect(await groundAll([{ quote, line: 999 }], files, change)).toMatchObject([exact]);
    const elsewhere = [{ quote, path: 'src/b.ts' }];
    const moved = { grounding: 'moved', path: 'src/a.ts', line: first + 1 };
    expect(await groundAll(elsewhere, files, change)).toMatchObject([moved]);
    const removed = file('src/a.ts', lines.map((text) => `-${text}`).join('\n'));
    expect(await groundAll(elsewhere, {}, changeOf(removed))).toMatchObject([{ ...moved, line: null }]);
  });
  // Such as a row of a Markdown table.
  await fc.assert(property, { numRuns, examples: [[table, '\n']] });
});

/** Some lines of a file with one that is in no file. */
const invented = fc.tuple(anyQuoted, fc.nat()).map(([{ lines, quoted }, place]) => ({
  lines,
  quoted: quoted.toSpliced(place % (quoted.length + 1), 0, 'invented00line'),
}));
const anyOther = fc.record({ lines: anyFile, quoted: anyFile.map((lines) => lines.slice(0, 3)) });

it.each([
  ['with any lines', anyOther, numRuns * 5],
  ['with an invented line', invented, numRuns],
])('a proven quote is in the file or among its removed lines: one %s', async (_, anyClaim, count) => {
  // The simplest way to compare: without blanks, marks and numbers, which all ways of copying add or change.
  const reduce = (lines: readonly string[]) => lines.join('\n').replace(/[\s+\-:|\d]/g, '');
  const property = fc.asyncProperty(anyClaim, anyFile, async ({ lines, quoted }, others) => {
    const quote = quoted.join('\n');
    fc.pre(quote.length <= 1_000);
    const change = changeOf(file('src/a.ts', ` ${lines[0]}\n-removed line 0`), b);
    const files = { 'src/a.ts': lines.join('\n'), 'src/b.ts': others.join('\n') };
    const [found] = await groundAll([{ quote, line: 1 }], files, change);
    const sources = { exact: [lines, ['removed line 0']], moved: [others], unproven: [quoted] };
    const texts = sources[found?.grounding ?? 'unproven'].map(reduce);
    expect(texts.some((text) => text.includes(reduce(quoted)))).toBe(true);
  });
  await fc.assert(property, { numRuns: count });
});
