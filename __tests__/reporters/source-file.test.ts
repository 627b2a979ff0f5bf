import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sourceFile } from '../../src/reporters/source-file.ts';

/** The hash of each line by its definition: 100 characters from the line's start on, as one number modulo 2^64. */
function definition(text: string): string[] {
  const codes: number[] = [];
  const starts = [0];
  for (const each of text.replace(/[ \t]/g, '').replace(/\r\n?/g, '\n')) {
    for (let at = 0; at < each.length; at += 1) codes.push(each.charCodeAt(at));
    if (each === '\n') starts.push(codes.length);
  }
  codes.push(65_535);
  const seen = new Map<string, number>();
  return starts.map((start) => {
    let value = 0n;
    for (let at = start; at < start + 100; at += 1)
      value = BigInt.asUintN(64, value * 37n + BigInt(codes[at] ?? 0));
    const hex = value.toString(16);
    seen.set(hex, (seen.get(hex) ?? 0) + 1);
    return `${hex}:${seen.get(hex)}`;
  });
}

const hashes = (text: string, count: number) =>
  Array.from({ length: count }, (_, at) => sourceFile(text).uploadHash(at + 1));

describe('sourceFile', () => {
  it('counts lines as git does: a line end at the end begins no further line', () => {
    const counts = ['', '\n', 'a', 'a\n', 'a\r\nb', '\n\n', 'a\n\nb\n'].map(
      (text) => sourceFile(text).lineCount,
    );
    expect(counts).toEqual([0, 1, 1, 1, 2, 2, 3]);
  });

  it('gives lines without their ends, and nothing for lines that are not there', () => {
    const source = sourceFile('one\r\n two \nthree');
    expect([0, 1, 2, 3, 4, 9].map((number) => source.line(number))).toEqual([
      '',
      'one',
      ' two ',
      'three',
      '',
      '',
    ]);
  });

  it('tells equal lines apart by those above, blanks aside', () => {
    const source = sourceFile('a();\nb();\n  a();\na ();\n');
    expect([1, 2, 3, 4, 5].map((number) => source.sameAbove(number))).toEqual([0, 0, 1, 2, 0]);
  });

  it('has the hash that upload-sarif calculates', () => {
    // What github/codeql-action expects of itself for these texts.
    expect(hashes('', 1)).toEqual(['c129715d7a2bc9a3:1']);
    expect(hashes('Lorem ipsum dolor sit amet.\n'.repeat(10), 11)).toEqual([
      ...[1, 2, 3, 4, 5, 6].map((count) => `a7f2ff13bc495cf2:${count}`),
      'a7f2ff1481e87703:1',
      'a9cf91f7bbf1862b:1',
      '55ec222b86bcae53:1',
      'cc97dc7b1d7d8f7b:1',
      'c129715d7a2bc9a3:1',
    ]);
  });

  it('has the hash by its definition for any text', () => {
    const piece = fc.oneof(
      fc.constantFrom('\n', '\r', '\r\n', ' ', '\t', 'x', 'return 0;\n', '\uffff', '😀'),
      fc.string({ unit: 'binary', maxLength: 40 }),
    );
    const text = fc.array(piece, { maxLength: 60 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, (each) => {
        // A line end that blanks stand in is one for us both; the definition joins what the blanks parted.
        const joined = each.replace(/\r[ \t]+\n/g, '\r\n');
        const expected = definition(joined);
        expect(hashes(joined, expected.length + 1)).toEqual([...expected, null]);
      }),
      { numRuns: 300 },
    );
  });

  it('keeps a line’s hash when lines come above it or it is indented', () => {
    const text = 'function f() {\nreturn 1;\n}\n';
    expect(sourceFile(`// new\n\n  ${text}`).uploadHash(4)).toBe(sourceFile(text).uploadHash(2));
  });
});
