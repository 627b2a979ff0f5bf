/** Whatever a file holds: its lines are found again, however they are copied, and nothing else ever is. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { groundFindings } from '../../src/evidence/grounding.ts';
import { changeOf, file as fileOf, makeClaim, sourcesOf } from './files.ts';

const numRuns = Number(process.env['FUZZ_RUNS'] ?? 300);

/** Pieces of lines, among them those of diffs, line numbers, blanks and control characters. */
const piece = fc.oneof(
  fc.constantFrom('a', 'b', 'foo', ' ', '  ', '\t', '+', '-', '12:', '3\t', '7 | ', '}'),
  fc.constantFrom('\r', '\0', '\ufffd'),
  fc.constantFrom('é', 'e\u0301', '\u212b', '한', '\u1112\u1161\u11ab', '\ufeff', '\u2028', '\ud800'),
  fc.string({ unit: 'grapheme', maxLength: 4 }).map((text) => text.replaceAll('\n', '')),
);
const line = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(''));
/** Files with few different lines, so that lines and runs of them are there more than once. */
const file = fc
  .array(line, { minLength: 1, maxLength: 5 })
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

/** Letters and digits that make any quote long enough and, with the number of the line, each line unique. */
const unique = (lines: readonly string[]) => lines.map((text, at) => `${text}unique00${at}end`);

describe('lines are found at their line, in another file, and among removed ones', () => {
  const count = fc.integer({ min: 1, max: 10 });
  const ending = fc.constantFrom('\n', '\r\n');
  it.each(Object.entries(COPIES))('%s', async (_, copy) => {
    const property = fc.asyncProperty(file, fc.nat(), count, ending, async (kinds, from, length, end) => {
      const lines = unique(kinds);
      const first = from % lines.length;
      const quoted = lines.slice(first, first + length);
      const quote = quoted.map((text, at) => copy(text, first + at + 1)).join('\n');
      fc.pre(quote.length <= 1_000);
      const files = sourcesOf({ 'src/a.ts': lines.join(end), 'src/b.ts': 'nothing\n' });
      const [found] = await groundFindings([makeClaim({ quote, line: 999 })], files, null);
      expect(found).toMatchObject({ status: 'exact', line: first + 1, lineWas: 999 });
      const change = changeOf(fileOf('src/a.ts', [['+x']]), fileOf('src/b.ts', []));
      const elsewhere = makeClaim({ path: 'src/b.ts', quote });
      const [moved] = await groundFindings([elsewhere], files, change);
      expect(moved).toMatchObject({ status: 'moved', path: 'src/a.ts', line: first + 1 });
      const removed = changeOf(fileOf('src/a.ts', [lines.map((text) => `-${text.replace(/\r$/u, '')}`)]));
      const [gone] = await groundFindings([elsewhere], sourcesOf({}), removed);
      expect(gone).toMatchObject({ status: 'moved', path: 'src/a.ts' });
    });
    // Such as a row of a Markdown table.
    await fc.assert(property, { numRuns, examples: [[['|'], 0, 1, '\n']] });
  });

  it('even if they are there more than once', async () => {
    const property = fc.asyncProperty(file, fc.nat(), count, async (kinds, from, length) => {
      const lines = kinds.map((text) => `${text}12345678`);
      const first = from % lines.length;
      const quote = lines.slice(first, first + length).join('\n');
      fc.pre(quote.length <= 1_000);
      const claim = makeClaim({ quote, line: first + 1 });
      const [found] = await groundFindings([claim], sourcesOf({ 'src/a.ts': lines.join('\n') }), null);
      expect(found).toMatchObject({ status: 'exact', line: first + 1, lineWas: null });
    });
    await fc.assert(property, { numRuns });
  });
});

it('a proven quote is in the file', async () => {
  // The simplest way to compare: without blanks, marks and numbers, which all ways of copying add or change.
  const reduce = (text: string) => text.replace(/[\s+\-:|\d]/g, '');
  const property = fc.asyncProperty(file, file, file, async (kinds, otherKinds, quoted) => {
    const [text = '', other = ''] = [kinds, otherKinds].map((each) => each.join('\n'));
    const quote = quoted.slice(0, 3).join('\n');
    fc.pre(quote.length <= 1_000);
    const files = sourcesOf({ 'src/a.ts': text, 'src/b.ts': other });
    const [found] = await groundFindings([makeClaim({ quote })], files, changeOf(fileOf('src/b.ts', [])));
    if (found?.status === 'exact') expect(reduce(text)).toContain(reduce(quote));
    if (found?.status === 'moved') expect(reduce(other)).toContain(reduce(quote));
  });
  await fc.assert(property, { numRuns: numRuns * 5 });
});

it('a text that is nowhere is never proven', async () => {
  const count = fc.integer({ min: 1, max: 9 });
  const property = fc.asyncProperty(file, fc.nat(), count, fc.nat(), async (kinds, from, length, place) => {
    const lines = unique(kinds);
    const first = from % lines.length;
    const quoted = lines.slice(first, first + length);
    quoted.splice(place % (quoted.length + 1), 0, 'invented00line');
    const change = changeOf(fileOf('src/a.ts', [[` ${lines[0]}`, '-removed line 0']]));
    const claim = makeClaim({ quote: quoted.join('\n'), line: first + 1 });
    const [found] = await groundFindings([claim], sourcesOf({ 'src/a.ts': lines.join('\n') }), change);
    expect(found?.status).toBe('unproven');
  });
  await fc.assert(property, { numRuns });
});
