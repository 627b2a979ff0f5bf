/** Which findings are proven by what they quote, and where. */
import { describe, expect, it } from 'vitest';
import type { Change } from '../../src/evidence/change.ts';
import { type Claim, readClaim } from '../../src/evidence/claims.ts';
import {
  countGrounding,
  type Grounded,
  groundFindings,
  groundingIssue,
} from '../../src/evidence/grounding.ts';
import { changeOf, filesOf, makeClaim } from './files.ts';

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
  'const caf\u00e9 = "naïve  text";',
  '+ const added = "in a list";',
  '',
  'const last = load("last.json");', // 15
  '',
].join('\n');
const B = 'only in the other file\nexport const shared = 12345678;\n';
const C = 'never changed, never shown at all\n';
const FILES = { 'src/a.ts': A, 'src/b.ts': B, 'src/c.ts': C };
/** Line 9 of `src/a.ts` was added, and two lines above line 15 were removed. */
const CHANGE = changeOf({
  'src/a.ts': `@@ -8,3 +8,4 @@
 export async function store(path: string) {
+  const text = await readFile(path, "utf8");
   return JSON.parse(text);
 }
@@ -13,4 +14,2 @@
 
-const gone = load("gone.json");
-const alsoGone = load("also.json");
 const last = load("last.json");
`,
  'src/b.ts': '@@ -0,0 +1,2 @@\n+only in the other file\n+export const shared = 12345678;\n',
});

async function ground(claim: Partial<Claim>, change: Change | null = CHANGE): Promise<Grounded> {
  const [grounded] = await groundFindings([makeClaim(claim)], filesOf(FILES), change);
  if (grounded === undefined) throw new Error('There is no result.');
  return grounded;
}

/** A finding, and its status, its line or lines, the line that it had, and its label. */
const CASES: readonly (readonly [string, Partial<Claim>, string])[] = [
  ['at its line', { quote: 'import { readFile } from "node:fs/promises";', line: 1 }, 'exact 1 - same_file'],
  ['without a line', { quote: 'const last = load("last.json");' }, 'exact 15 - near'],
  ['at another line', { quote: 'const last = load("last.json");', line: 3 }, 'exact 15 was 3 near'],
  [
    'at a line that does not exist',
    { quote: 'const last = load("last.json");', line: 999 },
    'exact 15 was 999 near',
  ],
  [
    'in a claimed range',
    { quote: 'const last = load("last.json");', line: 12, endLine: 20 },
    'exact 15 - near',
  ],
  [
    'with a line inside the quote',
    {
      quote: 'export async function load(path: string) {\n  const text = await readFile(path, "utf8");',
      line: 4,
    },
    'exact 4 - same_file',
  ],
  [
    'several lines',
    { quote: 'export async function load(path: string) {\n  const text = await readFile(path, "utf8");' },
    'exact 3-4 - same_file',
  ],
  [
    'a range within the quote',
    {
      quote:
        'export async function load(path: string) {\n  const text = await readFile(path, "utf8");\n  return JSON.parse(text);',
      line: 3,
      endLine: 40,
    },
    'exact 3-5 - same_file',
  ],
  ['blank lines around', { quote: '\n \nconst last = load("last.json");\n\n' }, 'exact 15 - near'],
  [
    'indentation left out',
    { quote: 'export async function load(path: string) {\nconst text = await readFile(path, "utf8");' },
    'exact 3-4 - same_file',
  ],
  [
    'CRLF',
    {
      quote: 'export async function load(path: string) {\r\n  const text = await readFile(path, "utf8");\r\n',
    },
    'exact 3-4 - same_file',
  ],
  ['decomposed, with other blanks', { quote: 'const cafe\u0301 =\t"nai\u0308ve text"; ' }, 'exact 12 - near'],
  ['a diff mark', { quote: '-const last = load("last.json");' }, 'exact 15 - near'],
  [
    'diff marks on all lines',
    { quote: ' export async function store(path: string) {\n+  const text = await readFile(path, "utf8");' },
    'exact 8-9 - in_change',
  ],
  [
    'a diff mark on one line of two',
    { quote: 'export async function store(path: string) {\n+  const text = await readFile(path, "utf8");' },
    'ungrounded',
  ],
  [
    'line numbers',
    {
      quote:
        '     3\texport async function load(path: string) {\n     4\t  const text = await readFile(path, "utf8");',
    },
    'exact 3-4 - same_file',
  ],
  ['a line number and a colon', { quote: '15:const last = load("last.json");' }, 'exact 15 - near'],
  ['a line number and a bar', { quote: ' 15 | const last = load("last.json");' }, 'exact 15 - near'],
  ['a line number and a diff mark', { quote: '15\t+const last = load("last.json");' }, 'exact 15 - near'],
  ['a line that has a mark itself', { quote: '+ const added = "in a list";' }, 'exact 13 - near'],
  [
    'at two places, of which one is claimed',
    { quote: '  return JSON.parse(text);', line: 5 },
    'exact 5 - same_file',
  ],
  [
    'at two places, of which one is in a hunk',
    { quote: '  return JSON.parse(text);', line: 1 },
    'exact 10 was 1 near',
  ],
  ['a fragment', { quote: 'import { readFile } from' }, 'exact 1 - same_file'],
  ['a fragment that is there twice', { quote: 'text = await readFile(path', line: 4 }, 'ambiguous'],
  ['a short fragment', { quote: 'load("last.json")' }, 'ungrounded'],
  ['a short line', { quote: '}' }, 'unproven'],
  ['short lines', { quote: '}\n\nexport' }, 'unproven'],
  ['no quote', { line: 4 }, 'unproven'],
  ['another case of letters', { quote: 'CONST LAST = load("last.json");' }, 'ungrounded'],
  [
    'lines that are not consecutive',
    { quote: '  const text = await readFile(path, "utf8");\n}' },
    'ungrounded',
  ],
  [
    'an omission',
    { quote: 'export async function load(path: string) {\n  ...\n  return JSON.parse(text);' },
    'ungrounded',
  ],
  ['an invented line', { quote: 'const last = load("first.json");', line: 15 }, 'ungrounded'],
  [
    'a removed line by its old number',
    { quote: 'const gone = load("gone.json");', line: 14 },
    'exact 14 - in_change',
  ],
  [
    'a removed line by a wrong number',
    { quote: '-const gone = load("gone.json");', line: 3 },
    'exact 14 was 3 in_change',
  ],
  [
    'removed and kept lines',
    { quote: 'const alsoGone = load("also.json");\nconst last = load("last.json");' },
    'exact 14 - in_change',
  ],
  [
    'in the other changed file',
    { quote: 'only in the other file', line: 7 },
    'moved src/b.ts 1 was 7 in_change',
  ],
  ['in a file that did not change', { quote: 'never changed, never shown at all' }, 'ungrounded'],
  ['no such file', { path: null, quote: 'export const shared = 12345678;' }, 'moved src/b.ts 2 - in_change'],
  ['no such file, no such text', { path: null, quote: 'export const shared = 87654321;' }, 'ungrounded'],
  [
    'a file that did not change',
    { path: 'src/c.ts', quote: 'never changed, never shown at all' },
    'exact src/c.ts 1 - elsewhere',
  ],
  [
    'a file that cannot be read',
    { path: 'build/a.js', quote: 'const last = load("first.json");' },
    'unproven',
  ],
  ['about no file', { path: null, namesFile: false, quote: 'const last = load("last.json");' }, 'exempt'],
  [
    'more than ten lines, of which the first are there',
    { quote: `${A.split('\n').slice(2, 12).join('\n')}\nand so on` },
    'exact 3-12 - in_change',
  ],
  [
    'a missing file that exists',
    { path: null, namesFile: false, missing: { path: 'src/b.ts', text: null } },
    'refuted',
  ],
  ['a missing file', { missing: { path: 'test/b.ts', text: null } }, 'unproven'],
  [
    'a missing file, and a quote',
    { missing: { path: 'test/b.ts', text: null }, quote: 'const last = load("last.json");' },
    'exact 15 - near',
  ],
  ['a missing text that is there', { missing: { path: null, text: 'JSON.parse' } }, 'refuted at 5,10'],
  ['a missing text in another file', { missing: { path: 'src/b.ts', text: 'other  file' } }, 'refuted at 1'],
  [
    'a missing text of two lines',
    { missing: { path: null, text: '}\n\nexport async function store' } },
    'refuted at 6',
  ],
  ['a missing word that is part of another', { missing: { path: null, text: 'fil' } }, 'unproven'],
  [
    'a missing text in a changed file',
    { path: null, namesFile: false, missing: { path: null, text: 'shared' } },
    'refuted at 2',
  ],
];

function describeGrounded({ path, line, endLine, lineWas, status, label, lines }: Grounded): string {
  const at = lines.length > 0 && status === 'refuted' ? ` at ${lines.join(',')}` : '';
  if (status !== 'exact' && status !== 'moved') return `${status ?? 'exempt'}${at}`;
  const file = path === 'src/a.ts' ? '' : `${path} `;
  return `${status} ${file}${line}${endLine === null ? '' : `-${endLine}`} ${lineWas === null ? '-' : `was ${lineWas}`} ${label}`;
}

describe('a finding with', () => {
  it.each(CASES)('%s', async (_, claim, expected) => {
    expect(describeGrounded(await ground(claim))).toBe(expected);
  });
});

describe('the lines exactly as quoted', () => {
  it('come before those that differ in blanks', async () => {
    const files = filesOf({ 'src/a.ts': '\tcall(first, second);\ncall(first, second);\n' });
    const [grounded] = await groundFindings([makeClaim({ quote: 'call(first, second);' })], files, null);
    expect(grounded).toMatchObject({ status: 'exact', line: 2, label: null });
  });
});

it('a renamed file has its removed lines under both names', async () => {
  const change = changeOf(
    { 'src/a.ts': '@@ -1 +0,0 @@\n-const old = "old name";\n' },
    { previous: 'src/old.ts' },
  );
  const grounded = await ground({ path: 'src/old.ts', quote: 'const old = "old name";' }, change);
  expect(grounded).toMatchObject({ status: 'exact', path: 'src/a.ts', line: null, label: 'in_change' });
});

it('what is not in a removed file is ungrounded', async () => {
  const change = changeOf(
    { 'src/gone.ts': '@@ -1,2 +0,0 @@\n-const one = "first";\n-two\n' },
    { isRemoved: true },
  );
  const find = (quote: string) => ground({ path: 'src/gone.ts', quote }, change);
  expect(await find('const one = "first";')).toMatchObject({ status: 'exact', line: null, lineWas: null });
  expect(await find('const one = "other";')).toMatchObject({ status: 'ungrounded' });
});

it('a quote does not reach from the end of one hunk to the next', async () => {
  const change = changeOf({
    'src/a.ts': '@@ -1 +0,0 @@\n-const one = "first";\n@@ -50 +48,0 @@\n-const two = "second";\n',
  });
  expect(await ground({ quote: 'const one = "first";\nconst two = "second";' }, change)).toMatchObject({
    status: 'ungrounded',
  });
});

it('a text at two places of other changed files is not moved', async () => {
  const files = filesOf({ 'src/a.ts': '', 'src/b.ts': B, 'src/d.ts': B });
  const change = changeOf({ 'src/b.ts': '', 'src/d.ts': '' });
  const [grounded] = await groundFindings([makeClaim({ quote: 'only in the other file' })], files, change);
  expect(grounded?.status).toBe('ungrounded');
});

describe('a secret', () => {
  const files = filesOf({ 'src/a.ts': 'x\nkey = hunter2-end\nkey = hunter2-\nmore\nend\n' });
  it.each([
    [{ line: 2 }, 'exact'],
    [{ line: 1 }, 'unproven'],
    [{ line: null }, 'unproven'],
    [{ line: 9 }, 'unproven'],
    [{ line: 3 }, 'unproven'],
    [{ line: 3, endLine: 5 }, 'exact'],
    [{ line: 1, quote: 'key = hunter2-end' }, 'unproven'],
    [{ line: 2, path: 'src/b.ts' }, 'unproven'],
  ])('of %o is %s', async (claim, status) => {
    const [grounded] = await groundFindings([makeClaim({ ...claim, isSecret: true })], files, null);
    expect(grounded).toMatchObject({ status, line: claim.line });
  });
});

describe('the issue of a finding', () => {
  it.each([
    [
      { quote: 'const never = "there";' },
      '/quote',
      'is not in src/a.ts; copy whole lines as they are in the file, without omissions.',
    ],
    [{ quote: '  const text = await readFile(path, "utf8");' }, null, null],
    [
      { quote: 'text = await readFile(path' },
      '/quote',
      'stands at lines 4, 9 of src/a.ts; quote one line more.',
    ],
    [{ missing: { path: 'src/b.ts', text: null } }, '/missing/path', 'src/b.ts exists.'],
    [{ missing: { path: null, text: 'store' } }, '/missing/text', 'is in src/a.ts, at line 8.'],
    [{}, null, null],
  ])('%o', async (claim, path, message) => {
    const issue = groundingIssue('/findings/3', makeClaim(claim), await ground(claim));
    expect(issue?.path ?? null).toBe(path === null ? null : `/findings/3${path}`);
    expect(issue?.message ?? null).toBe(message);
  });

  it('of lines at many places names five', async () => {
    const files = filesOf({ 'src/a.ts': 'same line of code\n'.repeat(10) });
    const claim = makeClaim({ quote: 'same line of code' });
    const [grounded] = await groundFindings([claim], files, null);
    expect(grounded && groundingIssue('', claim, grounded)?.message).toContain('at lines 1, 2, 3, 4, 5 of');
  });
});

it('counts by status', async () => {
  const all = await groundFindings(
    CASES.map(([, claim]) => makeClaim(claim)),
    filesOf(FILES),
    CHANGE,
  );
  const counts = countGrounding(all);
  expect(all).toHaveLength(CASES.length);
  for (const status of ['exact', 'moved', 'unproven', 'ambiguous', 'ungrounded', 'refuted'] as const)
    expect([status, counts[status]]).toEqual([
      status,
      CASES.filter(([, , expected]) => expected.split(' ')[0] === status).length,
    ]);
  expect(counts.corrected_lines).toBe(
    CASES.filter(([, , expected]) => /^exact.* was /.test(expected)).length,
  );
});

it('reads a row', () => {
  const place = { path: 'a', line: 3, endLine: 2 };
  const row = { quote: ' ', missing: { path: '', text: 't' }, category: 'secret' };
  const missing = { path: null, text: 't' };
  expect(readClaim(row, place)).toEqual(makeClaim({ path: 'a', line: 3, missing, isSecret: true }));
  const other = { quote: 'q\n', missing: {}, category: 'other' };
  expect(readClaim(other, null)).toEqual(makeClaim({ path: null, namesFile: false, quote: 'q\n' }));
});
