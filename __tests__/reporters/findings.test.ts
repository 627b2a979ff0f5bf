import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  bySeverity,
  locationOfRow,
  readFindings,
  securityScore,
  severityMark,
  severityOf,
} from '../../src/reporters/findings.ts';
import type { JsonObject } from '../../src/types.ts';

const bare = {
  ...{ severity: 'warning', securityScore: null, title: null, rule: null, isKind: false },
  list: 'findings',
};
const placeOf = (row: JsonObject) => locationOfRow(row)?.place ?? null;
type Line = number | null;
const at = (path: string, line: Line = null, endLine: Line = null, column: Line = null) => ({
  ...{ path, line, endLine, column },
});

describe('readFindings', () => {
  it('reads the rows of every preset', () => {
    const findings = readFindings({
      passed: false,
      summary: 's',
      failures: [
        { test: 'sum › adds', path: 'sum.test.js', line: 3, message: 'expected 3' },
        { test: 'boots' },
      ],
      findings: [
        { severity: 'note', message: 'No changelog.' },
        {
          ...{
            severity: 'high',
            category: 'injection',
            cwe: 'CWE-89',
            path: 'src/db.js',
            line: 4,
            end_line: 6,
          },
          ...{ title: 'SQL injection', message: 'The name is not escaped.' },
        },
      ],
    });
    expect(findings).toEqual([
      {
        ...{ severity: 'error', securityScore: 8, place: at('src/db.js', 4, 6), title: 'SQL injection' },
        ...{ message: 'The name is not escaped.', rule: 'injection', isKind: true, list: 'findings' },
      },
      {
        ...{ ...bare, severity: 'error', place: at('sum.test.js', 3), title: 'sum › adds' },
        ...{ message: 'expected 3', list: 'failures' },
      },
      { ...bare, severity: 'error', place: null, title: 'boots', message: 'boots', list: 'failures' },
      { ...bare, severity: 'note', place: null, message: 'No changelog.' },
    ]);
  });

  it('reads rows of any top-level list that have a text and a severity or a location', () => {
    const payload = {
      problems: [
        { title: 'a', file: 'x.js' },
        { message: 'b', severity: 'purple' },
        { message: 'neither' },
        { path: 'no-text.js', severity: 'high' },
        { message: '  ', title: '', path: 'blank.js' },
        { message: 4, path: 'number.js' },
        null,
        'text',
        [{ message: 'nested', path: 'y.js' }],
      ],
      deeper: { findings: [{ message: 'c', path: 'z.js' }] },
      findings: 'none',
    };
    expect(readFindings(payload).map(({ message, severity, list }) => [message, severity, list])).toEqual([
      ['a', 'warning', 'problems'],
      ['b', 'warning', 'problems'],
    ]);
  });

  it('sorts by severity, then `findings` first, then in payload order', () => {
    const rows = (name: string) =>
      ['low', 'medium', 'high', 'critical'].map((severity) => ({ severity, message: `${name} ${severity}` }));
    const order = readFindings({ others: rows('o'), findings: rows('f') }).map(({ message }) => message);
    const wanted = 'f critical, o critical, f high, o high, f medium, o medium, f low, o low';
    expect(order).toEqual(wanted.split(', '));
  });

  it('reads only own properties', () => {
    const payload: JsonObject = JSON.parse(
      '{"__proto__":[{"message":"m","__proto__":{"path":"x"},"severity":"note"}],"constructor":[{"message":"n","path":"y"}]}',
    );
    expect(readFindings(payload).map(({ message, place }) => [message, place])).toEqual([
      ['n', at('y')],
      ['m', null],
    ]);
  });

  it('gives every finding a text, a known severity and a valid location, for any payload', () => {
    const key = fc.constantFrom(...'message title severity path file line location rule x'.split(' '));
    const value = fc.oneof(fc.jsonValue(), fc.constantFrom('high', 'a.js:3', 'a.js', 3, '5-9'));
    const row = fc.dictionary(key, value);
    const payload = fc.dictionary(fc.constantFrom('findings', 'failures', 'other'), fc.array(row));
    fc.assert(
      fc.property(payload, (each) => {
        for (const finding of readFindings(JSON.parse(JSON.stringify(each)))) {
          expect(finding.message.trim()).not.toBe('');
          expect(['error', 'warning', 'note']).toContain(finding.severity);
          const { place } = finding;
          if (place === null) continue;
          expect(place.path).not.toMatch(/^$|\p{Cc}/u);
          const numbers = [place.line, place.endLine, place.column].filter((number) => number !== null);
          expect(numbers.every((number) => Number.isInteger(number) && number >= 1)).toBe(true);
          expect(place.line ?? 0).toBeLessThanOrEqual(place.endLine ?? Number.POSITIVE_INFINITY);
        }
      }),
    );
  });
});

describe('locationOfRow', () => {
  it.each<[JsonObject, ReturnType<typeof placeOf>]>([
    [{ path: ' src/a.js ', line: 3 }, at('src/a.js', 3)],
    [{ file: 'a.js', startLine: 3, endLine: 5 }, at('a.js', 3, 5)],
    [{ file: 'a.js', line: 'L12-L15' }, at('a.js', 12, 15)],
    [{ path: 'a.js:7' }, at('a.js', 7)],
    [{ path: 'a.js:7-9', line: 4 }, at('a.js', 4, 9)],
    [{ path: 'a.js#L7-L9' }, at('a.js', 7, 9)],
    [{ location: { file: 'a.js', line: 7, column: 3 } }, at('a.js', 7, null, 3)],
    [{ location: { location: { path: 'a.js' } } }, null],
    [{ path: 'a.js', line: 5, end_line: 3 }, at('a.js', 5)],
    [{ path: 'a.js', line: 0, end_line: 3, column: 4 }, at('a.js')],
    [{ path: 'a.js', line: 1.5 }, at('a.js')],
    [{ path: 'a.js:99999999999' }, at('a.js:99999999999')],
    [{ path: 'a\nb' }, null],
    [{ line: 3 }, null],
  ])('reads the location of %j', (row, place) => {
    expect(placeOf(row)).toEqual(place);
  });
});

it.each([
  ['error', '🔴&nbsp;', 'error blocker Critical FATAL high severe'],
  ['warning', '🟡&nbsp;', 'warning warn Major MEDIUM moderate'],
  ['note', '🔵&nbsp;', 'notice minor low info informational note suggestion nit nitpick style trivial hint'],
  [null, '', 'purple constructor __proto__'],
])('a severity of %s and its mark %j come from the words %s', (severity, mark, words) => {
  for (const word of words.split(' '))
    expect([severityOf(` ${word}`), severityMark(word)], word).toEqual([severity, mark]);
  for (const value of [3, null, true, ['high'], undefined]) expect(severityOf(value)).toBeNull();
});

it('securityScore has a score for the words of a vulnerability scale only', () => {
  const scores = ['critical', 'High', 'medium', 'moderate', 'low', 'error', 'minor', 7].map(securityScore);
  expect(scores).toEqual([9.5, 8, 5.5, 5.5, 2, null, null, null]);
});

it('bySeverity sorts by severity and keeps the order of other rows', () => {
  const rows = [{ at: 0 }, { severity: 'low', at: 1 }, { severity: 'error', at: 2 }, { at: 3 }];
  expect(bySeverity(rows).map((row) => row['at'])).toEqual([2, 1, 0, 3]);
});
