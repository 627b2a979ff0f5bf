import { describe, expect, it } from 'vitest';
import { sourceFile } from '../../src/reporters/source-locations.ts';

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
});
